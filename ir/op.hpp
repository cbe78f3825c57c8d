// The op record: everything the system knows about one operation, written once in stdlib/ops/<op>.cpp.
// Checker messages, constant folding, documentation, tests, gradients and plans are derived from it.
//
//   constinit const OpDef tanh_op = OpFields{.name = "tanh", .doc = ..., .type = elementwise, .kernel = ...};
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/value.hpp"

namespace taskspec {

// ---- operands -------------------------------------------------------------------------------------

enum class OperandKind : std::uint8_t {
  tensor,   // a tensor; a host number is converted to the precision of the other tensors
  tensors,  // a list of tensors
  integer,
  real,
  boolean,
  string,
  axes,      // an int or a tuple of ints: axes counted from 0
  pair,      // an int or a pair of ints: (y, x)
  value,     // any host value
  type,      // a written tensor type
  function,  // a function value
};

// A default as a literal; `none` means that the operand must be given, `absent` that it may be missing
// (the rule and the kernel then see Type::Kind::none and a none Value).
struct Default {
  enum class Kind : std::uint8_t { none, absent, integer, real, boolean, string } kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view string;

  constexpr Default() = default;
  constexpr Default(bool v) : kind(Kind::boolean), integer(v) {}
  constexpr Default(int v) : kind(Kind::integer), integer(v) {}
  constexpr Default(double v) : kind(Kind::real), real(v) {}
  constexpr Default(const char* v) : kind(Kind::string), string(v) {}
  static constexpr Default absent() {
    Default d;
    d.kind = Kind::absent;
    return d;
  }
  Value value() const;
};

// What a call may do with an argument.
enum class Privilege : std::uint8_t { in, out, inout, reduce };

struct Operand {
  std::string_view name;
  OperandKind kind = OperandKind::tensor;
  Default standard = {};  // the value when it is not given
  bool variadic = false;  // last operand only: any number of further ones
  // `inout` wants a place; the output of the operand's name is its new version.
  Privilege privilege = Privilege::in;
};

// ---- types ----------------------------------------------------------------------------------------

// What a type rule sees of one call and what it may say. The checker, the graph builder and the session
// implement it; the rule is the same for symbolic and for concrete shapes. Operands are in declared
// order, defaults filled in; variadic ones follow.
class RuleContext {
 public:
  virtual ~RuleContext() = default;
  virtual std::size_t count() const = 0;
  virtual const Type& type(std::size_t operand) const = 0;
  virtual const Value* constant(std::size_t operand) const = 0;   // null when not known now
  virtual std::optional<Dim> dim(std::size_t operand) const = 0;  // an int operand as an extent; always there for ints
  // Demands a == b: nothing if equal, a guard if that depends on host values, else E2001 with `what`.
  virtual void require_same(const Dim& a, const Dim& b, const std::string& what) = 0;
  // A fresh open extent for what depends on values not known now.
  virtual Dim unknown(const std::string& name) = 0;
  // Types a closure given as operand with these parameter types and returns its result type.
  virtual Type closure(std::size_t operand, const std::vector<Type>& parameters) = 0;
  // Ends the rule with an error; `operand` is the one to underline, -1 the whole call.
  [[noreturn]] virtual void fail(Code code, std::string message, int operand = -1, std::string help = "") = 0;
};

using TypeRule = Type (*)(RuleContext&);

// ---- execution ------------------------------------------------------------------------------------

// One call with everything known. `attributes` has one entry per operand, none for tensors.
struct OpInstance {
  const struct OpDef* op = nullptr;
  std::vector<ArrayType> in;  // of the tensor operands, in order (those of a `tensors` list one after another)
  std::vector<Value> attributes;
  std::vector<ArrayType> out;
};

// Splits work over the backend's workers: calls body(begin, end) on disjoint parts of [0, count), each
// `grain` long but the last, and returns when all are done. The parts depend on count and grain only, so
// that results do not depend on the number of threads.
class Parallel {
 public:
  virtual ~Parallel() = default;
  using Body = void (*)(void* context, std::int64_t begin, std::int64_t end);
  virtual void run(std::int64_t count, std::int64_t grain, Body body, void* context) = 0;

