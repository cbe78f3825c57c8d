// The types of the language as records, for the reference manual.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taskspec {

struct TypeRecord {
  std::string name;
  std::string doc;
};

// Host types, then precisions with their ranges.
std::span<const TypeRecord> type_records();

}  // namespace taskspec
