#include "frontend/check/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/block_lines.hpp"
#include "frontend/check/calls.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/members.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/places.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/statements.hpp"
#include "ir/blocks/value.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// ---- what the language knows of blocks: tensors, slots and a task --------------------------------

ast::TypeExpr written_as_type(const TaskBlock& block, Span span) {
  ast::NamedType type{{std::string(info(block.precision).name), span}, {}, {}};
  for (std::int64_t extent : value_type(block).extents) type.dims.push_back({span, ast::IntLit{extent}});
  return {span, std::move(type)};
}

ast::Name name_of(const TaskBlock& block) { return {block.name, block.span}; }

// Slots for contents that come with each run. The expressions stay where they are written.
ast::Slot slot_of(const BlockGraph& graph, BlockId id, bool written, const ast::IrDecl& lines) {
  const TaskBlock& block = graph[id];
  ast::Slot slot{
      {written ? "state" : "table", block.span}, name_of(block), written_as_type(block, block.span), nullptr};
  for (const ast::IrLine& line : lines.lines)
    if (auto* declared = std::get_if<ast::IrBlock>(&line.node); declared && declared->name.text == block.name)
      slot.init = declared->init;
  return slot;
}

ast::Slot memory_slot(std::int64_t bytes, Span span) {
  ast::NamedType type{{"u8", span}, {}, {}};
  type.dims.push_back({span, ast::IntLit{bytes}});
  return {{"state", span}, {std::string(memory_name), span}, ast::TypeExpr{span, std::move(type)}, nullptr};
}

ast::TaskDecl task_of(const BlockGraph& graph, const BlockCall& blocks, const ast::Name& name) {
  ast::TaskDecl task{{"", name.span}, {}, {name.span, nullptr, {}}, std::nullopt, std::nullopt};
  for (BlockId id : blocks.inputs) {
    const Span span = graph[id].span;
    task.params.push_back({span, std::nullopt, name_of(graph[id]), written_as_type(graph[id], span), nullptr});
  }
  for (BlockId id : blocks.outputs)
    task.results.named.push_back({graph[id].span, name_of(graph[id]), written_as_type(graph[id], graph[id].span)});
  return task;
}

}  // namespace

void declare_blocks(World& world, ModuleId module, const ast::IrDecl& declaration) {
  const AgentId agent(world.program.agents.size());
  AgentDef definition;
  definition.name = declaration.name.text;
  definition.module = module;
  definition.span = declaration.name.span;
  world.program.agents.push_back(std::move(definition));
  world.agents.emplace_back();
  Function function;  // without a name: it goes by that of the agent
  function.kind = FunctionKind::task;
  function.agent = agent;
  function.module = module;
  function.span = declaration.name.span;
  const FunctionId task = world.add_function(std::move(function));
  world.program.agents[agent.index()].members.push_back(task);
  Binding binding{.kind = Binding::Kind::blocks, .what = "ir"};
  binding.function = task;
  binding.agent = agent;
  binding.module = module;
  world.file(module).top_level->define(declaration.name, binding);
}

namespace {

void forget(Body& file, const ast::Name& name) {
  Binding nothing{.what = "ir"};
  nothing.span = name.span;
  file.world.file(file.module).names.put(name.text, nothing);
}

// The agent that the lines describe: as syntax, so that slots and signature are checked as those of a text.
void describe(World& world, const Binding& binding, std::shared_ptr<const BlockGraph> graph,
              const ast::IrDecl& declaration) {
  const BlockCall blocks = call_of(*graph);
  BlockDeclaration& made = world.block_declarations.emplace_back();
  made.graph = graph;
  made.agent.name = declaration.name;
  std::vector<ast::AgentMember>& members = made.agent.members;
  for (BlockId id : blocks.given)
    members.push_back(
        {(*graph)[id].span,
         slot_of(*graph, id, std::ranges::find(blocks.written, id) != blocks.written.end(), declaration)});
  if (blocks.memory > 0) members.push_back({declaration.name.span, memory_slot(blocks.memory, declaration.name.span)});
  members.push_back({declaration.name.span, task_of(*graph, blocks, declaration.name)});
  AgentInfo& info = world.info(binding.agent);
  info.decl = &made.agent;
  for (const ast::AgentMember& member : members) {
    auto* slot = std::get_if<ast::Slot>(&member.node);
    if (!slot) continue;
    Binding known{.kind = Binding::Kind::slot, .what = "slot", .span = slot->name.span};
    known.index = static_cast<std::uint32_t>(info.slots.size());
    info.slots.push_back(slot);
    info.names.emplace(slot->name.text, known);
  }
  FunctionInfo& task = world.info(binding.function);
  task.task = &std::get<ast::TaskDecl>(members.back().node);
  task.blocks = &made;
  world.file(world.program[binding.function].module).pending.push_back(binding.function);
}

}  // namespace

void define_blocks(Body& file, const ast::IrDecl& declaration) {
  World& world = file.world;
  const std::optional<Binding> declared = world.find(file.module, declaration.name.text);
  if (!declared || declared->kind != Binding::Kind::blocks || declared->span != declaration.name.span) return;
  const std::shared_ptr<const BlockGraph> graph = read_block_lines(file, declaration);
  if (!graph) return forget(file, declaration.name);
  Binding binding = *declared;
  describe(world, binding, graph, declaration);
  resolve_agent(world, binding.agent);
  Type type(Kind::agent);
  type.agent = binding.agent;
  const Term made = file.make(Form::agent, std::move(type), declaration.name.span, {});
  file[made.id].agent = binding.agent;
  file.info().effects.graph = true;
  bind_let(file, declaration.name, made, binding);
  binding.kind = Binding::Kind::blocks;
  world.file(file.module).names.put(declaration.name.text, binding);
}

std::optional<Term> blocks_instance(Body& body, const Binding& blocks, const ast::Name& name) {
  if (!blocks.variable.valid()) {
    not_set_yet(body.world.diags, name).label(blocks.span, "it is declared here");
    return std::nullopt;
  }
  Binding instance = blocks;
  instance.kind = Binding::Kind::global;
  return read_binding(body, instance, name);
}

void check_blocks_body(Body& body) {
  const BlockGraph& graph = *body.info().blocks->graph;
  const BlockCall blocks = call_of(graph);
  const Span span = body.function().span;
  auto value = std::make_shared<BlockGraphValue>(body.info().blocks->graph);
  std::vector<Term> operands{
      body.constant(Value(std::static_pointer_cast<Object>(std::move(value))), Kind::blocks, span)};
  auto read = [&](const std::string& text) {
    const ast::Name name{text, span};
    operands.push_back(read_binding(body, *body.find(text), name));
  };
  for (const auto* list : {&blocks.inputs, &blocks.given})
    for (BlockId id : *list) read(graph[id].name);
  if (blocks.memory > 0) read(std::string(memory_name));
  const Term made = served_call(body, Serves::blocks, operands, span);
  const std::vector<Output> outputs = body.function().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    body.write_variable(outputs[i].variable, *output_named(body, made, outputs[i].name, span), span);
    body.is_set[i] = true;
  }
  auto write = [&](const std::string& text) {
    const std::optional<Binding> slot = body.find(text);
    if (write_slot(body, *slot, {text, span}))
      body.write_variable(slot_variable(body, slot->index), *output_named(body, made, text, span), span);
  };
  for (BlockId id : blocks.written) write(graph[id].name);
  if (blocks.memory > 0) write(std::string(memory_name));
}

}  // namespace taskspec::checking
