// What `show` draws.
#include <doctest/doctest.h>

#include <cmath>

#include "ir/files/files.hpp"
#include "ir/show/array.hpp"
#include "ir/types/value.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::show_test {

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
  CHECK(show_text(ramp, {.columns = 80}) == "u8[2, 10]: min 0, max 255, mean 127.2\n .:-=+*#%@\n");
  Array flags = filled(Precision::boolean, {2, 2}, [](std::int64_t i) { return i % 2; });
  CHECK(show_text(flags, {.columns = 80}) == "bool[2, 2]: min 0, max 1, mean 0.5\n @\n");
  Array green = filled(Precision::u8, {2, 1, 3}, [](std::int64_t i) { return i % 3 == 1 ? 255 : 0; });
  CHECK(lines_of(show_text(green, {.columns = 80}))[1] == "+");
  Array clear = filled(Precision::u8, {2, 1, 4}, [](std::int64_t i) { return i % 4 == 3 ? 0 : 255; });
  CHECK(lines_of(show_text(clear, {.columns = 80}))[1].empty());
}

TEST_CASE("show: with colour two pixels share a half block") {
  Array two = filled(Precision::u8, {2, 1, 3}, [](std::int64_t i) { return i == 0 || i == 5 ? 255 : 0; });
  CHECK(show_text(two, {.columns = 80, .colour = true}) ==
        "u8[2, 1, 3]: min 0, max 255, mean 85\n\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀\x1b[0m\n");
  Array odd = filled(Precision::u8, {3, 2}, [](std::int64_t) { return 255; });
  CHECK(lines_of(show_text(odd, {.columns = 80, .colour = true}))[2] == "\x1b[38;2;255;255;255m▀▀\x1b[0m");
}

TEST_CASE("show: pictures are scaled down to the width, by the mean") {
  Array large = filled(Precision::u8, {240, 320, 3}, [](std::int64_t i) { return i % 256; });
  auto lines = lines_of(show_text(large, {.columns = 40}));
  CHECK(lines.size() == 1 + 15 + 1);  // 40 x 30 pixels, two of them above each other in a line
  for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i].size() <= 40);
  CHECK(lines_of(show_text(large, {.columns = 40, .colour = true})).size() == 1 + 15 + 1);
  Array board = filled(Precision::u8, {64, 64}, [](std::int64_t i) { return (i / 64 + i) % 2 * 255; });
  CHECK(lines_of(show_text(board, {.columns = 32}))[1] == std::string(32, '+'));
  Array tall = filled(Precision::u8, {4000, 10}, [](std::int64_t) { return 255; });
  CHECK(lines_of(show_text(tall, {.columns = 40})).size() <= 42);
}

TEST_CASE("show: brightness of floats and integers") {
  Array unit = filled(Precision::f32, {2, 2}, [](std::int64_t i) { return i % 2 * 0.55; });
  CHECK(lines_of(show_text(unit, {.columns = 80}))[1] == " +");  // 0..1 is black to white
  Array wide = filled(Precision::i32, {2, 2}, [](std::int64_t i) { return i % 2 * 300 - 100; });
  CHECK(lines_of(show_text(wide, {.columns = 80}))[1] == " @");  // smallest to largest
  Array odd = filled(Precision::f64, {2, 3}, [](std::int64_t i) {
    return i % 3 == 0 ? std::nan("") : i % 3 == 1 ? HUGE_VAL : -2.0;
  });
  CHECK(lines_of(show_text(odd, {.columns = 80}))[1] == " @");
  Array same = filled(Precision::f64, {2, 2}, [](std::int64_t) { return 7; });
  CHECK(lines_of(show_text(same, {.columns = 80}))[1].empty());
}

TEST_CASE("show: rank 1 becomes bars") {
  Array four = filled(Precision::i32, {4}, [](std::int64_t i) { return i + 1; });
  auto lines = lines_of(show_text(four, {.columns = 20}));
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "i32[4]: min 1, max 4, mean 2.5");
  CHECK(lines[1] == "4 ┤            ████");
  CHECK(lines[3] == "  ┤        ████████");
  CHECK(lines[7] == "  ┤████████████████");
  CHECK(lines[8] == "0 ┤████████████████");
  Array sine = filled(Precision::f32, {1000}, [](std::int64_t i) { return std::sin(static_cast<double>(i) / 100); });
  for (const std::string& line : lines_of(show_text(sine, {.columns = 50}))) CHECK(characters(line) <= 50);
  CHECK(lines_of(show_text(sine, {.columns = 50}))[8].starts_with("-1 ┤"));
  Array extreme = filled(Precision::f64, {3}, [](std::int64_t i) { return i == 0 ? -1.7e308 : i == 1 ? 1.7e308 : 0; });
  CHECK(lines_of(show_text(extreme, {.columns = 30}))[1] == " 1.7e+308 ┤    ████");
  Array zeros = filled(Precision::f64, {2}, [](std::int64_t) { return 0; });
  CHECK(lines_of(show_text(zeros, {.columns = 30}))[8] == "0 ┤");
}

