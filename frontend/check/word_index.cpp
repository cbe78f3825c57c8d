#include "frontend/check/word_index.hpp"

#include "ir/base/ascii.hpp"

namespace taskspec::checking {

namespace {

// Until `visit` has seen enough.
template <class F>
void each_word(std::string_view text, F&& visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at && visit(text.substr(at, end - at))) return;
    at = end + 1;
  }
}

}  // namespace

void WordIndex::add(const ast::Item& item, std::string_view text) {
  each_word(text, [&](std::string_view word) {
    std::vector<const ast::Item*>& items = items_[word];
    if (items.empty() || items.back() != &item) items.push_back(&item);
    return false;
  });
}

bool has_word(std::string_view text, std::string_view word) {
  bool found = false;
  each_word(text, [&](std::string_view other) { return found = other == word; });
  return found;
}

}  // namespace taskspec::checking
