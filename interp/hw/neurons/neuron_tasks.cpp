#include "interp/hw/neurons/neuron_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

using TaskRole = NeuronTask::Role;
using NeuronKind = RealNeurons::Kind;

constexpr std::string_view no_spikes = "it gives its potential, and chips give spikes";

const std::vector<NeuronTask>& all_tasks() {
  static const std::vector<NeuronTask> all{
      {"lif",
       TaskRole::neuron,
       NeuronKind::leaky,
       {"x", "v", "k", "r", "v_leak", "v_threshold", "v_reset"},
       {},
       false,
       7},
      {"cuba_lif",
       TaskRole::neuron,
       NeuronKind::current,
       {"x", "i", "v", "k_syn", "k_mem", "w_in", "r", "v_leak", "v_threshold", "v_reset"},
       {},
       false,
       10},
      {"direct_cuba_lif",
       TaskRole::neuron,
       NeuronKind::current,
       {"x", "i", "v", "k_syn", "k_mem", "w_in", "v_threshold", "v_reset"},
       {},
       true,
       8},
      {"unscaled_lif", TaskRole::neuron, NeuronKind::leaky, {"x", "v", "k", "v_threshold", "v_reset"}, {}, true, 5},
      {"integrate_fire",
       TaskRole::neuron,
       NeuronKind::integrate,
       {"x", "v", "r", "v_threshold", "v_reset"},
       {},
       false,
       5},
      {"clamped_integrate_fire",
       TaskRole::neuron,
       NeuronKind::integrate,
       {"x", "v", "r", "v_threshold", "v_reset"},
       "its potential ends at its threshold below 0, too",
       false,
       5},
      {"threshold", TaskRole::neuron, NeuronKind::threshold, {"x", "threshold"}},
      {"integrate", TaskRole::neuron, NeuronKind::integrate, {"x", "v", "r"}, no_spikes},
      {"li", TaskRole::neuron, NeuronKind::leaky, {"x", "v", "k", "r", "v_leak"}, no_spikes},
      {"unscaled_li", TaskRole::neuron, NeuronKind::leaky, {"x", "v", "k"}, no_spikes},
      {"cuba_li",
       TaskRole::neuron,
       NeuronKind::current,
       {"x", "i", "v", "k_syn", "k_mem", "w_in", "r", "v_leak"},
       no_spikes},
      {"factor", TaskRole::factor, NeuronKind::leaky, {"tau"}},
      {"delay", TaskRole::delay, NeuronKind::leaky, {"x", "line"}},
      {"delays", TaskRole::delays, NeuronKind::leaky, {"x", "line", "late"}},
      {"keep", TaskRole::keep, NeuronKind::leaky, {"x", "kept"}}};
  return all;
}

// One step of a neuron as RealNeurons says.
struct Stepped {
  double y = 0, v = 0, i = 0;
};

Stepped stepped(const NeuronTask& task, const std::vector<double>& in, const std::string& reset) {
  auto of = [&](std::string_view name, double standard) {
    const std::optional<std::size_t> at = task.input(name);
    return at ? in[*at] : standard;
  };
  Stepped s{0, of("v", 0), of("i", 0)};
  const double x = of("x", 0), r = of("r", 1), leak = of("v_leak", 0);
  const double threshold = of(task.kind == NeuronKind::threshold ? "threshold" : "v_threshold", 0);
  if (task.kind == NeuronKind::threshold) return {x > threshold ? 1.0 : 0.0, 0, 0};
  if (task.kind == NeuronKind::integrate) s.v += r * x;
  if (task.kind == NeuronKind::leaky) {
    const double k = of("k", 0);
    s.v = task.is_direct ? s.v * (1 - k) + x : s.v + k * ((leak - s.v) + r * x);
  }
  if (task.kind == NeuronKind::current) {
    s.i += of("k_syn", 0) * (of("w_in", 1) * x - s.i);
    const double k = of("k_mem", 0);
    s.v = task.is_direct ? s.v * (1 - k) + s.i : s.v + k * ((leak - s.v) + r * s.i);
  }
  if (s.v > threshold) {
    s.y = 1;
    s.v = reset == "subtract" ? s.v - threshold : reset == "zero" ? 0 : of("v_reset", 0);
  }
  return s;
}

}  // namespace

std::vector<Array> run_alone(const OpList& list, std::vector<Array> values) {
  values.resize(list.types.size());
  for (std::size_t k = 0; k < list.constants.size(); ++k) {
    const std::size_t at = list.inputs.size() + k;
    if (list.constants[k].is_array()) {
      values[at] = list.constants[k].array();
    } else if (const auto* scalar = list.constants[k].as<GraphScalar>()) {
      values[at] = Array::make(concrete(list.types[at]));
      const Value number = scalar->value([&](std::uint32_t input) { return Value(values[input].number(0)); });
      values[at].set_number(0, number.is_integer() ? static_cast<double>(number.integer()) : number.real());
    } else {
      return {};
    }
  }
  for (const OpList::Line& line : list.lines) {
    std::vector<Array> in;
    for (const ValueId id : line.in) in.push_back(values[id.index()]);
    const std::vector<Array> made = evaluate(instance(list, line), in);
    for (std::size_t k = 0; k < made.size(); ++k) values[line.out[k].index()] = made[k];
  }
  std::vector<Array> outputs;
  for (const OpList::Output& output : list.outputs) outputs.push_back(values[output.value.index()]);
  return outputs;
}

std::optional<std::size_t> NeuronTask::input(std::string_view called) const {
  const auto found = std::ranges::find(inputs, called);
  if (found == inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - inputs.begin());
}

const NeuronTask* neuron_task(const Definition& definition) {
  if (definition.kind != Definition::Kind::task) return nullptr;
  for (const NeuronTask& task : all_tasks())
    if (task.name == definition.name) {
      // The step of time may be a number that only the run knows.
      const bool is_more = task.role == TaskRole::factor && definition.inputs.size() == 2;
      if (std::ranges::equal(task.inputs, std::span(definition.inputs).first(definition.inputs.size() - is_more)))
        return &task;
    }
  return nullptr;
}

bool computes_neuron(const NeuronTask& task, const OpList& list, const std::string& reset) {
  if (task.role != TaskRole::neuron || !task.why_not.empty()) return true;
  std::vector<Array> values;
  for (std::size_t k = 0; k < list.inputs.size(); ++k) {
    Array array = Array::make(concrete(list.types[k]));
    for (std::int64_t n = 0; n < array.elements(); ++n)  // 0.05 .. 0.95, another order for each input
      array.set_number(n, static_cast<double>((n * 7 + static_cast<std::int64_t>(k) * 5 + n / 3) % 19 + 1) / 20);
    values.push_back(std::move(array));
  }
  const std::vector<Array> given = values, made = run_alone(list, values);
  if (made.empty()) return false;
  for (std::int64_t n = 0; n < given[0].elements(); ++n) {
    std::vector<double> in;
    for (const Array& array : given) in.push_back(array.number(n));
    const Stepped wanted = stepped(task, in, reset);
    for (std::size_t k = 0; k < list.outputs.size(); ++k) {
      const std::string& name = list.outputs[k].name;
      const double number = name == "v" ? wanted.v : name == "i" ? wanted.i : wanted.y;
      if (std::abs(made[k].number(n) - number) > 1e-5) return false;
    }
  }
  return true;
}

}  // namespace taskspec
