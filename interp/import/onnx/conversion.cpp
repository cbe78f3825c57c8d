#include "interp/import/onnx/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "interp/import/onnx/importer.hpp"
#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"
#include "ir/types/value.hpp"

namespace taskspec::onnx {

namespace {

constexpr std::size_t most_nodes = 200'000;  // of loops that are written out
// Numbers that any model may ask for: places of windows, weights of resized images; and more for each of its bytes.
constexpr std::int64_t free_numbers = std::int64_t{1} << 24, numbers_per_byte = 16;

// Of the inputs that become numbers of the program.
constexpr std::size_t most_parameters = 64;
constexpr std::int64_t most_integers = 16;

bool is_plain_name(const std::string& text) { return std::ranges::all_of(text, is_word); }

// [[1, 2], [3, 4]]
std::string nested(const Dims& elements, std::span<const std::int64_t> shape, std::size_t& next) {
  if (shape.empty()) return elements[next++].text();
  std::string text;
  for (std::int64_t i = 0; i < shape[0]; ++i) text += (i == 0 ? "" : ", ") + nested(elements, shape.subspan(1), next);
  return "[" + text + "]";
}

// Numbers as a person writes them behind -D: 3 or 2,3,4.
std::vector<double> listed_numbers(const std::string& text) {
  std::vector<double> all;
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ','))
      throw failure("E7008", {}, "'" + text + "' is no list of numbers such as 2,3");
    if (!(value > -9e18 && value < 9e18)) throw failure("E7008", {}, "'" + text + "' holds a number that is too large");
    all.push_back(value);
    at = next + 1;
  }
  return all;
}

void collect_nodes(const Graph& graph, std::vector<const Node*>& to) {
  for (const Node& node : graph.nodes) {
    to.push_back(&node);
    for (const Attribute& attribute : node.attributes)
      if (attribute.graph) collect_nodes(*attribute.graph, to);
  }
}

}  // namespace

Conversion::Conversion(const Model& model, std::string path, std::string name, const ImportOptions& options,
                       const std::set<std::string>& parameters)
    : model_(model),
      path_(std::move(path)),
      name_(std::move(name)),
      graph_name_(identifier(name_)),
      set_(options.set.begin(), options.set.end()),
      opset_(model.opsets.at("")),
      wanted_parameters_(parameters),
      left_(free_numbers +
            numbers_per_byte * static_cast<std::int64_t>(std::min(model.bytes, std::uint64_t{1} << 50))) {}

ModelText Conversion::run() {
  check_operators();
  check_options();
  find_needed(model_.graph);
  for (const Stored& stored : model_.graph.initializers) {
    Term term;
    term.origin = stored.name;
    if (!stored.array) continue;
    term.constant = stored.array;
    term.precision = stored.array->precision();
    for (const std::int64_t extent : stored.array->extents()) term.dims.emplace_back(extent);
    define(stored.name, std::move(term));
  }
  declare_inputs();
  for (const Declared& output : model_.graph.outputs) output_names_[output.name] = names_.make(output.name);
  convert_nodes(model_.graph);
  finish_outputs();
  made_.text = text();
  return std::move(made_);
}

// ---- what the model asks for ----------------------------------------------------------------------

// All that is not known in one error.
void Conversion::check_operators() const {
  std::vector<const Node*> nodes;
  collect_nodes(model_.graph, nodes);
  std::map<std::string, std::vector<std::string>> unknown;
  for (const Node* node : nodes)
    if (!node->domain.empty() || !find_operator(node->op, opset_))
      unknown[node->domain.empty() ? node->op : node->domain + "." + node->op].push_back(node->shown());
  if (unknown.empty()) return;
  Diag diag(
      "E7007", Severity::error, {},
      fmt::format("'{}' uses {} not known at opset {}", path_,
                  unknown.size() == 1 ? "an operator that is" : fmt::format("{} operators that are", unknown.size()),
                  opset_));
  for (auto& [op, places] : unknown) {
    const std::size_t count = places.size();
    if (count > 5) places.resize(5);
    diag.note(fmt::format("{}: {}: {}{}", op, plural(count, "node"), taskspec::joined(places, ", "),
                          count > 5 ? ", ..." : ""));
  }
  throw Error(std::move(diag));
}

