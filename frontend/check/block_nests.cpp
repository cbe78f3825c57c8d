#include "frontend/check/block_nests.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec::checking {

namespace {

constexpr BlockAxis outer_axes[] = {BlockAxis::y, BlockAxis::x, BlockAxis::f};

bool is_outer(BlockAxis axis) { return std::ranges::find(outer_axes, axis) != std::end(outer_axes); }
bool is_read_extent(BlockAxis axis) { return axis == BlockAxis::iy || axis == BlockAxis::ix; }

// A read before it is known which cluster its name is of.
struct NestRead {
  std::string name;
  Span span;
  NestAccess access;
};
struct NestTerm {
  std::int64_t factor = 1;
  std::vector<NestRead> reads;
};

class NestReader {
 public:
  NestReader(const NestLine& line, FunctionRef<std::optional<std::int64_t>(const ast::Expr&)> number)
      : line_(line), number_(number) {
    for (const bool outer : {true, false})
      for (const auto& [axis, extent] : line.loops)
        if (!is_read_extent(axis) && is_outer(axis) == outer) {
          axes_.push_back(axis);
          nest_.loops.push_back(extent);
          if (outer) ++nest_.outer;
        }
    for (const BlockAxis axis : outer_axes)
      if (const auto loop = loop_of(axis)) {
        nest_.out.extents.push_back(nest_.loops[*loop]);
        nest_.out.indices.push_back(unit(*loop));
      }
    nest_.reduce = line.reduce;
    nest_.precision = line.precision;
    nest_.start = line.start.value_or(0);
    read_terms(*line.statement);
  }

  // As a block of this kind would read it.
  std::optional<TaskBlock> as(const BlockDef& def) const {
    if (!def.nest) return std::nullopt;
    TaskBlock probe;
    probe.def = &def;
    probe.branches = static_cast<std::uint16_t>(def.in[0].repeated ? terms_.size() : 1);
    LoopNest nest = nest_;
    for (const NestTerm& term : terms_) {
      LoopNest::Term made{term.factor, {}};
      for (const NestRead& read : term.reads) {
        const std::optional<std::size_t> cluster = probe.in_cluster_named(read.name);
        if (!cluster) return std::nullopt;
        made.reads.push_back(read.access);
        made.reads.back().array = *cluster;
      }
      nest.terms.push_back(std::move(made));
    }
    const BlockDef* only[] = {&def};
    std::vector<TaskBlock> found = matching_blocks(nest, BlockTable(only, {}));
    return found.empty() ? std::nullopt : std::optional(std::move(found[0]));
  }

