// Every stateful node against the recursion that it stands for, written here as a plain loop.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "tests/nir/networks.hpp"

namespace taskspec::neurons_test {

namespace {

constexpr std::int64_t steps = 60, neurons = 3;
constexpr double dt = 1e-4;
const std::vector<double> tau{1e-3, 2e-3, 0.7e-3}, tau_syn{0.4e-3, 0.9e-3, 2e-3}, r{1.5, 0.7, 2.0},
    leak{0.1, -0.2, 0.0}, threshold{0.3, 0.2, 0.5}, v_reset{0.05, -0.1, 0.0}, w_in{1.0, 1.3, 0.6};

nir::Node neuron(const std::string& type, std::vector<std::pair<std::string, std::vector<double>>> parameters) {
  nir::Node node{"n", type, {}, {}, {}};
  for (auto& [name, values] : parameters) node.parameters.emplace(name, numbers(values));
  return node;
}

struct State {
  double i = 0, v = 0;
};
// One step of neuron k on x: what it gives.
using Step = std::function<double(State&, double x, std::size_t k)>;

Array recursion(const Array& input, const Step& step) {
  Array made = Array::make(input.type());
  std::vector<State> states(neurons);
  for (std::int64_t at = 0; at < input.elements(); ++at) {
    const auto k = static_cast<std::size_t>(at % neurons);
    made.data<double>()[static_cast<std::size_t>(at)] = step(states[k], input.number(at), k);
  }
  return made;
}

double fired(State& s, std::size_t k, const std::string& reset) {
  const bool spikes = s.v > threshold[k];
  if (spikes) s.v = reset == "subtract" ? s.v - threshold[k] : reset == "zero" ? 0 : v_reset[k];
  return spikes ? 1 : 0;
}

void compare(const nir::Node& node, const Step& step, Options options = {}) {
  options.emplace_back("precision", "f64");
  const Array input = random_numbers({steps, neurons}, 7, -0.3, 0.9);
  const Array expected = recursion(input, step);
  const Array got = run(chain({node}, {neurons}, {neurons}), options, input)["output"];
  double sum = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i) sum += std::abs(expected.number(i));
  CHECK(sum > 0);
  CHECK(largest_difference(got, expected) < 1e-12);
}

nir::Node lif() {
  return neuron("LIF", {{"tau", tau}, {"r", r}, {"v_leak", leak}, {"v_threshold", threshold}, {"v_reset", v_reset}});
}
nir::Node lif_at_rest() {
  return neuron("LIF", {{"tau", tau}, {"r", r}, {"v_leak", {0, 0, 0}}, {"v_threshold", threshold}});
}
nir::Node integrator() { return neuron("IF", {{"r", r}, {"v_threshold", threshold}, {"v_reset", v_reset}}); }
nir::Node cuba(bool fires, std::vector<double> rest = leak) {
  nir::Node node =
      neuron("CubaLI", {{"tau_syn", tau_syn}, {"tau_mem", tau}, {"r", r}, {"v_leak", rest}, {"w_in", w_in}});
  if (!fires) return node;
  node.type = "CubaLIF";
  node.parameters.emplace("v_threshold", numbers(threshold));
  node.parameters.emplace("v_reset", numbers(v_reset));
  return node;
}

}  // namespace

TEST_CASE("neurons are their recursions [nir]") {
  compare(neuron("I", {{"r", r}}), [](State& s, double x, std::size_t k) { return s.v += r[k] * x; });
  for (const std::string reset : {"file", "zero", "subtract"}) {
    CAPTURE(reset);
    compare(integrator(),
            [&](State& s, double x, std::size_t k) {
              s.v += r[k] * x;
              return fired(s, k, reset);
            },
            {{"reset", reset}});
    compare(lif(),
            [&](State& s, double x, std::size_t k) {
              s.v += dt / tau[k] * ((leak[k] - s.v) + r[k] * x);
              return fired(s, k, reset);
            },
            {{"reset", reset}});
  }
  compare(neuron("LI", {{"tau", tau}, {"r", r}, {"v_leak", leak}}),
          [](State& s, double x, std::size_t k) { return s.v += dt / tau[k] * ((leak[k] - s.v) + r[k] * x); });
  for (const bool fires : {false, true})
    compare(cuba(fires), [&](State& s, double x, std::size_t k) {
      s.i += dt / tau_syn[k] * (-s.i + w_in[k] * x);
      s.v += dt / tau[k] * ((leak[k] - s.v) + r[k] * s.i);
      return fires ? fired(s, k, "file") : s.v;
    });
}

