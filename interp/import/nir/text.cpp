#include "interp/import/nir/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/import/nir/kinds.hpp"
#include "interp/import/nir/problems.hpp"
#include "ir/base/text.hpp"
#include "ir/types/value.hpp"

namespace taskspec::nir {

ProgramText::ProgramText(const Network& net, const Choices& chosen, std::string name)
    : choices(chosen), net_(net), name_(std::move(name)), notes_(net.notes) {
  for (const char* used : {"nir", "dt", "integrator", "reset", "forward", "made"}) names_.take(used);
  name_nodes();
}

void ProgramText::name_nodes() {
  for (const Population& node : net_.nodes) idents_[&node] = names_.make(node.path);
}

// ---- words ----------------------------------------------------------------------------------------

std::string ProgramText::type(const Shape& shape) const { return (choices.f64 ? "f64" : "f32") + shape_text(shape); }

std::string ProgramText::call(std::string_view task) const { return "nir." + std::string(task); }

// In brackets where something stands beside it outside of any.
std::string ProgramText::tight(const std::string& x) {
  int depth = 0;
  for (char c : x) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ' ' && depth == 0) return "(" + x + ")";
  }
  return x;
}

std::string ProgramText::reshaped(const std::string& x, const Shape& from, const Shape& to) {
  if (from == to) return x;
  const std::string extents = shape_text(to);
  return tight(x) + ".reshape(" + extents.substr(1, extents.size() - 2) + ")";
}

