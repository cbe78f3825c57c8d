#include "frontend/check/independence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/region/interference.hpp"

namespace taskspec::checking {

namespace {

constexpr std::size_t most_points_tried = 256;

// An int of the text at one point of the launch.
class ValueAtPoint {
 public:
  ValueAtPoint(Body& body, const ast::Pattern* names, const Point& at) : body_(body), names_(names), at_(at) {}

  std::optional<std::int64_t> of(const ast::Expr& expr) const {
    if (auto* number = std::get_if<ast::IntLit>(&expr.node)) return number->value;
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node)) return named(name->name.text);
    if (auto* index = std::get_if<ast::Index>(&expr.node)) return coordinate(*index);
    if (auto* unary = std::get_if<ast::Unary>(&expr.node)) {
      const auto value = of(*unary->operand);
      std::int64_t made = 0;
      if (!value || unary->op.text != "-" || __builtin_sub_overflow(std::int64_t{0}, *value, &made)) return {};
      return made;
    }
    auto* binary = std::get_if<ast::Binary>(&expr.node);
    if (!binary) return {};
    const auto left = of(*binary->left), right = of(*binary->right);
    return left && right ? applied(binary->op.text, *left, *right) : std::nullopt;
  }

  // The colour between the brackets; `p[c]` where c is all of the point.
  std::optional<Point> colour(const ast::Index& index) const {
    if (index.items.size() == 1 && index.items[0].at && at_.rank > 1 && is_point(*index.items[0].at)) return at_;
    Point made{{}, static_cast<std::uint8_t>(index.items.size())};
    for (std::size_t axis = 0; axis < index.items.size(); ++axis) {
      const ast::IndexItem& item = index.items[axis];
      const auto value = item.is_slice || axis >= highest_rank ? std::nullopt : of(*item.at);
      if (!value) return {};
      made.at[axis] = *value;
    }
    return made;
  }

 private:
  bool is_point(const ast::Expr& expr) const {
    auto* name = std::get_if<ast::NameExpr>(&expr.node);
    return name && names_ && names_->names.size() == 1 && names_->names[0].text == name->name.text;
  }

  std::optional<std::int64_t> named(const std::string& name) const {
    if (names_)
      for (std::size_t axis = 0; axis < names_->names.size(); ++axis)
        if (names_->names[axis].text == name)
          return names_->names.size() == at_.rank ? std::optional(at_[axis]) : std::nullopt;
    const auto binding = body_.find(name);
    if (!binding || binding->kind != Binding::Kind::value) return {};
    const auto value = body_.known(binding->call);
    return value && value->is_integer() ? std::optional(value->integer()) : std::nullopt;
  }

  std::optional<std::int64_t> coordinate(const ast::Index& index) const {
    if (!is_point(*index.base) || index.items.size() != 1 || !index.items[0].at) return {};
    const auto axis = of(*index.items[0].at);
    return axis && *axis >= 0 && *axis < at_.rank ? std::optional(at_[static_cast<std::size_t>(*axis)]) : std::nullopt;
  }

  static std::optional<std::int64_t> applied(std::string_view op, std::int64_t a, std::int64_t b) {
    std::int64_t made = 0;
    if (op == "+") return __builtin_add_overflow(a, b, &made) ? std::nullopt : std::optional(made);
    if (op == "-") return __builtin_sub_overflow(a, b, &made) ? std::nullopt : std::optional(made);
    if (op == "*") return __builtin_mul_overflow(a, b, &made) ? std::nullopt : std::optional(made);
    if (b == 0 || b == -1) return {};
    if (op == "/") return a / b;
    if (op == "%") return a % b;
    return {};
  }

  Body& body_;
  const ast::Pattern* names_;
  const Point at_;
};

class ApartCheck {
 public:
  ApartCheck(Body& body, const ast::Pattern* point, const Rect& domain, std::span<const PieceArgument> arguments)
      : body_(body), point_(point), arguments_(arguments) {
    each_point(domain, [&](const Point& at) {
      points_.push_back(at);
      return points_.size() < most_points_tried;
    });
  }

  bool run() {
    for (std::size_t j = 0; j < arguments_.size(); ++j)
      for (std::size_t i = 0; i <= j; ++i)
        if (interfere(i, j) && !apart(i, j)) return false;
    return true;
  }

