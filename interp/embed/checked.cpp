#include "interp/embed/checked.hpp"

#include "frontend/check.hpp"
#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/make_ast.hpp"
#include "frontend/dsl/record.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/pipeline.hpp"
#include "ir/verify/verify.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl::detail {

const Toolbox& toolbox() {
  static const Toolbox tools = standard_toolbox();
  return tools;
}

void with_places(const Sources& sources, At at, FunctionRef<void()> f) {
  try {
    f();
  } catch (const taskspec::Error& error) {
    Sources all = sources;
    Span here = Places(all).line(at);
    Diags diags;
    for (Diag diag : error.diags().items()) {
      if (!diag.primary.span.valid()) diag.primary.span = here;
      diags.add(std::move(diag));
    }
    throw error_of(all, diags);
  }
}

std::shared_ptr<const Checked> checked(const std::shared_ptr<Function>& function) {
  if (auto known = std::static_pointer_cast<const Checked>(function->checked)) return known;
  Sources sources;
  Places places(sources);
  Ast ast = make_ast({function}, places);
  taskspec::Result<Program> program = check(
      sources, std::move(ast), {.ops = toolbox().ops, .builtins = toolbox().builtins, .blocks = toolbox().blocks});
  if (!program) throw error_of(sources, program.diags());
  auto made = std::make_shared<Checked>();
  made->program = std::move(*program);
  verified([&] {
    std::vector<std::string> wrong = verify(made->program);
    return wrong.empty() ? std::string() : wrong[0];
  });
  made->function = find_graph(made->program, function->name.text);
  if (function->kind == Kind::graph) function->checked = made;
  return made;
}

// ---- the last word of a declaration ---------------------------------------------------------------

namespace {

void complete(const std::shared_ptr<Function>& function) {
  if (auto agent = function->agent.lock())
    agent->members.push_back(function);  // checked with its agent, when that is complete
  else
    checked(function);
}

}  // namespace

void record(const std::shared_ptr<Function>& function, const std::pair<Recorded, std::size_t>& body, At at) {
  record_body(function, body, at);
  complete(function);
}

void attach(const std::shared_ptr<Function>& function, Native native, std::optional<Native> backward, At at) {
  attach_body(function, std::move(native), at);
  if (backward) attach_reverse(function, std::move(*backward), at);
  complete(function);
}

void attach(const std::shared_ptr<Function>& function, const Name& symbol) {
  attach_symbol(function, symbol);
  complete(function);
}

}  // namespace taskspec::dsl::detail
