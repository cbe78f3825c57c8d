// Diagnostics: every code is registered, has a test, and its explanation tells the truth.
#include "ir/codes/codes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::codes_test {

namespace {

// Every E and four digits that is no part of a longer word.
std::set<std::string> codes_in(const std::string& text) {
  auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::set<std::string> codes;
  for (std::size_t at = text.find('E'); at != std::string::npos; at = text.find('E', at + 1)) {
    if (at + 5 > text.size() || (at > 0 && is_word(text[at - 1]))) continue;
    const bool digits = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                    text.begin() + static_cast<std::ptrdiff_t>(at) + 5, is_digit);
    if (digits && (at + 5 == text.size() || !is_word(text[at + 5]))) codes.insert(text.substr(at, 5));
  }
  return codes;
}

std::set<std::string> registered() {
  std::set<std::string> codes;
  for (const CodeInfo* info : all_codes()) codes.insert(info->code.text());
  return codes;
}

// The registry and the tests of the registry mention all codes without raising or expecting one.
bool is_about_codes(const std::string& file) {
  return file.starts_with("ir/codes/") || file.starts_with("tests/guard/") || file == "tests/unit/render_test.cpp" ||
         file == "tests/unit/base_test.cpp";
}

}  // namespace

TEST_CASE("the registry is ascending and finds what it holds") {
  const std::vector<const CodeInfo*> all = all_codes();
  CHECK(all.size() == registered().size());
  CHECK(std::is_sorted(all.begin(), all.end(), [](auto a, auto b) { return a->code < b->code; }));
  for (const CodeInfo* info : all) CHECK(find_code(info->code) == info);
}

TEST_CASE("every code that the product raises is registered") {
  const std::set<std::string> known = registered();
  for (const std::string& file : cpp_files()) {
    if (is_about_codes(file) || file.starts_with("tests/")) continue;
    for (const std::string& code : codes_in(read_file(file)))
      CHECK_MESSAGE(known.contains(code), file << " uses " << code << ", which has no record under ir/codes/");
  }
}

TEST_CASE("every code that a user can meet has a test") {
  std::set<std::string> tested;
  for (const std::string& file : files_below("tests", {".cpp", ".task", ".err"}))
    if (!is_about_codes(file)) tested.merge(codes_in(read_file(file)));
  for (const CodeInfo* info : all_codes())
    if (info->reach != Reach::later)
      CHECK_MESSAGE(tested.contains(info->code.text()), info->code.text() << " has no test under tests/");
}

TEST_CASE("a part that is built has no code marked as later") {
  std::set<std::string> raised;
  for (const std::string& file : cpp_files())
    if (!is_about_codes(file) && !file.starts_with("tests/")) raised.merge(codes_in(read_file(file)));
  for (const CodeInfo* info : all_codes())
    if (info->reach == Reach::later)
      CHECK_MESSAGE(!raised.contains(info->code.text()), info->code.text() << " is raised: its record is out of date");
}

TEST_CASE("the program of every explanation gives its code") {
  for (const CodeInfo* info : all_codes()) {
    if (info->reach != Reach::program) continue;
    const std::string code = info->code.text();
    CAPTURE(code);
    TemporaryFolder folder;
    folder.put("program.task", std::string(info->program) + "\n");
    ToolOutcome outcome = in_shell("taskspec run program.task", folder);
    CAPTURE(outcome.err);
    CHECK(outcome.err.find("error " + code + ": ") != std::string::npos);
    const bool is_of_a_run =
        code[1] == '5' || code[1] == '7' || (code.starts_with("E403") && code != "E4038") || code == "E3102";
    CHECK(outcome.code == (is_of_a_run ? 3 : 1));
  }
}

TEST_CASE("explain prints every record") {
  for (const CodeInfo* info : all_codes()) {
    ToolOutcome outcome = in_shell("taskspec explain " + info->code.text());
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find(info->summary) != std::string::npos);
    CHECK(outcome.out.find("fix:") != std::string::npos);
  }
  CHECK(in_shell("taskspec explain E9999").code == 2);
}

TEST_CASE("codes are found in texts as whole words") {
  CHECK(codes_in("\"E1001\", E2003_x.task: E0001") == std::set<std::string>{"E0001", "E1001", "E2003"});
  CHECK(codes_in("1E2003 E20031 E200 FE2003").empty());
}

}  // namespace taskspec::codes_test
