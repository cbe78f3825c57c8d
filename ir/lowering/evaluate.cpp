#include "ir/lowering/evaluate.hpp"

namespace taskspec {

std::vector<Array> evaluate(const OpInstance& op, std::span<const Array> tensors) {
  const std::unique_ptr<Kernel> kernel = op.op->kernel(op);
  std::vector<const std::byte*> in;
  for (const Array& tensor : tensors) in.push_back(tensor.raw());
  std::vector<Array> results;
  std::vector<std::byte*> out;
  for (const ArrayType& output : op.out) out.push_back(results.emplace_back(Array::make(output)).raw());
  Array scratch = Array::make({Precision::u8, {static_cast<std::int64_t>(kernel->scratch_bytes())}});
  Serial serial;
  if (auto fault = kernel->run({in, out, scratch.raw(), serial}))
    throw failure(fault->code, fault->span, fault->message);
  return results;
}

}  // namespace taskspec
