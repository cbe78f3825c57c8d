// Tasks of the modules nir and nir64 as neurons and delays of NIR.
#include <algorithm>

#include "interp/control/nir/walk.hpp"

namespace taskspec::nir_walk {

namespace {

using Here = Walk::Here;
using Made = std::vector<Seen>;

struct NeuronRow {
  std::string_view task, type;
};
constexpr NeuronRow neurons[] = {
    {"integrate", "I"},      {"integrate_fire", "IF"},  {"li", "LI"}, {"lif", "LIF"}, {"cuba_li", "CubaLI"},
    {"cuba_lif", "CubaLIF"}, {"threshold", "Threshold"}};

// What a file calls a parameter of a task.
std::string parameter_of(const std::string& name) {
  if (name == "k") return "tau";
  return name.starts_with("k_") ? "tau" + name.substr(1) : name;
}

void require_zeros(const Seen& state, const std::string& name) {
  const Known* known = std::get_if<Known>(&state);
  if (!known) throw Problem{"its '" + name + "' is changed by somebody else"};
  for (std::int64_t i = 0; i < known->array.elements(); ++i)
    if (known->array.number(i) != 0) throw Problem{"its '" + name + "' begins with other values than 0"};
}

// The tensors of a call go by their parameters.
class NeuronReader {
 public:
  NeuronReader(Walk& walk, const Here& here, const Function& task) : walk_(walk), here_(here), task_(task) {}

  Made read(std::string_view type) {
    Signal from = walk_.signal(here_, 0);
    if (!from.before.empty() || !from.windows.empty()) throw Problem{"zeros or windows stand around its input"};
    const Extents seen = from.shape;
    if (volume(from.whole) != volume(seen)) from.whole = seen;
    const Extents population = from.whole;
    std::vector<std::pair<std::string, std::variant<Array, std::string>>> parameters;
    Made made(1);
    for (std::size_t slot = 0, k = 0; k < task_.parameters.size(); ++k) {
      const Parameter& parameter = task_.parameters[k];
      if (!parameter.type.is_tensor()) {
        if (k < here_.arguments.size() && here_.arguments[k].is_string())
          walk_.say_choice(parameter.name, here_.arguments[k].string());
        continue;
      }
      const std::size_t at = slot++;
      if (at == 0) continue;
      if (parameter.privilege == Privilege::inout) {
        require_zeros(walk_.in(here_, at), parameter.name);
        made.emplace_back(State{});
      } else {
        parameters.emplace_back(parameter_of(parameter.name), reshaped(values(at, parameter.name), population));
      }
    }
    from.shape = from.whole;
    Signal signal = walk_.add(std::string(type), std::move(from), population, std::move(parameters));
    signal.shape = seen;
    made[0] = std::move(signal);
    return made;
  }

 private:
  Array values(std::size_t slot, const std::string& name) const {
    if (const auto* factor = std::get_if<Factor>(&walk_.in(here_, slot))) return factor->tau;
    if (name.starts_with("k")) throw Problem{"its '" + name + "' is no nir.factor of a time constant"};
    return walk_.known(here_, slot).array;
  }

  Walk& walk_;
  const Here& here_;
  const Function& task_;
};

Made read_factor(Walk& walk, const Here& here, const Function&) {
  for (const Value& argument : here.arguments)
    if (argument.is_string()) walk.say_choice("integrator", argument.string());
  return {Factor{walk.known(here, 0).array}};
}

// As a node; or, where nobody reads what comes out of it, the way of an edge backwards.
Made read_delay(Walk& walk, const Here& here, const std::vector<std::int64_t>& steps) {
  const Signal& from = walk.signal(here, 0);
  require_zeros(walk.in(here, 1), "line");
  Array delay = Array::make({walk.known(here, 1).array.precision(), from.whole});
  for (std::int64_t i = 0; i < delay.elements(); ++i)
    delay.set_number(i, static_cast<double>(steps[static_cast<std::size_t>(i)]) * walk.dt());
  Signal whole = from;
  whole.shape = whole.whole;
  Signal made = walk.add("Delay", whole, from.whole, {{"delay", delay}});
  made.shape = from.shape;
  return {made, State{}};
}

Made read_same_delay(Walk& walk, const Here& here, const Function&) {
  if (walk.uses(here) == 0) return (void)walk.signal(here, 0), Made{Refused{}, State{}};
  const std::int64_t steps = walk.known(here, 1).array.extents()[0];
  return read_delay(walk, here, std::vector<std::int64_t>(static_cast<std::size_t>(volume(walk.extents(here))), steps));
}

Made read_delays(Walk& walk, const Here& here, const Function&) {
  const Array& late = walk.known(here, 2).array;
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < late.elements(); ++i) steps.push_back(late.integer(i) / late.elements());
  return read_delay(walk, here, steps);
}

Made read_keep(Walk& walk, const Here& here, const Function&) {
  (void)walk.signal(here, 0);
  return {State{}};
}

struct TaskReader {
  std::string_view task;
  Made (*read)(Walk& walk, const Here& here, const Function& task);
};
constexpr TaskReader others[] = {
    {"factor", read_factor}, {"delay", read_same_delay}, {"delays", read_delays}, {"keep", read_keep}};

}  // namespace

bool is_keeper(std::string_view task) { return task == "keep" || task == "delay"; }

std::optional<std::vector<Seen>> read_neuron(Walk& walk, const Here& here, const Function& task) {
  if (const auto row = std::ranges::find(neurons, task.name, &NeuronRow::task); row != std::end(neurons))
    return NeuronReader(walk, here, task).read(row->type);
  if (const auto row = std::ranges::find(others, task.name, &TaskReader::task); row != std::end(others))
    return row->read(walk, here, task);
  return std::nullopt;
}

}  // namespace taskspec::nir_walk
