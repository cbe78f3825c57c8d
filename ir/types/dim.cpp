#include "ir/types/dim.hpp"

#include <algorithm>
#include <numeric>

#include "ir/base/diag.hpp"
#include "ir/types/solve.hpp"

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

std::vector<Dim::Term> merged(std::vector<Dim::Term> terms) {
  std::stable_sort(terms.begin(), terms.end(), written_before);
  std::vector<Dim::Term> all;
  for (Dim::Term& term : terms) {
    if (!all.empty() && same_symbols(all.back(), term))
      all.back().factor = checked_add(all.back().factor, term.factor);
    else
      all.push_back(std::move(term));
  }
  std::erase_if(all, [](const Dim::Term& t) { return t.factor == 0; });
  return all;
}

// Longer polynomials are refused: (A + B + ... + H) to the 40th has 3.8e8 terms.
constexpr std::size_t most_terms = 256, most_factors = 16;

Error too_long() {
  return failure("E0005", {},
                 "an extent has at most " + std::to_string(most_terms) + " terms of at most " +
                     std::to_string(most_factors) + " factors");
}

// Left over of `from` when all of `taken` is taken out of it; nothing if it is not in there. Both are sorted.
std::optional<std::vector<Symbol>> without(const std::vector<Symbol>& from, const std::vector<Symbol>& taken) {
  std::vector<Symbol> rest;
  std::size_t next = 0;
  for (const Symbol& symbol : from)
    if (next < taken.size() && taken[next]->id == symbol->id)
      ++next;
    else
      rest.push_back(symbol);
  return next == taken.size() ? std::optional(rest) : std::nullopt;
}

// Of the smallest number by -1 the processor knows no quotient.
bool divides(std::int64_t a, std::int64_t b) { return b == -1 || a % b == 0; }
std::int64_t divided(std::int64_t a, std::int64_t b) { return b == -1 ? checked_multiply(a, -1) : a / b; }

std::uint64_t size_of(std::int64_t factor) {
  return factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
}

// Takes out of both what all their terms have in common, and makes the first factor of `under` positive.
void cancel(std::vector<Dim::Term>& over, std::vector<Dim::Term>& under) {
  std::uint64_t common = 0;
  std::vector<Symbol> shared = under.front().symbols;
  for (const std::vector<Dim::Term>* side : {&over, &under})
    for (const Dim::Term& term : *side) {
      common = std::gcd(common, size_of(term.factor));
      std::vector<Symbol> both;
      std::set_intersection(shared.begin(), shared.end(), term.symbols.begin(), term.symbols.end(),
                            std::back_inserter(both), [](const Symbol& a, const Symbol& b) { return a->id < b->id; });
      shared = std::move(both);
    }
  auto by = common > INT64_MAX ? std::int64_t{1} : static_cast<std::int64_t>(common);
  if (under.front().factor < 0) by = -by;
  for (std::vector<Dim::Term>* side : {&over, &under})
    for (Dim::Term& term : *side) {
      term.factor = divided(term.factor, by);
      term.symbols = *without(term.symbols, shared);
    }
}

// over / under where no rest is left, by their first terms as one divides by hand.
std::optional<std::vector<Dim::Term>> exact_quotient(std::vector<Dim::Term> over, const std::vector<Dim::Term>& under) {
  const Dim::Term first = under.front();
  std::vector<Dim::Term> result;
  while (!over.empty()) {
    std::optional<std::vector<Symbol>> left = without(over.front().symbols, first.symbols);
    if (!left || !divides(over.front().factor, first.factor) || result.size() >= most_terms) return std::nullopt;
    Dim::Term step{divided(over.front().factor, first.factor), *std::move(left)};
    std::vector<Dim::Term> rest = std::move(over);
    for (const Dim::Term& term : under) {
      std::vector<Symbol> symbols = step.symbols;
      symbols.insert(symbols.end(), term.symbols.begin(), term.symbols.end());
      std::ranges::sort(symbols, {}, &SymbolInfo::id);
      rest.push_back({checked_multiply(checked_multiply(step.factor, term.factor), -1), std::move(symbols)});
    }
    over = merged(std::move(rest));
    result.push_back(std::move(step));
  }
  return result;
}

}  // namespace

struct Dim::Parts {
  std::vector<Term> terms;  // of the numerator, without its constant
  Dim under = 1;            // a polynomial, its first factor positive; nothing is left to cancel
};

Dim::Dim(Symbol symbol) : parts_(std::make_shared<Parts>(Parts{{{1, {std::move(symbol)}}}})) {}

