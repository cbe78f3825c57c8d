// The two programs that the functions of a module are cut into, as its library stores them.
#pragma once
#include "interp/load.hpp"
#include "ir/cut/cut_program.hpp"
#include "ir/library/library.hpp"

namespace taskspec::cli {

// Of a program whose main file only imports the module. What is cut depends on who uses a function: here, a caller
// that prints whatever each of them gives.
class LibraryParts {
 public:
  LibraryParts(const Program& program, ModuleId module, const Toolbox& tools);
  PartTexts of(FunctionId function) const;

 private:
  std::vector<Declared> reached(FunctionId function, Part side) const;

  CutProgram cut_;
  std::vector<FunctionId> wholes_;  // by function: of parts, what they are parts of; else itself
};

}  // namespace taskspec::cli
