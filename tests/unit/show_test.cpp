// What `show` draws.
#include "ir/show.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "ir/value.hpp"

using namespace taskspec;

namespace {

Array filled(Precision precision, Extents extents, auto value_at) {
  Array array = Array::make({precision, std::move(extents)});
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_number(i, value_at(i));
  return array;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

TEST_CASE("show: a picture without colour is shades of ASCII, dark to bright") {
  Array ramp = filled(Precision::u8, {2, 10}, [](std::int64_t i) { return i % 10 * 255 / 9; });
  CHECK(show_text(ramp, 80) == "u8[2, 10]: min 0, max 255, mean 127.2\n .:-=+*#%@\n");
  Array flags = filled(Precision::boolean, {2, 2}, [](std::int64_t i) { return i % 2; });
  CHECK(show_text(flags, 80) == "bool[2, 2]: min 0, max 1, mean 0.5\n @\n");
  Array green = filled(Precision::u8, {2, 1, 3}, [](std::int64_t i) { return i % 3 == 1 ? 255 : 0; });
  CHECK(lines_of(show_text(green, 80))[1] == "+");
  Array clear = filled(Precision::u8, {2, 1, 4}, [](std::int64_t i) { return i % 4 == 3 ? 0 : 255; });
  CHECK(lines_of(show_text(clear, 80))[1].empty());
}

TEST_CASE("show: with colour two pixels share a half block") {
  Array two = filled(Precision::u8, {2, 1, 3}, [](std::int64_t i) { return i == 0 || i == 5 ? 255 : 0; });
  CHECK(show_text(two, 80, true) ==
        "u8[2, 1, 3]: min 0, max 255, mean 85\n\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀\x1b[0m\n");
  Array odd = filled(Precision::u8, {3, 2}, [](std::int64_t) { return 255; });
  CHECK(lines_of(show_text(odd, 80, true))[2] == "\x1b[38;2;255;255;255m▀▀\x1b[0m");
}

TEST_CASE("show: pictures are scaled down to the width, by the mean") {
  Array large = filled(Precision::u8, {240, 320, 3}, [](std::int64_t i) { return i % 256; });
  auto lines = lines_of(show_text(large, 40));
  CHECK(lines.size() == 1 + 15 + 1);  // 40 x 30 pixels, two of them above each other in a line
  for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i].size() <= 40);
  CHECK(lines_of(show_text(large, 40, true)).size() == 1 + 15 + 1);
  Array board = filled(Precision::u8, {64, 64}, [](std::int64_t i) { return (i / 64 + i) % 2 * 255; });
  CHECK(lines_of(show_text(board, 32))[1] == std::string(32, '+'));
  Array tall = filled(Precision::u8, {4000, 10}, [](std::int64_t) { return 255; });
  CHECK(lines_of(show_text(tall, 40)).size() <= 42);
}

TEST_CASE("show: brightness of floats and integers") {
  Array unit = filled(Precision::f32, {2, 2}, [](std::int64_t i) { return i % 2 * 0.55; });
  CHECK(lines_of(show_text(unit, 80))[1] == " +");  // 0..1 is black to white
  Array wide = filled(Precision::i32, {2, 2}, [](std::int64_t i) { return i % 2 * 300 - 100; });
  CHECK(lines_of(show_text(wide, 80))[1] == " @");  // smallest to largest
  Array odd = filled(Precision::f64, {2, 3}, [](std::int64_t i) {
    return i % 3 == 0 ? std::nan("") : i % 3 == 1 ? HUGE_VAL : -2.0;
  });
  CHECK(lines_of(show_text(odd, 80))[1] == " @");
  Array same = filled(Precision::f64, {2, 2}, [](std::int64_t) { return 7; });
  CHECK(lines_of(show_text(same, 80))[1].empty());
}

TEST_CASE("show: rank 1 becomes bars") {
  Array four = filled(Precision::i32, {4}, [](std::int64_t i) { return i + 1; });
  auto lines = lines_of(show_text(four, 20));
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "i32[4]: min 1, max 4, mean 2.5");
  CHECK(lines[1] == "4 ┤            ████");
  CHECK(lines[3] == "  ┤        ████████");
  CHECK(lines[7] == "  ┤████████████████");
  CHECK(lines[8] == "0 ┤████████████████");
  Array sine = filled(Precision::f32, {1000}, [](std::int64_t i) { return std::sin(static_cast<double>(i) / 100); });
  for (const std::string& line : lines_of(show_text(sine, 50))) CHECK(characters(line) <= 50);
  CHECK(lines_of(show_text(sine, 50))[8].starts_with("-1 ┤"));
  Array extreme = filled(Precision::f64, {3}, [](std::int64_t i) { return i == 0 ? -1.7e308 : i == 1 ? 1.7e308 : 0; });
  CHECK(lines_of(show_text(extreme, 30))[1] == " 1.7e+308 ┤    ████");
  Array zeros = filled(Precision::f64, {2}, [](std::int64_t) { return 0; });
  CHECK(lines_of(show_text(zeros, 30))[8] == "0 ┤");
}

TEST_CASE("show: scalars, other ranks, empty and unusual arrays") {
  CHECK(show_text(filled(Precision::f64, {}, [](std::int64_t) { return 45; }), 80) == "45\n");
  CHECK(show_text(Array::make({Precision::f32, {0}}), 80) == "f32[0]: empty\n");
  CHECK(show_text(Array::make({Precision::f32, {0, 4}}), 80) == "f32[0, 4]: empty\n");
  CHECK(show_text(filled(Precision::f32, {2}, [](std::int64_t) { return std::nan(""); }), 80) ==
        "f32[2]: nothing finite\n");
  Array batch = filled(Precision::f32, {2, 3, 5}, [](std::int64_t i) { return i; });
  CHECK(show_text(batch, 80) == "f32[2, 3, 5]: min 0, max 29, mean 14.5\n");
}
