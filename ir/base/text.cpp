#include "ir/base/text.hpp"

#include <algorithm>
#include <iterator>

namespace taskspec {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table are enough: a swap looks back two rows.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// Names longer than this are no typos of one another, and comparing them takes the product of their lengths.
constexpr std::size_t longest_name = 64;

// Short names are all near one another; one slip in three to five letters, two in six, and so on.
std::size_t allowed_slips(std::size_t length) {
  if (length < 3) return 0;
  return length < 6 ? 1 : length / 3;
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > longest_name) return std::nullopt;
  const std::size_t limit = allowed_slips(name.size());
  std::size_t best = limit + 1;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    std::size_t apart = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    bool doubled = name.size() == 2 && name[0] == name[1] && candidate == name.substr(1);  // `bb` for `b`
    if (candidate == name || (apart >= best && !doubled && !same_but_for_case(name, candidate))) continue;
    std::size_t distance = doubled || same_but_for_case(name, candidate) ? 0 : edit_distance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    found = candidate;
  }
  return found;
}

std::optional<std::string> nearest(std::string_view name, std::initializer_list<std::string> candidates) {
  return nearest(name, std::span(candidates.begin(), candidates.size()));
}

// The first and last piece are anchored, each in between is taken where it occurs first: no choice needs undoing.
bool fits_pattern(std::string_view pattern, std::string_view text) {
  constexpr std::string_view gap = "...";
  std::size_t at = pattern.find(gap);
  if (at == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, at))) return false;
  text.remove_prefix(at);
  for (pattern.remove_prefix(at + gap.size());; pattern.remove_prefix(at + gap.size())) {
    at = pattern.find(gap);
    if (at == std::string_view::npos) return text.ends_with(pattern);
    std::size_t found = text.find(pattern.substr(0, at));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + at);
  }
}

std::string plural(std::size_t count, std::string_view noun) { return plural(count, noun, std::string(noun) + "s"); }

std::string plural(std::size_t count, std::string_view one, std::string_view several) {
  return std::to_string(count).append(" ").append(count == 1 ? one : several);
}

std::string joined(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) out.append(i ? separator : "").append(parts[i]);
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Character first_character(std::string_view text) {
  const Character broken{U'\uFFFD', 1};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return broken;
  char32_t value = lead & (0xFF >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return broken;
    value = value << 6 | (byte & 0x3F);
  }
  const char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least[bytes] || value > 0x10FFFF || surrogate) return broken;
  return {value, bytes};
}

namespace {

struct Block {
  char32_t first, last;
};

// Blocks of Unicode, not single characters: good enough to put a caret under the right place.
constexpr Block zero_width[] = {{0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD}, {0x0610, 0x061A},
                                {0x064B, 0x065F}, {0x1AB0, 0x1AFF},  {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                                {0x2060, 0x2064}, {0x20D0, 0x20FF},  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
                                {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
constexpr Block double_width[] = {{0x1100, 0x115F},  {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97C},
                                  {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                  {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
                                  {0x20000, 0x3FFFD}};

template <std::size_t n>
bool in(const Block (&blocks)[n], char32_t c) {
  return std::any_of(std::begin(blocks), std::end(blocks), [c](Block b) { return c >= b.first && c <= b.last; });
}

}  // namespace

int display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (in(zero_width, c)) return 0;
  return in(double_width, c) ? 2 : 1;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    Character c = first_character(text);
    width += display_width(c.code_point);
    text.remove_prefix(c.bytes);
  }
  return width;
}

}  // namespace taskspec
