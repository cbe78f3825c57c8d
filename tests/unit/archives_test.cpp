// Files that hold more than one array, or do not say what they hold: npz, idx, raw records, columns of csv.
#include <doctest/doctest.h>

#include "ir/files/files.hpp"
#include "ir/json/text.hpp"
#include "ir/types/value.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/file_samples.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::archives_test {
using namespace std::string_literals;

using file_samples::archive, file_samples::packed_idx, file_samples::zeros;

namespace {

std::string bytes_of(const char* text) {
  std::string bytes;
  REQUIRE(from_base64(text, bytes));
  return bytes;
}

std::string loaded(const std::string& path, const FileQuery& query = {}) {
  CHECK(probe(path, query) == load_array(path, query).type());
  Array array = load_array(path, query);
  return array.type().text() + " " + print(Value(array));
}

std::string broken(const std::string& path, const FileQuery& query = {}) {
  return error_of([&] { load_array(path, query); });
}

void put_number(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

}  // namespace

TEST_CASE("npz: deflated arrays are found by name") {
  TemporaryFolder folder;
  folder.put("x.npz", bytes_of(archive));
  CHECK(loaded(folder / "x.npz", {.name = "a"}) == "f32[2, 3] [[1, 2, 3], [4, 5, 6]]");
  CHECK(load_array(folder / "x.npz", {.name = "b"}).integer(39) == 39);
  CHECK(broken(folder / "x.npz").find("holds 2 arrays: a, b") != std::string::npos);
  CHECK(broken(folder / "x.npz").find("say which: name: \"a\"") != std::string::npos);
  CHECK(broken(folder / "x.npz", {.name = "c"}).find("holds no array 'c'; there are a, b") != std::string::npos);
  CHECK(broken(folder / "x.npz", {.name = "readme.txt"}).starts_with("E7003"));
}

TEST_CASE("npz: what is saved is loaded again, and others read it") {
  TemporaryFolder folder;
  Array array = Array::make({Precision::f64, {2, 2}});
  for (int i = 0; i < 4; ++i) array.set_number(i, i * 0.5);
  save_array(array, folder / "y.npz");
  CHECK(loaded(folder / "y.npz") == "f64[2, 2] [[0, 0.5], [1, 1.5]]");
  CHECK(loaded(folder / "y.npz", {.name = "arr_0"}).starts_with("f64[2, 2]"));
  save_array(array, folder / "z.npz", "weight");
  CHECK(loaded(folder / "z.npz", {.name = "weight"}).starts_with("f64[2, 2]"));
  std::string first = read_text(folder / "y.npz", 1 << 20);
  save_array(array, folder / "y.npz");
  CHECK(read_text(folder / "y.npz", 1 << 20) == first);
  ToolOutcome python = in_shell("python3 -m zipfile -t z.npz && python3 -m zipfile -l z.npz", folder);
  CHECK(python.code == 0);
  CHECK(python.out.find("weight.npy") != std::string::npos);
  CHECK(error_of([&] { save_array(array, folder / "x.npy", "weight"); }).starts_with("E7004"));
  CHECK(error_of([&] { load_array(folder / "x.npy", {.name = "weight"}); }).find("no parts") != std::string::npos);
}

TEST_CASE("npz: every cut and every changed byte of an archive is an error or the same array [hostile]") {
  TemporaryFolder folder;
  const std::string good = bytes_of(archive);
  for (std::size_t length = 0; length < good.size(); length += 7) {
    folder.put("x.npz", good.substr(0, length));
    CHECK_MESSAGE(broken(folder / "x.npz", {.name = "a"}).starts_with("E7003"), length);
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    folder.put("x.npz", bad);
    std::string error = broken(folder / "x.npz", {.name = "a"});
    if (error == "no error")
      CHECK_MESSAGE(loaded(folder / "x.npz", {.name = "a"}) == "f32[2, 3] [[1, 2, 3], [4, 5, 6]]", at);
    else
      CHECK_MESSAGE(error.starts_with("E7003"), at << ": " << error);
  }
}

TEST_CASE("npz: sizes that cannot be are refused before memory is taken [hostile]") {
  TemporaryFolder folder;
  std::string bomb = bytes_of(zeros);
  folder.put("x.npz", bomb);
  CHECK(broken(folder / "x.npz").find("magic") != std::string::npos);  // it unpacks, but is no array
  std::size_t entry = bomb.find("PK\x01\x02");
  REQUIRE(entry != std::string::npos);
  std::string lying = bomb;
  put_number(lying, entry + 24, 0xFFFFFFFE, 4);
  folder.put("x.npz", lying);
  CHECK(broken(folder / "x.npz").find(", packed in ") != std::string::npos);
  std::string small = bomb;
  put_number(small, entry + 24, 1000, 4);
  folder.put("x.npz", small);
  CHECK(broken(folder / "x.npz").find("unpacks to more than 1000 bytes") != std::string::npos);
  std::string checksum = bomb;
  put_number(checksum, entry + 16, 12345, 4);
  folder.put("x.npz", checksum);
  CHECK(broken(folder / "x.npz").find("the checksum is wrong") != std::string::npos);
  std::string method = bomb;
  put_number(method, entry + 10, 14, 2);
  folder.put("x.npz", method);
  CHECK(broken(folder / "x.npz").find("packed by method 14") != std::string::npos);
  std::string many = bomb;
  std::size_t end = many.rfind("PK\x05\x06");
  put_number(many, end + 10, 65535, 2);
  folder.put("x.npz", many);
  CHECK(broken(folder / "x.npz").find("expected entry 2 of 65535") != std::string::npos);
}

TEST_CASE("idx: as MNIST has it, packed or not") {
  TemporaryFolder folder;
  folder.put("train-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02\x07\x08\x09\xff"s);
  CHECK(loaded(folder / "train-images-idx3-ubyte") == "u8[1, 2, 2] [[[7, 8], [9, 255]]]");
  folder.put("x.idx", "\0\0\x0b\x01\0\0\0\x02\xff\xfe\x01\x00"s);
  CHECK(loaded(folder / "x.idx") == "i16[2] [-2, 256]");
  folder.put("t.idx3-ubyte.gz", bytes_of(packed_idx));
  CHECK(loaded(folder / "t.idx3-ubyte.gz") == "u8[2, 2, 2] [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]");
  for (Precision p : {Precision::u8, Precision::i8, Precision::i16, Precision::i32, Precision::f32, Precision::f64}) {
    Array array = Array::make({p, {2, 3}});
    for (int i = 0; i < 6; ++i) array.set_number(i, i * 3);
    save_array(array, folder / "y.idx");
    CHECK(equal(Value(load_array(folder / "y.idx")), Value(array)));
  }
  Array half = Array::make({Precision::f16, {2}});
  CHECK(error_of([&] { save_array(half, folder / "h.idx"); }).find("not f16[2]") != std::string::npos);
  CHECK(error_of([&] { save_array(half, folder / "h.idx.gz"); }).find("leave out '.gz'") != std::string::npos);
}

TEST_CASE("idx: headers that lie, and broken packing [hostile]") {
  TemporaryFolder folder;
  folder.put("x.idx", "\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  CHECK(broken(folder / "x.idx").find("needs more bytes than the 1 that follow") != std::string::npos);
  std::string huge = "\0\0\x08\x04\0\0\0\0"s + std::string(12, '\xff');  // no elements, and too large for anything
  folder.put("x.idx", huge);
  CHECK(broken(folder / "x.idx").find("larger than anything") != std::string::npos);
  folder.put("x.idx", "\0\0\x08\xff\xff"s);
  CHECK(broken(folder / "x.idx").starts_with("E7003"));
  folder.put("x.idx", "\0\0\x07\x01\0\0\0\x01\x01"s);
  CHECK(broken(folder / "x.idx").find("element code 7") != std::string::npos);
  folder.put("x.idx", "\x01\0\x08\x01"s);
  CHECK(broken(folder / "x.idx").find("two zero bytes") != std::string::npos);
  folder.put("x.idx", "");
  CHECK(broken(folder / "x.idx").starts_with("E7003"));
  const std::string good = bytes_of(packed_idx);
  for (std::size_t length = 0; length < good.size(); ++length) {
    folder.put("x.idx.gz", good.substr(0, length));
    CHECK_MESSAGE(broken(folder / "x.idx.gz").starts_with("E7003"), length);
  }
  folder.put("x.idx.gz", "this is no gzip file");
  CHECK(broken(folder / "x.idx.gz").find("broken") != std::string::npos);
}

TEST_CASE("raw records are what the type says, one extent from the size of the file") {
  TemporaryFolder folder;
  std::string records;
  for (int record = 0; record < 3; ++record) records += std::string(1, static_cast<char>(record)) + "ab";
  folder.put("batch.bin", records);
  CHECK(loaded(folder / "batch.bin", {.precision = Precision::u8, .extents = {std::nullopt, 3}}) ==
        "u8[3, 3] [[0, 97, 98], [1, 97, 98], [2, 97, 98]]");
  CHECK(loaded(folder / "batch.bin", {.precision = Precision::u8, .extents = {9}}).starts_with("u8[9]"));
  CHECK(broken(folder / "batch.bin", {.precision = Precision::u8, .extents = {std::nullopt, 4}})
            .find("no multiple of 4") != std::string::npos);
  CHECK(broken(folder / "batch.bin", {.precision = Precision::u8, .extents = {std::nullopt, std::nullopt}})
            .find("only one extent") != std::string::npos);
  CHECK(broken(folder / "batch.bin", {.precision = Precision::f32, .extents = {3}}).find("needs 12") !=
        std::string::npos);
  CHECK(
      broken(folder / "batch.bin", {.precision = Precision::u8, .extents = {1L << 40, 1L << 40}}).starts_with("E7003"));
  CHECK(broken(folder / "batch.bin", {.precision = Precision::u8, .extents = {std::nullopt, 0}}).starts_with("E7003"));
  CHECK(broken(folder / "batch.bin", {.precision = Precision::boolean, .extents = {9}}).find("position 1") !=
        std::string::npos);
  CHECK(broken(folder / "batch.bin").find("does not say what it holds") != std::string::npos);
  Array array = load_array(folder / "batch.bin", {.precision = Precision::u8, .extents = {9}});
  save_array(array, folder / "copy.bin");
  CHECK(read_text(folder / "copy.bin") == records);
}

TEST_CASE("csv: a column by the name in the header") {
  TemporaryFolder folder;
  folder.put("x.csv", "name,height,\"width, m\"\nAda,1.5,2\n\"Bob, B\",2.5,3\n");
  CHECK(loaded(folder / "x.csv", {.name = "height"}) == "f64[2] [1.5, 2.5]");
  CHECK(loaded(folder / "x.csv", {.name = "width, m"}) == "f64[2] [2, 3]");
  CHECK(broken(folder / "x.csv", {.name = "name"}).find(":2:1: expected a number, found 'Ada'") != std::string::npos);
  CHECK(broken(folder / "x.csv", {.name = "depth"}).find("there are name, height, width, m") != std::string::npos);
  folder.put("y.csv", "1,2\n3,4\n");
  CHECK(broken(folder / "y.csv", {.name = "height"}).find("there is no header") != std::string::npos);
  folder.put("z.csv", "a,b\n1\n2,3\n");
  CHECK(broken(folder / "z.csv", {.name = "b"}).starts_with("E7003"));
}

TEST_CASE("csv: a row that ends before the wanted column [hostile]") {
  TemporaryFolder folder;
  folder.put("x.csv", "a,b\n1\n");
  CHECK(broken(folder / "x.csv", {.name = "b"}).find("x.csv:2:1: this row has 1 cell, and 'b' is column 2") !=
        std::string::npos);
  CHECK(loaded(folder / "x.csv", {.name = "a"}) == "f64[1] [1]");
  folder.put("x.csv", "a,b,c\n1,2\n3,4\n");  // every row is too short
  CHECK(broken(folder / "x.csv", {.name = "c"}).find("x.csv:2:1: this row has 2 cells, and 'c' is column 3") !=
        std::string::npos);
  std::string many = "a";
  for (int i = 0; i < 1000; ++i) many += ",a" + std::to_string(i);
  folder.put("x.csv", many + "\n");
  CHECK(broken(folder / "x.csv", {.name = "b"}).ends_with("a17, a18 and 981 others"));
}

}  // namespace taskspec::archives_test
