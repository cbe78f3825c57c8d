// The language as records, beside those of ops and builtins: what each word, sign and member means, and a tour through
// all of it. `taskspec doc for`, `?extents` at the prompt and the first chapters of the reference come from here.
//
//   language_record("for")->form        // "for PATTERN in VALUES { ... }"
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taskspec {

struct LanguageRecord {
  std::string_view name;  // as one looks for it: "task", ".scalar", "@", "extents"
  std::string_view form;  // how it is written
  std::string_view doc;
  std::string_view example = {};  // a program with // expect lines; none for what is not built
  std::string_view part = {};     // that it needs and that is not built yet; empty: it is
};

struct LanguageChapter {
  std::string_view title, introduction;
  std::span<const LanguageRecord> records;
};

// Declarations, statements, operators, types and extents, members.
std::span<const LanguageChapter> language_chapters();

// A section of the tour: some sentences and a program that runs as it says.
struct TourStop {
  std::string_view title, text, program;
};
std::span<const TourStop> tour();

// ".shape" and "shape" are the same, and "regions" is "region"; null where there is none.
const LanguageRecord* language_record(std::string_view name);
std::string language_text(const LanguageRecord& record);  // form, doc, example; no line end

}  // namespace taskspec