void Conversion::check_options() const {
  std::vector<std::string> known;
  for (const Declared& input : model_.graph.inputs) {
    known.push_back(input.name);
    if (input.extents)
      for (const Extent& extent : *input.extents)
        if (const auto* name = std::get_if<std::string>(&extent); name && !name->empty()) known.push_back(*name);
  }
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  for (const auto& [name, value] : set_)
    if (!std::ranges::binary_search(known, name))
      throw failure("E7008", {},
                    fmt::format("'{}' has no input and no open extent '{}'; there are: {}", path_, name,
                                taskspec::joined(known, ", ")));
}

// From the outputs back. A graph inside of a node may use any name of the graphs around it.
void Conversion::find_needed(const Graph& graph) {
  for (const Declared& output : graph.outputs) needed_.insert(output.name);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs,
                             [&](const std::string& name) { return !name.empty() && needed_.contains(name); }))
      continue;
    needed_.insert(node->inputs.begin(), node->inputs.end());
    for (const Attribute& attribute : node->attributes)
      if (attribute.graph) find_needed(*attribute.graph);
  }
}

// ---- inputs and outputs ---------------------------------------------------------------------------

// A name of an extent, as a dimension variable: those begin with a capital letter.
Dim Conversion::extent(const std::string& name) {
  if (const auto value = set_.find(name); value != set_.end() && !name.empty()) {
    const std::vector<double> numbers = listed_numbers(value->second);
    if (numbers.size() != 1 || numbers[0] < 0)
      throw failure("E7008", {}, fmt::format("'{}' is no extent", value->second));
    return Dim(static_cast<std::int64_t>(numbers[0]));
  }
  if (!name.empty())
    if (const auto known = open_extents_.find(name); known != open_extents_.end()) return known->second;
  std::string wanted = identifier(name.empty() ? "D" : name);
  if (wanted[0] >= 'a') wanted[0] = static_cast<char>(wanted[0] - 'a' + 'A');  // it begins with a letter
  const Dim made = symbol(names_.make(wanted));
  open_extents_.emplace(name.empty() ? fmt::format(" {}", open_extents_.size()) : name, made);
  return made;
}

Dim Conversion::symbol(std::string name) {
  return Dim(std::make_shared<const SymbolInfo>(SymbolInfo{.name = std::move(name), .id = symbols_++}));
}

Dims Conversion::dims_of(const Declared& declared) {
  Dims dims;
  for (const Extent& extent : *declared.extents) {
    const auto* number = std::get_if<std::int64_t>(&extent);
    dims.push_back(number ? Dim(*number) : this->extent(std::get<std::string>(extent)));
  }
  return dims;
}

// An input that somebody gave a value: it is none any more.
Term Conversion::bound(const Declared& input, const std::string& value) const {
  const std::vector<double> all = listed_numbers(value);
  ArrayType type{*input.precision, {}};
  for (const Extent& extent : *input.extents) {
    const auto* number = std::get_if<std::int64_t>(&extent);
    type.extents.push_back(number ? *number : static_cast<std::int64_t>(all.size()));
  }
  if (type.elements() != static_cast<std::int64_t>(all.size()))
    throw failure(
        "E7008", {},
        fmt::format("input '{}' is {}; '{}' has {}", input.name, type.text(), value, plural(all.size(), "number")));
  Term term;
  term.origin = input.name;
  term.precision = type.precision;
  for (const std::int64_t extent : type.extents) term.dims.emplace_back(extent);
  term.constant = Array::make(type);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (is_float(type.precision))
      term.constant->set_number(at, all[i]);
    else
      term.constant->set_integer(at, static_cast<std::int64_t>(all[i]));
  }
  return term;
}

