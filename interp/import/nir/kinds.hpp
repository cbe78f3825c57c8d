// The types of NIR nodes: one record each. To add one: its record in kinds.cpp, what it writes in text.cpp's terms.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "interp/import/nir/network.hpp"

namespace taskspec::nir {

class ProgramText;

struct ParameterRecord {
  std::string_view name;
  bool needed = true;
};

struct Kind {
  std::string_view type;
  std::span<const ParameterRecord> parameters = {};
  bool keeps = false;   // it has a state or a delay, so a loop may go through it
  bool spikes = false;  // and its state is a voltage `v`
  // The shape of what it must be given, where its parameters say. Throws Problem, as the next one.
  std::optional<Shape> (*wants)(const Population& node) = nullptr;
  // The shape of what it gives, by that of what it takes.
  Shape (*shape)(const Population& node, const Shape& in) = nullptr;
  // The expression of what it gives in a step; `x` is what it takes. Slots go to the text.
  std::string (*write)(ProgramText& text, const Population& node, const std::string& x) = nullptr;
};

const Kind* kind_of(std::string_view type);

// Parameters of a node. They throw Problem.
const Array* find_array(const Node& node, std::string_view name);
const Array& array_of(const Node& node, std::string_view name);
Shape shape_of(const Node& node, std::string_view name);  // a list of positive numbers
// So many numbers, or one that stands for all.
std::vector<std::int64_t> ints_of(const Node& node, std::string_view name, std::size_t count);
std::int64_t int_of(const Node& node, std::string_view name);

}  // namespace taskspec::nir