 private:
  const Parameter& parameter(std::size_t i) const { return *arguments_[i].parameter; }

  bool interfere(std::size_t i, std::size_t j) const {
    const Parameter &a = parameter(i), &b = parameter(j);
    if (hazard(a.privilege, a.reduce, b.privilege, b.reduce) == Hazard::none) return false;
    const auto &fields_a = a.type.names, &fields_b = b.type.names;  // behind the name of the table
    return fields_a[0] == fields_b[0] && std::find_first_of(fields_a.begin() + 1, fields_a.end(), fields_b.begin() + 1,
                                                            fields_b.end()) != fields_a.end();
  }

  // "p[0]", as one would write it for that point alone; empty where the text does not tell.
  std::string piece(std::size_t i, const Point& at) const {
    const ast::Expr& expr = *arguments_[i].expr;
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node)) return name->name.text;
    auto* index = std::get_if<ast::Index>(&expr.node);
    auto* base = index ? std::get_if<ast::NameExpr>(&index->base->node) : nullptr;
    if (!base) return "";
    const auto colour = ValueAtPoint(body_, point_, at).colour(*index);
    return colour ? base->name.text + "[" + colour->index() + "]" : "";
  }

  bool apart(std::size_t i, std::size_t j) {
    struct Takers {
      std::size_t first, second;  // points; the same one twice where there is one
    };
    std::map<std::string, Takers> taken;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const std::string of = piece(i, points_[k]);
      if (of.empty()) return true;
      Takers& takers = taken.try_emplace(of, Takers{k, k}).first->second;
      if (takers.first == takers.second) takers.second = k;
    }
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const auto takers = taken.find(piece(j, points_[k]));
      if (takers == taken.end()) continue;
      const auto [first, second] = takers->second;
      if (first != k || second != k) return refuse(i, j, first != k ? first : second, k, takers->first);
      if (i != j) return refuse_twice(i, j, takers->first);
    }
    return true;
  }

  static std::string_view verb(Privilege privilege) {
    return privilege == Privilege::in ? "reads" : privilege == Privilege::reduce ? "reduces into" : "writes";
  }

  bool refuse(std::size_t i, std::size_t j, std::size_t a, std::size_t b, const std::string& piece) {
    const std::string first = points_[a].text(), second = points_[b].text();
    const std::string_view verb_a = verb(parameter(i).privilege), verb_b = verb(parameter(j).privilege);
    const std::string what =
        verb_a == verb_b ? fmt::format("points {} and {} both {} {}", a < b ? first : second, a < b ? second : first,
                                       verb_a == "writes" ? "write" : "reduce into", piece)
                         : fmt::format("point {} {} {} and point {} {} it", first, verb_a, piece, second, verb_b);
    Diag& diag = body_.world.diags.error("E3101", arguments_[j].expr->span, what + "; a group must be independent");
    diag.label(parameter(j).span, "declared here");
    if (i != j) diag.label(arguments_[i].expr->span, "the other one");
    const bool same_for_all = point_ && i == j && piece == this->piece(i, points_.front()) && points_.size() > 1 &&
                              piece == this->piece(i, points_.back());
    if (same_for_all && !std::holds_alternative<ast::Index>(arguments_[i].expr->node))
      diag.help("each point takes a piece of its own: p[i], with p = blocks(" + piece + ", n)");
    return false;
  }

  bool refuse_twice(std::size_t i, std::size_t j, const std::string& piece) {
    Diag& diag = body_.world.diags.error("E1403", arguments_[j].expr->span,
                                         fmt::format("{} is named twice in a call that writes it", piece));
    diag.at(writes(parameter(j).privilege) ? "written here" : "read here");
    diag.label(arguments_[i].expr->span, writes(parameter(i).privilege) ? "written here" : "read here");
    return false;
  }

  Body& body_;
  const ast::Pattern* point_;
  std::span<const PieceArgument> arguments_;
  std::vector<Point> points_;
};

}  // namespace

bool points_are_apart(Body& body, const ast::Pattern* point, const Rect& domain,
                      std::span<const PieceArgument> arguments) {
  return ApartCheck(body, point, domain, arguments).run();
}

}  // namespace taskspec::checking