// Few integers, of which it is known how many.
bool Conversion::may_be_parameters(const Declared& input) const {
  const bool whole = input.precision == Precision::i64 || input.precision == Precision::i32;
  if (!whole || !input.extents || input.extents->size() > 1 || set_.contains(input.name)) return false;
  if (wanted_parameters_.contains(input.name) || wanted_parameters_.size() >= most_parameters) return false;
  if (input.extents->empty()) return true;
  const auto* count = std::get_if<std::int64_t>(&input.extents->front());
  return count && *count >= 1 && *count <= most_integers;
}

Term Conversion::as_parameters(const Declared& input) {
  Term term;
  term.origin = input.name;
  term.precision = *input.precision;
  if (!input.extents->empty()) term.dims.emplace_back(std::get<std::int64_t>(input.extents->front()));
  const std::int64_t count = term.dims.empty() ? 1 : *term.dims[0].constant();
  term.extents.emplace();
  for (std::int64_t i = 0; i < count; ++i) {
    int_parameters_.push_back(names_.make(count == 1 ? input.name : fmt::format("{}_{}", input.name, i)));
    term.extents->push_back(symbol(int_parameters_.back()));
  }
  return term;
}

void Conversion::ask_for(const std::string& value, Diag diag) const {
  std::set<std::string> seen{value};
  std::vector<std::string> open{value};
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    for (const Node& node : model_.graph.nodes)
      if (std::ranges::find(node.outputs, name) != node.outputs.end())
        for (const std::string& input : node.inputs)
          if (seen.insert(input).second) open.push_back(input);
  }
  NeedsParameters more{{}, std::move(diag)};
  for (const Declared& input : model_.graph.inputs)
    if (seen.contains(input.name) && may_be_parameters(input)) more.inputs.push_back(input.name);
  if (more.inputs.empty()) throw Error(std::move(more.diag));
  throw more;
}

void Conversion::declare_inputs() {
  for (const Declared& input : model_.graph.inputs) {
    if (values_.contains(input.name)) continue;  // an initializer, which older models list here, too
    if (!input.precision)
      throw failure("E7003", {},
                    fmt::format("input '{}' of '{}' holds {}, which are not read", input.name, path_, input.other));
    if (!input.extents)
      throw failure("E7003", {}, fmt::format("'{}' does not say how many axes input '{}' has", path_, input.name));
    if (const auto value = set_.find(input.name); value != set_.end()) {
      define(input.name, bound(input, value->second));
      continue;
    }
    if (wanted_parameters_.contains(input.name)) {
      define(input.name, as_parameters(input));
      continue;
    }
    Term term = named(names_.make(input.name), *input.precision, dims_of(input));
    term.origin = input.name;
    inputs_.push_back({term.text, type_text(term.precision, term.dims)});
    define(input.name, std::move(term));
  }
}

void Conversion::finish_outputs() {
  if (model_.graph.outputs.empty()) throw failure("E7003", {}, fmt::format("'{}' has no output", path_));
  for (const Declared& output : model_.graph.outputs) {
    const Term* known = find(output.name);
    if (!known)
      throw failure("E7003", {}, fmt::format("'{}' is broken: nothing makes its output '{}'", path_, output.name));
    Term term = written(output.name);
    const auto own = output_names_.find(output.name);
    const std::string name = own == output_names_.end() ? term.text : own->second;
    if (name != term.text) line(fmt::format("{} = {}", name, bare(term.text)));
    outputs_.push_back({name, type_text(term.precision, term.dims)});
  }
}

// ---- values ---------------------------------------------------------------------------------------

const Term* Conversion::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

Term Conversion::written(const std::string& name) {
  Term& term = values_.at(name);
  if (term.text.empty()) term = written(term, term.origin.empty() ? name : term.origin);
  return term;
}

