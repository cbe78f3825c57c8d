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
  void bind(const Type& wanted, const Term& value) { bind(wanted, body_.type(value), value.span); }
  void bind(const Type& wanted, const Type& given) { bind(wanted, given, Span()); }
  // Says what is wrong and returns false; a value that is wrong already agrees with everything.
  bool require(const Type& wanted, const Term& value, const Expected& expected);
  bool fits(const Type& wanted, const Type& given) { return !compare(substitute(wanted), given, nullptr); }
  // With everything bound put in; callee symbols that nothing bound become unknown extents.
  Type result(const Type& type);
  Type substitute(const Type& type) const;

  std::vector<Guard> guards;

 private:
  struct Bound {
    Dim dim;
    Span from;
  };
  struct Difference {
    enum Kind : std::uint8_t { type, precision, rank, extent } kind;
    std::size_t axis = 0;
  };
  bool is_variable(const Symbol& symbol) const;
  void bind(const Type& wanted, const Type& given, Span from);
  std::optional<Difference> compare(const Type& wanted, const Type& given, const Term* value);
  std::optional<Difference> compare_extents(const Type& wanted, const Type& given, const Term* value);
  std::optional<Difference> compare_parts(const Type& wanted, const Type& given);
  void report(const Difference& difference, const Type& wanted, const Term& value, const Expected& expected);

  Body& body_;
  Variables variables_;
  std::map<std::uint32_t, Bound> bound_;  // ordered: which label a message shows must not depend on hashing
};

// The same extent in a form that a running frame can work out, where one of these tensors has it.
Dim reachable(Body& body, const Dim& dim, const std::vector<Term>& tensors);

// A call that does nothing but check these guards.
void emit_guards(Body& body, std::vector<Guard> guards, Span span);

}  // namespace taskspec::checking
