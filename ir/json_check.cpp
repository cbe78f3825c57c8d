// Kinds of operands, form by form: the part of the checker's work that a file from outside could have undone.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/json_kinds.hpp"
#include "ir/json_read.hpp"
#include "ir/op_outputs.hpp"
#include "ir/print_program.hpp"
#include "ir/wiring.hpp"

namespace taskspec {

using Kind = Type::Kind;

namespace {

class TypeChecker {
 public:
  TypeChecker(const Program& program, FunctionId id, const Item& def)
      : program_(program),
        function_(program[id]),
        def_(def),
        seen_(function_.calls.size()),
        changed_(function_.variables.size()) {}

  void run() {
    signature();
    for (const Parameter& parameter : function_.parameters) {
      block(parameter.default_block);
      if (parameter.default_value.valid())
        want(fits(parameter.type, type(parameter.default_value)), "a default of another type");
    }
    block(function_.body);
    bool gives = function_.kind == FunctionKind::fn && !function_.result.is(Kind::none);
    if (!function_.extern_symbol.empty()) return;
    want(!gives || leaves(function_.body), "a fn that does not end by return");
    if (function_.kind != FunctionKind::task) return;
    for (const Output& output : function_.outputs)
      want(writes(function_.body, output.variable) || is_place(output.variable),
           "an output that is not set on every path");
  }

 private:
  const Type& type(CallId id) const { return function_[id].type; }
  const Type& type(const Call& call, std::size_t i) const { return function_[call.in[i]].type; }
  const Type& type(VariableId id) const { return function_.variables[id.index()].type; }
  void want(bool fine, std::string_view wrong) const {
    if (fine) return;
    if (!at_.valid()) def_.fail(std::string(wrong));
    def_.fail(fmt::format("call {} ({}): {}", at_.value, form_name(function_[at_].form), wrong));
  }

  // ---- signature ----

  void signature() const {
    const AgentDef* agent = function_.agent.valid() ? &program_[function_.agent] : nullptr;
    std::size_t of_agent = 0;
    bool declared = false;
    for (const Parameter& parameter : function_.parameters) {
      if (parameter.role == Role::agent_parameter) {
        want(agent && of_agent < agent->parameters.size() && agree(agent->parameters[of_agent].type, parameter.type),
             "parameters that are not those of its agent");
        ++of_agent;
      }
      if (parameter.role == Role::slot)
        want(agent &&
                 std::any_of(agent->slots.begin(), agent->slots.end(),
                             [&](const Slot& s) { return s.name == parameter.name && agree(s.type, parameter.type); }),
             "a slot that its agent does not have");
      want(parameter.role != Role::capture || !declared, "a captured value after the parameters");
      declared = declared || parameter.role == Role::declared;
      want(!parameter.variable.valid() || agree(type(parameter.variable), parameter.type), "a place of another type");
      want(parameter.privilege != Privilege::inout || parameter.type.is_tensor(), "a place that is no tensor");
    }
    for (const Output& output : function_.outputs) {
      want(agree(type(output.variable), output.type), "an output of another type than its variable");
      for (const Dim& dim : output.type.dims)
        for (const Symbol& symbol : dim.symbols())
          want(is_known(symbol), "an output of which no caller knows the extents");
    }
  }

  // By the arguments, or as a value that is there before the body runs.
  bool is_known(const Symbol& symbol) const {
    if (!symbol->host)
      return std::any_of(function_.parameters.begin(), function_.parameters.end(),
                         [&](const Parameter& p) { return binds(p.type, symbol); });
    if (symbol->call >= function_.calls.size()) return false;
    const Form form = function_.calls[symbol->call].form;
    return form == Form::parameter || form == Form::global;
  }

  static bool binds(const Type& type, const Symbol& symbol) {
    return std::any_of(type.dims.begin(), type.dims.end(), [&](const Dim& dim) { return dim == Dim(symbol); }) ||
           std::any_of(type.parts.begin(), type.parts.end(), [&](const Type& part) { return binds(part, symbol); });
  }

  bool is_place(VariableId variable) const {
    return std::any_of(function_.parameters.begin(), function_.parameters.end(),
                       [&](const Parameter& p) { return p.variable == variable; });
  }

  // ---- paths ----

  bool leaves(const Block& block) const {
    if (block.calls.empty()) return false;
    const Call& last = function_[block.calls.back()];
    if (last.form == Form::return_) return true;
    return last.form == Form::if_ && leaves(last.blocks[0]) && leaves(last.blocks[1]);
  }