namespace {

// As many digits as give the same number again.
template <class T>
std::string real_text(T value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".enf") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string ProgramText::real(double value) { return real_text(value); }

std::string ProgramText::number(double value) const {
  return choices.f64 ? real_text(value) : real_text(static_cast<float>(value));
}

// ---- slots ----------------------------------------------------------------------------------------

namespace {

// In the precision of the program; counts stay what they are.
Array converted(const Array& array, bool f64) {
  const Precision wanted = f64 ? Precision::f64 : Precision::f32;
  if (array.precision() == wanted || array.precision() == Precision::i64) return array;
  Array made = Array::make({wanted, array.extents()});
  for (std::int64_t i = 0; i < array.elements(); ++i) made.set_number(i, array.number(i));
  return made;
}

bool is_uniform(const Array& array) {
  for (std::int64_t i = 1; i < array.elements(); ++i)
    if (!(array.number(i) == array.number(0))) return false;
  return array.elements() > 0;
}

}  // namespace

std::string ProgramText::slot(const Population& node, std::string_view suffix) {
  return names_.make(ident(node) + "_" + std::string(suffix));
}

void ProgramText::add_slot(std::string_view kind, const std::string& name, const Shape& shape,
                           const std::string& first) {
  slots_.push_back(fmt::format("{} {}: {} = {}", kind, name, type(shape), first));
}

std::string ProgramText::weight(const Population& node, std::string_view suffix, const Array& array) {
  const std::string name = slot(node, suffix);
  arrays_.push_back({name, converted(array, choices.f64)});
  const bool counts = array.precision() == Precision::i64;
  slots_.push_back(fmt::format("{} {}: {} = file({}, name: {})", counts ? "table" : "weight", name,
                               counts ? "i64" + shape_text(array.extents()) : type(array.extents()),
                               in_quotes(name_ + ".npz"), in_quotes(name)));
  return name;
}

std::string ProgramText::table(const Population& node, std::string_view suffix, const Array& array) {
  if (is_uniform(array)) return constant_table(node, suffix, array.number(0));
  const std::string name = slot(node, suffix);
  Array flat = Array::make({choices.f64 ? Precision::f64 : Precision::f32, {array.elements()}});
  for (std::int64_t i = 0; i < array.elements(); ++i) flat.set_number(i, array.number(i));
  arrays_.push_back({name, std::move(flat)});
  add_slot("table", name, {array.elements()},
           fmt::format("file({}, name: {})", in_quotes(name_ + ".npz"), in_quotes(name)));
  return name;
}

std::string ProgramText::constant_table(const Population& node, std::string_view suffix, double value) {
  const std::string name = slot(node, suffix);
  add_slot("table", name, {volume(node.in)}, value == 0 ? "zero()" : "constant(" + number(value) + ")");
  return name;
}

std::string ProgramText::state(const Population& node, std::string_view suffix, const Shape& shape) {
  const std::string name = slot(node, suffix);
  add_slot("state", name, shape, "zero()");
  if (suffix == "v") voltages_[&node] = name;
  return name;
}

// ---- a step ---------------------------------------------------------------------------------------

std::string ProgramText::value_of(std::size_t from, const Shape& wanted) {
  const Population& node = net_.nodes[from];
  return reshaped(ident(node), node.out, wanted);
}

// Of an earlier step: it lies in a state, which the end of the step brings up to date.
std::string ProgramText::value_of_before(std::size_t from, const Shape& wanted) {
  const Population& node = net_.nodes[from];
  const Shape flat{volume(node.out)};
  auto [known, fresh] = before_.try_emplace(from);
  const bool line = choices.feedback > 1;
  if (fresh) {
    known->second = state(node, "before", line ? Shape{choices.feedback, flat[0]} : flat);
    ends_.push_back(call(line ? "delay" : "keep") + "(" + reshaped(ident(node), node.out, flat) + ", " + known->second +
                    ")");
  }
  const std::string last = line ? known->second + "[" + std::to_string(choices.feedback - 1) + "]" : known->second;
  return reshaped(last, flat, wanted);
}

// The sum of what leads into a node, in the order of names.
std::string ProgramText::input_of(const Population& node) {
  std::map<std::size_t, std::string> terms;
  for (std::size_t from : node.from) terms[from] = value_of(from, node.in);
  for (std::size_t from : node.back) terms[from] = value_of_before(from, node.in);
  std::vector<std::string> words;
  for (const auto& [from, term] : terms) words.push_back(term);
  return joined(words, " + ");
}

// Lava's layers of synapses give what they take one step later.
void ProgramText::late(const Population& node, const std::string& value) {
  const Shape flat{volume(node.out)};
  const std::string now = slot(node, "now"), kept = state(node, "late", flat);
  lines_.push_back("let " + now + " = " + value);
  lines_.push_back("let " + ident(node) + " = " + reshaped(kept, flat, node.out));
  ends_.push_back(call("keep") + "(" + reshaped(now, node.out, flat) + ", " + kept + ")");
}

void ProgramText::step(std::size_t at) {
  const Population& node = net_.nodes[at];
  const std::string& type_name = node.node->type;
  if (type_name == "Input" && !node.inner) {
    inputs_.push_back(ident(node) + ": " + type(node.out));
    return;
  }
  const std::string value = node.kind->write(*this, node, input_of(node));
  if (type_name == "Output" && !node.inner) {
    outputs_.push_back(ident(node) + ": " + type(node.out));
    ends_.push_back(ident(node) + " = " + value);
    return;
  }
  const bool synapses = node.kind->wants && find_array(*node.node, "weight");
  if (choices.like == Like::lava && synapses) return late(node, value);
  lines_.push_back("let " + ident(node) + " = " + value);
  if (choices.watched && node.kind->spikes) watch(node);
}

// Its spikes, and its voltages after the step.
void ProgramText::watch(const Population& node) {
  const std::string spikes = slot(node, "spikes"), voltages = slot(node, "voltages");
  watched_.push_back(spikes + ": " + type(node.out));
  watched_.push_back(voltages + ": " + type({volume(node.in)}));
  ends_.push_back(spikes + " = " + ident(node));
  ends_.push_back(voltages + " = " + voltages_.at(&node));
}

// ---- the program ----------------------------------------------------------------------------------

std::string ProgramText::signature() const {
  return fmt::format("({}) -> ({})", joined(inputs_, ", "), joined(outputs_, ", "));
}

std::string ProgramText::parameters() const {
  std::vector<std::string> all;
  if (!fixed_dt_) all.push_back("dt: float = " + real(choices.dt));
  all.push_back("integrator: string = " + in_quotes(choices.integrator));
  all.push_back("reset: string = " + in_quotes(choices.reset));
  return "(" + joined(all, ", ") + ")";
}

// What calls itself by one name in small and in capital letters: the graph and its agent.
std::string ProgramText::agent_name() const {
  std::string name = identifier(name_);
  const bool small = name[0] >= 'a' && name[0] <= 'z';
  if (!small) return "Net_" + name;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

std::string ProgramText::graph_of_one_call() const {
  auto name_of = [](const std::string& declared) { return declared.substr(0, declared.find(':')); };
  std::vector<std::string> given;
  for (const std::string& input : inputs_) given.push_back(name_of(input));
  std::string text = "graph " + identifier(name_) + signature() + " {\n";
  text += "  let made = " + agent_name() + "().forward(" + joined(given, ", ") + ")\n";
  for (const std::string& output : outputs_) text += "  " + name_of(output) + " = made." + name_of(output) + "\n";
  return text + "}\n";
}

std::string ProgramText::written() const {
  std::string text = "import " + std::string(choices.f64 ? "nir64 as nir" : "nir") + "\n\n";
  if (fixed_dt_) text += "let dt = " + real(choices.dt) + "  // delays are counted in steps of it\n\n";
  text += "// One call of forward is one time step: run m.forward(x) on host(time_steps: 1000)\n";
  text += "agent " + agent_name() + parameters() + " {\n";
  for (const std::string& slot : slots_) text += "  " + slot + "\n";
  text += "  graph forward" + signature() + " {\n";
  for (const std::vector<std::string>* lines : {&lines_, &ends_})
    for (const std::string& line : *lines) text += "    " + line + "\n";
  return text + "  }\n}\n\n// All states begin anew.\n" + graph_of_one_call();
}

ModelText ProgramText::write(const std::string& path) {
  Problems problems;
  for (std::size_t at : net_.order) {
    const Population& node = net_.nodes[at];
    try {
      step(at);
    } catch (const Problem& problem) {
      problems.add("node '" + node.path + "' (" + node.node->type + "): " + problem.text);
    }
  }
  problems.raise(path);
  outputs_.insert(outputs_.end(), watched_.begin(), watched_.end());
  std::string said = fmt::format("dt {}, integrator {}, reset {}, feedback {} {}, precision {}", choices.dt,
                                 choices.integrator, choices.reset, choices.feedback,
                                 choices.feedback == 1 ? "step" : "steps", choices.f64 ? "f64" : "f32");
  if (choices.like != Like::nobody) said += ", like " + choices.like_name;
  notes_.insert(notes_.begin(), std::move(said));
  for (const auto& [from, name] : before_)
    notes_.push_back("'" + net_.nodes[from].path + "' leads back: what it gives is used " +
                     std::to_string(choices.feedback) + (choices.feedback == 1 ? " step" : " steps") + " later");
  return {written(), std::move(arrays_), std::move(notes_)};
}

}  // namespace taskspec::nir
