#include "interp/import/nir/traces.hpp"

#include <cmath>

#include "ir/base/diag.hpp"

namespace taskspec::nir {

namespace {

std::string name_of(const Trace& trace) { return trace.node + "/" + trace.observable; }

[[noreturn]] void refuse_trace(const Trace& trace, const std::string& why) {
  throw failure("E7003", {}, "trace '" + name_of(trace) + "': " + why);
}

// The step of an event, with some room for how times are rounded.
double step_at(const Trace& trace, double time, double dt) {
  constexpr double room = 1e-10;
  return trace.kind == Trace::Kind::events ? std::ceil(time / dt - room) - 1 : std::floor(time / dt + room);
}

Array gridded(const Trace& trace, double dt) {
  const std::int64_t samples = trace.index.extents()[0], most = trace.index.extents()[1];
  const double steps = std::round(trace.t_max / dt);
  constexpr double most_elements = 1e9;
  if (!(steps >= 0 && steps * static_cast<double>(samples) * static_cast<double>(trace.neurons) < most_elements))
    refuse_trace(trace, "it has too many steps of this length");
  const auto count = static_cast<std::int64_t>(steps);
  const bool valued = trace.kind == Trace::Kind::valued_events;
  Array made = Array::make({valued ? Precision::f64 : Precision::boolean, {samples, count, trace.neurons}});
  for (std::int64_t k = 0; k < samples * most; ++k) {
    const std::int64_t neuron = trace.index.integer(k);
    if (neuron < 0) continue;
    const double step = step_at(trace, trace.time.number(k), dt);
    if (neuron >= trace.neurons || !(step >= 0)) refuse_trace(trace, "an event has no neuron or no time");
    if (step >= steps) continue;  // behind the end of the recording
    const std::int64_t at = (k / most * count + static_cast<std::int64_t>(step)) * trace.neurons + neuron;
    valued ? made.set_number(at, trace.value.number(k)) : made.set_integer(at, 1);
  }
  return made;
}

}  // namespace

std::vector<NamedArray> by_step(const std::vector<Trace>& traces, std::optional<double> dt) {
  std::vector<NamedArray> made;
  for (const Trace& trace : traces) {
    if (trace.kind == Trace::Kind::by_step) {
      made.push_back({name_of(trace), trace.data});
      continue;
    }
    if (!dt)
      throw failure("E1003", {},
                    "trace '" + name_of(trace) + "' has times of events: say how long a step is, --dt 1e-4");
    made.push_back({name_of(trace), gridded(trace, *dt)});
  }
  return made;
}

std::vector<Trace> traces_of(const std::vector<NamedArray>& arrays, double dt) {
  std::vector<Trace> made;
  for (const NamedArray& given : arrays) {
    const std::size_t slash = given.name.rfind('/');
    Trace trace;
    trace.node = given.name.substr(0, slash);
    trace.observable = slash == std::string::npos ? "" : given.name.substr(slash + 1);
    if (trace.node.empty() || trace.observable.empty())
      refuse_trace(trace, "array '" + given.name + "' is named after a node and what was seen there: lif1/spikes");
    const Extents& extents = given.array.extents();
    if (extents.size() != 2 && extents.size() != 3)
      refuse_trace(trace, "it is " + given.array.type().text() + ", not [samples, steps, neurons] or [steps, neurons]");
    Extents all = extents;
    if (all.size() == 2) all.insert(all.begin(), 1);
    trace.data = Array::wrap({given.array.precision(), all}, given.array.storage());
    trace.dt = dt;
    trace.neurons = all[2];
    trace.t_max = static_cast<double>(all[1]) * dt;
    made.push_back(std::move(trace));
  }
  return made;
}

}  // namespace taskspec::nir
