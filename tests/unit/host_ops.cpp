#include "tests/unit/host_ops.hpp"

#include <algorithm>

namespace taskspec::test_ops {

std::atomic<int> whole_runs{0}, strip_runs{0};

namespace {

template <class T>
T load(const std::byte* at, std::int64_t step, std::int64_t i) {
  return *reinterpret_cast<const T*>(at + step * i);
}

using Function = bool (*)(std::int64_t a, std::int64_t b, std::int64_t& result);

// Element-wise on i32 with one or two operands; Out is the element type of the result.
template <class Out>
class Pointwise final : public Kernel {
 public:
  Pointwise(const OpInstance& instance, Function function) : function_(function), count_(instance.out[0].elements()) {
    for (const ArrayType& in : instance.in) steps_.push_back(in.elements() == 1 ? 0 : sizeof(std::int32_t));
  }
  std::optional<Fault> run(const KernelArgs& args) const override {
    ++whole_runs;
    return loop(args.in, args.out, count_);
  }
  std::span<const std::uint8_t> strip_steps() const override { return steps_; }
  std::optional<Fault> run_strip(std::span<const std::byte* const> in, std::span<std::byte* const> out,
                                 std::int64_t count) const override {
    ++strip_runs;
    return loop(in, out, count);
  }

 private:
  std::optional<Fault> loop(std::span<const std::byte* const> in, std::span<std::byte* const> out,
                            std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t a = load<std::int32_t>(in[0], steps_[0], i);
      std::int64_t b = in.size() > 1 ? load<std::int32_t>(in[1], steps_[1], i) : 0, result = 0;
      if (!function_(a, b, result)) return Fault{"E5002", "division by zero"};
      reinterpret_cast<Out*>(out[0])[i] = static_cast<Out>(result);
    }
    return std::nullopt;
  }

  Function function_;
  std::int64_t count_;
  std::vector<std::uint8_t> steps_;
};

class Flip final : public Kernel {
 public:
  explicit Flip(const OpInstance& instance) : bytes_(instance.in[0].bytes()) {}
  std::size_t scratch_bytes() const override { return bytes_; }
  std::optional<Fault> run(const KernelArgs& args) const override {
    ++whole_runs;
    std::copy_n(args.in[0], bytes_, args.scratch);
    auto* from = reinterpret_cast<const std::int32_t*>(args.scratch);
    std::reverse_copy(from, from + bytes_ / 4, reinterpret_cast<std::int32_t*>(args.out[0]));
    return std::nullopt;
  }

 private:
  std::size_t bytes_;
};

class View final : public Kernel {
 public:
  explicit View(const OpInstance& instance) : bytes_(instance.in[0].bytes()) {}
  std::optional<Fault> run(const KernelArgs& args) const override {
    ++whole_runs;
    std::copy_n(args.in[0], bytes_, args.out[0]);
    return std::nullopt;
  }

 private:
  std::size_t bytes_;
};

template <Function function, class Out = std::int32_t>
std::unique_ptr<Kernel> pointwise(const OpInstance& instance) {
  return std::make_unique<Pointwise<Out>>(instance, function);
}
template <class K>
std::unique_ptr<Kernel> made(const OpInstance& instance) {
  return std::make_unique<K>(instance);
}

bool add(std::int64_t a, std::int64_t b, std::int64_t& result) { return result = a + b, true; }
bool same(std::int64_t a, std::int64_t, std::int64_t& result) { return result = a, true; }
bool divide(std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return false;
  return result = a / b, true;
}

constexpr Operand one[] = {{"a"}}, two[] = {{"a"}, {"b"}};
Type no_rule(RuleContext&) { bug("the rules of test ops are not asked"); }
Work no_work(const OpInstance&) { return {}; }

consteval OpFields fields(std::string_view name, std::span<const Operand> operands, KernelMaker kernel, Sharing sharing,
                          Fusion fusion = Fusion::opaque) {
  return {.name = name,
          .operands = operands,
          .doc = "An op for tests.",
          .example = "print(1)",
          .type = no_rule,
          .kernel = kernel,
          .gradient = Gradient::none("only for tests"),
          .lower = Lowering::none("only for tests"),
          .sharding = Sharding::none("only for tests"),
          .work = no_work,
          .fusion = fusion,
          .sharing = sharing};
}

}  // namespace

constinit const OpDef plus = fields("plus", two, &pointwise<add>, Sharing::in_place, Fusion::pointwise);
constinit const OpDef over = fields("over", two, &pointwise<divide>, Sharing::in_place, Fusion::pointwise);
constinit const OpDef widen = fields("widen", one, &pointwise<same, std::int64_t>, Sharing::none, Fusion::pointwise);
constinit const OpDef flip = fields("flip", one, &made<Flip>, Sharing::none);
constinit const OpDef view = fields("view", one, &made<View>, Sharing::same_bytes);

OpInstance call(const OpDef& op, std::vector<ArrayType> in) {
  ArrayType out = *std::max_element(in.begin(), in.end(),
                                    [](const ArrayType& a, const ArrayType& b) { return a.elements() < b.elements(); });
  if (&op == &widen) out.precision = Precision::i64;
  return {&op, std::move(in), {}, {out}};
}

ListWriter::ListWriter(const std::vector<ArrayType>& inputs) {
  for (const ArrayType& type : inputs) {
    list_.inputs.push_back({"x" + std::to_string(list_.inputs.size()), Privilege::in, {}});
    list_.types.push_back(type.type());
  }
}

std::uint32_t ListWriter::constant(Array array) {
  list_.types.push_back(array.type().type());
  list_.constants.emplace_back(std::move(array));
  return static_cast<std::uint32_t>(list_.types.size() - 1);
}

std::uint32_t ListWriter::op(const OpDef& op, const std::vector<std::uint32_t>& in) {
  std::vector<ArrayType> types;
  OpList::Line line;
  line.op = &op;
  line.function = FunctionId(0);
  line.call = CallId(list_.lines.size());
  for (std::uint32_t v : in) {
    types.push_back(concrete(list_.types[v]));
    line.in.emplace_back(v);
  }
  line.out.emplace_back(list_.types.size());
  list_.types.push_back(call(op, std::move(types)).out[0].type());
  list_.lines.push_back(std::move(line));
  return static_cast<std::uint32_t>(list_.types.size() - 1);
}

OpList ListWriter::finish(const std::vector<std::uint32_t>& outputs) {
  for (std::uint32_t v : outputs) list_.outputs.push_back({"y" + std::to_string(list_.outputs.size()), ValueId(v)});
  return std::move(list_);
}

}  // namespace taskspec::test_ops
