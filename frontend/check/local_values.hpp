// Which host values may differ between shards, and where one of them would decide what the graph does (E1303). Worked
// out over the typed program, by what the records of forms, ops and builtins say of each call:
//
//   let t = clock()                        // t is local,
//   let late = t > 10.0                    // and so is what is computed from it,
//   var n = 1
//   if late { n = 2 }                      // or set where it decides
//   for i in 0..n { x = step(x).y }        // E1303: it decides how often a graph operation runs
//   for i in 0..agree(n) { x = step(x).y } // fine, as is print(n)
//
// What ends the program (exit, a failed assert) decides nothing that comes after it: that ends the job on all shards.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "frontend/check/undo_map.hpp"
#include "ir/program/program.hpp"

namespace taskspec::checking {

// Why something is so: by a call of the function in which it stands, whatever its parameters are, or by parameters of
// which that is true: a bit for each, and one for all from the 64th on.
struct Dependence {
  CallId source;
  std::uint64_t values = 0;   // by what the parameter is
  std::uint64_t results = 0;  // by what it gives when it is called

  bool any() const { return source.valid() || values != 0 || results != 0; }
  Dependence& operator|=(const Dependence& other);  // the first source stays
  friend bool operator==(const Dependence&, const Dependence&) = default;
};

struct LocalFacts {
  Dependence is;  // it may differ between shards
  // Of functions, and of what holds some:
  Dependence gives;  // so may what a call of it gives
  Dependence acts;   // a call of it does something to the graph; `values`: if a call of that parameter does

  bool any() const { return is.any() || gives.any() || acts.any(); }
  LocalFacts& operator|=(const LocalFacts& other);
  friend bool operator==(const LocalFacts&, const LocalFacts&) = default;
};

// What is known of the values of one function, and of its variables as they are now. That of a top level stays, since
// functions read it and it may grow; nothing is noted of what is no more than replicated.
struct LocalBooks {
  UndoMap<std::map<std::uint32_t, LocalFacts>> calls, variables;
  std::size_t walked = 0, listed = 0;  // calls of a top level that it is about, and how many its body listed then

  struct Mark {
    std::size_t calls, variables, walked, listed;
  };
  void remember() { calls.remember(), variables.remember(); }
  void settle() { calls.settle(), variables.settle(); }
  Mark mark() const { return {calls.mark(), variables.mark(), walked, listed}; }
  void back_to(const Mark& mark);
};

// What callers must know of a fn.
struct LocalSummary {
  // Where a local value would decide about the graph, if `acts` is true.
  struct Demand {
    Dependence acts;
    FunctionId function;  // `value` of it, which may come from `source`
    CallId source, value;
    Span used, operation;
    bool decides = false;  // or is handed to it
    friend bool operator==(const Demand&, const Demand&) = default;
  };
  bool known = false;
  LocalFacts result;
  std::vector<Dependence> places;  // by parameter: of an inout one, what it holds afterwards
  Dependence acts;                 // it does something to the graph; as LocalFacts::acts
  // By what must not be local: a parameter, what one gives, or it is (`always`).
  std::map<std::uint32_t, Demand> demands;
  static constexpr std::uint32_t of_results = 64, always = 128;

  friend bool operator==(const LocalSummary&, const LocalSummary&) = default;
};

}  // namespace taskspec::checking