  bool writes(const Block& block, VariableId variable) const {
    return std::any_of(block.calls.begin(), block.calls.end(), [&](CallId id) {
      const Call& call = function_[id];
      if (call.form == Form::write && call.variable == variable) return true;
      return call.form == Form::if_ && writes(call.blocks[0], variable) && writes(call.blocks[1], variable);
    });
  }

  // ---- calls ----

  void block(const Block& block) {
    const std::size_t here = ++blocks_;
    for (CallId id : block.calls) {
      at_ = id;
      const Call& call = function_[id];
      seen_[id.index()] = {here, ++time_};
      check(call);
      note_changes(call);
      if (call.form == Form::for_) loop(call);
      for (const Block& inner : call.blocks) this->block(inner);
    }
    at_ = CallId();
  }

  void check(const Call& call) const {
    const std::size_t n = call.in.size();
    switch (call.form) {
      case Form::constant:
        return want(holds(call.type, call.value), "a value of another type");
      case Form::parameter:
        return want(agree(call.type, function_.parameters[call.index].type), "a parameter of another type");
      case Form::dimension:
        return want(call.type.is(Kind::integer), "an extent is an int");
      case Form::type:
        return want(call.type.is(Kind::type) || call.type.is_tensor(), "no type");
      case Form::variable:
        return want(agree(call.type, type(call.variable)), "a variable of another type");
      case Form::global:
        return global(call);
      case Form::loop:
        return want(loops_.contains(at_), "a loop variable outside of a loop");
      case Form::op:
        return record(call, call.op->operands, call.op->type);
      case Form::builtin:
        return record(call, call.builtin->operands, call.builtin->type);
      case Form::tuple:
        return tuple(call);
      case Form::list:
        want(call.type.is(Kind::list), "no list");
        for (std::size_t i = 0; i < n; ++i) want(fits(call.type.parts[0], type(call, i)), "an element of another type");
        return;
      case Form::range:
        return want(call.type.is(Kind::range) && ints(call, 0), "a range has two ints");
      case Form::element:
        return want(type(call, 0).is(Kind::tuple) && call.index < type(call, 0).parts.size() &&
                        agree(call.type, type(call, 0).parts[call.index]),
                    "no such part of a tuple");
      case Form::item:
        return want(ints(call, 1) && agree(call.type, item_of(type(call, 0))), "no element of a list or string");
      case Form::items:
        return want(ints(call, 1) && is_sequence(type(call, 0)) && agree(call.type, type(call, 0)),
                    "no part of a list or string");
      case Form::field:
        return field(call);
      case Form::receive:
        return receive(call);
      case Form::agent:
        return agent(call);
      case Form::self:
        return want(function_.agent.valid() && is_agent(call.type, function_.agent), "no agent here");
      default:
        return calls_and_effects(call);
    }
  }

  void calls_and_effects(const Call& call) const {
    switch (call.form) {
      case Form::member:
        want(program_[call.callee].agent.valid() && is_agent(type(call, 0), program_[call.callee].agent),
             "an agent of another kind");
        return want(agree(call.type, value_type(program_[call.callee])), "a value of another type");
      case Form::function:
        want(!program_[call.callee].agent.valid() && captures(call.callee) == 0, "a function that needs more");
        return want(agree(call.type, value_type(program_[call.callee])), "a value of another type");
      case Form::closure:
        return closure(call);
      case Form::compose:
        return compose(call);
      case Form::call:
      case Form::invoke:
        return direct(call);
      case Form::apply:
        return apply(call);
      case Form::output:
        return want(type(call, 0).is(Kind::invocation) && agree(call.type, type(call, 0).parts[call.index]),
                    "no such output");
      case Form::write:
        return want(fits(type(call.variable), type(call, 0)), "a value of another type");
      case Form::store:
        return store(call);
      case Form::if_:
        return want(is_condition(type(call, 0)), "a condition is a bool");
      case Form::for_:
        return want(type(call, 0).is(Kind::range) || type(call, 0).is(Kind::list), "no range and no list");
      case Form::while_:
        return want(call.blocks[0].result.valid() && is_condition(type(call.blocks[0].result)),
                    "a condition is a bool");
      case Form::both:
      case Form::either:
        return want(call.type.is(Kind::boolean) || call.type.is_tensor()
                        ? is_condition(type(call, 0)) && call.blocks[0].result.valid() &&
                              is_condition(type(call.blocks[0].result))
                        : false,
                    "a condition is a bool");
      case Form::return_:
        return want(call.in.empty() ? function_.result.is(Kind::none) : fits(function_.result, type(call, 0)),
                    "a result of another type");
      case Form::run:
        return session(call);
      default:
        return;
    }
  }

