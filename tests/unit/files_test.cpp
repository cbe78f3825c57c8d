// Files that hold numbers and texts: npy, csv, and writing whole or not at all.
#include "ir/files/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstring>
#include <random>

#include "ir/types/value.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::files_test {
using namespace std::string_literals;

namespace {

// An npy file with any header, true or not.
std::string npy(const std::string& dictionary, const std::string& elements, int version = 1) {
  std::string length;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) length += static_cast<char>(dictionary.size() >> (8 * i));
  return "\x93NUMPY"s + static_cast<char>(version) + '\0' + length + dictionary + elements;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
         ", }\n";
}

std::string loaded(const std::string& path) {
  Array array = load_array(path);
  return array.type().text() + " " + print(Value(array));
}

std::size_t entries(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

Array random_array(Precision precision, Extents extents, std::mt19937& random) {
  Array array = Array::make({precision, std::move(extents)});
  const PrecisionInfo& p = info(precision);
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (p.is_float)
      array.set_number(i, std::normal_distribution<>()(random));
    else
      array.set_integer(i, std::uniform_int_distribution<std::int64_t>(p.minimum, p.maximum)(random));
  }
  return array;
}

}  // namespace

TEST_CASE("npy: every precision and rank comes back as it was") {
  TemporaryFolder folder;
  std::mt19937 random(11);
  for (const PrecisionInfo& p : all_precisions()) {
    for (const Extents& extents :
         {Extents{}, Extents{5}, Extents{2, 3}, Extents{2, 1, 3, 2}, Extents{0}, Extents{2, 0}}) {
      CAPTURE(p.name);
      CAPTURE(extents.size());
      Array array = random_array(*precision_of(p.name), extents, random);
      save_array(array, folder / "x.npy");
      Array back = load_array(folder / "x.npy");
      CHECK(probe(folder / "x.npy") == back.type());
      CHECK(equal(Value(array), Value(back)));
      CHECK(info(back.precision()).bytes == p.bytes);
      if (!p.storage_only) CHECK(back.type() == array.type());
    }
  }
}

TEST_CASE("npy: written files are those of numpy, byte for byte") {
  TemporaryFolder folder;
  save_array(array_of(List{Value(1.0), Value(-2.0)}, Precision::f32), folder / "x.npy");
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  std::string expected = "\x93NUMPY\x01\x00\x76\x00"s + text + std::string(0x76 - text.size() - 1, ' ') + "\n";
  expected += "\x00\x00\x80\x3f\x00\x00\x00\xc0"s;
  CHECK(read_text(folder / "x.npy") == expected);
}

TEST_CASE("npy: versions, byte orders, Fortran order, quotes and key order") {
  TemporaryFolder folder;
  auto read = [&](const std::string& bytes) {
    folder.put("x.npy", bytes);
    return loaded(folder / "x.npy");
  };
  std::string little = "\x01\x00\x02\x00\x03\x00"s, big = "\x00\x01\x00\x02\x00\x03"s;
  CHECK(read(npy(header("<i2", "(3,)"), little)) == "i16[3] [1, 2, 3]");
  CHECK(read(npy(header(">i2", "(3,)"), big)) == "i16[3] [1, 2, 3]");
  CHECK(read(npy(header("=u2", "(3,)"), little)) == "u16[3] [1, 2, 3]");
  CHECK(read(npy(header("<i2", "(3,)"), little, 2)) == "i16[3] [1, 2, 3]");
  CHECK(read(npy(header("<i2", "(3,)"), little, 3)) == "i16[3] [1, 2, 3]");
  CHECK(read(npy("{\"shape\":(1,3L),\"descr\":\"<i2\",\"fortran_order\":False}", little)) == "i16[1, 3] [[1, 2, 3]]");
  CHECK(read(npy(header("|i1", "()"), "\xff")) == "i8 -1");
  CHECK(read(npy(header("|b1", "(3,)"), "\x00\x01\x07"s)) == "bool[3] [false, true, true]");
  CHECK(read(npy(header("<i8", "(0, 7)"), "")) == "i64[0, 7] []");
  CHECK(read(npy(header("|u1", "(2, 3)", true), "\x01\x02\x03\x04\x05\x06")) == "u8[2, 3] [[1, 3, 5], [2, 4, 6]]");
  CHECK(read(npy(header(">i2", "(1, 3, 1)", true), big)) == "i16[1, 3, 1] [[[1], [2], [3]]]");
  CHECK(read(npy(header("|u1", "(2, 2, 2)", true), "\x01\x02\x03\x04\x05\x06\x07\x08")) ==
        "u8[2, 2, 2] [[[1, 5], [3, 7]], [[2, 6], [4, 8]]]");
  CHECK(read(npy(header("|u1", "(0, 3)", true), "")) == "u8[0, 3] []");
  CHECK(read(npy(header("<u8", "(1,)"), "\xff\xff\xff\xff\xff\xff\xff\xff")) == "u64[1] [18446744073709551615]");
  CHECK(read(npy(header(">f8", "(1,)"), "\x3f\xf8\x00\x00\x00\x00\x00\x00"s)) == "f64[1] [1.5]");
  CHECK(read(npy(header("<f2", "(1,)"), "\x00\x3e"s)) == "f16[1] [1.5]");
}

