// NIR files, networks and traces, each in a process of its own whose time is bounded, as the tool reads them: libhdf5
// itself does not stand everything, and what crashes there, or goes round in circles, is refused input.
#include <cmath>

#include "interp/import/nir/traces.hpp"
#include "ir/base/diag.hpp"
#include "tests/fuzz/apart.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::fuzz {

namespace {

constexpr double step = 1e-3;

Array filled(Precision precision, Extents extents, const std::vector<double>& values) {
  Array array = Array::make({precision, std::move(extents)});
  for (std::int64_t i = 0; i < array.elements(); ++i)
    array.set_number(i, values[static_cast<std::size_t>(i) % values.size()]);
  return array;
}

nir::Trace by_steps(const std::string& node, const std::string& observable, Array data) {
  nir::Trace trace;
  trace.node = node, trace.observable = observable;
  trace.data = std::move(data);
  trace.dt = step;
  return trace;
}

nir::Trace by_events(bool valued) {
  nir::Trace trace;
  trace.node = "input", trace.observable = valued ? "currents" : "spikes";
  trace.kind = valued ? nir::Trace::Kind::valued_events : nir::Trace::Kind::events;
  trace.index = filled(Precision::i64, {2, 3}, {1, 0, -1});
  trace.time = filled(Precision::f64, {2, 3}, {1e-3, 3e-3, INFINITY});
  if (valued) trace.value = filled(Precision::f64, {2, 3}, {0.5, -2, 0});
  trace.neurons = 2;
  trace.t_max = 4e-3;
  return trace;
}

nir::Model chained() {
  nir::Node in{"input", "Input", {{"shape", filled(Precision::i64, {1}, {3})}}, {}, {}},
      out{"output", "Output", {{"shape", filled(Precision::i64, {1}, {2})}}, {}, {}};
  nir::Node weights{"fc", "Linear", {{"weight", filled(Precision::f32, {2, 3}, {0.5, -1})}}, {}, {}};
  nir::Node cells{"lif", "LIF", {}, {}, {}};
  for (const char* name : {"tau", "r", "v_leak", "v_threshold", "v_reset"})
    cells.parameters.emplace(name, filled(Precision::f32, {2}, {0.25}));
  nir::Node root{"", "NIRGraph", {}, {in, weights, cells, out}, {{"input", "fc"}, {"fc", "lif"}, {"lif", "output"}}};
  return {"1.0.7", root};
}

std::vector<std::string> nir_samples() {
  const TemporaryFolder folder;
  const std::string path = folder / "x.nir";
  std::vector<std::string> samples;
  const Array spikes = filled(Precision::boolean, {1, 3, 2}, {0, 1, 1}),
              wide = filled(Precision::f64, {2, 4, 3}, {0.25});
  for (const std::vector<nir::Trace>& traces : {std::vector{by_steps("lif", "spikes", spikes)},
                                                {by_steps("a/b/lif", "v", wide), by_events(false)},
                                                {by_events(true), by_events(false)}}) {
    nir::write_traces(traces, path);
    samples.push_back(read_text(path));
  }
  nir::write_model(chained(), path);
  samples.push_back(read_text(path));
  return samples;
}

// What is good is written and read back as it is.
Fate fate_of_nir(const std::string& path) {
  try {
    std::vector<nir::Trace> traces;
    try {
      traces = nir::read_traces(path);
    } catch (const Error&) {
      (void)nir::read_model(path);
      return Fate::accepted;
    }
    const std::vector<NamedArray> arrays = nir::by_step(traces, step);
    nir::write_traces(traces, path + ".again");
    const std::vector<NamedArray> again = nir::by_step(nir::read_traces(path + ".again"), step);
    if (again.size() != arrays.size()) return Fate::contradicted;
    for (std::size_t k = 0; k < arrays.size(); ++k)
      if (again[k].array.type() != arrays[k].array.type()) return Fate::contradicted;
    return Fate::accepted;
  } catch (const Error& error) {
    return fate_of(error);
  }
}

bool read_nir(const std::string& bytes) {
  static const TemporaryFolder folder;
  folder.put("x.nir", bytes);
  return read_apart([] { return fate_of_nir(folder / "x.nir"); }, Crash::refuses,
                    "what was read is another thing when it is written and read again, or an error of another kind");
}

}  // namespace

extern const Reader reader_nir{Grain::bytes, nir_samples, nullptr, read_nir};

}  // namespace taskspec::fuzz