TEST_CASE("the exact integrator [nir]") {
  auto factor = [](double t) { return 1 - std::exp(-dt / t); };
  compare(lif(),
          [&](State& s, double x, std::size_t k) {
            s.v += factor(tau[k]) * ((leak[k] - s.v) + r[k] * x);
            return fired(s, k, "file");
          },
          {{"integrator", "exact"}});
  compare(cuba(false),
          [&](State& s, double x, std::size_t k) {
            s.i += factor(tau_syn[k]) * (-s.i + w_in[k] * x);
            return s.v += factor(tau[k]) * ((leak[k] - s.v) + r[k] * s.i);
          },
          {{"integrator", "exact"}});
}

TEST_CASE("another time step [nir]") {
  compare(lif(),
          [](State& s, double x, std::size_t k) {
            s.v += 5e-4 / tau[k] * ((leak[k] - s.v) + r[k] * x);
            return fired(s, k, "file");
          },
          {{"dt", "5e-4"}});
}

TEST_CASE("a threshold and a scale keep nothing [nir]") {
  compare(neuron("Threshold", {{"threshold", threshold}}),
          [](State&, double x, std::size_t k) { return x > threshold[k] ? 1.0 : 0.0; });
  compare(neuron("Scale", {{"scale", r}}), [](State&, double x, std::size_t k) { return r[k] * x; });
}

TEST_CASE("delays, the same for all and by element [nir]") {
  for (const std::vector<double>& delay : {std::vector<double>{3e-4, 3e-4, 3e-4}, {0.0, 1e-4, 4e-4}}) {
    const Array input = random_numbers({steps, neurons}, 11, -1, 1);
    const Array got = run(chain({neuron("Delay", {{"delay", delay}})}, {neurons}, {neurons}), {{"precision", "f64"}},
                          input)["output"];
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t k = 0; k < neurons; ++k) {
        const std::int64_t from = t - std::llround(delay[static_cast<std::size_t>(k)] / dt);
        CHECK(got.number(t * neurons + k) == (from < 0 ? 0.0 : input.number(from * neurons + k)));
      }
  }
}

TEST_CASE("like other tools [nir]") {
  auto euler = [](State& s, double x, std::size_t k, double step, double resistance, double rest) {
    s.v += step / tau[k] * ((rest - s.v) + resistance * x);
  };
  compare(lif(),
          [&](State& s, double x, std::size_t k) {
            euler(s, x, k, 1e-3, 1, leak[k]);
            return fired(s, k, "file");
          },
          {{"like", "norse"}});
  compare(lif_at_rest(),
          [&](State& s, double x, std::size_t k) {
            euler(s, x, k, 1e-4, r[k], 0);
            return fired(s, k, "zero");
          },
          {{"like", "snntorch"}});
  compare(cuba(true, {0, 0, 0}),
          [](State& s, double x, std::size_t k) {
            s.i = s.i * (1 - dt / tau_syn[k]) + w_in[k] * x * (dt / tau_syn[k]);
            s.v = s.v * (1 - dt / tau[k]) + s.i;
            return fired(s, k, "zero");
          },
          {{"like", "snntorch"}});
  compare(lif(),
          [](State& s, double x, std::size_t k) {
            s.v += (1 - std::exp(-1e-3 / tau[k])) * ((leak[k] - s.v) + r[k] * x);
            return fired(s, k, "zero");
          },
          {{"like", "nengo"}});
  compare(integrator(),
          [](State& s, double x, std::size_t k) {
            s.v += x;
            return fired(s, k, "zero");
          },
          {{"like", "nengo"}});
  compare(cuba(true),
          [](State& s, double x, std::size_t k) {
            s.i += 1e-3 / tau_syn[k] * (-s.i + w_in[k] * x);
            s.v += (1 - std::exp(-1e-3 / tau[k])) * ((leak[k] - s.v) + r[k] * s.i);
            return fired(s, k, "zero");
          },
          {{"like", "nengo"}});
  compare(lif_at_rest(),
          [](State& s, double x, std::size_t k) {
            s.v = s.v * std::exp(-0.5 / tau[k]) + x;
            return fired(s, k, "subtract");
          },
          {{"like", "sinabs"}, {"dt", "0.5"}});
  compare(integrator(),
          [](State& s, double x, std::size_t k) {
            s.v += r[k] * x;
            const double spikes = fired(s, k, "subtract");
            s.v = std::max(s.v, -threshold[k]);
            return spikes;
          },
          {{"like", "sinabs"}});
  CHECK(refusal(chain({lif()}, {neurons}, {neurons}), {{"like", "snntorch"}}) ==
        "E7003 'net.nir' cannot be imported: node 'n' (LIF): 'v_leak' must be 0 like snntorch");
}

}  // namespace taskspec::neurons_test
