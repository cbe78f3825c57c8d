#include "ir/types/dim.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"

namespace taskspec {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw failure("E5001", {}, "overflow while adding extents");
  return sum;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw failure("E5001", {}, "overflow while multiplying extents");
  return product;
}

namespace {

bool written_before(const Dim::Term& a, const Dim::Term& b) {
  // Higher degree first, then by symbol ids: the order in which a person writes a polynomial.
  if (a.symbols.size() != b.symbols.size()) return a.symbols.size() > b.symbols.size();
  for (std::size_t i = 0; i < a.symbols.size(); ++i)
    if (a.symbols[i]->id != b.symbols[i]->id) return a.symbols[i]->id < b.symbols[i]->id;
  return false;
}

bool same_symbols(const Dim::Term& a, const Dim::Term& b) { return !written_before(a, b) && !written_before(b, a); }

// Longer polynomials are refused: (A + B + ... + H) to the 40th has 3.8e8 terms.
constexpr std::size_t most_terms = 256, most_factors = 16;

Error too_long() {
  return failure("E0005", {},
                 "an extent has at most " + std::to_string(most_terms) + " terms of at most " +
                     std::to_string(most_factors) + " factors");
}

}  // namespace

Dim::Dim(Symbol symbol) : terms_(std::make_shared<std::vector<Term>>(std::vector<Term>{{1, {std::move(symbol)}}})) {}

Dim Dim::from(std::int64_t constant, std::vector<Term> terms) {
  std::stable_sort(terms.begin(), terms.end(), written_before);
  std::vector<Term> merged;
  for (Term& term : terms) {
    if (!merged.empty() && same_symbols(merged.back(), term))
      merged.back().factor = checked_add(merged.back().factor, term.factor);
    else
      merged.push_back(std::move(term));
  }
  std::erase_if(merged, [](const Term& t) { return t.factor == 0; });
  // The highest degree stands first.
  bool fits = merged.size() <= most_terms && (merged.empty() || merged.front().symbols.size() <= most_factors);
  if (!fits) throw too_long();
  Dim result(constant);
  if (!merged.empty()) result.terms_ = std::make_shared<std::vector<Term>>(std::move(merged));
  return result;
}

std::optional<std::int64_t> Dim::constant() const {
  if (terms_) return std::nullopt;
  return constant_;
}

std::vector<Symbol> Dim::symbols() const {
  std::vector<Symbol> all;
  if (terms_)
    for (const Term& term : *terms_) all.insert(all.end(), term.symbols.begin(), term.symbols.end());
  std::sort(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a->id < b->id; });
  all.erase(std::unique(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a->id == b->id; }),
            all.end());
  return all;
}

bool Dim::has_host_symbol() const {
  if (!terms_) return false;
  for (const Term& term : *terms_)
    for (const Symbol& symbol : term.symbols)
      if (symbol->host) return true;
  return false;
}

Dim Dim::substitute(FunctionRef<std::optional<Dim>(const Symbol&)> find) const {
  if (!terms_) return *this;
  Dim sum(constant_);
  for (const Term& term : *terms_) {
    Dim product(term.factor);
    for (const Symbol& symbol : term.symbols) {
      std::optional<Dim> found = find(symbol);
      product = product * (found ? *found : Dim(symbol));
    }
    sum = sum + product;
  }
  return sum;
}

std::string Dim::text() const {
  if (!terms_) return std::to_string(constant_);
  std::string out;
  for (const Term& term : *terms_) {
    std::int64_t factor = term.factor;
    if (!out.empty()) {
      out += factor < 0 ? " - " : " + ";
      if (factor < 0) factor = -factor;
    }
    if (factor == -1)
      out += "-";
    else if (factor != 1)
      out += std::to_string(factor) + "*";
    for (std::size_t i = 0; i < term.symbols.size(); ++i) out += (i ? "*" : "") + term.symbols[i]->name;
  }
  if (constant_ > 0) out += " + " + std::to_string(constant_);
  if (constant_ < 0) out += " - " + std::to_string(-constant_);
  return out;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.terms_ && !b.terms_) return checked_add(a.constant_, b.constant_);
  std::vector<Dim::Term> terms;
  for (const Dim* d : {&a, &b})
    if (d->terms_) terms.insert(terms.end(), d->terms_->begin(), d->terms_->end());
  return Dim::from(checked_add(a.constant_, b.constant_), std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.terms_ && !b.terms_) return checked_multiply(a.constant_, b.constant_);
  std::vector<Dim::Term> left = a.terms_ ? *a.terms_ : std::vector<Dim::Term>{};
  std::vector<Dim::Term> right = b.terms_ ? *b.terms_ : std::vector<Dim::Term>{};
  left.push_back({a.constant_, {}});
  right.push_back({b.constant_, {}});
  std::int64_t constant = 0;
  std::vector<Dim::Term> terms;
  for (const Dim::Term& x : left)
    for (const Dim::Term& y : right) {
      std::int64_t factor = checked_multiply(x.factor, y.factor);
      if (factor == 0) continue;
      std::vector<Symbol> symbols = x.symbols;
      symbols.insert(symbols.end(), y.symbols.begin(), y.symbols.end());
      std::sort(symbols.begin(), symbols.end(), [](const Symbol& s, const Symbol& t) { return s->id < t->id; });
      if (symbols.empty())
        constant = checked_add(constant, factor);
      else
        terms.push_back({factor, std::move(symbols)});
    }
  return Dim::from(constant, std::move(terms));
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.constant_ != b.constant_ || !a.terms_ != !b.terms_) return false;
  if (!a.terms_ || a.terms_ == b.terms_) return true;
  return std::equal(a.terms_->begin(), a.terms_->end(), b.terms_->begin(), b.terms_->end(),
                    [](const Dim::Term& x, const Dim::Term& y) { return x.factor == y.factor && same_symbols(x, y); });
}

Same same(const Dim& a, const Dim& b) {
  if (a == b) return Same::yes;
  Dim difference = a - b;
  return difference.has_host_symbol() ? Same::open : Same::no;
}

}  // namespace taskspec