TEST_CASE("npy: hostile headers are E7003 and take no memory [hostile]") {
  TemporaryFolder folder;
  auto error = [&](const std::string& bytes) {
    folder.put("x.npy", bytes);
    std::string probed = error_of([&] { probe(folder / "x.npy"); });
    std::string text = error_of([&] { load_array(folder / "x.npy"); });
    if (probed != "no error") CHECK(probed == text);
    return text.substr(0, 6) == "E7003 " ? text.substr(text.find("' ") + 2) : text;
  };
  CHECK(error("") == "is broken at byte 0: an npy file begins with 8 bytes of magic and version");
  CHECK(error("not an npy file at all") == "is broken at byte 0: expected the magic bytes \\x93NUMPY");
  CHECK(error("\x93NUMPY\x04\x00\x10\x00"s) == "is broken at byte 6: npy version 4 is not known (1, 2 or 3)");
  CHECK(error("\x93NUMPY\x01\x00\xff\xff{}"s).find("a header of 65535 bytes; 2 are left") != std::string::npos);
  CHECK(error("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s).find("a header of 4294967295 bytes") != std::string::npos);
  CHECK(error("\x93NUMPY\x01\x00\x01"s) == "is broken at byte 8: 2 more bytes expected, the file ends after 1");
  CHECK(error(npy(header("<f4", "(4,)"), "1234567890")) ==
        "is broken at byte 68: f32[4] needs 16 bytes of elements, the file has 10");
  CHECK(error(npy(header("|u1", "(1000000000,)"), "12")).find("needs 1000000000 bytes") != std::string::npos);
  CHECK(error(npy(header("<f8", "(1000000000, 1000000000, 100)"), "")).find("its shape needs over 2^63") !=
        std::string::npos);
  CHECK(error(npy(header("<f8", "(4611686018427387904, 4611686018427387904, 0)"), "")).find("over 2^63") !=
        std::string::npos);
  CHECK(error(npy(header("<f8", "(-1,)"), "12345678")).find("expected an extent") != std::string::npos);
  CHECK(error(npy(header("<f8", "(99999999999999999999,)"), "")).find("expected an extent") != std::string::npos);
  CHECK(error(npy(header("<c8", "(1,)"), "12345678")).starts_with("holds elements of type '<c8'"));
  CHECK(error(npy(header("|O", "(1,)"), "12345678")).starts_with("holds elements of type '|O'"));
  CHECK(error(npy(header("", "(1,)"), "12345678")).starts_with("holds elements of type ''"));
  CHECK(error(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")).find("one element type") !=
        std::string::npos);
  CHECK(error(npy("{'descr': '<f4', 'shape': (1,)}", "1234")).find("all of 'descr'") != std::string::npos);
  CHECK(error(npy("{'descr': '<f4", "")).find("the end of a string") != std::string::npos);
  CHECK(error(npy("{'descr': '<f4', 'fortran_order': Maybe", "")).find("True or False") != std::string::npos);
  CHECK(error(npy("{'descr' '<f4'}", "")) == "is broken at byte 19: expected ':' in the header");
  CHECK(error(npy("{'depth': 1}", "")).find("no key but") != std::string::npos);
  CHECK(error(npy(header("<f4", "(1,)") + "rm -rf", "1234")).find("nothing after the dictionary") != std::string::npos);
  std::string rank(3 * 65, ' ');
  for (std::size_t i = 0; i < rank.size(); i += 3) rank.replace(i, 3, "1, ");
  CHECK(error(npy(header("|u1", "(" + rank + ")"), "1")).find("at most 64 extents") != std::string::npos);
}

TEST_CASE("npy: a header that a large but empty file backs asks for more than the memory [hostile]") {
  TemporaryFolder folder;
  folder.put("x.npy", npy(header("<f8", "(1000000000000,)"), ""));
  std::error_code unsupported;  // not every disk can hold so large a hole
  std::filesystem::resize_file(folder / "x.npy", 8000000000200, unsupported);
  if (unsupported) return;
  CHECK(probe(folder / "x.npy").text() == "f64[1000000000000]");
  CHECK(error_of([&] { load_array(folder / "x.npy"); }).starts_with("E5008 f64[1000000000000] needs 8000000000000"));
}

TEST_CASE("files of random bytes and random changes never do harm [fuzz]") {
  TemporaryFolder folder;
  std::uint32_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::string good_npy = npy(header("<f4", "(2, 3)", true), std::string(24, 'x'));
  std::string good_csv = "a,b\n1,2\n\"3\",4e5\n-inf,+7\n";
  int read = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string name = i % 2 ? "x.npy" : "x.csv", bytes = i % 2 ? good_npy : good_csv;
    for (int change = 0; change < 1 + i % 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 7 == 0) bytes.resize(random() % bytes.size());
    folder.put(name, bytes);
    CAPTURE(bytes);
    std::string error = error_of([&] { load_array(folder / name); });
    bool expected = error == "no error" || error.starts_with("E7003 ") || error.starts_with("E5008 ");
    REQUIRE_MESSAGE(expected, error);
    read += error == "no error";
  }
  CHECK(read > 0);
}

TEST_CASE("csv: tables come back, with and without header") {
  TemporaryFolder folder;
  auto read = [&](const std::string& text) {
    folder.put("x.csv", text);
    CHECK(probe(folder / "x.csv") == load_array(folder / "x.csv").type());
    return loaded(folder / "x.csv");
  };
  CHECK(read("1,2,3\n4,5,6\n") == "f64[2, 3] [[1, 2, 3], [4, 5, 6]]");
  CHECK(read("1,2\r\n3,4") == "f64[2, 2] [[1, 2], [3, 4]]");
  CHECK(read("x,y\n1,2\n") == "f64[1, 2] [[1, 2]]");
  CHECK(read("\"a \"\"b\"\",\nc\",y\n1,2\n") == "f64[1, 2] [[1, 2]]");
  CHECK(read("\xef\xbb\xbf"
             "1,2\n") == "f64[1, 2] [[1, 2]]");
  CHECK(read(" 1 ,\t+2.5e3\n\n-.5,inf\n\n") == "f64[2, 2] [[1, 2500], [-0.5, inf]]");
  CHECK(read("\"1\",\"2\"\n") == "f64[1, 2] [[1, 2]]");
  CHECK(read("nan\n") == "f64[1, 1] [[nan]]");
  CHECK(read("1e-400\n-1e400\n") == "f64[2, 1] [[0], [-inf]]");
}

TEST_CASE("csv: mistakes are E7003 with line and column") {
  TemporaryFolder folder;
  auto error = [&](const std::string& text) {
    folder.put("x.csv", text);
    std::string message = error_of([&] { load_array(folder / "x.csv"); });
    CHECK(message.starts_with("E7003 "));
    return message.substr(std::min(message.find("x.csv"), message.size()));
  };
  CHECK(error("1,2\n3,four\n") == "x.csv:2:3: expected a number, found 'four'");
  CHECK(error("1,2\n3\n") == "x.csv:2:1: this row has 1 cell, the first one has 2");
  CHECK(error("1,2\n3,4,5\n") == "x.csv:2:1: this row has 3 cells, the first one has 2");
  CHECK(error("1,,3\n") == "x.csv:1:3: expected a number, the cell is empty");
  CHECK(error("1,x\n") == "x.csv:1:3: expected a number, found 'x'");
  CHECK(error("a,b\n1,2\nx,y\n") == "x.csv:3:1: expected a number, found 'x'");
  CHECK(error("1,\"2\n3,4\n") == "x.csv:1:3: this quote is never closed");
  CHECK(error("1,\"2\"3\n") == "x.csv:1:6: expected ',' or a line end after the closing quote");
  CHECK(error("0x10,1\n").find("found '0x10'") != std::string::npos);
  CHECK(error("") == "x.csv' holds no numbers");
  CHECK(error("only,words\n") == "x.csv' holds no numbers");
}

TEST_CASE("csv: saved numbers read back equal") {
  TemporaryFolder folder;
  std::mt19937 random(5);
  for (const PrecisionInfo& p : all_precisions()) {
    if (p.bytes == 8 && !p.is_float) continue;  // f64 does not hold all of them
    CAPTURE(p.name);
    Array array = random_array(*precision_of(p.name), {7, 3}, random);
    save_array(array, folder / "x.csv");
    Array back = load_array(folder / "x.csv"), narrowed = Array::make(array.type());
    for (std::int64_t i = 0; i < array.elements(); ++i) narrowed.set_number(i, back.number(i));
    CHECK(equal(Value(array), Value(narrowed)));
  }
  save_array(array_of(List{Value(0.1), Value(2.0)}, Precision::f32), folder / "x.csv");
  CHECK(read_text(folder / "x.csv") == "0.1\n2\n");
  save_array(array_of(List{Value(true), Value(false)}, Precision::boolean), folder / "x.csv");
  CHECK(read_text(folder / "x.csv") == "1\n0\n");
  std::string cube = error_of([&] { save_array(Array::make({Precision::f32, {2, 2, 2}}), folder / "y.csv"); });
  CHECK(cube.find("a csv file holds rank 1 or 2, not f32[2, 2, 2]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "y.csv"));
}

TEST_CASE("a missing file is E7001 and names the nearest one") {
  TemporaryFolder folder;
  folder.put("photo.npy", npy(header("|u1", "()"), "1"));
  folder.put("notes.txt", "hello");
  CHECK(error_of([&] { load_array(folder / "phto.npy"); }) ==
        "E7001 no file '" + (folder / "phto.npy") + "' | did you mean '" + (folder / "photo.npy") + "'?");
  CHECK(error_of([&] { probe(folder / "quite_different.npy"); }) ==
        "E7001 no file '" + (folder / "quite_different.npy") + "'");
  CHECK(error_of([&] {
          load_array(folder / "no/photo.npy");
        }).ends_with("there is no folder '" + (folder / "no") + "' either"));
  CHECK(error_of([&] { read_text(""); }).starts_with("E7001 no file ''"));
  CHECK(error_of([&] { read_text("a\0b"s); }).starts_with("E7001"));
}

TEST_CASE("an unknown suffix is E7003 and lists the known ones") {
  TemporaryFolder folder;
  const std::string known = "known are .npy .npz .png .jpg .jpeg .csv .idx -ubyte .idx.gz -ubyte.gz .bin";
  CHECK(error_of([] { load_array("x.tif"); }) == "E7003 'x.tif' has the unknown suffix '.tif'; " + known);
  CHECK(error_of([] { probe("x"); }) == "E7003 'x' has no suffix; " + known);
  CHECK(error_of([&] { save_array(Array::make({Precision::f32, {1}}), folder / "x.bmp"); }).starts_with("E7003"));
  save_array(Array::make({Precision::f32, {1}}), folder / "X.NPY");
  CHECK(probe(folder / "X.NPY").text() == "f32[1]");
}

TEST_CASE("folders, pipes and devices are refused without waiting [hostile]") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d.npy");
  REQUIRE(mkfifo((folder / "p.npy").c_str(), 0600) == 0);
  CHECK(error_of([&] { load_array(folder / "d.npy"); }).ends_with("is a folder, not a file"));
  CHECK(error_of([&] { load_array(folder / "p.npy"); }).ends_with("is a pipe, not a file"));
  CHECK(error_of([] { read_text("/dev/zero"); }) == "E7003 '/dev/zero' is a device, not a file");
  CHECK(error_of([&] { write_text(folder / "d.npy", "x"); }).ends_with("is a directory"));
  CHECK(error_of([&] { write_text(folder / "p.npy", "x"); }).starts_with("E7004"));
  CHECK(entries(folder) == 2);
}

TEST_CASE("what lies in a folder: sorted, names of folders end in /, hidden ones left out") {
  TemporaryFolder folder;
  CHECK(list_files(folder.path().string()).empty());
  for (const char* name : {"b.png", "a.png", ".hidden", "B.png"}) folder.put(name, "");
  std::filesystem::create_directory(folder / "a");
  CHECK(list_files(folder.path().string()) == std::vector<std::string>{"B.png", "a.png", "a/", "b.png"});
  CHECK(list_files(folder / "a/").empty());
  CHECK(error_of([&] { list_files(folder / "none"); }) == "E7001 no folder '" + folder / "none" + "'");
  CHECK(error_of([&] { list_files(folder / "a.png"); }) ==
        "E7003 '" + folder / "a.png" + "' cannot be read: not a directory");
  CHECK(error_of([&] { list_files("a\0b"s); }).starts_with("E7001 "));
}

TEST_CASE("texts: whole files with a limit") {
  TemporaryFolder folder;
  std::string text = "one\ntwo\0three"s;
  write_text(folder / "x.txt", text);
  CHECK(read_text(folder / "x.txt") == text);
  CHECK(read_text(folder / "x.txt", text.size()) == text);
  CHECK(error_of([&] { read_text(folder / "x.txt", text.size() - 1); }).find("is larger than 12 bytes") !=
        std::string::npos);
  write_text(folder / "x.txt", "");
  CHECK(read_text(folder / "x.txt").empty());
  CHECK_FALSE(read_text("/proc/self/status").empty());
}

TEST_CASE("a full disk leaves the old file and nothing else [files] [durable]") {
  TemporaryFolder folder;
  folder.put("x.npy", "old");
  Array large = Array::make({Precision::u8, {1 << 20}});
  // A limit on the size of files is the full disk that needs no rights.
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small {
    1000, before.rlim_max
  };
  setrlimit(RLIMIT_FSIZE, &small);
  std::string npy_error = error_of([&] { save_array(large, folder / "x.npy"); });
  std::string new_error = error_of([&] { save_array(large, folder / "new.csv"); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(npy_error.starts_with("E7004 cannot write '" + (folder / "x.npy") + "': "));
  CHECK(new_error.starts_with("E7004"));
  CHECK(read_text(folder / "x.npy") == "old");
  CHECK(entries(folder) == 1);
  CHECK(error_of([] { write_text("/dev/full", "x"); }) == "E7004 cannot write '/dev/full': no space left on device");
}

TEST_CASE("writing keeps rights, follows links and reports what is forbidden") {
  TemporaryFolder folder;
  write_text(folder / "x.txt", "1");
  std::filesystem::permissions(folder / "x.txt", std::filesystem::perms(0640));
  std::filesystem::create_symlink("x.txt", folder / "link.txt");
  write_text(folder / "link.txt", "2");
  CHECK(std::filesystem::is_symlink(folder / "link.txt"));
  CHECK(read_text(folder / "x.txt") == "2");
  CHECK(std::filesystem::status(folder / "x.txt").permissions() == std::filesystem::perms(0640));
  CHECK(error_of([&] { write_text(folder / "no/x.txt", "x"); }).ends_with("no such file or directory"));
  CHECK(error_of([] { write_text("a\0b"s, "x"); }).starts_with("E7004"));
  CHECK(error_of([] { write_text("", "x"); }).starts_with("E7004"));
  write_text("/dev/null", "x");
  CHECK(entries(folder) == 2);
  if (geteuid() == 0) return;  // nothing is forbidden to root
  std::filesystem::permissions(folder / "x.txt", std::filesystem::perms(0));
  CHECK(error_of([&] { write_text(folder / "x.txt", "3"); }).ends_with("permission denied"));
  CHECK(error_of([&] { read_text(folder / "x.txt"); }).ends_with("cannot be read: permission denied"));
}

TEST_CASE("a stream that is a regular file is appended to, not replaced") {
  TemporaryFolder folder;
  int descriptor = open((folder / "out").c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(descriptor >= 0);
  REQUIRE(write(descriptor, "a", 1) == 1);
  write_text("/dev/fd/" + std::to_string(descriptor), "b");
  close(descriptor);
  CHECK(read_text(folder / "out") == "ab");
}

TEST_CASE("a writer killed at any moment leaves the old or the new file [durable]") {
  TemporaryFolder folder;
  std::string path = folder / "x.txt", old_text(300000, 'a'), new_text(300000, 'b');
  folder.put("x.txt", old_text);
  std::uint32_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 10; ++round) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
      for (;;) write_text(path, new_text), write_text(path, old_text);
    usleep(random() % 20000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string text = read_text(path);
    CHECK((text == old_text || text == new_text));
  }
}

}  // namespace taskspec::files_test
