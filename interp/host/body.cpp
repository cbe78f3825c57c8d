#include "interp/host/body.hpp"

#include <numeric>

namespace taskspec {

std::uint32_t Body::value(const ArrayType& type) {
  values.push_back(type);
  return static_cast<std::uint32_t>(values.size() - 1);
}

std::uint32_t Body::input(const ArrayType& type, std::uint32_t bytes) {
  inputs.push_back({value(type), bytes});
  return inputs.back().value;
}

std::vector<std::uint32_t> Body::append(const BodyTrace& trace, std::span<const std::uint32_t> given) {
  if (given.size() != trace.inputs) bug("the trace of a task has another number of inputs than its node");
  std::vector<std::uint32_t> here(given.begin(), given.end());  // value of the trace -> value of the body
  for (const Array& constant : trace.constants) {
    here.push_back(value(constant.type()));
    constants.emplace_back(here.back(), constant);
  }
  for (std::size_t i = here.size(); i < trace.values.size(); ++i) here.push_back(value(trace.values[i]));
  auto mapped = [&](const std::vector<std::uint32_t>& of) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t v : of) result.push_back(here[v]);
    return result;
  };
  for (const BodyTrace::Step& step : trace.steps) ops.push_back({step.op, mapped(step.in), mapped(step.out), tasks});
  ++tasks;
  return mapped(trace.outputs);
}

BodyTrace trace_of(OpInstance instance) {
  BodyTrace trace;
  trace.inputs = static_cast<std::uint32_t>(instance.in.size());
  trace.values = instance.in;
  trace.values.insert(trace.values.end(), instance.out.begin(), instance.out.end());
  std::vector<std::uint32_t> in(instance.in.size()), out(instance.out.size());
  std::iota(in.begin(), in.end(), 0U);
  std::iota(out.begin(), out.end(), trace.inputs);
  trace.outputs = out;
  trace.steps.push_back({std::move(instance), std::move(in), std::move(out)});
  return trace;
}

}  // namespace taskspec