TEST_CASE("show: scalars, other ranks, empty and unusual arrays") {
  CHECK(show_text(filled(Precision::f64, {}, [](std::int64_t) { return 45; }), {.columns = 80}) == "45\n");
  CHECK(show_text(Array::make({Precision::f32, {0}}), {.columns = 80}) == "f32[0]: empty\n");
  CHECK(show_text(Array::make({Precision::f32, {0, 4}}), {.columns = 80}) == "f32[0, 4]: empty\n");
  CHECK(show_text(filled(Precision::f32, {2}, [](std::int64_t) { return std::nan(""); }), {.columns = 80}) ==
        "f32[2]: nothing finite\n");
  Array batch = filled(Precision::f32, {2, 3, 5}, [](std::int64_t i) { return i; });
  CHECK(show_text(batch, {.columns = 80}) == "f32[2, 3, 5]: min 0, max 29, mean 14.5\n");
}

TEST_CASE("show: planes before rows are a picture, too") {
  Array planes = filled(Precision::u8, {3, 2, 5}, [](std::int64_t i) { return i / 10 == 1 ? 255 : 0; });
  auto lines = lines_of(show_text(planes, {.columns = 80}));
  CHECK(lines[0] == "u8[3, 2, 5]: min 0, max 255, mean 85");
  CHECK(lines[1] == "+++++");
  CHECK(show_text(planes, {.columns = 80, .colour = true}).find("\x1b[38;2;0;255;0m") != std::string::npos);
}

TEST_CASE("show: a long vector is a line") {
  Array ramp = filled(Precision::f32, {64}, [](std::int64_t i) { return i; });
  auto lines = lines_of(show_text(ramp, {.columns = 20}));
  REQUIRE(lines.size() == 10);
  CHECK(lines[1] == "63 ┤              ⡠⠊");
  CHECK(lines[8] == " 0 ┤⡠⠊");
  for (const std::string& line : lines) CHECK((characters(line) <= 20 || line == lines[0]));
  Array flat = filled(Precision::f32, {100}, [](std::int64_t) { return 2; });
  CHECK(lines_of(show_text(flat, {.columns = 40}))[8].starts_with("2 ┤⣀⣀⣀"));
  // A gap where nothing is finite; few points are joined by straight lines.
  Array gap = filled(Precision::f32, {40}, [](std::int64_t i) { return i > 10 && i < 30 ? std::nan("") : 1.0 * i; });
  CHECK(lines_of(show_text(gap, {.columns = 44}))[1].ends_with("⠊"));
  Array two = filled(Precision::f32, {2}, [](std::int64_t i) { return i; });
  CHECK(characters(lines_of(show_text(two, {.columns = 30, .kind = ShowKind::line}))[1]) == 30);
}

TEST_CASE("show: histograms of any shape") {
  Array dice = filled(Precision::i32, {3, 4}, [](std::int64_t i) { return i % 6 + 1; });
  CHECK(show_text(dice, {.columns = 40, .kind = ShowKind::histogram}) ==
        "i32[3, 4]: min 1, max 6, mean 3.5\n"
        "2 ┤████████████████████████\n"
        "  ┤████████████████████████\n"
        "  ┤████████████████████████\n"
        "  ┤████████████████████████\n"
        "  ┤████████████████████████\n"
        "  ┤████████████████████████\n"
        "  ┤████████████████████████\n"
        "0 ┤████████████████████████\n"
        "   1                      6\n");
  Array peak = filled(Precision::f64, {100}, [](std::int64_t i) { return i == 99 ? 10.0 : i * 0.001; });
  auto lines = lines_of(show_text(peak, {.columns = 40, .kind = ShowKind::histogram}));
  CHECK(lines[1].starts_with("99 ┤"));
  CHECK(lines.back().empty());
  CHECK(lines[9].find("0") != std::string::npos);
  CHECK(lines[9].find("10") != std::string::npos);
  Array same = filled(Precision::f32, {5}, [](std::int64_t) { return 7; });
  CHECK(lines_of(show_text(same, {.columns = 40, .kind = ShowKind::histogram}))[9] == "   7");
  Array extreme = filled(Precision::f64, {2}, [](std::int64_t i) { return i == 0 ? -1.7e308 : 1.7e308; });
  CHECK(lines_of(show_text(extreme, {.columns = 40, .kind = ShowKind::histogram})).size() == 11);
}