Dim Dim::from(std::vector<Term> terms) {
  terms = merged(std::move(terms));
  Dim result;
  // The highest degree stands first, the constant last.
  if (!terms.empty() && terms.back().symbols.empty()) {
    result.constant_ = terms.back().factor;
    terms.pop_back();
  }
  bool fits = terms.size() <= most_terms && (terms.empty() || terms.front().symbols.size() <= most_factors);
  if (!fits) throw too_long();
  if (!terms.empty()) result.parts_ = std::make_shared<Parts>(Parts{std::move(terms)});
  return result;
}

Dim Dim::quotient(const Dim& dividend, const Dim& divisor) {
  std::vector<Term> over = dividend.terms(), under = divisor.terms();
  if (under.empty()) throw failure("E5002", {}, "an extent is divided by zero");
  if (over.empty()) return 0;
  cancel(over, under);
  if (under.size() > 1) {
    if (std::optional<std::vector<Term>> whole = exact_quotient(over, under)) {
      over = *std::move(whole);
      under = {{1, {}}};
    } else if (std::optional<std::vector<Term>> inverse = exact_quotient(under, over)) {
      over = {{1, {}}};
      under = *std::move(inverse);
      cancel(over, under);
    }
  }
  Dim result = from(std::move(over)), below = from(std::move(under));
  if (below == Dim(1)) return result;
  if (!result.parts_ && !below.parts_)
    throw failure("E5004", {}, dividend.text() + " / " + divisor.text() + " leaves a rest, and extents divide exactly");
  result.parts_ =
      std::make_shared<Parts>(Parts{result.parts_ ? result.parts_->terms : std::vector<Term>(), std::move(below)});
  return result;
}

bool Dim::is_quotient() const { return parts_ && !(parts_->under == Dim(1)); }

std::vector<Dim::Term> Dim::terms() const {
  std::vector<Term> all = parts_ ? parts_->terms : std::vector<Term>();
  if (constant_ != 0) all.push_back({constant_, {}});
  return all;
}

Dim Dim::numerator() const { return is_quotient() ? from(terms()) : *this; }

Dim Dim::denominator() const { return parts_ ? parts_->under : Dim(1); }

std::optional<std::int64_t> Dim::constant() const {
  if (parts_) return std::nullopt;
  return constant_;
}

std::vector<Symbol> Dim::symbols() const {
  if (!parts_) return {};
  std::vector<Symbol> all = parts_->under.symbols();
  for (const Term& term : parts_->terms) all.insert(all.end(), term.symbols.begin(), term.symbols.end());
  std::sort(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a->id < b->id; });
  all.erase(std::unique(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a->id == b->id; }),
            all.end());
  return all;
}

bool Dim::has_host_symbol() const {
  if (!parts_) return false;
  for (const Term& term : parts_->terms)
    for (const Symbol& symbol : term.symbols)
      if (symbol->host) return true;
  return parts_->under.has_host_symbol();
}

Dim Dim::substitute(FunctionRef<std::optional<Dim>(const Symbol&)> find) const {
  if (!parts_) return *this;
  Dim sum(constant_);
  for (const Term& term : parts_->terms) {
    Dim product(term.factor);
    for (const Symbol& symbol : term.symbols) {
      std::optional<Dim> found = find(symbol);
      product = product * (found ? *found : Dim(symbol));
    }
    sum = sum + product;
  }
  if (!is_quotient()) return sum;
  const Dim under = parts_->under.substitute(find);
  const std::optional<std::int64_t> a = sum.constant(), b = under.constant();
  if (b == 0) throw failure("E5002", {}, "the extent " + text() + " divides by zero");
  if (a && b && !divides(*a, *b))
    throw failure("E5004", {},
                  "the extent " + text() + " is " + sum.text() + " / " + under.text() +
                      " here, which leaves a rest; extents divide exactly");
  return sum / under;
}

namespace {

std::string text_of(const std::vector<Dim::Term>& terms) {
  if (terms.empty()) return "0";
  std::string out;
  for (const Dim::Term& term : terms) {
    const bool negative = term.factor < 0;
    out += out.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    const std::uint64_t factor = size_of(term.factor);
    if (factor != 1 || term.symbols.empty()) out += std::to_string(factor) + (term.symbols.empty() ? "" : "*");
    for (std::size_t i = 0; i < term.symbols.size(); ++i) out += (i ? "*" : "") + term.symbols[i]->name;
  }
  return out;
}

}  // namespace

