// ir/base: places in sources, diagnostics, nearest names, widths, hashes, random numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "ir/base/ascii.hpp"
#include "ir/base/diag.hpp"
#include "ir/base/hash.hpp"
#include "ir/base/once_table.hpp"
#include "ir/base/random.hpp"
#include "ir/base/result.hpp"
#include "ir/base/source.hpp"
#include "ir/base/text.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::base_test {

TEST_CASE("a source knows line and column of every byte") {
  Source source("x.task", "ab\r\n\ncd");
  CHECK(source.line_count() == 3);
  CHECK(source.line(1) == "ab");  // without its line end, CRLF too
  CHECK(source.line(2) == "");
  CHECK(source.line(3) == "cd");
  auto at = [&](std::uint32_t offset) {
    Position p = source.position(offset);
    return std::to_string(p.line) + ":" + std::to_string(p.column);
  };
  CHECK(at(0) == "1:1");
  CHECK(at(3) == "1:4");  // the line end belongs to its line
  CHECK(at(4) == "2:1");
  CHECK(at(5) == "3:1");
  CHECK(at(7) == "3:3");  // behind the last byte
  CHECK(source.line_start(3) == 5);
}

TEST_CASE("an empty source has one empty line") {
  Source source("x.task", "");
  CHECK(source.line_count() == 1);
  CHECK(source.line(1) == "");
  CHECK(source.position(0).line == 1);
}

