// Files that hold pictures: png and jpeg, true and hostile.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <random>

#include "ir/files/files.hpp"
#include "ir/types/value.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/file_samples.hpp"
#include "tests/unit/png_builder.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::pictures_test {
using namespace std::string_literals;

using file_samples::cmyk_jpeg, file_samples::from_hex, file_samples::progressive_jpeg;

namespace {

constexpr int grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgba = 6;

std::string loaded(const std::string& path) {
  Array array = load_array(path);
  CHECK(probe(path) == array.type());
  return array.type().text() + " " + print(Value(array));
}

// Smooth colours, as photographs have: what jpeg keeps well.
Array gradient(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Array picture = Array::make({Precision::u8, {height, width, channels}});
  std::int64_t at = 0;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) picture.set_integer(at++, (x * 5 + y * 3 + c * 60) % 256 / 2 + 40);
  return picture;
}

double mean_difference(const Array& a, const Array& b) {
  REQUIRE(a.elements() == b.elements());
  double sum = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) sum += std::abs(a.number(i) - b.number(i));
  return sum / static_cast<double>(a.elements());
}

long peak_megabytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

TEST_CASE("png: what is saved comes back equal") {
  TemporaryFolder folder;
  std::mt19937 random(3);
  for (Precision precision : {Precision::u8, Precision::u16}) {
    for (const Extents& extents :
         {Extents{5, 7, 1}, Extents{5, 7, 3}, Extents{5, 7, 4}, Extents{1, 1, 3}, Extents{4, 6}}) {
      Array picture = Array::make({precision, extents});
      for (std::int64_t i = 0; i < picture.elements(); ++i) picture.set_integer(i, static_cast<std::int64_t>(random()));
      save_array(picture, folder / "x.png");
      Array back = load_array(folder / "x.png");
      CHECK(back.extents().size() == 3);
      CHECK(probe(folder / "x.png") == back.type());
      Array flat = Array::wrap({precision, extents}, back.storage());
      CHECK(equal(Value(picture), Value(flat)));
    }
  }
  Array mask = array_of(List{List{Value(true), Value(false)}}, Precision::boolean);
  save_array(mask, folder / "x.png");
  CHECK(loaded(folder / "x.png") == "u8[1, 2, 1] [[[255], [0]]]");
}

TEST_CASE("png: every kind of file becomes grey, RGB or RGBA") {
  TemporaryFolder folder;
  auto read = [&](PngBuilder png) {
    folder.put("x.png", png.bytes());
    return loaded(folder / "x.png");
  };
  CHECK(read(PngBuilder(2, 1, 8, grey).pixels("\0\x10\x20"s)) == "u8[1, 2, 1] [[[16], [32]]]");
  CHECK(read(PngBuilder(3, 1, 1, grey).pixels("\0\xa0"s)) == "u8[1, 3, 1] [[[255], [0], [255]]]");
  CHECK(read(PngBuilder(2, 1, 2, grey).pixels("\0\x60"s)) == "u8[1, 2, 1] [[[85], [170]]]");
  CHECK(read(PngBuilder(1, 1, 16, grey).pixels("\0\x01\x02"s)) == "u16[1, 1, 1] [[[258]]]");
  CHECK(read(PngBuilder(1, 1, 8, grey_alpha).pixels("\0\x10\x80"s)) == "u8[1, 1, 4] [[[16, 16, 16, 128]]]");
  CHECK(read(PngBuilder(1, 2, 8, rgb).pixels("\0\x01\x02\x03\2\x01\x01\x01"s)) ==
        "u8[2, 1, 3] [[[1, 2, 3]], [[2, 3, 4]]]");
  CHECK(read(PngBuilder(1, 1, 8, rgba).pixels("\0\x01\x02\x03\x04"s)) == "u8[1, 1, 4] [[[1, 2, 3, 4]]]");
  CHECK(read(PngBuilder(1, 1, 16, rgba).pixels("\0\0\1\0\2\0\3\0\4"s)) == "u16[1, 1, 4] [[[1, 2, 3, 4]]]");
  std::string colours = "\x01\x02\x03\x0a\x0b\x0c"s;
  CHECK(read(PngBuilder(2, 1, 8, palette).chunk("PLTE", colours).pixels("\0\1\0"s)) ==
        "u8[1, 2, 3] [[[10, 11, 12], [1, 2, 3]]]");
  CHECK(read(PngBuilder(2, 1, 1, palette).chunk("PLTE", colours).chunk("tRNS", "\x07").pixels("\0\x40"s)) ==
        "u8[1, 2, 4] [[[1, 2, 3, 7], [10, 11, 12, 255]]]");
  CHECK(read(PngBuilder(2, 1, 8, grey).chunk("tRNS", "\0\x20"s).pixels("\0\x10\x20"s)) ==
        "u8[1, 2, 4] [[[16, 16, 16, 255], [32, 32, 32, 0]]]");
  // Interlaced: of 2 x 2 pixels, pass 1 has the first, pass 6 the second, pass 7 the lower row.
  CHECK(read(PngBuilder(2, 2, 8, grey, true).pixels("\0\x01\0\x02\0\x03\x04"s)) ==
        "u8[2, 2, 1] [[[1], [2]], [[3], [4]]]");
  CHECK(read(PngBuilder(1, 1, 8, grey).chunk("tEXt", "Title\0anything"s).pixels("\0\x10"s)) == "u8[1, 1, 1] [[[16]]]");
}

