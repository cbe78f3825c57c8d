// Signatures: parameters, dimension variables, outputs, defaults.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/types.hpp"
#include "ir/program/alone.hpp"
#include "ir/types/solve.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

class Signature {
 public:
  Signature(World& world, FunctionId id) : world_(world), id_(id) {
    FunctionInfo& info = world.info(id);
    params_ = info.task ? &info.task->params : &info.fn->params;
    results_ = info.task ? &info.task->results : &info.fn->results;
    info.body = std::make_unique<Body>(world, id);
  }

  void resolve() {
    add_agent_parameters(body());
    first_ = function().parameters.size();
    body().scopes.emplace_back();
    for (std::size_t i = 0; i < params_->size(); ++i) add_parameter((*params_)[i]);
    // Ints first: extents of the others may be made of them, in whatever order they stand.
    for (bool ints : {true, false})
      for (std::size_t i = 0; i < params_->size(); ++i)
        if (is_int((*params_)[i]) == ints) set_type(i, parameter_type((*params_)[i]));
    require_told_dimensions();
    if (function().kind == FunctionKind::fn)
      add_result();
    else
      add_outputs();
    for (std::size_t i = 0; i < params_->size(); ++i) add_default(i);
    body().parameter_limit = UINT32_MAX;
    note_symbols();
  }

 private:
  Body& body() { return *world_.info(id_).body; }
  Function& function() { return world_.program[id_]; }
  Parameter& parameter(std::size_t i) { return function().parameters[first_ + i]; }
  bool is_task() { return function().kind == FunctionKind::task; }

  static bool is_int(const ast::Param& param) {
    auto* named = std::get_if<ast::NamedType>(&param.type.node);
    return named && named->name.text == "int" && named->dims.empty();
  }
  // Changes a place of the caller. Views change in their own way, and a region has no versions.
  bool is_inout(const ast::Param& param) {
    return param.privilege && param.privilege->word.text == "inout" && !is_view(param);
  }
  bool is_view(const ast::Param& param) {
    auto* named = std::get_if<ast::NamedType>(&param.type.node);
    const std::optional<Binding> found = named ? body().find(named->name.text) : std::nullopt;
    return found && found->kind == Binding::Kind::fields;
  }

  // ---- parameters ----

  void add_parameter(const ast::Param& param) {
    Parameter made{param.name.text, Kind::none, Privilege::in, Role::declared, {}, {}, {}, param.span};
    Binding binding{.kind = Binding::Kind::value, .what = "parameter"};
    binding.index = static_cast<std::uint32_t>(function().parameters.size());
    if (is_inout(param)) {
      made.privilege = Privilege::inout;
      made.variable = body().add_variable(made.name, Kind::none, true, param.span);
      binding.kind = Binding::Kind::variable;
      binding.variable = made.variable;
      binding.is_place = true;
      function().parameters.push_back(std::move(made));
      calls_.push_back({});
    } else {
      calls_.push_back(body().add_parameter(std::move(made), param.span));
      binding.call = calls_.back();
    }
    body().define(param.name, binding);
  }

  void set_type(std::size_t i, Type type) {
    if (VariableId variable = parameter(i).variable; variable.valid())
      function().variables[variable.index()].type = type;
    else
      body()[calls_[i]].type = type;
    parameter(i).type = std::move(type);
  }

  Type parameter_type(const ast::Param& param) {
    if (is_view(param)) return view_type(param);
    if (param.privilege)
      if (const std::string& word = param.privilege->word.text; word == "out" || word == "reduce") {
        written_type(body(), param.type, Blank::parameter);
        wrong_type(world_.diags, param.privilege->span,
                   fmt::format("'{}' is for views of regions: '{}' is none", word, param.name.text))
            .help(is_task() ? "what a task makes is an output: -> (y: f32[N])" : "");
        return Kind::error;
      }
    Type type = is_inout(param) ? written_tensor(body(), param.type, Blank::parameter)
                                : written_type(body(), param.type, Blank::parameter);
    if (type.is(Kind::error)) body().info().broken = true;
    if (type.is(Kind::error) || type.is_tensor()) return type;
    bool scalar = type.is_number() || type.is(Kind::boolean) || type.is(Kind::string);
    std::string message;
    if (is_inout(param))
      message = fmt::format("inout is for tensors, '{}' is {}", param.name.text, type.text());
    else if (is_task() && !scalar)
      message = fmt::format("a task takes tensors and host scalars, '{}' is {}", param.name.text, type.text());
    if (message.empty()) return type;
    wrong_type(world_.diags, param.type.span, message);
    return Kind::error;
  }

