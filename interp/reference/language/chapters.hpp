// The chapters of the language, a file each.
#pragma once
#include "interp/reference/language.hpp"

namespace taskspec {

LanguageChapter declarations_chapter();
LanguageChapter statements_chapter();
LanguageChapter operators_chapter();
LanguageChapter types_chapter();
LanguageChapter members_chapter();

}  // namespace taskspec
