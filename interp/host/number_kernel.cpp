#include "interp/host/number_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "ir/graph/task_graph.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

void collect(const GraphScalar& number, std::set<std::uint32_t>& inputs) {
  if (number.input != UINT32_MAX) inputs.insert(number.input);
  for (const Value& operand : number.operands)
    if (auto* inner = operand.as<GraphScalar>()) collect(*inner, inputs);
}

class NumberKernel final : public Kernel {
 public:
  NumberKernel(const Value& number, std::vector<std::uint32_t> reads, std::vector<Precision> given, Precision made)
      : number_(number), reads_(std::move(reads)), given_(std::move(given)), made_(made) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    try {
      const Value value = number_.as<GraphScalar>()->value([&](std::uint32_t input) { return read(args, input); });
      Array element = Array::wrap({made_, {}}, std::shared_ptr<std::byte>(std::shared_ptr<void>(), args.out[0]));
      put_scalar(value, element);
      return std::nullopt;
    } catch (const Error& error) {
      const Diag& first = error.diags().items().front();
      return Fault{first.code, first.message};
    }
  }

 private:
  Value read(const KernelArgs& args, std::uint32_t input) const {
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(reads_, input) - reads_.begin());
    if (given_[at] == Precision::boolean) return Value(*args.in[at] != std::byte{});
    std::uint64_t bits = 0;
    std::memcpy(&bits, args.in[at], sizeof bits);
    return given_[at] == Precision::f64 ? Value(std::bit_cast<double>(bits)) : Value(static_cast<std::int64_t>(bits));
  }

  const Value number_;
  const std::vector<std::uint32_t> reads_;
  const std::vector<Precision> given_;
  const Precision made_;
};

}  // namespace

std::vector<std::uint32_t> inputs_of(const Value& number) {
  std::set<std::uint32_t> inputs;
  collect(*number.as<GraphScalar>(), inputs);
  return {inputs.begin(), inputs.end()};
}

std::shared_ptr<const Kernel> number_kernel(const Value& number, std::vector<std::uint32_t> reads,
                                            std::vector<Precision> given, Precision made) {
  return std::make_shared<NumberKernel>(number, std::move(reads), std::move(given), made);
}

}  // namespace taskspec