  // The loop variable, when it is used, is the first call of the body.
  void loop(const Call& call) {
    const Block& body = call.blocks[0];
    if (body.calls.empty() || function_[body.calls[0]].form != Form::loop) return;
    const Type& domain = type(call, 0);
    want(agree(type(body.calls[0]), domain.is(Kind::range) ? Type(Kind::integer) : domain.parts[0]),
         "a loop variable of another type");
    loops_.insert(body.calls[0]);
  }

  static bool is_agent(const Type& type, AgentId agent) { return type.is(Kind::agent) && type.agent == agent; }
  static bool is_sequence(const Type& type) { return type.is(Kind::list) || type.is(Kind::string); }
  static Type item_of(const Type& type) {
    return type.is(Kind::list) ? type.parts[0] : type.is(Kind::string) ? type : Type();
  }
  static bool is_condition(const Type& type) {
    return type.is(Kind::boolean) || (type.is_tensor() && type.precision == Precision::boolean);
  }
  bool ints(const Call& call, std::size_t from) const {
    for (std::size_t i = from; i < call.in.size(); ++i)
      if (!type(call, i).is(Kind::integer)) return false;
    return true;
  }
  std::size_t captures(FunctionId id) const {
    const std::vector<Parameter>& all = program_[id].parameters;
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const Parameter& p) { return p.role == Role::capture; }));
  }

  void global(const Call& call) const {
    const Function& top = program_[program_.modules[call.module.index()].top_level];
    want(agree(call.type, top.variables[call.variable.index()].type), "a top-level name of another type");
  }

  // Host operands are of the kind that their record says; a rule judges tensors, and what may be several things.
  static bool takes(const Operand& operand, const Type& type) {
    auto is_axes = [&](std::size_t least, std::size_t most) {
      if (!type.is(Type::Kind::tuple)) return type.is(Type::Kind::integer);
      return type.parts.size() >= least && type.parts.size() <= most &&
             std::all_of(type.parts.begin(), type.parts.end(), [](const Type& t) { return t.is(Type::Kind::integer); });
    };
    if (type.is(Type::Kind::none)) return operand.standard.kind == Default::Kind::absent;
    switch (operand.kind) {
      case OperandKind::integer:
        return type.is(Type::Kind::integer);
      case OperandKind::real:
        return type.is_number();
      case OperandKind::boolean:
        return type.is(Type::Kind::boolean);
      case OperandKind::string:
        return type.is(Type::Kind::string);
      case OperandKind::axes:
        return is_axes(0, SIZE_MAX);
      case OperandKind::pair:
        return is_axes(2, 2);
      case OperandKind::type:
        return type.is(Type::Kind::type);
      case OperandKind::function:
        return type.is(Type::Kind::function);
      default:
        return true;
    }
  }

  // Ops and builtins: what their rule says of operands of these types.
  void record(const Call& call, std::span<const Operand> operands, TypeRule rule) const {
    bool variadic = !operands.empty() && operands.back().variadic;
    std::size_t least = operands.size() - (variadic ? 1 : 0);
    want(call.in.size() >= least && (variadic || call.in.size() == least), "another number of operands");
    std::vector<Type> types;
    std::vector<const Value*> values;
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      CallId in = call.in[i];
      bool absent = i < operands.size() && operands[i].standard.kind == Default::Kind::absent;
      want(in.valid() || absent, "an operand is missing");
      types.push_back(in.valid() ? function_[in].type : Type());
      if (in.valid() && !operands.empty()) {
        const Operand& operand = operands[std::min(i, operands.size() - 1)];
        if (operand.kind == OperandKind::tensors) types.back() = spread(function_[in]);
        want(takes(operand, types.back()),
             fmt::format("its operand '{}' cannot be {}", operand.name, types.back().text()));
      }
      values.push_back(in.valid() && is_known(function_[in]) ? &function_[in].value : nullptr);
    }
    Type result;
    try {
      result = ruled(rule, std::move(types), std::move(values));
    } catch (const Error& error) {
      want(false, error.diags().items().front().message);
    }
    if (call.form == Form::op) result = result_of_call(*call.op, result);
    want(agree(call.type, result), fmt::format("its result is {}, not {}", result.text(), call.type.text()));
    if (call.form == Form::op && !makes_tensors(*call.op, call.type))
      want(call.op->scalar != nullptr, "an op that works on tensors only");
    written(call, operands);
  }

  // A constant, or a top-level let whose value the checker saw.
  static bool is_known(const Call& call) {
    return call.form == Form::constant || (call.form == Form::global && !call.value.is_none());
  }

  // Every place that the record names is there, and no other.
  void written(const Call& call, std::span<const Operand> operands) const {
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < call.in.size() && i < operands.size(); ++i)
      if (operands[i].privilege == Privilege::inout && call.in[i].valid()) ++wanted;
    want(call.places.size() == wanted, "another number of places than the op changes");
    for (const Place& place : call.places)
      want(place.operand < operands.size() && operands[place.operand].privilege == Privilege::inout,
           "a place that the op does not change");
    places(call);
  }

  // A list of tensors shows its rule the type of each.
  Type spread(const Call& call) const {
    if (call.form != Form::list || call.in.empty() || !type(call, 0).is_tensor()) return call.type;
    std::vector<Type> parts;
    for (std::size_t i = 0; i < call.in.size(); ++i) parts.push_back(type(call, i));
    return Type::tuple(std::move(parts));
  }

  void tuple(const Call& call) const {
    want(call.type.is(Kind::tuple) && call.type.parts.size() == call.in.size(), "a tuple of another size");
    for (std::size_t i = 0; i < call.in.size(); ++i)
      want(agree(call.type.parts[i], type(call, i)), "a part of another type");
  }

  void field(const Call& call) const {
    const Type& of = type(call, 0);
    Type result;
    if (of.is_tensor()) {
      if (call.name == "shape") result = Type::list(Kind::integer);
      if (call.name == "rank") result = Kind::integer;
      if (call.name == "precision") result = Kind::string;
    } else if (of.is(Kind::task) && (call.name == "inputs" || call.name == "outputs")) {
      want(of.names.size() == of.parts.size(), "a task without names");
      std::size_t count = call.name == "inputs" ? of.inputs : of.parts.size() - of.inputs;
      result = Type::tuple(std::vector<Type>(count, Kind::string));
    } else if (of.is(Kind::range)) {
      if (call.name == "begin" || call.name == "end") result = Kind::integer;
    } else if (of.is(Kind::record)) {
      for (std::size_t i = 0; i < of.names.size() && i < of.parts.size(); ++i)
        if (of.names[i] == call.name) result = of.parts[i];
    }
    want(!result.is(Kind::none) && agree(call.type, result), fmt::format("no field '{}'", call.name));
  }

  void receive(const Call& call) const {
    const Type& tensor = type(call, 0);
    want(tensor.is_tensor() && call.index <= static_cast<std::uint32_t>(Receive::handle), "no receive");
    Type result = tensor.precision == Precision::boolean ? Kind::boolean
                  : is_float(tensor.precision)           ? Kind::real
                                                         : Kind::integer;
    auto kind = static_cast<Receive>(call.index);
    if (kind == Receive::handle) result = tensor;
    if (kind == Receive::array || kind == Receive::iter)
      for (std::size_t i = 0; i < tensor.rank(); ++i) result = Type::list(std::move(result));
    want(agree(call.type, result), "a result of another type");
  }

  void agent(const Call& call) const {
    const std::vector<Parameter>& parameters = program_[call.agent].parameters;
    want(is_agent(call.type, call.agent) && call.in.size() == parameters.size(), "other arguments than the agent has");
    for (std::size_t i = 0; i < parameters.size(); ++i)
      want(fits(parameters[i].type, type(call, i)), "an argument of another type");
  }

  void closure(const Call& call) const {
    const Function& callee = program_[call.callee];
    want(!callee.agent.valid() && callee.kind == FunctionKind::fn, "no closure");
    want(call.in.size() == captures(call.callee), "another number of captured values");
    for (std::size_t i = 0; i < call.in.size(); ++i)
      want(fits(callee.parameters[i].type, type(call, i)), "a captured value of another type");
    want(agree(call.type, value_type(callee)), "a value of another type");
  }

  // The interpreter trusts the type to list what is free and what is live.
  void compose(const Call& call) const {
    const Type &a = type(call, 0), &b = type(call, 1);
    for (const Type* side : {&a, &b, &call.type})
      want(side->is(Kind::task) && side->names.size() == side->parts.size(), "no task");
    std::optional<Wiring> wiring = wire(a, b);
    want(wiring.has_value(), "nothing to compose");
    for (std::uint32_t i = 0; i < b.inputs; ++i) {
      auto [from, index] = wiring->inputs[i];
      if (from == Wiring::Source::From::outside) continue;
      bool output = from == Wiring::Source::From::output;
      want(agree(b.parts[i], a.parts[output ? a.inputs + index : index]), "another type than the input it goes to");
      want(!output || !b.is_place(i), "an output where a place is changed");
    }
    want(agree(call.type, composite(a, b, *wiring)), "other inputs or outputs than the two tasks have");
  }

  void direct(const Call& call) const {
    const Function& callee = program_[call.callee];
    want(callee.kind != FunctionKind::module && captures(call.callee) == 0, "not callable");
    std::size_t next = 0;
    if (callee.agent.valid())
      want(call.in[0].valid() && is_agent(type(call, next++), callee.agent), "an agent of another kind");
    for (const Parameter& parameter : callee.parameters) {
      if (parameter.role != Role::declared) continue;
      CallId in = call.in[next++];
      if (in.valid())
        want(fits(parameter.type, type(in)), fmt::format("'{}' of another type", parameter.name));
      else
        want(parameter.default_value.valid(), fmt::format("'{}' is missing", parameter.name));
    }
    want(agree(call.type, called(value_type(callee))), "a result of another type");
    places(call);
  }

  // A call goes on from the newest version of its places: they are read beside it, and nothing changes them in between.
  void places(const Call& call) const {
    for (const Place& place : call.places) {
      const CallId in = call.in[place.operand];
      want(in.valid() && agree(type(place.variable), type(in)), "a place of another type");
      want(function_[in].form == Form::variable && function_[in].variable == place.variable,
           "a place that is not what it reads");
      const Seen& read = seen_[in.index()];
      want(read.block == seen_[at_.index()].block && read.time > changed_[place.variable.index()],
           "a place that is not read as it is now");
    }
  }

  // Members change slots of their agent unseen.
  void note_changes(const Call& call) {
    for (const Place& place : call.places) changed_[place.variable.index()] = time_;
    if (call.form == Form::write || call.form == Form::store) changed_[call.variable.index()] = time_;
    if (call.form != Form::call && call.form != Form::invoke && call.form != Form::apply) return;
    for (const Parameter& parameter : function_.parameters)
      if (parameter.role == Role::slot && parameter.variable.valid()) changed_[parameter.variable.index()] = time_;
  }

  void apply(const Call& call) const {
    const Type& callable = type(call, 0);
    want(callable.is(Kind::function) || callable.is(Kind::task), "not callable");
    std::size_t count = callable.is(Kind::task) ? callable.inputs : callable.parts.size() - 1;
    want(call.in.size() == count + 1, "another number of arguments");
    for (std::size_t i = 0; i < count; ++i)
      want(fits(callable.parts[i], type(call, i + 1)), "an argument of another type");
    want(agree(call.type, called(callable)), "a result of another type");
    places(call);
  }

  void store(const Call& call) const {
    Type element = type(call.variable);
    for (std::size_t i = 1; i < call.in.size(); ++i) {
      want(element.is(Kind::list) && type(call, i).is(Kind::integer), "no element of a list");
      element = Type(element.parts[0]);
    }
    want(fits(element, type(call, 0)), "a value of another type");
  }

  // `run e on B`: the outputs of e, or its value, and the report.
  void session(const Call& call) const {
    want(type(call, 0).is(Kind::backend) && call.blocks[0].result.valid(), "no backend");
    const Type& value = type(call.blocks[0].result);
    std::vector<Type> parts = value.is(Kind::invocation) ? value.parts
                              : value.is(Kind::none)     ? std::vector<Type>{}
                                                         : std::vector<Type>{value};
    want(call.type.is(Kind::invocation) && call.type.parts.size() == parts.size() + 1 &&
             call.type.names.size() == parts.size() + 1 && call.type.parts.back().is(Kind::record) &&
             std::equal(parts.begin(), parts.end(), call.type.parts.begin(), agree),
         "other outputs than those of the call and the report");
  }

  const Program& program_;
  const Function& function_;
  const Item& def_;
  CallId at_;
  struct Seen {
    std::size_t block = 0, time = 0;
  };
  std::size_t blocks_ = 0, time_ = 0;
  std::vector<Seen> seen_;            // by call
  std::vector<std::size_t> changed_;  // by variable: when it was last
  std::set<CallId> loops_;            // loop variables of the loops seen so far
};

}  // namespace

void check_types(const Program& program, FunctionId id, const Item& def) { TypeChecker(program, id, def).run(); }

}  // namespace taskspec
