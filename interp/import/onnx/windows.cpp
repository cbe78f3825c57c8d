#include "interp/import/onnx/windows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec::onnx {

namespace {

constexpr std::int64_t most_of_window = std::int64_t{1} << 16;  // of what an attribute may say

void check(Call& call, const Numbers& numbers, std::size_t count, std::int64_t least) {
  if (numbers.size() != count) call.fail("an attribute has not one number for each axis of its windows");
  for (const std::int64_t number : numbers)
    if (number < least || number > most_of_window) call.fail("a number of its windows is out of all bounds");
}

}  // namespace

bool Windows::padded() const {
  return std::ranges::any_of(before, [](std::int64_t n) { return n != 0; }) ||
         std::ranges::any_of(after, [](std::int64_t n) { return n != 0; });
}

bool Windows::even() const {
  for (std::size_t i = 0; i < axes(); ++i)
    if (before[i] != after[i] || before[i] >= kernel[i]) return false;
  return true;
}

bool Windows::dilated() const {
  return std::ranges::any_of(dilations, [](std::int64_t n) { return n != 1; });
}

Windows windows_of(Call& call, const Term& x, std::optional<Numbers> kernel) {
  if (x.rank() < 3) call.fail("its input is no list of images");
  const std::size_t count = x.rank() - 2;
  Windows made;
  made.kernel = call.integers("kernel_shape", kernel ? *kernel : Numbers{});
  made.strides = call.integers("strides", Numbers(count, 1));
  made.dilations = call.integers("dilations", Numbers(count, 1));
  const Numbers pads = call.integers("pads", Numbers(2 * count, 0));
  check(call, made.kernel, count, 1);
  check(call, made.strides, count, 1);
  check(call, made.dilations, count, 1);
  check(call, pads, 2 * count, 0);
  made.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(count));
  made.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(count), pads.end());
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET") return made;
  for (std::size_t i = 0; i < count; ++i) {
    made.before[i] = made.after[i] = 0;
    if (automatic == "VALID") continue;
    // As many windows as there are strides in the extent.
    std::int64_t needed = made.reach(i) - 1;
    if (made.strides[i] != 1) {
      const std::int64_t n = call.extent(x, i + 2), windows = (n + made.strides[i] - 1) / made.strides[i];
      needed = std::max<std::int64_t>(0, (windows - 1) * made.strides[i] + made.reach(i) - n);
    }
    made.before[i] = automatic == "SAME_LOWER" ? (needed + 1) / 2 : needed / 2;
    made.after[i] = needed - made.before[i];
  }
  return made;
}

void round_up(Call& call, const Term& x, Windows& windows) {
  if (call.integer("ceil_mode", 0) == 0) return;
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    if (windows.strides[i] == 1) continue;
    const std::int64_t rest =
        (call.extent(x, i + 2) + windows.before[i] + windows.after[i] - windows.reach(i)) % windows.strides[i];
    if (rest > 0) windows.after[i] += windows.strides[i] - rest;
  }
}

Dim windows_along(Call& call, const Dim& extent, const Windows& windows, std::size_t axis) {
  const Dim room = extent + Dim(windows.before[axis] + windows.after[axis] - windows.reach(axis));
  if (const auto known = room.constant()) {
    if (*known < 0) call.fail("a window is larger than what it moves over");
    return Dim(*known / windows.strides[axis] + 1);
  }
  if (windows.strides[axis] == 1) return room + Dim(1);
  call.open("the extent " + extent.text());
}

Term with_borders(const Term& x, Windows& windows, const std::string& value) {
  Term made = x;
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    made = padded(made, static_cast<std::int64_t>(i) + 2, windows.before[i], windows.after[i], value);
    windows.before[i] = windows.after[i] = 0;
  }
  return made;
}

std::string pair_text(std::int64_t a, std::int64_t b) {
  return a == b ? std::to_string(a) : fmt::format("({}, {})", a, b);
}

}  // namespace taskspec::onnx