TEST_CASE("png: bombs, lies and cuts are E7003 [hostile]") {
  TemporaryFolder folder;
  auto error = [&](const std::string& bytes) {
    folder.put("x.png", bytes);
    std::string text = error_of([&] { load_array(folder / "x.png"); });
    CHECK(text.starts_with("E7003 '" + (folder / "x.png") + "' "));
    return text.substr(std::min(text.size(), text.find("' ") + 2));
  };
  long before = peak_megabytes();
  CHECK(error(PngBuilder(0x7fffffff, 0x7fffffff, 16, rgba).pixels("\0"s).bytes()) ==
        "claims 2147483647 x 2147483647 pixels; more than 1000000000 decoded bytes are refused");
  CHECK(error(PngBuilder(30000, 30000, 8, rgb).pixels("\0"s).bytes()).starts_with("claims 30000 x 30000 pixels; more"));
  CHECK(error(PngBuilder(20000, 10000, 8, rgb).pixels("\0"s).bytes()) ==
        "claims 20000 x 10000 pixels, more than a file of 69 bytes can hold");
  CHECK(error(PngBuilder(0x7fffffff, 1, 16, rgba).pixels("\0"s).bytes())
            .starts_with("claims 2147483647 x 1 pixels; more"));
  CHECK(peak_megabytes() - before < 50);
  CHECK(error(PngBuilder(0, 1, 8, grey).pixels("\0"s).bytes()).starts_with("is broken at byte"));
  CHECK(error(PngBuilder(1, 1, 3, grey).pixels("\0"s).bytes()).starts_with("is broken at byte"));
  CHECK(error("") == "is broken at byte 0: libpng says 'Read Error'");
  CHECK(error("this is a text, not a picture") == "is broken at byte 8: libpng says 'Not a PNG file'");
  CHECK(error(PngBuilder(1, 1, 8, palette).pixels("\0\0"s).bytes()).find("PLTE") != std::string::npos);
  std::string good = PngBuilder(2, 2, 8, grey).pixels("\0\1\2\0\3\4"s).bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(error(good.substr(0, size)).starts_with("is broken at byte"));
  }
  std::string flipped = good;
  flipped[50] = static_cast<char>(flipped[50] ^ 1);  // inside IDAT
  CHECK(error(flipped).starts_with("is broken at byte"));
}

TEST_CASE("jpeg: smooth pictures survive, other kinds of file are understood or refused") {
  TemporaryFolder folder;
  for (std::int64_t channels : {1, 3}) {
    Array picture = gradient(37, 50, channels);
    save_array(picture, folder / "x.jpg");
    Array back = load_array(folder / "x.jpg");
    CHECK(back.type() == picture.type());
    CHECK(probe(folder / "x.jpg") == picture.type());
    CHECK(mean_difference(picture, back) < 6);
  }
  folder.put("x.jpeg", from_hex(progressive_jpeg));
  Array back = load_array(folder / "x.jpeg");
  REQUIRE(back.type().text() == "u8[8, 16, 3]");
  for (std::int64_t c = 0; c < 3; ++c) {
    CHECK(std::abs(back.integer(c) - (200 - 40 * c)) < 12);
    CHECK(std::abs(back.integer(15 * 3 + c) - (50 + 40 * c)) < 12);
  }
  folder.put("x.jpeg", from_hex(cmyk_jpeg));
  CHECK(
      error_of([&] { probe(folder / "x.jpeg"); }).ends_with("has 4 colour components (CMYK?); supported are 1 and 3"));
}

