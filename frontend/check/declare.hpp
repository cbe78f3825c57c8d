// Declarations: names first, so that a file's declarations are visible in all of it; signatures when somebody
// asks for them; bodies at the end, when all top-level lets are known.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// Enters the agents, tasks, fns and graphs of a file into its names.
void declare_items(World& world, ModuleId module, const Ast& ast);
void declare_item(World& world, ModuleId module, const ast::Item& item);

// Parameters, results and defaults of a function; does nothing the second time.
void resolve_signature(World& world, FunctionId function);
// The body of a function with a resolved signature.
void check_function(World& world, FunctionId function);

// Signatures and bodies of a file that are not checked yet.
void check_pending(World& world, ModuleId module);

// Parameters and slots of an agent, with the functions that make the slots' first values.
void resolve_agent(World& world, AgentId agent);
// The agent's parameters as the first ones of a member.
void add_agent_parameters(Body& body);

// Runs `check` on a part whose calls are not kept; what it reports is.
template <class F>
auto dry_run(Body& body, F&& check) {
  const EffectNotes::Mark before = body.info().effects.mark();
  const std::size_t calls = body.function().calls.size();
  body.open_block();
  auto result = check();
  body.close_block();
  body.drop_calls(calls);
  body.info().effects.back_to(before);
  return result;
}

// The text of `-D name=...` for a top-level let or a parameter of main in this file; null if there is none.
const std::string* define_for(const World& world, ModuleId module, std::string_view name);
// What -D says in place of a value: a string as it is, else an expression read at file scope. `standard` is what
// the text of the program says, which tells whether a string is wanted.
Term defined_value(Body& body, const std::string& name, const std::string& text, const ast::Expr* standard,
                   const Type* wanted);

}  // namespace taskspec::checking
