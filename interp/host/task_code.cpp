#include "interp/host/task_code.hpp"

#include <algorithm>
#include <cstring>

#include "interp/host/watched_code.hpp"

namespace taskspec {

void keep_thrown(TaskContext& context, std::uint32_t task) {
  try {
    throw;
  } catch (const Error& error) {
    const Diag& first = error.diags().items().front();
    context.faults.push_back({task, {first.code, first.message, first.primary.span}});
  } catch (const std::bad_alloc&) {
    context.faults.push_back({task, {"E5008", "no memory left"}});
  } catch (const std::exception& thrown) {
    context.faults.push_back({task, {"E5011", std::string("a C++ task threw: ") + thrown.what()}});
  } catch (...) {
    context.faults.push_back({task, {"E5011", "a C++ task threw something that is no std::exception"}});
  }
}

bool TaskCode::run_timed(std::byte* const* operands, TaskContext& context, OpTimes& times) const {
  const OpTimes::Clock::time_point begin = OpTimes::Clock::now();
  const bool ran = run(operands, context);
  times.add(0, 0, OpTimes::Clock::now() - begin);
  return ran;
}

KernelCode::KernelCode(std::shared_ptr<const Kernel> kernel, const OpInstance& instance)
    : TaskCode(instance.in.size(), instance.out.size()),
      kernel_(std::move(kernel)),
      work_(instance.op->work(instance)),
      same_bytes_(instance.op->sharing == Sharing::same_bytes),
      instance_(instance) {}

bool KernelCode::run(std::byte* const* operands, TaskContext& context) const {
  if (same_bytes_ && operands[0] == operands[inputs]) return true;
  try {
    auto fault = kernel_->run({{operands, inputs}, {operands + inputs, outputs}, context.scratch, *context.parallel});
    if (!fault) return true;
    context.faults.push_back({0, *std::move(fault)});
  } catch (...) {
    keep_thrown(context);
  }
  return false;
}

namespace {

Array copy_of(const Array& array) {
  Array copy = Array::make(array.type());
  std::memcpy(copy.raw(), array.raw(), array.bytes());
  return copy;
}

}  // namespace

bool InterpretedCode::run(std::byte* const* operands, TaskContext& context) const {
  try {
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < in_.size(); ++i)
      arrays.push_back(Array::wrap(in_[i], std::shared_ptr<std::byte>(std::shared_ptr<void>(), operands[i])));
    const bool had_nan = !bodies_.detects_nan() || std::ranges::any_of(arrays, has_nan);
    arrays = bodies_.run(*plan_->graph, node_, std::move(arrays));
    if (!had_nan && std::ranges::any_of(arrays, has_nan)) throw failure("E5014", {}, "the body makes a nan");
    if (arrays.size() != out_.size()) bug("a body gave " + std::to_string(arrays.size()) + " outputs");
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (arrays[i].type() != out_[i]) bug("a body gave " + arrays[i].type().text() + " for " + out_[i].text());
      // A result may be an input in whose bytes another output goes: two places that change their values.
      auto outputs_at = std::span(operands + inputs, out_.size());
      auto there = std::ranges::find(outputs_at, arrays[i].raw());
      if (there != outputs_at.end() && there != outputs_at.begin() + static_cast<std::ptrdiff_t>(i))
        arrays[i] = copy_of(arrays[i]);
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (arrays[i].raw() != operands[inputs + i]) std::memmove(operands[inputs + i], arrays[i].raw(), out_[i].bytes());
    }
    return true;
  } catch (...) {
    keep_thrown(context);
    return false;
  }
}

}  // namespace taskspec
