// One extent of a shape: an integer polynomial over symbols in normal form, so that equal extents
// compare equal. Most are plain constants and cost one word.
//
//   Dim n(symbol), m = n * 2 + 1;     m - n * 2 == Dim(1);     m.text() == "2*N + 1"
//   Dim half = n / 2;                 half * 2 == n;           half.text() == "N/2"
//
// A quotient is exact: it stands for an int, and whoever makes one sees to it that the run checks that (a signature
// does). So it is a polynomial over another one, without common factors, and arithmetic is that of fractions.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/function_ref.hpp"

namespace taskspec {

// A symbol is either a dimension variable of a signature (rigid: two different ones are never equal)
// or a host integer known when the program runs (open: equality with it becomes a guard at the call).
struct SymbolInfo {
  std::string name;
  std::uint32_t id = 0;  // unique in a Program, given in order of appearance
  bool host = false;
  std::uint32_t call = UINT32_MAX;  // host symbols: the call (of the same function) whose int it is
};
using Symbol = std::shared_ptr<const SymbolInfo>;

class Dim {
 public:
  struct Term {
    std::int64_t factor;
    std::vector<Symbol> symbols;  // sorted by id; a power repeats its symbol
  };

  Dim() = default;
  Dim(std::int64_t constant) : constant_(constant) {}
  explicit Dim(Symbol symbol);

  bool is_constant() const { return !parts_; }
  bool is_quotient() const;  // of what leaves no rest: only then it is an extent
  std::optional<std::int64_t> constant() const;
  bool has_host_symbol() const;
  std::vector<Symbol> symbols() const;  // each once, by id

  // Replaces each symbol for which `find` gives a Dim. E5004 with both numbers for a quotient that leaves a rest.
  Dim substitute(FunctionRef<std::optional<Dim>(const Symbol&)> find) const;
  std::string text() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator/(const Dim& a, const Dim& b);  // exact: E5004 for numbers that leave a rest, E5002 by zero
  friend bool operator==(const Dim& a, const Dim& b);

  // Both sides of the fraction: the extent itself and 1 where it is a polynomial.
  Dim numerator() const;
  Dim denominator() const;

 private:
  struct Parts;
  static Dim from(std::vector<Term> terms);
  static Dim quotient(const Dim& over, const Dim& under);
  // Those of the numerator; that of a constant has no symbols.
  std::vector<Term> terms() const;
  std::int64_t constant_ = 0;           // of the numerator
  std::shared_ptr<const Parts> parts_;  // null for a constant
};

// What can be said about a == b before the program runs: `open` depends on host values (a guard),
// `no` also when two rigid symbols differ.
enum class Same : std::uint8_t { yes, no, open };
Same same(const Dim& a, const Dim& b);

// Exact integer arithmetic of extents; overflow throws Error (E5001).
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

}  // namespace taskspec
