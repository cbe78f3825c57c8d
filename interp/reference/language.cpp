#include "interp/reference/language.hpp"

#include <fmt/format.h>

#include "interp/reference/language/chapters.hpp"

namespace taskspec {

std::span<const LanguageChapter> language_chapters() {
  static const LanguageChapter chapters[] = {declarations_chapter(), statements_chapter(), operators_chapter(),
                                             types_chapter(), members_chapter()};
  return chapters;
}

namespace {

bool is_plural(std::string_view many, std::string_view one) {
  return many.size() > 3 && many.ends_with('s') && many.substr(0, many.size() - 1) == one;
}

}  // namespace

const LanguageRecord* language_record(std::string_view name) {
  const LanguageRecord *member = nullptr, *other_number = nullptr;
  for (const LanguageChapter& chapter : language_chapters())
    for (const LanguageRecord& record : chapter.records) {
      if (record.name == name) return &record;
      const bool is_member = record.name.starts_with('.') && record.name.size() > 2;
      if (is_member && record.name.substr(1) == name) member = &record;
      if (is_plural(record.name, name) || is_plural(name, record.name)) other_number = &record;
    }
  return member ? member : other_number;
}

std::string language_text(const LanguageRecord& record) {
  std::string text = fmt::format("{}\n\n{}", record.form, record.doc);
  if (!record.part.empty()) text += fmt::format(" Not built yet: it needs {}.", record.part);
  std::string_view example = record.example;
  while (example.ends_with('\n')) example.remove_suffix(1);
  return example.empty() ? text : fmt::format("{}\n\n{}", text, example);
}

}  // namespace taskspec
