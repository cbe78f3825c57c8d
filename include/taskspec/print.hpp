// Printing as the language does: print(chains(g)) writes [[Scale.apply, energy]], print(45.0f) writes 45.
#pragma once
#include "taskspec/host.hpp"
#include "taskspec/region.hpp"

namespace taskspec::dsl {

namespace detail {

std::string number_text(double value);  // the shortest digits that read back equal
void write_line(const std::string& text);

inline std::string text_of(const std::string& value) { return value; }
inline std::string text_of(const char* value) { return value; }
inline std::string text_of(bool value) { return value ? "true" : "false"; }
inline std::string text_of(const Tensor& value) { return value.text(); }
inline std::string text_of(const Handle& value) { return value.text(); }
inline std::string text_of(const Agent& value) { return value.text(); }
template <class T>
requires std::is_arithmetic_v<T> std::string text_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return number_text(static_cast<double>(value));
  else
    return std::to_string(value);
}

template <class T>
std::string list_text(const std::vector<T>& list, char open, char close);
inline std::string text_of(const Slots& slots) { return list_text(slots, '(', ')'); }
template <class T>
std::string text_of(const std::vector<T>& list) {
  return list_text(list, '[', ']');
}

template <class T>
std::string list_text(const std::vector<T>& list, char open, char close) {
  std::string text(1, open);
  for (const auto& part : list) text += (text.size() > 1 ? ", " : "") + text_of(part);
  return text + close;
}

}  // namespace detail

template <class... T>
void print(const T&... values) {
  std::string line;
  ((line += (line.empty() ? "" : " ") + detail::text_of(values)), ...);
  detail::write_line(line);
}

}  // namespace taskspec::dsl
