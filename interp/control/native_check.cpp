#include "interp/control/native_check.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "ir/base/diag.hpp"

namespace taskspec {

namespace {

// Two fillings that differ in each byte.
constexpr int first_filling = 0xA5, second_filling = 0x5A;

struct ReadOnly {
  std::string name;
  Array array;
  std::vector<std::byte> before;
};

std::vector<ReadOnly> read_only(const NativeCall& call) {
  std::vector<ReadOnly> found;
  auto add = [&](const std::string& name, const Array& array) {
    if (array.valid()) found.push_back({name, array, {array.raw(), array.raw() + array.bytes()}});
  };
  // The old version of a place may lie where the new one does.
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (call.arguments[i].is_array() && !call.site.parameters[i].is_place)
      add(call.site.parameters[i].name, call.arguments[i].array());
  for (std::size_t i = 0; i < call.results.size(); ++i) add(call.site.outputs[i], call.results[i]);
  for (std::size_t i = 0; i < call.upstream.size(); ++i)
    add("the gradient of " + call.site.outputs[i], call.upstream[i]);
  return found;
}

// What it changed is as before again.
std::optional<std::string> written(std::vector<ReadOnly>& all) {
  std::optional<std::string> name;
  for (ReadOnly& one : all) {
    if (std::memcmp(one.array.raw(), one.before.data(), one.before.size()) == 0) continue;
    std::memcpy(one.array.raw(), one.before.data(), one.before.size());
    if (!name) name = one.name;
  }
  return name;
}

// Places hold their old contents, and may keep them.
std::size_t must_be_set(const NativeCall& call, NativePass pass) {
  return pass == NativePass::forward ? call.site.outputs.size() : call.outputs.size();
}

struct Left {
  std::size_t output = 0;
  std::int64_t element = 0;
};

bool is_filled(const Array& array, std::int64_t element, int filling) {
  const std::size_t width = array.bytes() / static_cast<std::size_t>(array.elements());
  const std::byte* at = array.raw() + static_cast<std::size_t>(element) * width;
  for (std::size_t k = 0; k < width; ++k)
    if (at[k] != static_cast<std::byte>(filling)) return false;
  return true;
}

std::vector<Left> left_alone(const NativeCall& call, std::size_t count, int filling) {
  std::vector<Left> found;
  for (std::size_t i = 0; i < count; ++i)
    for (std::int64_t e = 0; e < call.outputs[i].elements(); ++e)
      if (is_filled(call.outputs[i], e, filling)) found.push_back({i, e});
  return found;
}

void fill(std::span<Array> outputs, std::size_t count, int filling) {
  for (std::size_t i = 0; i < count; ++i) std::memset(outputs[i].raw(), filling, outputs[i].bytes());
}

// Nothing that the second run does is to be seen, but for what it makes of the elements that the first one left.
std::optional<Left> never_written(const NativeCall& call, std::size_t count, FunctionRef<void(const NativeCall&)> run) {
  const std::vector<Left> maybe = left_alone(call, count, first_filling);
  if (maybe.empty()) return std::nullopt;
  std::vector<Array> again;
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    again.push_back(Array::make(call.outputs[i].type()));
    if (i >= count)  // a place: its old contents
      for (std::size_t k = 0, place = count; k < call.arguments.size(); ++k)
        if (call.site.parameters[k].is_place && place++ == i)
          std::memcpy(again[i].raw(), call.arguments[k].array().raw(), again[i].bytes());
  }
  fill(again, count, second_filling);
  NativeCall second{call.site, call.arguments, again, call.results, call.upstream, call.gives};
  run(second);
  for (const Left& left : maybe)
    if (is_filled(again[left.output], left.element, second_filling)) return left;
  return std::nullopt;
}

std::string output_name(const NativeCall& call, NativePass pass, std::size_t output) {
  return pass == NativePass::forward ? "output '" + call.site.outputs[output] + "'"
                                     : "the gradient of '" + call.site.parameters[call.gives[output]].name + "'";
}

}  // namespace

void run_checked(const NativeCall& call, NativePass pass, Span place, FunctionRef<void(const NativeCall&)> run) {
  std::vector<ReadOnly> inputs = read_only(call);
  const std::size_t count = must_be_set(call, pass);
  fill(call.outputs, count, first_filling);
  run(call);
  const std::string word = pass == NativePass::forward ? "task" : "the reverse of task";
  if (const auto name = written(inputs))
    throw failure(
        "E1401", place,
        fmt::format("'{}' is read-only in {} '{}', and its C++ function wrote it", *name, word, call.site.task));
  const auto left = never_written(call, count, run);
  written(inputs);
  if (left)
    throw failure("E1006", place,
                  fmt::format("element {} of {} of {} '{}' is not set by its C++ function", left->element,
                              output_name(call, pass, left->output), word, call.site.task));
}

}  // namespace taskspec