TEST_CASE("jpeg: bombs, lies and cuts are E7003 [hostile]") {
  TemporaryFolder folder;
  auto error = [&](const std::string& bytes) {
    folder.put("x.jpg", bytes);
    std::string text = error_of([&] { load_array(folder / "x.jpg"); });
    CHECK(text.starts_with("E7003 '" + (folder / "x.jpg") + "' "));
    return text.substr(std::min(text.size(), text.find("' ") + 2));
  };
  save_array(gradient(40, 40, 3), folder / "good.jpg");
  std::string good = read_text(folder / "good.jpg");
  auto claiming = [&](int height, int width) {
    std::string bytes = good;
    std::size_t frame = bytes.find("\xff\xc0") + 5;
    for (int value : {height, width})
      bytes[frame++] = static_cast<char>(value >> 8), bytes[frame++] = static_cast<char>(value);
    return bytes;
  };
  long before = peak_megabytes();
  CHECK(error(claiming(65500, 65500)).starts_with("claims 65500 x 65500 pixels; more than 1000000000"));
  CHECK(error(claiming(10000, 10000)).find("more than a file of") != std::string::npos);
  CHECK(peak_megabytes() - before < 50);
  CHECK(error(claiming(64, 40)).starts_with("is broken at byte"));
  CHECK(error("") == "is broken at byte 0: libjpeg says 'Empty input file'");
  CHECK(error("this is a text").find("Not a JPEG file") != std::string::npos);
  for (std::size_t size = 0; size + 2 < good.size(); size += 7) {
    CAPTURE(size);
    CHECK(error(good.substr(0, size)).starts_with("is broken at byte"));
  }
}

TEST_CASE("pictures with random changes never do harm [fuzz]") {
  TemporaryFolder folder;
  std::uint32_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  save_array(gradient(20, 30, 3), folder / "good.jpg");
  save_array(gradient(20, 30, 4), folder / "good.png");
  std::string goods[] = {
      read_text(folder / "good.jpg"), from_hex(progressive_jpeg), read_text(folder / "good.png"),
      PngBuilder(2, 1, 1, palette).chunk("PLTE", "123456").chunk("tRNS", "1").pixels("\0\x40"s).bytes()};
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = goods[i % 4], name = i % 4 < 2 ? "x.jpg" : "x.png";
    for (int change = 0; change < 1 + i % 5; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    folder.put(name, bytes);
    CAPTURE(i);
    std::string error = error_of([&] { load_array(folder / name); });
    REQUIRE_MESSAGE((error == "no error" || error.starts_with("E7003 ")), error);
    read += error == "no error";
  }
  CHECK(read > 0);
}

TEST_CASE("arrays that are no pictures are E7004 and write nothing") {
  TemporaryFolder folder;
  auto error = [&](Precision precision, Extents extents, const std::string& name) {
    std::string text = error_of([&] { save_array(Array::make({precision, std::move(extents)}), folder / name); });
    CHECK_FALSE(std::filesystem::exists(folder / name));
    return text.substr(0, 6) == "E7004 " ? text.substr(text.find("': ") + 3) : text;
  };
  CHECK(error(Precision::f32, {4, 4}, "x.png") == "f32[4, 4] is not such a picture | a png file holds u8, u16 or bool");
  CHECK(error(Precision::u16, {4, 4}, "x.jpg") == "u16[4, 4] is not such a picture | a jpeg file holds u8 or bool");
  CHECK(error(Precision::u8, {4, 4, 2}, "x.png") ==
        "u8[4, 4, 2] is not such a picture | a picture is [H, W] or [H, W, 1|3|4] with sides from 1 to 65500");
  CHECK(error(Precision::u8, {4, 4, 4}, "x.jpg").ends_with("[H, W, 1|3] with sides from 1 to 65500"));
  CHECK(error(Precision::u8, {7}, "x.png").find("is not such a picture") != std::string::npos);
  CHECK(error(Precision::u8, {0, 4}, "x.png").find("is not such a picture") != std::string::npos);
  CHECK(error(Precision::u8, {1, 70000}, "x.jpg").find("is not such a picture") != std::string::npos);
}

}  // namespace taskspec::pictures_test
