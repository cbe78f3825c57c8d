// Who reads the values of a function, and when last: what the places of values in frames and their releases are made
// of. Of a function that grew, the calls that came last.
//
//   %1 op mul   %2 op add(%1, %1)        uses(%1) == 2, last(%1) == %2
//
// A reader inside a loop or branch counts as that loop or branch.
#pragma once
#include <set>
#include <span>
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

class Reads {
 public:
  // Of calls from `first` on, of which `listed` are those of the body. What is older was read by older calls, or is
  // kept.
  Reads(const Function& function, std::size_t first, std::span<const CallId> listed);

  const Function& function() const { return function_; }
  std::size_t first() const { return first_; }
  bool is_new(CallId id) const { return id.valid() && id.index() >= first_; }
  std::uint32_t uses(CallId id) const { return uses_[at(id)]; }
  bool once(CallId id) const { return is_new(id) && uses_[at(id)] == 1 && last_[at(id)].valid(); }
  // In the block of the value; invalid: nobody, or somebody at a time that is not seen here.
  CallId last(CallId id) const { return last_[at(id)]; }
  // The call behind it in its block.
  CallId next(CallId id) const;
  // Calls in the order of the text: it and all inside its blocks stand from `begin` to before `end`.
  std::uint32_t begin(CallId id) const { return spots_[at(id)].begin; }
  std::uint32_t end(CallId id) const { return spots_[at(id)].end; }

  void keep(CallId value);  // somebody reads it at a time that is not seen here

 private:
  struct Spot {
    const CallId* calls = nullptr;  // of its block
    std::size_t count = 0;
    CallId owner;  // of the block
    std::size_t position = 0;
    std::uint32_t begin = 0, end = 0;
  };

  std::size_t at(CallId id) const { return id.index() - first_; }
  void place(std::span<const CallId> calls, CallId owner);
  void read(CallId value, CallId reader);

  const Function& function_;
  const std::size_t first_;
  std::vector<Spot> spots_;
  std::vector<CallId> last_;
  std::vector<std::uint32_t> uses_;
  std::set<CallId> kept_;
  std::uint32_t placed_ = 0;
};

}  // namespace taskspec
