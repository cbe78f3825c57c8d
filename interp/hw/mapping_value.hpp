// A mapping as a value of the language: what map(net, chip: "tianjicx") gives, and hw(mapping: m) takes.
#pragma once
#include "hwsim/map/mapping_file.hpp"
#include "interp/control/has_state.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

class MappingValue final : public Object, public HasState {
 public:
  explicit MappingValue(ChipMapping made) : mapping(std::move(made)) {}
  ChipMapping mapping;
  std::string text() const override {
    std::string table = mapping.text();
    table.pop_back();  // the end of its last line
    return table;
  }
  Value copy() const override {
    return Value(std::static_pointer_cast<Object>(std::make_shared<MappingValue>(mapping.copy())));
  }
};

class HostContext;

// The blocks of a net that is a value: a graph or task of integers, what `quantize` and `lower` give, or neurons of
// real numbers, whose weights become integers of a chip: without one these are refused like other real numbers. Throws
// Error.
std::shared_ptr<const BlockGraph> blocks_of_net(HostContext& host, const Value& net, const Chip* chip = nullptr);

}  // namespace taskspec
