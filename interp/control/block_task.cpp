#include "interp/control/block_task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/record.hpp"
#include "ir/base/text.hpp"
#include "ir/graph/op_list_builder.hpp"
#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

// On contents, where nothing is recorded.
std::vector<Value> computed(const OpList& list, const std::vector<Value>& inputs) {
  std::vector<Array> values(list.types.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) values[k] = inputs[k].array();
  for (std::size_t k = 0; k < list.constants.size(); ++k) values[list.inputs.size() + k] = list.constants[k].array();
  for (const OpList::Line& line : list.lines) {
    std::vector<Array> in;
    for (ValueId value : line.in) in.push_back(values[value.index()]);
    const std::vector<Array> made = evaluate(instance(list, line), in);
    for (std::size_t slot = 0; slot < made.size(); ++slot) values[line.out[slot].index()] = made[slot];
  }
  std::vector<Value> outputs;
  for (const OpList::Output& output : list.outputs) outputs.emplace_back(values[output.value.index()]);
  return outputs;
}

// What is left to the host behind the blocks: lines of the net, from the tensors that blocks give.
class HostPart {
 public:
  HostPart(const OpList& net, OpListBuilder& made) : net_(net), made_(made), here_(net.types.size()) {}
  void know(ValueId of_net, ValueId here) { here_[of_net.index()] = here; }

  ValueId value(ValueId of_net) {
    ValueId& here = here_[of_net.index()];
    if (here.valid()) return here;
    if (of_net.index() < net_.first_made()) {
      if (of_net.index() < net_.inputs.size()) bug("the host's part of a lowered net reads an input");
      const Value& contents = net_.constants[of_net.index() - net_.inputs.size()];
      return here = made_.constant(contents, net_.type(of_net));
    }
    for (const OpList::Line& line : net_.lines)
      for (std::size_t slot = 0; slot < line.out.size(); ++slot)
        if (line.out[slot] == of_net) return here = emit(line)[slot];
    bug("nothing makes a value of a list");
  }

 private:
  // Its types go by the tensors that come: they may be of more samples.
  std::vector<ValueId> emit(const OpList::Line& line) {
    std::vector<OpListBuilder::Operand> operands;
    std::size_t tensor = 0;
    for (const Value& attribute : line.attributes)
      if (attribute.is_none() && tensor < line.in.size())
        operands.emplace_back(value(line.in[tensor++]));
      else
        operands.emplace_back(attribute);
    return made_.emit(*line.op, operands, {line.function, line.call, line.span});
  }

  const OpList& net_;
  OpListBuilder& made_;
  std::vector<ValueId> here_;  // by value of the net
};

// For somebody who only looks: the number of samples is a symbol, so it is that of all values that come of them.
OpList with_open_samples(OpList list, const std::vector<Type>& types) {
  const Dim samples = types[0].dims.empty() ? Dim(1) : types[0].dims[0];
  for (std::size_t k = 0; k < list.types.size(); ++k) {
    Type& type = list.types[k];
    const bool is_constant = k >= list.inputs.size() && k < list.first_made();
    if (k < list.inputs.size())
      type = types[k];
    else if (!is_constant && !type.dims.empty())
      type.dims[0] = samples;
  }
  return list;
}

}  // namespace

BlockTask::BlockTask(OpList net, LoweredGraph lowered, const OpDef& runs_blocks, std::vector<Value> operands)
    : net_(std::move(net)), lowered_(std::move(lowered)), runs_blocks_(runs_blocks), operands_(std::move(operands)) {}

std::string BlockTask::text() const {
  return fmt::format("<blocks {}: {}, {}>", net_.name, plural(lowered_.graph.blocks.size(), "block"),
                     plural(lowered_.graph.edges.size(), "edge"));
}

OpList BlockTask::make_list(const std::vector<Type>& types, Span span) const {
  OpListBuilder made;
  std::vector<OpListBuilder::Operand> operands(operands_.begin(), operands_.end());
  for (std::size_t k = 0; k < types.size(); ++k)
    operands.emplace_back(made.input({net_.inputs[k].name, Privilege::in, {}}, types[k]));
  const std::vector<ValueId> given = made.emit(runs_blocks_, operands, {{}, {}, span});
  HostPart host(net_, made);
  for (std::size_t k = 0; k < given.size(); ++k) host.know(lowered_.outputs[k].value, given[k]);
  std::vector<OpListBuilder::Output> outputs;
  for (const OpList::Output& output : net_.outputs)
    if (!output.version) outputs.push_back({output.name, host.value(output.value)});
  return std::move(made).finish({}, net_.name, outputs);
}

std::shared_ptr<const OpList> BlockTask::list_for(const std::vector<Type>& types, Span span) const {
  if (std::ranges::any_of(types, &Type::has_symbols)) {
    const std::vector<Type> of_one(net_.types.begin(), net_.types.begin() + static_cast<std::ptrdiff_t>(types.size()));
    return std::make_shared<const OpList>(with_open_samples(make_list(of_one, span), types));
  }
  std::string key;
  for (const Type& type : types) key += type.text() + ';';
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const OpList>& list = lists_[key];
  if (!list) list = std::make_shared<const OpList>(make_list(types, span));
  return list;
}

CallResult BlockTask::call(Interpreter& interpreter, std::vector<Value> arguments, const CallSite& site) const {
  Target& target = interpreter.target();
  auto* recording = dynamic_cast<RecordTarget*>(&target);
  std::vector<Type> types;
  for (const Value& argument : arguments) {
    if (!recording && !argument.is_array())
      throw failure("E1009", site.span, "a call of a graph of blocks in the body of a task is not built yet");
    types.push_back(target.type_of(argument));
  }
  const std::shared_ptr<const OpList> list = list_for(types, site.span);
  auto invocation = std::make_shared<Invocation>();
  for (const OpList::Output& output : list->outputs) invocation->names.push_back(output.name);
  invocation->outputs = recording ? recording
                                        ->listed({.list = list,
                                                  .name = net_.name,
                                                  .suffix = {},
                                                  .inputs = std::move(arguments),
                                                  .writes = {},
                                                  .scope = site.caller ? site.caller->scope : ScopeId(0),
                                                  .span = site.span})
                                        .outputs
                                  : computed(*list, arguments);
  return {Value(std::static_pointer_cast<Object>(std::move(invocation))), {}};
}

std::unique_ptr<GraphView> BlockTask::graph(const Interpreter& outer, ViewContents contents, Span span) {
  auto view = std::make_unique<GraphView>(contents);
  view->graph.name = net_.name;
  RecordTarget target(outer.program(), *view);
  Interpreter interpreter = outer.nested(target);
  interpreter.leave_host();
  std::vector<Value> arguments;
  for (const OpList::Input& input : net_.inputs) {
    const Type& type = net_.types[arguments.size()];
    arguments.push_back(view->handle(Ref::input(view->graph.add_input({input.name, type, Privilege::in})), type));
  }
  const CallResult called = call(interpreter, std::move(arguments), {span});
  auto* invocation = called.value.as<Invocation>();
  for (std::size_t k = 0; k < invocation->outputs.size(); ++k) {
    auto* tensor = invocation->outputs[k].as<Tensor>();
    view->graph.add_result({invocation->names[k], tensor->type, tensor->ref});
  }
  return view;
}

}  // namespace taskspec