  template <class F>
  void for_each(std::int64_t count, std::int64_t grain, F&& f) {
    run(
        count, grain,
        [](void* c, std::int64_t b, std::int64_t e) { (*static_cast<std::remove_reference_t<F>*>(c))(b, e); }, &f);
  }
};

// Runs the parts one after another on the calling thread.
class Serial final : public Parallel {
 public:
  void run(std::int64_t count, std::int64_t grain, Body body, void* context) override;
};

struct KernelArgs {
  std::span<const std::byte* const> in;
  std::span<std::byte* const> out;
  std::byte* scratch;  // Kernel::scratch_bytes() bytes, 64-byte aligned, contents undefined
  Parallel& parallel;
};

// What went wrong while a kernel ran: it poisons the outputs.
struct Fault {
  Code code;
  std::string message;
};

// An op made ready for one OpInstance: everything that can be decided before the data is (weights layout,
// strides, primitive objects). `run` is const, allocates nothing and may run on several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t scratch_bytes() const { return 0; }
  virtual std::optional<Fault> run(const KernelArgs& args) const = 0;

  // Element-wise kernels also work on strips, so that a chain of them is one pass over the data: the first
  // `count` elements at pointers that the caller advances. Bytes from one element to the next per input, 0
  // for an input of one element; empty when this instance has no strip form (general broadcasting).
  virtual std::span<const std::uint8_t> strip_steps() const { return {}; }
  virtual std::optional<Fault> run_strip(std::span<const std::byte* const>, std::span<std::byte* const>,
                                         std::int64_t) const {
    bug("this kernel has no strip form");
  }
};

using KernelMaker = std::unique_ptr<Kernel> (*)(const OpInstance&);

// How the output may share memory with inputs.
enum class Sharing : std::uint8_t {
  none,
  in_place,    // may overwrite any input of equal byte size: element i is read before it is written
  same_bytes,  // has the bytes of input 0, only the shape differs (reshape, drop, lift)
};

enum class Fusion : std::uint8_t { pointwise, reduction, movement, opaque };

struct Work {
  double operations = 0;  // arithmetic operations
  double bytes = 0;       // read and written once
};

// ---- gradient -------------------------------------------------------------------------------------

// Builds the reverse of one call out of other ops. A Var is an array in the builder's world: a node of a
// graph, or a number in a test.
class GradientBuilder {
 public:
  using Var = std::uint32_t;
  virtual ~GradientBuilder() = default;
  virtual const OpInstance& call() const = 0;  // the forward call
  virtual Var input(std::size_t i) = 0;        // tensor operand i of the forward call
  virtual Var output(std::size_t i = 0) = 0;
  virtual Var upstream(std::size_t i = 0) = 0;  // d loss / d output i
  // Calls an op by name; tensor operands and host operands are given in the op's declared order.
  virtual Var emit(std::string_view op, const std::vector<std::variant<Var, Value>>& operands) = 0;
  virtual const ArrayType& type(Var v) = 0;
  virtual void add(std::size_t input, Var gradient) = 0;  // contributes to d loss / d input
};

struct Gradient {
  void (*build)(GradientBuilder&) = nullptr;
  std::string_view why_none;  // the reason, when there is none

  constexpr Gradient() = default;
  constexpr Gradient(void (*b)(GradientBuilder&)) : build(b) {}
  static constexpr Gradient none(std::string_view reason) {
    Gradient g;
    g.why_none = reason;
    return g;
  }
};

// ---- the record -----------------------------------------------------------------------------------

struct OpFields {
  std::string_view name;         // as called and as printed: "add", "conv2d"
  std::string_view symbol = {};  // its operator, if it has one: "+"
  std::span<const Operand> operands;
  // Names of the outputs; none: one, called `value`. With several the type rule says Kind::invocation of these names.
  std::span<const std::string_view> outputs = {};
  std::string_view doc;      // one sentence, then details: shapes, precisions, errors
  std::string_view example;  // a runnable program with // expect lines
  TypeRule type = nullptr;
  KernelMaker kernel = nullptr;
  Value (*scalar)(std::span<const Value>) = nullptr;  // on host values; throws Error
  Gradient gradient = {};
  Work (*work)(const OpInstance&) = nullptr;
  double tolerance = 0;  // relative, between implementations; 0 = bitwise
  Fusion fusion = Fusion::opaque;
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
  }
};

class OpTable {
 public:
  explicit OpTable(std::span<const OpDef* const> ops) : ops_(ops) {}
  const OpDef* find(std::string_view name) const;
  std::span<const OpDef* const> all() const { return ops_; }  // by name

 private:
  std::span<const OpDef* const> ops_;
};

// Type of a call whose operand types and values are all known (no symbols): runs the rule on constants.
// Throws Error with the span given.
Type infer(const OpDef& op, const std::vector<Type>& types, const std::vector<Value>& values, Span span = {});

}  // namespace taskspec
