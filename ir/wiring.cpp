#include "ir/wiring.hpp"

#include <algorithm>

namespace taskspec {

using From = Wiring::Source::From;

namespace {

Wiring::Source source_of(const std::string& name, const Type& first) {
  for (std::uint32_t output = first.inputs; output < first.names.size(); ++output)
    if (first.names[output] == name) return {From::output, output - first.inputs};
  for (std::uint32_t place : first.places)
    if (first.names[place] == name) return {From::place, place};
  return {};
}

// Names that stand before and behind `middle`, from `begin` on, are told apart.
void rename_equal(std::vector<std::string>& names, std::size_t begin, std::size_t middle) {
  for (std::size_t i = begin; i < middle; ++i)
    for (std::size_t k = middle; k < names.size(); ++k)
      if (names[i] == names[k]) {
        names[k] = "T2." + names[k];
        names[i] = "T1." + names[i];
        break;
      }
}

}  // namespace

std::optional<Wiring> wire(const Type& first, const Type& second) {
  Wiring wiring;
  bool joined = false;
  for (std::uint32_t i = 0; i < second.inputs; ++i) {
    wiring.inputs.push_back(source_of(second.names[i], first));
    joined = joined || wiring.inputs.back().from != From::outside;
  }
  std::size_t outputs = first.parts.size() - first.inputs;
  if (!joined) {
    if (outputs != 1 || wiring.inputs.empty()) return std::nullopt;
    wiring.inputs[0] = {From::output, 0};
  }
  std::uint32_t outside = first.inputs;
  std::vector<bool> read(outputs, false);
  for (Wiring::Source& source : wiring.inputs) {
    if (source.from == From::outside) source.index = outside++;
    if (source.from == From::output) read[source.index] = true;
  }
  for (std::uint32_t o = 0; o < outputs; ++o)
    if (!read[o]) wiring.live.push_back(o);
  return wiring;
}

Type composite(const Type& first, const Type& second, const Wiring& wiring) {
  Type type(Type::Kind::task);
  auto add = [&](const Type& side, std::size_t part) {
    type.parts.push_back(side.parts[part]);
    type.names.push_back(side.names[part]);
  };
  for (std::uint32_t i = 0; i < first.inputs; ++i) add(first, i);
  type.places = first.places;
  for (std::uint32_t i = 0; i < second.inputs; ++i) {
    if (wiring.inputs[i].from != From::outside) continue;
    if (second.is_place(i)) type.places.push_back(wiring.inputs[i].index);
    add(second, i);
  }
  rename_equal(type.names, 0, first.inputs);
  type.inputs = static_cast<std::uint32_t>(type.parts.size());
  for (std::uint32_t output : wiring.live) add(first, first.inputs + output);
  std::size_t of_second = type.parts.size();
  for (std::size_t o = second.inputs; o < second.parts.size(); ++o) add(second, o);
  rename_equal(type.names, type.inputs, of_second);
  return type;
}

}  // namespace taskspec