  // A task sees a view, which has all fields where none are listed; other functions get the region itself.
  Type view_type(const ast::Param& param) {
    Type type = written_type(body(), param.type, Blank::parameter);
    if (type.is(Kind::error)) return body().info().broken = true, type;
    Parameter& made = parameter(static_cast<std::size_t>(&param - params_->data()));
    const std::string word = param.privilege ? param.privilege->word.text : "in";
    std::string message;
    if (is_task()) {
      made.privilege = word == "out"      ? Privilege::out
                       : word == "inout"  ? Privilege::inout
                       : word == "reduce" ? Privilege::reduce
                                          : Privilege::in;
      if (type.is(Kind::region)) type = view_of(std::move(type));
      add_axes(type, static_cast<std::size_t>(&param - params_->data()));
      if (made.privilege != Privilege::reduce) return type;
      const auto op = std::ranges::find(reduce_words, param.privilege->reduce_op->text);
      if (op != reduce_words.end()) return made.reduce = static_cast<ReduceOp>(op - reduce_words.begin()), type;
      message = fmt::format("there is no reduce({}): + * min max", param.privilege->reduce_op->text);
    } else if (type.is(Kind::view)) {
      message = fmt::format("a view is what a task sees, '{}' takes the region itself: {}{}", param.name.text,
                            type.names[0], shape_text(type.dims));
    } else if (param.privilege && word != "in") {
      message = fmt::format("'{}' is for tasks: what a {} does with a region it says by launches", word,
                            function().kind == FunctionKind::graph ? "graph" : "fn");
    }
    if (message.empty()) return type;
    wrong_type(world_.diags, param.privilege ? param.privilege->span : param.type.span, message);
    return body().info().broken = true, Kind::error;
  }

  // `Cell[_]` has as many axes as the call for which the task is checked.
  void add_axes(Type& view, std::size_t i) {
    const std::vector<std::uint8_t>& ranks = world_.info(id_).ranks;
    for (std::size_t axis = 1; i < ranks.size() && axis < ranks[i]; ++axis) {
      function().dimensions.push_back(world_.symbol("_", false, CallId(), id_));
      view.dims.emplace_back(function().dimensions.back());
    }
  }

