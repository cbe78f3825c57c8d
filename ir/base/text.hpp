// Small helpers for texts that people read: nearest names, plurals, lists, and widths on a terminal.
//
//   nearest("enrgy", {"energy", "scale"})   // "energy"
//   plural(2, "task")                       // "2 tasks"
//   display_width("größe")                  // 5
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taskspec {

// The least number of insertions, deletions, changes and swaps of neighbours that make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that a person who wrote `name` most likely meant; the earliest of equally near ones, and none if
// all are too far off to be a typo.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);
std::optional<std::string> nearest(std::string_view name, std::initializer_list<std::string> candidates);

std::string plural(std::size_t count, std::string_view noun);                           // "1 task", "3 tasks"
std::string plural(std::size_t count, std::string_view one, std::string_view several);  // "2 entries"

// A pattern in which "..." stands for any text, also of several lines.
bool fits_pattern(std::string_view pattern, std::string_view text);

std::string joined(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string_view> lines_of(std::string_view text);  // without line ends; a last empty line is dropped

// One character of UTF-8 at the front of a text that is not empty. A byte that belongs to no character counts as one
// character U+FFFD, so that broken text can be shown.
struct Character {
  char32_t code_point;
  std::size_t bytes;
};
Character first_character(std::string_view text);

// Columns on a terminal: 2 for wide East Asian characters and emoji, 0 for combining marks, 1 for the rest.
int display_width(char32_t code_point);
int display_width(std::string_view text);

}  // namespace taskspec
