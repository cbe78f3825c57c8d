// Many arrays in one file, and what a checkpoint is: sealed, as it was written or refused, and said what does not fit.
#include <doctest/doctest.h>

#include <cstring>

#include "ir/files/checkpoint.hpp"
#include "ir/files/zip.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::checkpoints_test {
using namespace std::string_literals;

namespace {

Array counted(Precision precision, Extents extents, std::int64_t first = 0) {
  Array array = Array::make({precision, std::move(extents)});
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_number(i, static_cast<double>((first + i) % 2));
  return array;
}

std::vector<NamedArray> some_arrays() {
  return {{"w", counted(Precision::f32, {2, 3})},
          {"c1.w", counted(Precision::f64, {4}, 1)},
          {"blocks[2].w", counted(Precision::i64, {})},
          {"a/b", counted(Precision::boolean, {3})},
          {"größe 1", counted(Precision::f16, {2, 0})}};
}

bool same(std::span<const NamedArray> a, std::span<const NamedArray> b) {
  return std::ranges::equal(a, b, [](const NamedArray& x, const NamedArray& y) {
    return x.name == y.name && x.array.type() == y.array.type() &&
           std::memcmp(x.array.raw(), y.array.raw(), x.array.bytes()) == 0;
  });
}

std::string npy_of(const Array& array) {
  TemporaryFolder folder;
  save_array(array, folder / "x.npy");
  return read_text(folder / "x.npy");
}

std::string archive_of(const std::vector<std::pair<std::string, std::string>>& entries, ZipLimits limits = {}) {
  std::string bytes;
  ZipWriter archive([&](std::string_view more) { bytes += more; }, limits);
  for (const auto& [name, contents] : entries) {
    const std::string_view pieces[] = {contents};
    archive.add(name, pieces);
  }
  archive.finish();
  return bytes;
}

std::string refusal(const std::string& path) {
  return error_of([&] { load_checkpoint(path); });
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("npz: many arrays by any name, in order, and the same bytes each time") {
  TemporaryFolder folder;
  const std::vector<NamedArray> arrays = some_arrays();
  save_arrays(folder / "x.npz", arrays);
  CHECK(same(load_arrays(folder / "x.npz"), arrays));
  CHECK(load_array(folder / "x.npz", {.name = "blocks[2].w"}).type().text() == "i64");
  CHECK(probe(folder / "x.npz", {.name = "größe 1"}).text() == "f16[2, 0]");
  save_arrays(folder / "y.NPZ", arrays);
  CHECK(read_text(folder / "x.npz") == read_text(folder / "y.NPZ"));
  const ToolOutcome python = in_shell("python3 -m zipfile -t x.npz && python3 -m zipfile -l x.npz", folder);
  CHECK(python.code == 0);
  for (const NamedArray& array : arrays) CHECK(holds(python.out, array.name + ".npy"));
  save_arrays(folder / "none.npz", {});
  CHECK(load_arrays(folder / "none.npz").empty());
}

TEST_CASE("npz: names that cannot be written, and places that hold no names") {
  TemporaryFolder folder;
  const Array one = counted(Precision::u8, {1});
  auto saving = [&](std::vector<NamedArray> arrays, const std::string& path = "x.npz") {
    return error_of([&] { save_arrays(folder / path, arrays); });
  };
  CHECK(holds(saving({{"", one}}), "E7004"));
  CHECK(holds(saving({{"w", one}, {"v", one}, {"w", one}}), "two arrays have the name 'w'"));
  CHECK(holds(saving({{"a\nb", one}}), "'a?b' of an array is no plain text"));
  CHECK(holds(saving({{"a\xff", one}}), "no plain text"));
  CHECK(holds(saving({{std::string(70000, 'a'), one}}), "has 70000 bytes"));
  CHECK(holds(saving({{"w", one}}, "x.npy"), "only an .npz holds arrays by name"));
  CHECK(std::filesystem::is_empty(folder.path()));
  save_array(one, folder / "x.npy");
  CHECK(error_of([&] { load_arrays(folder / "x.npy"); }).starts_with("E7003"));
  CHECK(error_of([&] { save_array(one, folder / "x.npz", "a\tb"); }).starts_with("E7004"));
}

TEST_CASE("npz: two arrays of one name, entries inside another one, and more than a file can hold [hostile]") {
  TemporaryFolder folder;
  const std::string npy = npy_of(counted(Precision::f64, {100}));
  folder.put("twice.npz", archive_of({{"w.npy", npy}, {"readme", "text"}, {"w.npy", npy}}));
  CHECK(holds(refusal(folder / "twice.npz"), "E7003 '" + folder / "twice.npz" + "' holds two arrays of the name 'w'"));
  CHECK(error_of([&] { load_array(folder / "twice.npz", {.name = "w"}); }).starts_with("E7003"));
  // All entries of the directory lead to the bytes of the first one.
  std::string bytes = archive_of({{"a.npy", npy}, {"b.npy", npy}, {"c.npy", npy}});
  const std::size_t second = bytes.find("PK\x03\x04", 4), directory = bytes.find("PK\x01\x02"),
                    third = bytes.find("PK\x03\x04", second + 4);
  std::string inside = bytes.substr(0, second) + bytes.substr(directory);
  REQUIRE(third != std::string::npos);
  for (std::size_t at = 0; (at = inside.find("PK\x01\x02", at)) != std::string::npos; at += 4)
    inside.replace(at + 42, 4, "\0\0\0\0"s);
  const std::size_t end = inside.find("PK\x05\x06");
  for (int i = 0; i < 4; ++i) inside[end + 16 + static_cast<std::size_t>(i)] = static_cast<char>(second >> (8 * i));
  folder.put("inside.npz", inside);
  CHECK(holds(error_of([&] { load_arrays(folder / "inside.npz"); }), "for its entries"));
  CHECK(load_array(folder / "inside.npz", {.name = "c"}).elements() == 100);  // alone it is what it says
}

TEST_CASE("npz: the fields of archives beyond 4 GiB, and more than 65,535 arrays") {
  TemporaryFolder folder;
  const std::string npy = npy_of(counted(Precision::f32, {5}));
  for (ZipLimits limits : {ZipLimits{.number = 1}, ZipLimits{.number = 200}, ZipLimits{.entries = 2}}) {
    folder.put("wide.npz", archive_of({{"a.npy", npy}, {"b.npy", npy}, {"c.npy", npy}}, limits));
    CHECK(load_arrays(folder / "wide.npz").size() == 3);
    CHECK(load_array(folder / "wide.npz", {.name = "c"}).elements() == 5);
    const ToolOutcome python = in_shell("python3 -m zipfile -t wide.npz", folder);
    CHECK_MESSAGE(python.code == 0, python.err);
  }
  std::vector<NamedArray> many;
  const Array one = counted(Precision::u8, {});
  for (int i = 0; i < 70000; ++i) many.push_back({std::to_string(i), one});
  save_arrays(folder / "many.npz", many);
  CHECK(load_arrays(folder / "many.npz").size() == 70000);
  CHECK(in_shell("python3 -c \"import zipfile; print(len(zipfile.ZipFile('many.npz').namelist()))\"", folder).out ==
        "70000\n");
}

TEST_CASE("checkpoint: every cut and every changed byte is an error or the same arrays [hostile]") {
  TemporaryFolder folder;
  std::vector<NamedArray> arrays = some_arrays();
  save_checkpoint(folder / "good.npz", arrays);
  const std::string good = read_text(folder / "good.npz");
  for (std::size_t length = 0; length < good.size(); length += 11) {
    folder.put("x.npz", good.substr(0, length));
    CHECK_MESSAGE(refusal(folder / "x.npz").starts_with("E7003"), length);
  }
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x11);
    folder.put("x.npz", bad);
    const std::string error = refusal(folder / "x.npz");
    if (error == "no error") {
      const Checkpoint found = load_checkpoint(folder / "x.npz");
      // Without the name of its seal it is none, and may hold an array more, that nobody knows.
      const std::size_t more = found.sealed ? 0 : found.arrays.size() - arrays.size();
      CHECK_MESSAGE((more <= 1 && same(std::span(found.arrays).first(arrays.size()), arrays)), at);
    } else {
      ++refused;
      CHECK_MESSAGE((error.starts_with("E7003") && holds(error, "x.npz")), at << ": " << error);
    }
  }
  CHECK(refused > good.size() / 2);
}

