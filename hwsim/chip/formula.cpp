#include "hwsim/chip/formula.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace taskspec {

namespace {

constexpr int deepest_formula = 32;  // parentheses in parentheses
constexpr std::size_t longest_formula = 400;

struct BadFormula {
  std::string what;
};

class FormulaReader {
 public:
  FormulaReader(std::string_view text, const FormulaLookUp& look_up) : text_(text), look_up_(look_up) {}

  double whole() {
    const double value = sum();
    if (!next_is_end()) throw BadFormula{fmt::format("'{}' is not understood", text_.substr(at_))};
    if (!std::isfinite(value)) throw BadFormula{"it has no finite value"};
    return value;
  }

 private:
  double sum() {
    double value = product();
    for (;;) {
      if (takes('+'))
        value += product();
      else if (takes('-'))
        value -= product();
      else
        return value;
    }
  }
  double product() {
    double value = factor();
    for (;;) {
      if (takes('*'))
        value *= factor();
      else if (takes('/'))
        value /= factor();
      else
        return value;
    }
  }
  double factor() {
    if (takes('-')) {
      deeper();
      const double value = -factor();
      --depth_;
      return value;
    }
    if (takes('(')) {
      deeper();
      const double value = sum();
      if (!takes(')')) throw BadFormula{"a ')' is missing"};
      --depth_;
      return value;
    }
    return takes('{') ? other() : number();
  }
  void deeper() {
    if (++depth_ > deepest_formula) throw BadFormula{"it is nested too deeply"};
  }

  double other() {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) throw BadFormula{"a '}' is missing"};
    const std::string_view pointer = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (const std::optional<double> value = look_up_(pointer)) return *value;
    throw BadFormula{fmt::format("'{}' is no number or figure of this file that stands by itself", pointer)};
  }
  double number() {
    skip_blanks();
    double value = 0;
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || !std::isfinite(value))
      throw BadFormula{at_ == text_.size() ? "it ends too early" : "a number is missing"};
    at_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool takes(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool next_is_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  std::string_view text_;
  const FormulaLookUp& look_up_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

FormulaValue evaluate(std::string_view formula, const FormulaLookUp& look_up) {
  if (formula.size() > longest_formula) return {std::nullopt, "it is too long"};
  try {
    return {FormulaReader(formula, look_up).whole(), ""};
  } catch (const BadFormula& bad) {
    return {std::nullopt, bad.what};
  }
}

}  // namespace taskspec
