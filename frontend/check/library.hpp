// An imported module that comes from a library instead of a text: its names are linked when somebody uses them, so
// that the program holds nothing else of it.
//
//   import nn            // nn.tasklib is opened; nn.linear is linked where it is first named
#pragma once
#include "frontend/check/world.hpp"
#include "ir/library/library.hpp"

namespace taskspec::checking {

class LinkedLibrary {
 public:
  // `modules`: those that it imports, by the name of the import. `import`: the statement, where problems are shown.
  // `cure`: what to do if the library is not what was built.
  LinkedLibrary(World& world, std::unique_ptr<Library> library, ModuleId module,
                std::map<std::string, ModuleId> modules, Span import, std::string cure);

  // Links what goes by this name; an error binding when that fails, which is reported.
  std::optional<Binding> find(std::string_view name);
  std::optional<Binding> member(AgentId agent, std::string_view name);
  std::vector<std::string> names() const;  // that can be found
  std::vector<std::string> members(AgentId agent) const;
  // Everything, to see whether it is what was built. For a file that was changed.
  void link_all();
  // After the world has lost the functions and agents that came last.
  void forget();

 private:
  Library::Host host();
  void define_lets();
  Binding link(const Library::Entry& entry);
  void settle(const Library::Linked& linked);
  void settle(FunctionId function);
  void settle(AgentId agent);
  void verify(const Library::Linked& linked);
  Error stale(std::string message, const std::string& stored = "", const std::string& found = "") const;
  Declared foreign(const std::string& module, const std::string& name);
  UndoMap<Names>& own_names() { return world_.file(module_).names; }

  World& world_;
  std::unique_ptr<Library> library_;
  ModuleId module_;
  std::map<std::string, ModuleId> modules_;
  Span import_;
  std::string cure_;
  SourceId source_;
  std::uint32_t first_symbol_;
  std::size_t functions_end_ = 0, agents_end_ = 0;  // of the world, behind what was linked last
  bool broken_ = false;                             // a link failed half-way and was reported: nothing more comes
};

}  // namespace taskspec::checking