TEST_CASE("checkpoint: its seal fits what it holds, in any order, and nothing else") {
  TemporaryFolder folder;
  std::vector<NamedArray> arrays = some_arrays();
  save_checkpoint(folder / "x.npz", arrays);
  CHECK(load_checkpoint(folder / "x.npz").sealed);
  CHECK(same(load_checkpoint(folder / "x.npz").arrays, arrays));
  std::vector<NamedArray> all = load_arrays(folder / "x.npz");
  const Array seal = all.back().array;
  CHECK(all.back().name == checkpoint_seal);
  CHECK(std::string(seal.data<char>().data(), seal.bytes()).starts_with("taskspec checkpoint 1 xxh3 "));
  auto after = [&](auto change) {
    std::vector<NamedArray> changed = load_arrays(folder / "x.npz");
    change(changed);
    save_arrays(folder / "y.npz", changed);
    return refusal(folder / "y.npz");
  };
  using Arrays = std::vector<NamedArray>;
  CHECK(after([](Arrays& a) { std::ranges::reverse(a); }) == "no error");
  CHECK(holds(after([](Arrays& a) { a[0].array.set_number(3, 7); }), "was changed since it was written"));
  CHECK(holds(after([](Arrays& a) { a[1].name = "c2.w"; }), "was changed"));
  CHECK(holds(after([](Arrays& a) { std::swap(a[0].array, a[1].array); }), "was changed"));
  CHECK(holds(after([](Arrays& a) { a.erase(a.begin()); }), "hash than that of its 4 arrays"));
  CHECK(holds(after([](Arrays& a) {
                a[0].array = Array::wrap({Precision::f32, {3, 2}}, a[0].array.storage());
              }),
              "was changed"));
  CHECK(holds(after([](Arrays& a) { a.back().array.data<char>()[20] = '2'; }), "version 2; up to 1 are known"));
  CHECK(holds(after([](Arrays& a) { a.back().array.data<char>()[0] = 'T'; }), "broken 'taskspec.checkpoint'"));
  CHECK(holds(after([](Arrays& a) { a.back().array = counted(Precision::f32, {3}); }), "broken"));
  CHECK(holds(after([](Arrays& a) { a.back().array.data<char>()[30] ^= 1; }), "was changed"));
  CHECK(after([](Arrays& a) { a.pop_back(); }) == "no error");
  CHECK(!load_checkpoint(folder / "y.npz").sealed);
  arrays[0].name = checkpoint_seal;
  CHECK(error_of([&] { save_checkpoint(folder / "z.npz", arrays); }).starts_with("E7004"));
}

