// Words of the JSON of cut programs, for those who write it and its schema. Internal to ir/json/cut_*.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace taskspec::cut_words {

inline constexpr std::string_view format = "taskspec-slices";
inline constexpr std::int64_t version = 1;  // grows with every change that a reader must know
inline constexpr std::array<std::string_view, 4> kinds{"fn", "task", "graph", "module"};
inline constexpr std::array<std::string_view, 4> marks{"statement", "opens", "between", "closes"};
inline constexpr int carries_count = 12;

}  // namespace taskspec::cut_words
