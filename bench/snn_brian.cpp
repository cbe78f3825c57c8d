#include "bench/snn_brian.hpp"

#include <sstream>

namespace taskspec::bench {

namespace {

// Says its version, or "none"; then answers each line with spikes, events, seconds of the steps, CPU seconds.
constexpr const char* script = R"PY(
import os, sys
answers = os.fdopen(os.dup(1), 'w')
nowhere = os.open(os.devnull, os.O_WRONLY)
os.dup2(nowhere, 1)
os.dup2(nowhere, 2)

def answer(text):
    answers.write(text + '\n')
    answers.flush()

try:
    import resource, tempfile
    import numpy as np
    import brian2 as br
    from brian2 import ms, mV
    br.set_device('cpp_standalone', build_on_run=False)
    br.prefs.devices.cpp_standalone.openmp_threads = 0

    def numbers(seed, count):
        with np.errstate(over='ignore'):
            z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))

    def rows(neurons, fan, seed):
        return np.repeat(np.arange(neurons), fan), (numbers(seed, neurons * fan) % np.uint64(neurons)).astype(int)

    if which == 'random':
        neurons, fan, steps = 10000, 100, 200
        br.defaultclock.dt = 1 * ms
        group = br.NeuronGroup(neurons, 'v : 1\ninput : 1\nbias : 1', threshold='v > 64', reset='v = 0')
        group.run_regularly('v = int(v * 56.0) / 64.0 + (input + bias)\ninput = 0', when='groups')
        group.bias = (numbers(1, neurons) % np.uint64(8)).astype(int) + 3
        synapses = br.Synapses(group, group, 'w : 1', on_pre='input_post += w')
        sources, targets = rows(neurons, fan, 2)
        synapses.connect(i=sources, j=targets)
        synapses.w = np.where(sources < neurons * 4 // 5, 2, -10)
        parts = [group, synapses]
    else:
        neurons, fan, steps = 4000, 80, 10000
        br.defaultclock.dt = 0.1 * ms
        space = dict(rest=-49 * mV, theta=-50 * mV, low=-60 * mV, tau_m=20 * ms, tau_e=5 * ms, tau_i=10 * ms)
        group = br.NeuronGroup(neurons, '''dv/dt = (exc + inh - (v - rest)) / tau_m : volt (unless refractory)
                                           dexc/dt = -exc / tau_e : volt
                                           dinh/dt = -inh / tau_i : volt''',
                               threshold='v > theta', reset='v = low', refractory=5 * ms, method='exact',
                               namespace=space)
        group.v = -60 * mV + 10 * mV * (numbers(3, neurons) % np.uint64(1000)).astype(float) / 1000
        sources, targets = rows(neurons, fan, 4)
        excites = sources < neurons * 4 // 5
        up = br.Synapses(group, group, on_pre='exc_post += 1.62 * mV')
        up.connect(i=sources[excites], j=targets[excites])
        down = br.Synapses(group, group, on_pre='inh_post -= 9 * mV')
        down.connect(i=sources[~excites], j=targets[~excites])
        parts = [group, up, down]
    monitor = br.SpikeMonitor(group, record=False)
    network = br.Network(parts + [monitor])
    network.run(steps * br.defaultclock.dt)
    folder = tempfile.TemporaryDirectory()
    br.device.build(directory=folder.name, compile=True, run=False)
    answer(br.__version__)
except Exception:
    answer('none')
    sys.exit()

for line in sys.stdin:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    br.device.run(folder.name, with_output=False, run_args=[])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spikes = int(np.sum(np.asarray(monitor.count[:])))
    answer('%d %d %.9f %.9f' % (spikes, spikes * fan, br.device._last_run_time,
                                after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
)PY";

}  // namespace

Brian::Brian(const std::string& which) : python_(("which = '" + which + "'\n" + script).c_str()) {}

BrianRun Brian::run() {
  BrianRun made;
  std::istringstream(python_.ask("run")) >> made.spikes >> made.events >> made.wall >> made.cpu;
  return made;
}

}  // namespace taskspec::bench