TEST_CASE("show: no line is wider than twenty columns") {
  for (ShowKind kind : {ShowKind::automatic, ShowKind::histogram, ShowKind::line, ShowKind::bars}) {
    Array array = filled(Precision::f64, {500}, [](std::int64_t i) { return std::sin(static_cast<double>(i)) * 1e-5; });
    auto lines = lines_of(show_text(array, {.columns = 20, .kind = kind}));
    for (std::size_t i = 1; i < lines.size(); ++i) CHECK(characters(lines[i]) <= 20);
  }
}

TEST_CASE("show: kinds that do not fit the shape") {
  Array cube = filled(Precision::f32, {2, 3, 5}, [](std::int64_t i) { return i; });
  for (ShowKind kind : {ShowKind::picture, ShowKind::bars, ShowKind::line})
    CHECK(error_of([&] { show_text(cube, {.kind = kind}); }).starts_with("E5004 f32[2, 3, 5] cannot be drawn as"));
  CHECK(error_of([&] { show_svg(cube, ShowKind::automatic); }).starts_with("E5004"));
  CHECK(error_of([&] { show_pixels(cube, ShowKind::automatic); }).starts_with("E5004"));
}

TEST_CASE("show: drawings as SVG") {
  Array four = filled(Precision::i32, {4}, [](std::int64_t i) { return i + 1; });
  std::string bars = show_svg(four, ShowKind::automatic);
  CHECK(bars.starts_with("<svg"));
  CHECK(bars.find("class=\"bar\"") != std::string::npos);
  CHECK(bars.find("i32[4]: min 1, max 4, mean 2.5") != std::string::npos);
  Array gap = filled(Precision::f32, {40}, [](std::int64_t i) { return i == 20 ? std::nan("") : 1.0 * i; });
  std::string line = show_svg(gap, ShowKind::automatic);
  std::size_t path = line.find("class=\"line\"");
  REQUIRE(path != std::string::npos);
  CHECK(std::count(line.begin() + static_cast<std::ptrdiff_t>(path), line.end(), 'M') == 2);
  CHECK(line.find("nan") == std::string::npos);
  // Two pixels of one colour are one rectangle.
  Array flag = filled(Precision::u8, {2, 2, 3}, [](std::int64_t i) { return i < 6 && i % 3 == 0 ? 255 : 0; });
  std::string picture = show_svg(flag, ShowKind::automatic);
  CHECK(picture.find("<rect x=\"0\" y=\"0\" width=\"2\" height=\"1\" fill=\"#ff0000\"/>") != std::string::npos);
  CHECK(show_svg(flag, ShowKind::histogram).find("class=\"bar\"") != std::string::npos);
}

TEST_CASE("show: drawings as pixels") {
  Array flag = filled(Precision::u8, {2, 4}, [](std::int64_t i) { return i < 4 ? 255 : 0; });
  Array pixels = show_pixels(flag, ShowKind::automatic);
  CHECK(pixels.type().text() == "u8[128, 256, 3]");
  CHECK(pixels.integer(0) == 255);
  CHECK(pixels.integer(127 * 256 * 3) == 0);
  Array sine = filled(Precision::f32, {1000}, [](std::int64_t i) { return std::sin(static_cast<double>(i) / 100); });
  for (ShowKind kind : {ShowKind::automatic, ShowKind::histogram, ShowKind::bars}) {
    Array plot = show_pixels(sine, kind);
    CHECK(plot.type().text() == "u8[320, 640, 3]");
    std::int64_t drawn = 0;
    for (std::int64_t i = 0; i < plot.elements(); i += 3) drawn += plot.integer(i) == 58;
    CHECK(drawn > 500);
  }
}

TEST_CASE("show writes files, and says what it cannot do") {
  TemporaryFolder folder;
  Ran ran =
      run_text("let x = [[0.0, 0.5], [0.75, 1.0]] as f32[2, 2]\nshow(x, \"" + (folder / "x.svg") + "\")\nshow(x, \"" +
               (folder / "x.png") + "\")\nshow(x.reshape(4), kind: \"line\")\nshow(x, kind: \"histogram\")\n");
  CHECK(ran.errors == "");
  CHECK(ran.output.starts_with("f32[4]: min 0, max 1, mean 0.5625\n1 ┤"));
  CHECK(load_array(folder / "x.png").type().text() == "u8[256, 256, 3]");
  CHECK(read_text(folder / "x.svg").starts_with("<svg"));
  CHECK(run_text("show([1, 2], kind: \"pie\")\n").errors.find("there are picture, bars, line, histogram") !=
        std::string::npos);
  CHECK(run_text("show([1, 2], \"x.gif\")\n").errors.find("end it in .svg or .png") != std::string::npos);
  CHECK(run_text("show([1, 2], kind: \"picture\")\n").errors.find("i64[2] cannot be drawn as a picture") !=
        std::string::npos);
}

}  // namespace taskspec::show_test
