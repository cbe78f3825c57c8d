#include "frontend/check/world.hpp"

#include "frontend/check/body.hpp"

namespace taskspec::checking {

FunctionInfo::FunctionInfo() = default;
FunctionInfo::~FunctionInfo() = default;

World::World(Sources& s, const CheckOptions& o) : sources(s), options(o) {}
World::~World() = default;

FunctionId World::add_function(Function function) {
  FunctionId id(program.functions.size());
  program.functions.push_back(std::move(function));
  infos.emplace_back();
  return id;
}

std::string World::described(FunctionId id) const {
  static constexpr const char* kinds[] = {"fn", "task", "graph", "module"};
  return std::string(kinds[static_cast<int>(program[id].kind)]) + " '" + name_of(id) + "'";
}

Symbol World::symbol(std::string name, bool host, CallId call, FunctionId owner) {
  std::uint32_t id = program.symbols++;
  owners_.push_back(owner);
  return std::make_shared<const SymbolInfo>(SymbolInfo{std::move(name), id, host, call.value});
}

FunctionId World::owner(const Symbol& symbol) const {
  return symbol->id < owners_.size() ? owners_[symbol->id] : FunctionId();
}

void World::report(const Error& error, Span span) {
  for (Diag diag : error.diags().items()) {
    if (!diag.primary.span.valid()) diag.primary.span = span;
    diags.add(std::move(diag));
  }
}

}  // namespace taskspec::checking
