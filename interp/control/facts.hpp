// What the interpreter asks about functions again and again, worked out once per program: which variables
// are places, what a nested block uses of its surroundings, which tensors of the top level a body reads.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ir/program.hpp"

namespace taskspec {

struct FunctionFacts {
  std::vector<CallId> parameter_calls;      // of form `parameter`, anywhere in the function
  std::vector<bool> places;                 // by VariableId: holds versions of a place
};

// What the blocks of a structured call read and change outside of themselves.
struct FreeUse {
  std::vector<CallId> values;               // in order of first use
  std::vector<std::uint32_t> parameters;    // read inside, ascending
  std::vector<VariableId> read;             // variables read or changed, ascending
  std::vector<VariableId> written;          // changed, and visible outside
  bool graph = false;                       // does something with tensors
};

struct GlobalUse {
  ModuleId module;
  VariableId variable;
};

class Facts {
 public:
  explicit Facts(const Program& program) : program_(program) {}
  const FunctionFacts& function(FunctionId id);
  const FreeUse& free_use(FunctionId id, CallId structured);
  const std::vector<GlobalUse>& globals(FunctionId id);  // of its body and of all that it calls

 private:
  const Program& program_;
  std::mutex mutex_;  // bodies may run on several threads; entries are never moved
  std::unordered_map<std::uint32_t, std::unique_ptr<FunctionFacts>> functions_;
  std::unordered_map<std::uint64_t, std::unique_ptr<FreeUse>> free_uses_;
  std::unordered_map<std::uint32_t, std::unique_ptr<std::vector<GlobalUse>>> globals_;
};

}  // namespace taskspec
