#include "ir/blocks/block.hpp"

#include <algorithm>

namespace taskspec {

namespace {
template <class Record, class Test>
const Record* first_of(std::span<const Record* const> records, Test&& test) {
  auto found = std::find_if(records.begin(), records.end(), test);
  return found == records.end() ? nullptr : *found;
}
}  // namespace

const BlockDef* BlockTable::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  return first_of(blocks_, [&](const BlockDef* b) { return b->name == name || b->other_name == name; });
}

const BlockDef* BlockTable::find(int number) const {
  return first_of(blocks_, [&](const BlockDef* b) { return b->number == number; });
}

const BlockAttributeDef* BlockTable::attribute(std::string_view name) const {
  return first_of(attributes_, [&](const BlockAttributeDef* a) { return a->name == name || a->label == name; });
}

const BlockAttributeDef* BlockTable::attribute(int number) const {
  return first_of(attributes_, [&](const BlockAttributeDef* a) { return a->number == number; });
}

}  // namespace taskspec