 private:
  AffineIndex constant(std::int64_t offset) const { return {offset, std::vector<std::int64_t>(nest_.loops.size())}; }
  AffineIndex unit(std::size_t loop) const {
    AffineIndex index = constant(0);
    index.factors[loop] = 1;
    return index;
  }
  std::optional<std::size_t> loop_of(BlockAxis axis) const {
    const auto found = std::ranges::find(axes_, axis);
    return found == axes_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - axes_.begin()));
  }
  static bool is_constant(const AffineIndex& index) {
    return std::ranges::all_of(index.factors, [](std::int64_t factor) { return factor == 0; });
  }

  std::int64_t number(const ast::Expr& expr) const {
    const std::optional<std::int64_t> value = number_(expr);
    if (!value) throw NestProblem{};
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (*value < -most || *value > most)
      throw NestProblem{expr.span, fmt::format("{} does not fit 32 bits", *value), ""};
    return *value;
  }

  // ---- indices ----

  static AffineIndex scaled(AffineIndex index, std::int64_t by) {
    index.offset *= by;
    for (std::int64_t& factor : index.factors) factor *= by;
    return index;
  }
  static AffineIndex added(AffineIndex a, const AffineIndex& b) {
    a.offset += b.offset;
    for (std::size_t k = 0; k < a.factors.size(); ++k) a.factors[k] += b.factors[k];
    return a;
  }

  AffineIndex index_of(const ast::Expr& expr) const {
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node))
      if (const std::optional<BlockAxis> axis = block_axis_of(name->name.text))
        if (const auto loop = loop_of(*axis)) return unit(*loop);
    if (auto* unary = std::get_if<ast::Unary>(&expr.node); unary && unary->op.text == "-")
      return scaled(index_of(*unary->operand), -1);
    if (auto* binary = std::get_if<ast::Binary>(&expr.node)) {
      const std::string& op = binary->op.text;
      const AffineIndex a = index_of(*binary->left), b = index_of(*binary->right);
      if (op == "+") return added(a, b);
      if (op == "-") return added(a, scaled(b, -1));
      if (op == "*" && is_constant(a)) return scaled(b, a.offset);
      if (op == "*" && is_constant(b)) return scaled(a, b.offset);
      throw NestProblem{expr.span, "an index of a nest is a sum of loops times numbers", "2 * y + ky - 1"};
    }
    return constant(number(expr));
  }

  std::int64_t extent_of(BlockAxis axis) const {
    for (const auto& [one, extent] : line_.loops)
      if (one == axis) return extent;
    return 0;
  }

  // Rows and columns as iy and ix say; else up to the last place that is read.
  std::int64_t extent_at(const AffineIndex& index, Span span) const {
    std::int64_t least = index.offset, most = index.offset;
    for (std::size_t k = 0; k < index.factors.size(); ++k)
      (index.factors[k] < 0 ? least : most) += index.factors[k] * (nest_.loops[k] - 1);
    for (const auto& [loop, read] : {std::pair(BlockAxis::y, BlockAxis::iy), std::pair(BlockAxis::x, BlockAxis::ix)})
      if (const auto at = loop_of(loop); at && index.factors[*at] != 0 && extent_of(read) > 0) return extent_of(read);
    if (least < 0) throw NestProblem{span, "this index goes below 0, so how much there is must be said", "iy: or ix:"};
    return most + 1;
  }

  // ---- the statement ----

  void read_terms(const ast::Expr& expr) {
    auto* sum = std::get_if<ast::Binary>(&expr.node);
    if (sum && sum->op.text == "+") {
      read_terms(*sum->left);
      read_terms(*sum->right);
      return;
    }
    NestTerm term;
    read_factors(expr, term);
    if (term.reads.empty()) throw NestProblem{expr.span, "each summand of a nest reads something", "input[f]"};
    terms_.push_back(std::move(term));
  }

  void read_factors(const ast::Expr& expr, NestTerm& term) {
    auto* product = std::get_if<ast::Binary>(&expr.node);
    if (product && product->op.text == "*") {
      read_factors(*product->left, term);
      read_factors(*product->right, term);
      return;
    }
    auto* index = std::get_if<ast::Index>(&expr.node);
    auto* name = index ? std::get_if<ast::NameExpr>(&index->base->node) : nullptr;
    if (!name) {
      term.factor *= number(expr);
      return;
    }
    NestRead read{name->name.text, expr.span, {}};
    for (const ast::IndexItem& item : index->items) {
      if (item.is_slice) throw NestProblem{item.span, "a nest reads one element in each turn", ""};
      read.access.indices.push_back(index_of(*item.at));
      read.access.extents.push_back(extent_at(read.access.indices.back(), item.span));
    }
    term.reads.push_back(std::move(read));
  }

  const NestLine& line_;
  const FunctionRef<std::optional<std::int64_t>(const ast::Expr&)> number_;
  std::vector<BlockAxis> axes_;  // by loop
  LoopNest nest_;                // without its terms
  std::vector<NestTerm> terms_;
};

}  // namespace

std::vector<TaskBlock> blocks_of_nest(const NestLine& line, const BlockTable& table,
                                      FunctionRef<std::optional<std::int64_t>(const ast::Expr&)> number) {
  const NestReader reader(line, number);
  std::vector<TaskBlock> found;
  for (const BlockDef* def : table.all())
    if (std::optional<TaskBlock> block = reader.as(*def)) found.push_back(*std::move(block));
  return found;
}

}  // namespace taskspec::checking