Term Conversion::written(Term term, const std::string& hint) {
  if (!term.text.empty()) return term;
  const std::optional<Numbers> shape = numbers(term.dims);
  if (!term.extents && term.constant && !term.is_real() && term.precision != Precision::boolean &&
      term.constant->elements() <= static_cast<std::int64_t>(longest_list)) {
    term.extents.emplace();
    for (std::int64_t i = 0; i < term.constant->elements(); ++i) term.extents->emplace_back(term.constant->integer(i));
  }
  if (term.extents && !term.extents->empty() && shape) {
    std::size_t next = 0;
    term.text = fmt::format("({} as {})", nested(*term.extents, *shape, next), type_text(term.precision, term.dims));
  } else if (term.extents || (term.constant && term.constant->elements() == 0)) {
    term.text = filled(term.precision, term.dims, literal(0, term.precision)).text;
  } else if (term.rank() == 0) {
    term.text =
        fmt::format("fill({}, {})", info(term.precision).name, literal(term.constant->number(0), term.precision));
  } else {
    term.text = slot(*term.constant, hint).text;
  }
  return term;
}

bool Conversion::spend(std::int64_t numbers) {
  if (numbers > left_) return false;
  left_ -= std::max<std::int64_t>(0, numbers);
  return true;
}

Error Conversion::too_much() const {
  return failure("E7003", {}, fmt::format("'{}' unfolds into more than a file of its size is worth", path_));
}

void Conversion::line(std::string text) {
  if (!spend(static_cast<std::int64_t>(text.size() / sizeof(std::int64_t)))) throw too_much();
  lines_.push_back(std::move(text));
}

Term Conversion::slot(const Array& array, const std::string& hint) {
  if (!spend(array.elements())) throw too_much();
  const std::string name = names_.make(hint);
  // Names of a file may be no text at all.
  const bool plain = !hint.empty() && std::ranges::all_of(hint, [](char c) { return c >= ' ' && c < 0x7f; });
  const std::string key = plain ? hint : name;
  Dims dims(array.extents().begin(), array.extents().end());
  const char* kind = is_float(array.precision()) ? "weight" : "table";
  std::string own = key;
  for (int i = 1; !keys_.insert(own).second; ++i) own = fmt::format("{}_{}", key, i);
  made_.arrays.push_back({own, array});
  slots_.push_back(fmt::format("{} {}: {} = file({}, name: {})", kind, name, type_text(array.precision(), dims),
                               in_quotes(name_ + ".npz"), in_quotes(own)));
  return named(name, array.precision(), std::move(dims));
}

Term Conversion::let(Term term, const std::string& hint) {
  if (term.text.empty() || is_plain_name(term.text)) return term;
  const std::string name = names_.make(fmt::format("{}_{}", hint, ++counts_[hint]));
  line(fmt::format("let {} = {}", name, bare(term.text)));
  term.text = name;
  return term;
}

void Conversion::give(const std::string& name, Term term, const std::string& op) {
  const auto output = output_names_.find(name);
  if (output != output_names_.end() && !term.text.empty()) {
    line(fmt::format("{} = {}", output->second, bare(term.text)));
    term.text = output->second;
    output_names_.erase(output);
  }
  term = let(std::move(term), op);
  define(name, std::move(term));
}

// ---- nodes ----------------------------------------------------------------------------------------

void Conversion::convert_nodes(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (std::ranges::none_of(node.outputs,
                             [&](const std::string& name) { return !name.empty() && needed_.contains(name); }))
      continue;
    Call call(*this, node);
    for (const std::string& input : node.inputs)
      if (!input.empty() && !find(input))
        throw failure("E7003", {},
                      fmt::format("'{}' is broken: {} node '{}' takes '{}', which nothing in front of it makes", path_,
                                  node.op, node.shown(), input));
    if (++converted_ > most_nodes)
      throw failure("E7003", {}, fmt::format("'{}' unfolds into more than {} operators", path_, most_nodes));
    convert(call);
  }
}

// What is wrong with the numbers of a node is told of the node.
void Conversion::convert(Call& call) {
  try {
    if (!fold(call)) find_operator(call.node.op, opset_)->convert(call);
  } catch (const Misfit& misfit) {
    call.fail(misfit.why);
  } catch (const std::out_of_range&) {
    call.fail("its numbers do not fit its shape");
  }
}