  Type view_of(Type region) {
    region.kind = Kind::view;
    const std::vector<FieldsTable::Field>& fields = world_.program[region.fields].fields;
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
      region.places.push_back(i);
      region.names.push_back(fields[i].name);
    }
    return region;
  }

  // Dimensions that no parameter has alone, but one in a multiple: f32[2 * H], where what else stands there is known
  // from the parameters before it.
  std::vector<Symbol> multiplied() {
    std::vector<Symbol> known, solved;
    auto later = calls_.begin();  // ints that are not read yet
    const auto is_known = [&](const Symbol& s) {
      if (s->host) return std::find(later, calls_.end(), CallId(s->call)) == calls_.end();
      return std::ranges::find(known, s) != known.end();
    };
    for (std::size_t i = 0; i < calls_.size(); ++i, ++later)
      for (const Dim& dim : parameter(i).type.dims) {
        std::vector<Symbol> open = dim.symbols();
        std::erase_if(open, is_known);
        const bool is_alone = open.size() == 1 && dim == Dim(open[0]);
        if (open.size() != 1 || open[0]->host || !solved_for(open[0], dim, dim)) continue;
        if (!is_alone && has_alone(function(), open[0])) continue;
        known.push_back(open[0]);
        if (!is_alone) solved.push_back(open[0]);
      }
    return solved;
  }

  void require_told_dimensions() {
    bool broken = false;
    for (const Parameter& p : function().parameters) broken = broken || p.type.is(Kind::error);
    const std::vector<Symbol> solved = multiplied();
    for (const Symbol& symbol : function().dimensions) {
      if (broken || has_alone(function(), symbol) || std::ranges::find(solved, symbol) != solved.end()) continue;
      auto named = body().scopes.back().names.find(symbol->name);
      Span span = named == body().scopes.back().names.end() ? function().span : named->second.span;
      wrong_type(world_.diags, span,
                 fmt::format("the extent '{}' cannot be read off an argument: no parameter has it alone", symbol->name))
          .help(fmt::format("make it an int parameter, or give a parameter the extent {0}, or a multiple of it, as "
                            "2 * {0}, beside what parameters before it say",
                            symbol->name));
    }
  }

  // ---- results ----

  void add_result() {
    if (!results_->named.empty()) {
      wrong_type(world_.diags, results_->span, "results have names in tasks and graphs only; a fn returns a value")
          .help("write -> type, or a tuple of types");
      function().result = Kind::error;
    } else if (results_->unnamed) {
      function().result = written_type(body(), *results_->unnamed, Blank::refused);
    }
  }

  void add_outputs() {
    if (results_->unnamed) add_output({"value", results_->unnamed->span}, *results_->unnamed);
    for (const ast::Field& field : results_->named) add_output(field.name, field.type);
    body().is_set.assign(function().outputs.size(), false);
    body().missed.resize(function().outputs.size());
  }

  void add_output(const ast::Name& name, const ast::TypeExpr& written) {
    Type type = written_tensor(body(), written, Blank::refused);
    if (!type.is_tensor() && !type.is(Kind::error)) {
      Diag& diag = wrong_type(world_.diags, written.span,
                              fmt::format("outputs are tensors, '{}' is {}", name.text, type.text()));
      if (type.is(Kind::integer)) diag.help("i64 is an int as a tensor of rank 0");
      if (type.is(Kind::real)) diag.help("f64 is a float as a tensor of rank 0");
      type = Kind::error;
    }
    if (type.is(Kind::error)) body().info().broken = true;
    VariableId variable = body().add_variable(name.text, type, true, name.span);
    function().outputs.push_back({name.text, std::move(type), variable, name.span});
    Binding binding{.kind = Binding::Kind::variable, .what = "output"};
    binding.variable = variable;
    if (results_->unnamed) return define_value(name.span, binding);
    if (!is_name_of_input(name)) body().define(name, binding);
  }

  // Both would be one name in the body: nothing is said of what stands there.
  bool is_name_of_input(const ast::Name& name) {
    auto& names = body().scopes.back().names;
    auto known = names.find(name.text);
    if (known == names.end() || known->second.what != std::string_view("parameter")) return false;
    world_.diags
        .error("E1005", name.span, fmt::format("'{}' is defined twice, as an input and as an output", name.text))
        .label(known->second.span, "first defined here")
        .help(fmt::format("give the output a name of its own, or make one place of both: inout {}", name.text));
    known->second.kind = Binding::Kind::error;
    body().info().broken = true;
    return true;
  }

  // The unnamed output: its name stands nowhere in the text.
  void define_value(Span span, Binding binding) {
    binding.span = span;
    auto [place, added] = body().scopes.back().names.emplace("value", binding);
    if (!added) defined_twice(world_.diags, "value", place->second.span, span);
  }

  // ---- defaults ----

  const std::string* define(std::size_t i) {
    bool is_main = function().name == "main" && function().kind == FunctionKind::fn && !function().agent.valid();
    return is_main ? define_for(world_, function().module, (*params_)[i].name.text) : nullptr;
  }

  void add_default(std::size_t i) {
    const ast::Param& param = (*params_)[i];
    const std::string* defined = define(i);
    if (!param.default_value && !defined) return;
    if (is_inout(param)) {
      world_.diags.error("E1003", param.default_value ? param.default_value->span : param.span,
                         fmt::format("an inout parameter {}: it names a place of the caller",
                                     param.default_value ? "has no default" : "takes nothing from -D"));
      return;
    }
    body().parameter_limit = static_cast<std::uint32_t>(first_ + i);
    Type wanted = parameter(i).type;
    body().open_block();
    Term value = defined ? defined_value(body(), param.name.text, *defined, param.default_value.get(), &wanted)
                         : expression(body(), *param.default_value, &wanted);
    value = convert(body(), value, wanted, {fmt::format("'{}'", param.name.text), param.type.span});
    parameter(i).default_block = body().close_block();
    parameter(i).default_block.result = value.id;
    parameter(i).default_value = value.id;
    std::vector<std::optional<Value>>& known = world_.info(id_).defaults;
    known.resize(first_ + params_->size());
    if (const std::optional<Value> constant = body().known(value.id)) known[first_ + i] = *constant;
  }

  // What the int symbols of the types stand for, seen from a caller.
  void note_symbols() {
    auto symbol_of = [&](CallId call) -> Symbol {
      auto extent = body().extents.find(call.value);
      if (extent == body().extents.end() || extent->second.symbols().size() != 1) return nullptr;
      return extent->second.symbols()[0];
    };
    for (std::size_t plain = 0; plain < function().parameters.size(); ++plain) {
      CallId call = plain < first_ ? CallId(plain) : calls_[plain - first_];
      if (Symbol symbol = call.valid() ? symbol_of(call) : nullptr)
        world_.info(id_).symbols[symbol->id] = {static_cast<std::uint32_t>(plain), {}, {}};
    }
    for (const auto& [key, call] : body().globals)
      if (Symbol symbol = symbol_of(call))
        world_.info(id_).symbols[symbol->id] = {UINT32_MAX, body()[call].module, body()[call].variable};
  }

  World& world_;
  FunctionId id_;
  const std::vector<ast::Param>* params_;
  const ast::Results* results_;
  std::size_t first_ = 0;      // position of the first declared parameter
  std::vector<CallId> calls_;  // by declared parameter; invalid for inout
};

}  // namespace

void resolve_signature(World& world, FunctionId function) {
  FunctionInfo& info = world.info(function);
  if (info.stage != FunctionInfo::Stage::declared) return;
  info.stage = FunctionInfo::Stage::resolving;
  if (AgentId agent = world.program[function].agent; agent.valid()) resolve_agent(world, agent);
  try {
    Signature(world, function).resolve();
  } catch (const Error& error) {
    world.report(error, world.program[function].span);
  }
  info.stage = FunctionInfo::Stage::resolved;
}

}  // namespace taskspec::checking