TEST_CASE("positions agree with counting line ends") {
  for (std::uint64_t seed : random_seeds(100, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::string text;
    for (std::int64_t n = between(random, 0, 60); n > 0; --n) text += "ab\n"[between(random, 0, 2)];
    Source source("x", text);
    Position expected;
    for (std::uint32_t offset = 0; offset <= text.size(); ++offset) {
      Position found = source.position(offset);
      REQUIRE(found.line == expected.line);
      REQUIRE(found.column == expected.column);
      const bool line_end = offset < text.size() && text[offset] == '\n';
      expected = line_end ? Position{expected.line + 1, 1} : Position{expected.line, expected.column + 1};
    }
  }
}

TEST_CASE("spans join, and ignore what has no place") {
  SourceId a(0), b(1);
  CHECK(join({a, 2, 4}, {a, 7, 9}) == Span{a, 2, 9});
  CHECK(join({a, 7, 9}, {a, 2, 4}) == Span{a, 2, 9});
  CHECK(join({}, {a, 2, 4}) == Span{a, 2, 4});
  CHECK(join({a, 2, 4}, {}) == Span{a, 2, 4});
  CHECK(join({a, 2, 4}, {b, 0, 1}) == Span{a, 2, 4});  // two files have no common span
  CHECK_FALSE(join({}, {}).valid());
}

TEST_CASE("sources give text and place of a span") {
  Sources sources;
  SourceId id = sources.add("hello.task", "let x = 1\nprint(x)");
  CHECK(sources.text({id, 10, 15}) == "print");
  CHECK(sources.place({id, 10, 15}) == "hello.task:2:1");
  CHECK(sources.place({}) == "<no place>");
  CHECK(sources.text({}) == "");
}

TEST_CASE("diagnostics keep their order and sort by place") {
  Sources sources;
  SourceId id = sources.add("a.task", "0123456789");
  Diags diags;
  diags.warning("E1008", {id, 5, 6}, "second");
  CHECK_FALSE(diags.has_errors());
  diags.error("E1001", {id, 1, 2}, "first").at("here").label({id, 3, 4}, "there").note("why").help("do this");
  CHECK(diags.has_errors());
  CHECK(diags.items().front().message == "second");
  std::vector<Diag> sorted = diags.sorted();
  CHECK(sorted[0].message == "first");
  CHECK(sorted[0].primary.text == "here");
  CHECK(sorted[0].labels.at(0).text == "there");
  CHECK(sorted[0].help_text == "do this");
}

TEST_CASE("codes print with four digits") {
  CHECK(Code("E0001").text() == "E0001");
  CHECK(Code("E7003").text() == "E7003");
  CHECK(Code::of(2001) == Code("E2001"));
}

TEST_CASE("an error carries its diagnostics through a throw") {
  Error error = failure("E5002", {}, "division by zero");
  CHECK(std::string(error.what()) == "E5002 division by zero");
  Result<int> failed(error.diags());
  CHECK_FALSE(failed);
  CHECK_THROWS_AS(std::move(failed).value_or_throw(), Error);
  CHECK(std::move(Result<int>(7)).value_or_throw() == 7);
}

TEST_CASE("edit distance counts insertions, deletions, changes and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("energy", "enrgy") == 1);
  CHECK(edit_distance("energy", "enegry") == 1);  // one swap
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is the one that was meant, or none") {
  CHECK(nearest("enrgy", {"scale", "energy", "moments"}) == "energy");
  CHECK(nearest("mixture", {"scale", "energy"}) == std::nullopt);
  CHECK(nearest("x", {"y", "z"}) == std::nullopt);  // one letter is no typo of another
  CHECK(nearest("X", {"y", "x"}) == "x");           // but the wrong case is
  CHECK(nearest("Softmax", {"softmax"}) == "softmax");
  CHECK(nearest("fill", {"fill", "file"}) == "file");  // never the name itself
  CHECK(nearest("bat", {"cat", "hat"}) == "cat");      // of equals the first
  CHECK(nearest("abc", {}) == std::nullopt);
}

TEST_CASE("plurals, lists and lines") {
  CHECK(plural(0, "task") == "0 tasks");
  CHECK(plural(1, "task") == "1 task");
  CHECK(plural(2, "entry", "entries") == "2 entries");
  CHECK(joined(std::vector<std::string>{"a", "b"}, ", ") == "a, b");
  CHECK(lines_of("a\r\n\nb\n") == std::vector<std::string_view>{"a", "", "b"});
  CHECK(lines_of("").empty());
}

TEST_CASE("characters of UTF-8, and bytes that are none") {
  CHECK(first_character("a").code_point == U'a');
  CHECK(first_character("\u00e9x").code_point == U'\u00e9');
  CHECK(first_character("\U0001F600").code_point == U'\U0001F600');
  CHECK(first_character("\U0001F600").bytes == 4);
  // Cut short, overlong, a surrogate, above 10FFFF, a lone tail byte: one byte that is no character.
  for (std::string_view broken : {"\xE2\x82", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"}) {
    CAPTURE(broken.size());
    CHECK(first_character(broken).code_point == U'\uFFFD');
    CHECK(first_character(broken).bytes == 1);
  }
}

TEST_CASE("display width counts columns, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("gr\u00f6\u00dfe") == 5);
  CHECK(display_width("\u65e5\u672c") == 4);
  CHECK(display_width("e\u0301") == 1);  // a combining accent
  CHECK(display_width("\U0001F600") == 2);
}

TEST_CASE("hashes have their published values") {
  CHECK(hash64("") == 0x2D06800538D394C2);
  CHECK(hash128("").text() == "99aa06d3014798d86001c324468d497f");
  CHECK(fnv1a32("") == 0x811C9DC5);
  CHECK(fnv1a32("foobar") == 0xBF9CF968);
}

TEST_CASE("a hasher tells apart what plain joining would not") {
  auto of = [](std::string_view a, std::string_view b) { return Hasher().add(a).add(b).digest(); };
  CHECK(of("ab", "c") != of("a", "bc"));
  CHECK(of("ab", "c") == of("ab", "c"));
  CHECK(Hasher().add(1).digest() != Hasher().add(2).digest());
  Hasher bytes;
  std::string_view text = "taskspec";
  for (char c : text) bytes.bytes(std::as_bytes(std::span(&c, 1)));
  CHECK(bytes.digest() == hash128(text));  // in pieces or at once
}

TEST_CASE("Philox 4x32-10 has its published values") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  constexpr std::uint32_t ones = 0xFFFFFFFF;
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) == PhiloxBlock{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
  CHECK(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}) ==
        PhiloxBlock{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
  CHECK(philox_key(0x0123456789ABCDEF) == PhiloxKey{0x89ABCDEF, 0x01234567});
}

TEST_CASE("uniform numbers reach 0 and stay below 1") {
  CHECK(uniform_f32(0) == 0.0F);
  CHECK(uniform_f32(0x80000000) == 0.5F);
  CHECK(uniform_f32(0xFFFFFFFF) == 1.0F - 0x1p-24F);
  CHECK(uniform_f64(0, 0) == 0.0);
  CHECK(uniform_f64(0x80000000, 0) == 0.5);
  CHECK(uniform_f64(0xFFFFFFFF, 0xFFFFFFFF) == 1.0 - 0x1p-53);
}

TEST_CASE("numbers are read in the notation of C, whatever the user's language") {
  CHECK(float_of("-2.5e3") == -2500);
  CHECK(float_of("1e400") == HUGE_VAL);
  CHECK(float_of("-1e400") == -HUGE_VAL);
  CHECK(float_of("0.0001e-400") == 0);
  CHECK(float_of("123456e-400") == 0);
  CHECK(float_of("0.000" + std::string(400, '0') + "1e500") == 1e96);
  CHECK(std::signbit(*float_of("-1e-400")));
  CHECK(float_of("1e-99999999999999999999") == 0);
  CHECK(float_of("1e99999999999999999999") == HUGE_VAL);
  CHECK(float_of("-inf") == -HUGE_VAL);
  CHECK(std::isnan(float_of("nan").value()));
  for (const char* text : {"", "-", "+1", "1,5", "1.5x", " 1", "0x10", "e5"}) {
    CAPTURE(text);
    CHECK_FALSE(float_of(text));
  }
}

TEST_CASE("letters and digits are those of ASCII") {
  for (int c = -128; c < 128; ++c) {
    const char letter = static_cast<char>(c);
    CHECK(is_word(letter) ==
          (std::string_view("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").find(letter) !=
           std::string_view::npos));
  }
}

TEST_CASE("a table of what is made once: by whoever asks first, and it stays where it is") {
  constexpr std::size_t count = 5000, last = std::size_t{1} << 20;
  OnceTable<std::size_t> table;
  std::atomic<std::size_t> made{0};
  auto at = [&](std::size_t position) -> std::size_t& {
    return table.get(position, [&](std::size_t& fresh) {
      fresh = position * position;
      ++made;
    });
  };
  std::vector<std::vector<std::size_t*>> seen(4);
  std::vector<std::thread> threads;
  for (auto& places : seen)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < count; ++i) places.push_back(&at(i));
      places.push_back(&at(last));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(made == count + 1);
  for (const auto& places : seen) CHECK(places == seen[0]);
  for (std::size_t i = 0; i < count; ++i) REQUIRE(*seen[0][i] == i * i);
  CHECK(*seen[0][count] == last * last);
  table.clear();
  at(3);
  CHECK(made == count + 2);
}

}  // namespace taskspec::base_test