std::string Dim::text() const {
  const std::vector<Term> over = terms();
  if (!is_quotient()) return text_of(over);
  const std::vector<Term> under = parts_->under.terms();
  const bool one = under.size() == 1 && under[0].symbols.size() + (under[0].factor == 1 ? 0 : 1) == 1;
  std::string above = over.size() > 1 ? "(" + text_of(over) + ")" : text_of(over);
  return above + "/" + (one ? text_of(under) : "(" + text_of(under) + ")");
}

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.parts_ && !b.parts_) return checked_add(a.constant_, b.constant_);
  const Dim below = a.denominator();
  if (below == b.denominator()) {
    std::vector<Dim::Term> terms = a.terms();
    for (Dim::Term& term : b.terms()) terms.push_back(std::move(term));
    Dim sum = Dim::from(std::move(terms));
    return below == Dim(1) ? sum : Dim::quotient(sum, below);
  }
  return Dim::quotient(a.numerator() * b.denominator() + b.numerator() * below, below * b.denominator());
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.parts_ && !b.parts_) return checked_multiply(a.constant_, b.constant_);
  std::vector<Dim::Term> terms;
  const std::vector<Dim::Term> left = a.terms(), right = b.terms();
  for (const Dim::Term& x : left)
    for (const Dim::Term& y : right) {
      std::vector<Symbol> symbols = x.symbols;
      symbols.insert(symbols.end(), y.symbols.begin(), y.symbols.end());
      std::sort(symbols.begin(), symbols.end(), [](const Symbol& s, const Symbol& t) { return s->id < t->id; });
      terms.push_back({checked_multiply(x.factor, y.factor), std::move(symbols)});
    }
  Dim product = Dim::from(std::move(terms));
  if (!a.is_quotient() && !b.is_quotient()) return product;
  return Dim::quotient(product, a.denominator() * b.denominator());
}

Dim operator/(const Dim& a, const Dim& b) {
  return Dim::quotient(a.numerator() * b.denominator(), a.denominator() * b.numerator());
}

bool operator==(const Dim& a, const Dim& b) {
  if (!a.parts_ || !b.parts_) return !a.parts_ && !b.parts_ && a.constant_ == b.constant_;
  auto same_parts = [&] {
    return a.constant_ == b.constant_ && a.parts_->under == b.parts_->under &&
           std::equal(
               a.parts_->terms.begin(), a.parts_->terms.end(), b.parts_->terms.begin(), b.parts_->terms.end(),
               [](const Dim::Term& x, const Dim::Term& y) { return x.factor == y.factor && same_symbols(x, y); });
  };
  if (a.parts_ == b.parts_ ? a.constant_ == b.constant_ : same_parts()) return true;
  // Sums below a fraction may have something left to cancel.
  auto is_sum = [](const Dim& dim) { return dim.terms().size() > 1; };
  if (!is_sum(a.parts_->under) && !is_sum(b.parts_->under)) return false;
  return a.numerator() * b.parts_->under == b.numerator() * a.parts_->under;
}

std::optional<Dim> solved_for(const Symbol& symbol, const Dim& extent, const Dim& given) {
  const Dim over = extent.numerator(), under = extent.denominator();
  const auto with = [&](const Dim& in, std::int64_t number) {
    return in.substitute(
        [&](const Symbol& s) { return s->id == symbol->id ? std::optional<Dim>(number) : std::nullopt; });
  };
  const Dim rest = with(over, 0), factor = with(over, 1) - rest;
  if (!(over == factor * Dim(symbol) + rest) || !(with(under, 0) == under) || factor == Dim(0)) return std::nullopt;
  const auto impossible = [&](const std::string& why) {
    return failure("E5004", {}, "no " + symbol->name + " makes " + given.text() + " of " + extent.text() + ": " + why);
  };
  const Dim all = given * under - rest;
  const std::optional<std::int64_t> dividend = all.constant(), divisor = factor.constant();
  if (dividend && divisor && !divides(*dividend, *divisor))
    throw impossible(all.text() + " / " + factor.text() + " leaves a rest");
  Dim result = all / factor;
  if (const auto known = result.constant(); known && *known < 0) throw impossible("it would be " + result.text());
  return result;
}

Same same(const Dim& a, const Dim& b) {
  if (a == b) return Same::yes;
  // Without dividing: what divides in neither of them need not do so in their difference.
  Dim difference = a.numerator() * b.denominator() - b.numerator() * a.denominator();
  return difference.has_host_symbol() ? Same::open : Same::no;
}

}  // namespace taskspec
