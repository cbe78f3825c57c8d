// Signatures and paths of functions that were read from a file; their calls are checked by their forms.
#include <algorithm>

#include "ir/json/read.hpp"
#include "ir/program/form_check.hpp"

namespace taskspec {

using Kind = Type::Kind;

namespace {

class TypeChecker {
 public:
  TypeChecker(const Program& program, FunctionId id, const Item& def)
      : program_(program),
        function_(program[id]),
        forms_(program, id, [&def](const std::string& wrong) { def.fail(wrong); }) {}

  void run() {
    signature();
    for (const Parameter& parameter : function_.parameters) {
      forms_.block(parameter.default_block);
      if (parameter.default_value.valid())
        want(fits(parameter.type, forms_.type(parameter.default_value)), "a default of another type");
    }
    forms_.block(function_.body);
    bool gives = function_.kind == FunctionKind::fn && !function_.result.is(Kind::none);
    if (!function_.extern_symbol.empty()) return;
    want(!gives || leaves(function_.body), "a fn that does not end by return");
    if (function_.kind != FunctionKind::task) return;
    for (const Output& output : function_.outputs)
      want(writes(function_.body, output.variable) || is_place(output.variable),
           "an output that is not set on every path");
  }

 private:
  const Type& type(VariableId id) const { return forms_.type(id); }
  void want(bool fine, std::string_view wrong) const { forms_.want(fine, wrong); }

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
      want(parameter.role != Role::slot || parameter.type.is_tensor() || function_.kind != FunctionKind::task,
           "a layer in a task");
      want(parameter.role != Role::capture || !declared, "a captured value after the parameters");
      declared = declared || parameter.role == Role::declared;
      want(!parameter.variable.valid() || agree(type(parameter.variable), parameter.type), "a place of another type");
      if (parameter.type.is(Type::Kind::view)) {
        want(function_.kind == FunctionKind::task, "a view in what is no task");
        continue;
      }
      want(parameter.privilege == Privilege::in ||
               (parameter.privilege == Privilege::inout && parameter.type.is_tensor()),
           "a place that is no tensor");
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

  static bool runs_once(const Call& call) { return call.form->has_body() && !call.form->is_control(); }

  bool leaves(const Block& block) const {
    if (block.calls.empty()) return false;
    const Call& last = function_[block.calls.back()];
    if (last.form->leaves == FormRecord::Leaves::function) return true;
    if (runs_once(last)) return leaves(last.blocks[0]);
    return last.form->chooses() && leaves(last.blocks[0]) && leaves(last.blocks[1]);
  }

  bool writes(const Block& block, VariableId variable) const {
    return std::any_of(block.calls.begin(), block.calls.end(), [&](CallId id) {
      const Call& call = function_[id];
      if (call.form == Form::write && call.variable == variable) return true;
      if (runs_once(call)) return writes(call.blocks[0], variable);
      return call.form->chooses() && writes(call.blocks[0], variable) && writes(call.blocks[1], variable);
    });
  }

  const Program& program_;
  const Function& function_;
  FormCheck forms_;
};

}  // namespace

void check_types(const Program& program, FunctionId id, const Item& def) { TypeChecker(program, id, def).run(); }

}  // namespace taskspec
