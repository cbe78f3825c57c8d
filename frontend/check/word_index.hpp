// Which declarations have a word in their texts, so that those that may use a name are found without a look at all
// others. One too many costs a check, no more.
//
//   index.add(item, text);
//   for (const ast::Item* item : index.with("inc", is_current)) ...
#pragma once
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/ast.hpp"

namespace taskspec::checking {

// The text stays where it is.
class WordIndex {
 public:
  void add(const ast::Item& item, std::string_view text);

  // Those that are still current; the others are forgotten.
  template <class IsCurrent>
  std::span<const ast::Item* const> with(std::string_view word, IsCurrent&& is_current) {
    auto known = items_.find(word);
    if (known == items_.end()) return {};
    std::unordered_set<const ast::Item*> seen;
    std::erase_if(known->second,
                  [&](const ast::Item* item) { return !is_current(*item) || !seen.insert(item).second; });
    return known->second;
  }

 private:
  std::unordered_map<std::string_view, std::vector<const ast::Item*>> items_;
};

bool has_word(std::string_view text, std::string_view word);

}  // namespace taskspec::checking
