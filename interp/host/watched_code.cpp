#include "interp/host/watched_code.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace taskspec {

bool has_nan(const Array& array) {
  if (!is_float(array.precision())) return false;
  for (std::int64_t i = 0, n = array.elements(); i < n; ++i)
    if (std::isnan(array.number(i))) return true;
  return false;
}

WatchedCode::WatchedCode(FusedBody body, std::vector<std::shared_ptr<const Kernel>> kernels, std::vector<Span> spans)
    : TaskCode(body.inputs.size(), body.outputs.size()),
      body_(std::move(body)),
      kernels_(std::move(kernels)),
      spans_(std::move(spans)) {
  for (const auto& kernel : kernels_) scratch_ = std::max(scratch_, kernel->scratch_bytes());
}

bool WatchedCode::run(std::byte* const* operands, TaskContext& context) const {
  try {
    std::vector<Array> values;
    for (const ArrayType& type : body_.values) values.push_back(Array::make(type));
    for (const auto& [value, constant] : body_.constants) values[value] = constant;
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) {
      Array& input = values[body_.inputs[i].value];
      std::memcpy(input.raw(), operands[i], input.bytes());
    }
    if (std::optional<Fault> fault = run(values, context)) {
      context.faults.push_back({0, *std::move(fault)});
      return false;
    }
    for (std::size_t k = 0; k < body_.outputs.size(); ++k) {
      const Array& output = values[body_.outputs[k].value];
      std::memcpy(operands[inputs + k], output.raw(), output.bytes());
    }
    return true;
  } catch (...) {
    keep_thrown(context);
    return false;
  }
}

std::optional<Fault> WatchedCode::run(std::vector<Array>& values, TaskContext& context) const {
  for (std::size_t k = 0; k < body_.ops.size(); ++k) {
    const FusedOp& op = body_.ops[k];
    std::vector<const std::byte*> in;
    std::vector<std::byte*> out;
    for (std::uint32_t value : op.in) in.push_back(values[value].raw());
    for (std::uint32_t value : op.out) out.push_back(values[value].raw());
    if (auto fault = kernels_[k]->run({in, out, context.scratch, *context.parallel})) return fault;
    auto is_nan = [&](std::uint32_t value) { return has_nan(values[value]); };
    if (std::ranges::any_of(op.out, is_nan) && std::ranges::none_of(op.in, is_nan)) return nan_of(k);
  }
  return std::nullopt;
}

Fault WatchedCode::nan_of(std::size_t op) const {
  const FusedOp& made_by = body_.ops[op];
  const std::string name = made_by.number ? "a number" : "'" + std::string(made_by.instance.op->name) + "'";
  return {"E5014", name + " makes a nan", spans_[op]};
}

}  // namespace taskspec
