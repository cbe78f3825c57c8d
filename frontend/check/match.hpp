// Do the types of arguments fit the parameters? Dimension variables of the parameters are bound to the extents
// that the arguments have; what only the run can decide becomes a guard.
//
//   Match match(body, Match::all);
//   match.bind(f32[N], x);  match.bind(f32[N], y);        // x: f32[4]  ->  N is 4
//   match.require(f32[N], y, {"'b' of task 'add'", span});  // y: f32[5]  ->  E2001, and false
//   match.result(f32[2*N])                                // f32[8]
#pragma once
#include <map>

#include "frontend/check/body.hpp"

namespace taskspec::checking {

// What is expected of a value, for messages: "'x' of task 'energy'", and where that is said.
struct Expected {
  std::string what;
  Span declared;
};

class Match {
 public:
  // Whose symbols are variables here: all of a callee's signature, even when it is the calling function itself,
  // or only those of other functions, in the type of a value.
  enum Variables : std::uint8_t { all, foreign };
  Match(Body& body, Variables variables) : body_(body), variables_(variables) {}

  void set(std::uint32_t symbol, Dim dim) { bound_[symbol] = {std::move(dim), {}}; }
  bool is_set(std::uint32_t symbol) const { return bound_.contains(symbol); }
  void bind(const Type& wanted, const Term& value);
  void bind(const Type& wanted, const Type& given) { bind(wanted, given, Span()); }
  // Says what is wrong and returns false; a value that is wrong already agrees with everything.
  // `argument`: of a function, which looks at its parameters again when it starts.
  bool require(const Type& wanted, const Term& value, const Expected& expected, bool argument = false);
  bool fits(const Type& wanted, const Type& given) { return !compare(substitute(wanted), given, Open::checked); }
  // No argument so far says what an extent in this type of a parameter is.
  bool is_open(const Type& type) const;
  // With everything bound put in; callee symbols that nothing bound become unknown extents.
  Type result(const Type& type);
  Type substitute(const Type& type) const;

  std::vector<Guard> guards;
  // False where a running frame could not tell what the two sides are: such a guard would never fail.
  bool guard(const Dim& wanted, const Dim& given, const Term& value, std::size_t axis);

 private:
  struct Bound {
    Dim dim;
    Span from;
  };
  struct Difference {
    enum Kind : std::uint8_t { type, precision, rank, extent, open } kind;
    std::size_t axis = 0;
  };
  // What to do about extents that only the run knows.
  enum class Open : std::uint8_t {
    guarded,  // the value is at hand: a guard compares them
    checked,  // an argument: the callee compares them when it starts
    refused,  // inside a list or of a result: nothing would ever compare them
  };
  bool is_variable(const Symbol& symbol) const;
  bool has_foreign(const Dim& dim) const;
  Type as_used(const Type& wanted, const Type& given) const;
  void bind(const Type& wanted, const Type& given, Span from);
  std::optional<Difference> compare(const Type& wanted, const Type& given, Open open, const Term* value = nullptr);
  std::optional<Difference> compare_extents(const Type& wanted, const Type& given, Open open, const Term* value);
  std::optional<Difference> compare_parts(const Type& wanted, const Type& given);
  void report(const Difference& difference, const Type& wanted, const Term& value, const Expected& expected);

  Body& body_;
  Variables variables_;
  std::vector<Term> tensors_;             // that bound something
  std::map<std::uint32_t, Bound> bound_;  // ordered: which label a message shows must not depend on hashing
};

}  // namespace taskspec::checking