std::vector<Term> Conversion::inside(const Graph& graph) {
  for (const Stored& stored : graph.initializers) {
    if (!stored.array) continue;
    Term term;
    term.constant = stored.array;
    term.origin = stored.name;
    term.precision = stored.array->precision();
    for (const std::int64_t extent : stored.array->extents()) term.dims.emplace_back(extent);
    define(stored.name, std::move(term));
  }
  convert_nodes(graph);
  std::vector<Term> results;
  for (const Declared& output : graph.outputs) {
    const Term* known = find(output.name);
    if (!known) throw failure("E7003", {}, fmt::format("'{}' is broken: nothing makes '{}'", path_, output.name));
    results.push_back(*known);
  }
  return results;
}

// ---- the text -------------------------------------------------------------------------------------

std::string Conversion::text() {
  auto list = [](const std::vector<Parameter>& all) {
    std::string text;
    for (const Parameter& one : all) text += (text.empty() ? "" : ", ") + one.name + ": " + one.type;
    return text;
  };
  const std::string results = list(outputs_), parameters = taskspec::joined(int_parameters_, ", ");
  std::vector<std::string> all_inputs, typed;
  if (!inputs_.empty()) all_inputs.push_back(list(inputs_));
  for (const std::string& one : int_parameters_) typed.push_back(one + ": int");
  all_inputs.insert(all_inputs.end(), typed.begin(), typed.end());
  std::string out = fmt::format("// {}: an ONNX model of opset {}{}\n\nagent Net{} {{\n", name_, opset_,
                                model_.producer.empty() ? "" : ", by " + identifier(model_.producer),
                                typed.empty() ? "" : "(" + taskspec::joined(typed, ", ") + ")");
  for (const std::string& slot : slots_) out += "  " + slot + "\n";
  out += fmt::format("  graph forward({}) -> ({}) {{\n", list(inputs_), results);
  for (const std::string& line : lines_) out += "    " + line + "\n";
  std::string arguments;
  for (const Parameter& input : inputs_) arguments += (arguments.empty() ? "" : ", ") + input.name;
  Names local;
  for (const auto* all : {&inputs_, &outputs_})
    for (const Parameter& one : *all) local.take(one.name);
  for (const std::string& one : int_parameters_) local.take(one);
  const std::string made = local.make("made");
  out += fmt::format("  }}\n}}\n\ngraph {}({}) -> ({}) {{\n  let {} = Net({}).forward({})\n", graph_name_,
                     taskspec::joined(all_inputs, ", "), results, made, parameters, arguments);
  for (const Parameter& output : outputs_) out += fmt::format("  {} = {}.{}\n", output.name, made, output.name);
  return out + "}\n";
}

ModelText read(const std::string& path, const std::string& name, const ImportOptions& options) {
  const Model model = read_model(path);
  std::set<std::string> parameters;
  std::optional<Diag> asked;  // in the first place
  ModelText text;
  for (bool is_done = false; !is_done;) {  // each turn has more of them, out of the inputs
    try {
      text = Conversion(model, path, name, options, parameters).run();
      is_done = true;
    } catch (const NeedsParameters& more) {
      parameters.insert(more.inputs.begin(), more.inputs.end());
      if (!asked) asked = more.diag;
    } catch (const Error& error) {
      // Numbers that stay open do not do: they have to be given.
      if (!asked || error.diags().items().front().code == Code("E7008")) throw;
      throw Error(*asked);
    }
  }
  for (const std::string& input : parameters)
    text.notes.push_back(fmt::format("input '{}' decides about shapes: it is a parameter of the network", input));
  if (const std::int64_t opset = model.opsets.at(""); opset > newest)
    text.notes.push_back(fmt::format("opset {} is newer than {}, which the operators are written for", opset, newest));
  return text;
}

}  // namespace taskspec::onnx
