// Traces of spiking networks, the sister layout of NIR files ("NIRGraphData"): what populations gave in each time step,
// or when. Read and written whole; as arrays by step, "lif1/spikes" bool[samples, steps, neurons], they are what
// programs load and save.
//
//   std::vector<nir::Trace> traces = nir::read_traces("trace.nir");
//   save_arrays("trace.npz", nir::by_step(traces, 1e-4));
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interp/import/nir/model.hpp"
#include "ir/files/files.hpp"

namespace taskspec::nir {

struct Trace {
  enum class Kind { by_step, events, valued_events };
  std::string node, observable;  // "block/lif1", "spikes"
  Kind kind = Kind::by_step;
  Array data;                // by step: [samples, steps, neurons]
  double dt = 0;             // seconds
  Array index, time, value;  // of events: [samples, events]; where there is none, -1 and inf
  std::int64_t neurons = 0;
  double t_max = 0;
};

// Throws Error: E7001, E7003 (also for a model), E5008.
std::vector<Trace> read_traces(const std::string& path);
void write_traces(const std::vector<Trace>& traces, const std::string& path);  // E7004

// An event belongs to the step at whose end it is told, its value to the step in which it lies. Events need `dt`:
// E1003.
std::vector<NamedArray> by_step(const std::vector<Trace>& traces, std::optional<double> dt);
// [steps, neurons] is one sample. E7003: other shapes, names without an observable.
std::vector<Trace> traces_of(const std::vector<NamedArray>& arrays, double dt);

}  // namespace taskspec::nir
