#include "ir/program/wiring.hpp"

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
  bool output_joined = false, place_joined = false;
  for (std::uint32_t i = 0; i < second.inputs; ++i) {
    wiring.inputs.push_back(source_of(second.names[i], first));
    output_joined = output_joined || wiring.inputs.back().from == From::output;
    place_joined = place_joined || wiring.inputs.back().from == From::place;
  }
  std::size_t outputs = first.parts.size() - first.inputs;
  if (!output_joined) {
    // A place that both sides name is no output. It is enough to join them where the first input cannot take one.
    const bool is_open = !wiring.inputs.empty() && wiring.inputs[0].from == From::outside;
    const bool takes = outputs == 1 && is_open && !(place_joined && second.is_place(0));
    if (takes) wiring.inputs[0] = {From::output, 0};
    if (!takes && !place_joined) return std::nullopt;
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