TEST_CASE("checkpoint: all that does not fit is said at once") {
  const Array f = counted(Precision::f32, {2}), wide = counted(Precision::u8, {2}, 1);
  Array large = counted(Precision::u8, {2});
  large.set_integer(1, 16);
  const std::vector<NamedArray> found{{"b", f}, {"u", wide}, {"v", large}, {"extra", f}, {"a", f}};
  const std::vector<WantedArray> fine{
      {"a", f.type()}, {"b", f.type()}, {"extra", f.type()}, {"u", {Precision::u4, {2}}}, {"v", large.type()}};
  const std::vector<Array> fit = fitting("x.npz", "Net()", fine, found);
  REQUIRE(fit.size() == 5);
  CHECK(fit[3].type().text() == "u4[2]");
  CHECK(fit[3].integer(0) == 1);
  const std::vector<WantedArray> other{{"a", {Precision::f64, {2}}},
                                       {"b", {Precision::f32, {2, 1}}},
                                       {"c[1].w", {Precision::i64, {}}},
                                       {"u", {Precision::i8, {2}}},
                                       {"v", {Precision::u4, {2}}}};
  try {
    fitting("x.npz", "Net()", other, found);
    FAIL("it fits");
  } catch (const Error& error) {
    const Diag& diag = error.diags().items().front();
    CHECK(diag.message == "'x.npz' does not fit Net(): 6 differences");
    CHECK(diag.notes == std::vector<std::string>{"'a' is f32[2] in the file, and f64[2] here",
                                                 "'b' is f32[2] in the file, and f32[2, 1] here",
                                                 "missing: 'c[1].w', i64", "'u' is u8[2] in the file, and i8[2] here",
                                                 "'v' holds numbers in the file that are no u4",
                                                 "not known here: 'extra', f32[2]"});
  }
  std::vector<WantedArray> many;
  for (int i = 0; i < 1000; ++i) many.push_back({std::to_string(i), f.type()});
  try {
    fitting("x.npz", "Net()", many, {});
  } catch (const Error& error) {
    CHECK(error.diags().items().front().notes.back() == "and 900 others");
  }
}

}  // namespace taskspec::checkpoints_test
