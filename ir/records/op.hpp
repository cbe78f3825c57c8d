// The op record: everything the system knows about one operation, written once in stdlib/ops/<op>.cpp.
// Checker messages, constant folding, documentation, tests, gradients and plans are derived from it.
//
//   constinit const OpDef tanh_op = OpFields{.name = "tanh", .doc = ..., .type = elementwise, .kernel = ...};
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/records/gradient.hpp"
#include "ir/records/kernel.hpp"
#include "ir/records/operand.hpp"
#include "ir/records/rule_context.hpp"
#include "ir/records/sharding.hpp"

namespace taskspec {

class BlockBuilder;  // of Task IR: what a lowering appends its blocks to

// What an op is on a chip, made of blocks; a rule, or the stated reason why there is none.
struct Lowering {
  void (*build)(BlockBuilder&, const OpInstance&) = nullptr;
  std::string_view why_none;

  constexpr Lowering() = default;
  constexpr Lowering(void (*b)(BlockBuilder&, const OpInstance&)) : build(b) {}
  static constexpr Lowering none(std::string_view reason) {
    Lowering l;
    l.why_none = reason;
    return l;
  }
};

struct OpFields {
  std::string_view name;         // as called and as printed: "add", "conv2d"
  std::string_view symbol = {};  // its operator, if it has one: "+"
  Serves serves = Serves::nothing;
  std::span<const Operand> operands;
  // Names of the outputs; none: one, called `value`. With several the type rule says Kind::invocation of these names.
  std::span<const std::string_view> outputs = {};
  std::string_view doc;      // one sentence, then details: shapes, precisions, errors
  std::string_view example;  // a runnable program with // expect lines
  TypeRule type = nullptr;
  KernelMaker kernel = nullptr;
  Value (*scalar)(std::span<const Value>) = nullptr;  // on host values; throws Error
  Dim (*extent)(std::span<const Dim>) = nullptr;      // the same on ints that are extents, where it is a polynomial
  bool joins = false;                                 // two host lists become one, with the items of both
  bool divides = false;                               // by its second operand, which is an error if that is the int 0
  Gradient gradient = {};
  Lowering lower = {};
  Sharding sharding = {};
  Work (*work)(const OpInstance&) = nullptr;
  double tolerance = 0;            // relative, between implementations; 0 = bitwise
  Fusion fusion = Fusion::opaque;  // pointwise: may become part of a pass over strips of the data
  Sharing sharing = Sharing::none;
};

struct OpDef : OpFields {
  // An incomplete record does not compile.
  consteval OpDef(OpFields fields) : OpFields(fields) {
    if (name.empty()) throw "an op needs a name";
    if (doc.empty()) throw "an op needs a doc";
    if (example.empty()) throw "an op needs an example";
    if (!type) throw "an op needs a type rule";
    if (!kernel) throw "an op needs a host kernel";
    if (!work) throw "an op needs work and bytes";
    if (!gradient.build && gradient.why_none.empty()) throw "an op needs a gradient or the reason there is none";
    if (!lower.build && lower.why_none.empty()) throw "an op needs a lowering or the reason there is none";
    if (!sharding.splits && sharding.why_none.empty()) throw "an op needs a sharding or the reason there is none";
  }
};

const Operand& operand_at(const OpDef& op, std::size_t position);  // the last one stands for all that follow

class OpTable {
 public:
  explicit OpTable(std::span<const OpDef* const> ops) : ops_(ops) {}
  const OpDef* find(std::string_view name) const;
  const OpDef* find_operator(std::string_view symbol, std::size_t operands) const;
  const OpDef* serving(Serves serves) const;
  std::span<const OpDef* const> all() const { return ops_; }  // by name

 private:
  std::span<const OpDef* const> ops_;
};

// Type of a call whose operand types and values are all known (no symbols): runs the rule on constants.
// Throws Error with the span given.
Type infer(const OpDef& op, const std::vector<Type>& types, const std::vector<Value>& values, Span span = {});

}  // namespace taskspec
