// Arguments of inout parameters: they name a place, which holds a new version after the call.
//
//   bump(r, d)  with  task bump(inout r: f64[N], ...)      ->      Call::places {operand 0, variable r}
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// The places that one call names, to find one that is written and named twice.
class WrittenPlaces {
 public:
  void read(VariableId variable, std::size_t argument, Span span) { named_.push_back({variable, argument, span, {}}); }
  void write(VariableId variable, std::size_t argument, const Term& now) {
    named_.push_back({variable, argument, now.span, now.id});
  }
  bool check(Body& body) const;  // E1403
  // Before the call is made: another argument may have changed a place since it was named, and the call goes on from
  // there: bump(r, bump(r, d).t).
  void read_newest(Body& body) const;
  std::vector<Place> places(std::uint32_t first_operand) const;  // for the call

 private:
  struct Named {
    VariableId variable;
    std::size_t argument;
    Span span;
    CallId value;  // of one that is written: as it was when it was named
    bool written() const { return value.valid(); }
  };
  std::vector<Named> named_;
};

// Reads the place that `expr` names and notes that the call writes it; E1007 or E1401 if it is none.
Term place_argument(Body& body, const ast::Expr& expr, std::size_t argument, WrittenPlaces& written);

// An `in` argument that is plainly the name of a place.
void note_read(Body& body, const ast::Expr& expr, std::size_t argument, WrittenPlaces& written);

// A place is about to change: a slot of state becomes an inout parameter. False, with E1401, for other slots.
bool write_slot(Body& body, const Binding& slot, const ast::Name& name);

}  // namespace taskspec::checking
