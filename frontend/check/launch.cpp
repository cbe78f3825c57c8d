#include "frontend/check/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/arguments.hpp"
#include "frontend/check/calls.hpp"
#include "frontend/check/closures.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/independence.hpp"
#include "frontend/check/members.hpp"
#include "frontend/check/mentions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/ranks.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/regions.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

constexpr std::size_t deepest_rank = 4;

// Over what a launch runs: its points go by the names of a pattern.
struct Domain {
  const ast::Pattern* point = nullptr;
  Term value;
  std::size_t rank = 1;

  Type type() const { return rank == 1 ? Type(Kind::integer) : Type::tuple(std::vector<Type>(rank, Kind::integer)); }
};

bool mentions(const ast::Expr& expr, const ast::Pattern& point) {
  bool found = false;
  each_mention(expr, [&](const ast::Name& name, const std::vector<const ast::Expr*>&) {
    for (const ast::Name& part : point.names) found = found || part.text == name.text;
  });
  return found;
}

// How often a coordinate of the point is a factor of this int, seen from the text: 2 stands for all that is not affine.
int degree(const ast::Expr& expr, const Domain& domain) {
  if (!mentions(expr, *domain.point)) return 0;
  if (std::holds_alternative<ast::NameExpr>(expr.node)) return 1;
  if (auto* index = std::get_if<ast::Index>(&expr.node)) {  // c[0] of `for c in grid(2, 2)`
    const bool part = std::holds_alternative<ast::NameExpr>(index->base->node) && index->items.size() == 1 &&
                      index->items[0].at && std::holds_alternative<ast::IntLit>(index->items[0].at->node);
    return part ? 1 : 2;
  }
  if (auto* unary = std::get_if<ast::Unary>(&expr.node))
    return unary->op.text == "-" ? degree(*unary->operand, domain) : 2;
  auto* binary = std::get_if<ast::Binary>(&expr.node);
  if (!binary) return 2;
  const int left = degree(*binary->left, domain), right = degree(*binary->right, domain);
  if (binary->op.text == "+" || binary->op.text == "-") return std::max(left, right);
  return binary->op.text == "*" ? std::min(left + right, 2) : 2;
}

// A task that takes views; of a member with its agent.
struct LaunchedTask {
  FunctionId id;
  std::optional<Term> agent;
};

class RegionCall {
 public:
  RegionCall(Body& body, const LaunchedTask& task, std::span<const ast::Arg> args, Span span, const Domain* domain)
      : body_(body),
        world_(body.world),
        task_(task.id),
        agent_(task.agent),
        args_(args),
        span_(span),
        domain_(domain) {}

  Term run(const Term& sharding) {
    const std::vector<Parameter>& parameters = callee().parameters;
    std::vector<ParameterName> names;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].role != Role::declared) continue;
      declared_.push_back(i);
      names.push_back({parameters[i].name, parameters[i].default_value.valid()});
    }
    const Callable callable{world_.described(task_), callee().span, names, 0};
    const auto places = place_arguments(world_.diags, callable, args_, span_);
    if (!places) return body_.error(span_);
    begin_match();
    terms_.resize(declared_.size());
    pieces_.resize(declared_.size());
    ranks_.resize(declared_.size());
    for (std::size_t i = 0; i < args_.size(); ++i) read(*args_[i].value, (*places)[i]);
    if (!failed_) take_ranks(*places);
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (!terms_[i].valid()) terms_[i] = standard(i);
      const bool own_rule = parameter(i).type.is(Kind::view) || is_number_of_point(i);
      if (body_.is_error(terms_[i]) || !(own_rule || match_->require(parameter(i).type, terms_[i], expected(i), true)))
        failed_ = true;
    }
    if (!failed_) refuse_shared_places();
    if (!failed_) refuse_dependent_points();
    return failed_ ? body_.error(span_) : emit(sharding);
  }

 private:
  const Function& callee() const { return world_.program[task_]; }
  const Parameter& parameter(std::size_t i) const { return callee().parameters[declared_[i]]; }
  bool of_point(const ast::Expr& expr) const { return domain_ && mentions(expr, *domain_->point); }
  std::string described(std::size_t i) const {
    return fmt::format("'{}' of {}", parameter(i).name, world_.described(task_));
  }
  Expected expected(std::size_t i) const { return {described(i), parameter(i).span}; }

  void read(const ast::Expr& expr, std::size_t i) {
    if (parameter(i).type.is(Kind::error)) {  // the signature has been told of
      terms_[i] = body_.error(expr.span);
      failed_ = true;
      return;
    }
    terms_[i] = parameter(i).type.is(Kind::view) ? data(expr, i) : value(expr, i);
    failed_ = failed_ || body_.is_error(terms_[i]);
    if (!failed_) set_symbols(i);
  }

  void begin_match() {
    match_.emplace(body_, Match::all);
    set_outer_symbols(body_, *match_, task_, agent_);
  }

  // What is given decides of which ranks the views are: from here on the task is the one that is checked for those.
  void take_ranks(const std::vector<std::size_t>& places) {
    const FunctionId ranked = task_of_ranks(body_, task_, ranks_, span_);
    if (ranked == task_) return;
    task_ = ranked;
    begin_match();
    for (std::size_t k = 0; k < args_.size(); ++k) {
      const std::size_t i = places[k];
      if (parameter(i).type.is(Kind::view))
        bind(parameter(i).type, terms_[i]);
      else if (!of_point(*args_[k].value))
        match_->bind(parameter(i).type, terms_[i]);
      set_symbols(i);
    }
  }

  // ---- pieces ----

  Term data(const ast::Expr& expr, std::size_t i) {
    pieces_[i] = &expr;
    Term given = of_point(expr) ? projected(expr, Kind::partition) : output_of(body_, expression(body_, expr));
    const Type type = body_.type(given);
    if (type.is(Kind::error)) return given;
    if (type.is(Kind::region) && type.fields == parameter(i).type.fields && is_of_any_rank(world_, task_, i)) {
      ranks_[i] = static_cast<std::uint8_t>(type.dims.size());
      if (ranks_[i] > 1) return given;  // bound when the task for these ranks is there
    }
    if (fits(type, parameter(i).type)) {
      bind(parameter(i).type, given);
      return given;
    }
    Diag& diag = wrong_type(world_.diags, expr.span, described(i), parameter(i).type, type);
    diag.label(parameter(i).span, "declared here");
    if (type.is(Kind::partition)) diag.help(domain_ ? "one of its pieces: p[i]" : "one of its pieces: p[0]");
    const Type& view = parameter(i).type;
    if (type.is(Kind::region) && type.fields == view.fields)
      diag.help(fmt::format("a view has an extent for each axis: {}[{}]", type.names[0],
                            joined(std::vector<std::string>(type.dims.size(), "_"), ", ")));
    if (type.is(Kind::region_field)) diag.help("pass the region; the signature says which fields the task sees");
    return body_.error(expr.span);
  }

  static bool fits(const Type& given, const Type& wanted) {
    return given.is(Kind::region) && given.fields == wanted.fields && given.dims.size() == wanted.dims.size();
  }

  // The extents of a region are those that the signature names.
  void bind(const Type& view, const Term& region) {
    Type as_view = view;
    as_view.dims = body_.type(region).dims;
    match_->bind(view, as_view);
  }

  Term refuse_point(const ast::Expr& expr) {
    Diag& diag =
        wrong_type(world_.diags, expr.span,
                   fmt::format("an argument of a launch depends on the point '{0}' as a piece p[f({0})], or as an int",
                               body_.text(domain_->point->span)));
    diag.help("what differs otherwise from point to point is a field, or an output of another launch: m[i]");
    return body_.error(expr.span);
  }

  // p[f(i)] as a partition and f; so is m[f(i)], of what a launch gave.
  Term projected(const ast::Expr& expr, Kind wanted) {
    auto* index = std::get_if<ast::Index>(&expr.node);
    if (!index || mentions(*index->base, *domain_->point)) return refuse_point(expr);
    const Term of = output_of(body_, expression(body_, *index->base));
    const Type type = body_.type(of);
    if (type.is(Kind::error)) return of;
    if (!type.is(wanted)) return refuse_point(expr);
    const bool pieces = wanted == Kind::partition;
    const std::string_view whose = pieces ? "a piece" : "an output of a point";
    std::vector<const ast::Expr*> items;
    for (const ast::IndexItem& item : index->items) {
      if (item.is_slice) {
        wrong_type(world_.diags, item.span, fmt::format("{} is taken for each point, and not several", whose));
        return body_.error(expr.span);
      }
      items.push_back(item.at.get());
    }
    const bool affine = std::ranges::all_of(items, [&](const ast::Expr* item) { return degree(*item, *domain_) < 2; });
    std::vector<Term> in{of};
    if (!pieces && is_point_itself(*index) && type.inputs == domain_->rank) {  // its own
    } else if (affine) {
      const auto colour = [&] { return colour_of(body_, *index, type.inputs, std::string(whose)); };
      if (!corners(in, index->brackets, colour)) return body_.error(expr.span);
    } else {
      if (items.size() != type.inputs && items.size() != 1) return wrong_rank(*index, whose, type.inputs, items.size());
      in.push_back(function_of_point(body_, *domain_->point, domain_->type(), items, type.inputs, index->brackets));
      if (body_.is_error(in.back())) return in.back();
    }
    Term made = body_.make(Form::projection, pieces ? piece_of(type) : Type(type.parts[0]), expr.span, in);
    body_[made.id].index = static_cast<std::uint32_t>(domain_->rank);
    return made;
  }

  Type piece_of(const Type& partition) {
    Type piece(Kind::region);
    piece.names = partition.names;
    piece.fields = partition.fields;
    for (std::size_t i = 0; i < partition.dims.size(); ++i) piece.dims.push_back(unknown_extent(body_, "_"));
    return piece;
  }

  Term wrong_rank(const ast::Index& index, std::string_view whose, std::size_t rank, std::size_t given) {
    wrong_type(world_.diags, index.brackets,
               fmt::format("{} goes by {}, here {}", whose, plural(rank, "number"), given));
    return body_.error(index.brackets);
  }

  // An affine f is known by its values at the point 0 and at the unit points.
  bool corners(std::vector<Term>& in, Span span, FunctionRef<std::optional<std::vector<Term>>()> f) {
    for (std::size_t corner = 0; corner <= domain_->rank; ++corner) {
      body_.scopes.emplace_back();
      std::vector<Term> point;
      for (std::size_t axis = 0; axis < domain_->rank; ++axis)
        point.push_back(body_.constant(Value(std::int64_t{corner == axis + 1}), Kind::integer, span));
      define_point(point, span);
      const auto values = f();
      body_.scopes.pop_back();
      if (!values) return false;
      in.insert(in.end(), values->begin(), values->end());
    }
    return true;
  }

  void define_point(const std::vector<Term>& point, Span span) {
    const std::vector<ast::Name>& names = domain_->point->names;
    auto define = [&](const ast::Name& name, const Term& value) {
      Binding binding{.kind = Binding::Kind::value, .what = "point", .span = name.span};
      binding.call = value.id;
      body_.scopes.back().names.insert_or_assign(name.text, binding);
    };
    if (names.size() == point.size()) {
      for (std::size_t i = 0; i < names.size(); ++i) define(names[i], point[i]);
      return;
    }
    List values;
    for (const Term& part : point) values.push_back(body_[part.id].value);
    define(names[0], body_.constant(Value(Tuple{std::move(values)}), domain_->type(), span));
  }

  // ---- values ----

  Term value(const ast::Expr& expr, std::size_t i) {
    if (of_point(expr))
      return parameter(i).type.is(Kind::integer) ? number(expr, i) : projected(expr, Kind::launch_map);
    const Type wanted = match_->substitute(parameter(i).type);
    const Term given = adapt(body_, expression(body_, expr, &wanted), wanted);
    if (body_.type(given).is(Kind::launch_map)) return refuse_map(expr, i, body_.type(given));
    match_->bind(parameter(i).type, given);
    return given;
  }

  // An int that differs from point to point: f(i), as the colour of a piece is said.
  Term number(const ast::Expr& expr, std::size_t i) {
    std::vector<Term> in{body_.constant(Value(std::int64_t{0}), Kind::integer, expr.span)};
    if (degree(expr, *domain_) < 2) {
      const bool known = corners(in, expr.span, [&]() -> std::optional<std::vector<Term>> {
        const Term at = convert(body_, output_of(body_, expression(body_, expr)), Kind::integer, expected(i));
        return body_.is_error(at) ? std::nullopt : std::optional(std::vector{at});
      });
      if (!known) return body_.error(expr.span);
    } else {
      in.push_back(function_of_point(body_, *domain_->point, domain_->type(), {&expr}, 1, expr.span));
      if (body_.is_error(in.back())) return in.back();
    }
    Term made = body_.make(Form::projection, map_of(Kind::integer), expr.span, in);
    body_[made.id].index = static_cast<std::uint32_t>(domain_->rank);
    return made;
  }

  Term refuse_map(const ast::Expr& expr, std::size_t i, const Type& map) {
    const std::string text = body_.text(expr.span);
    const std::string own =
        domain_ ? fmt::format("to each point its own: {}[{}], or ", text, body_.text(domain_->point->span)) : "";
    wrong_type(world_.diags, expr.span,
               fmt::format("{} is {}, this is {}", described(i), parameter(i).type.text(), map.text()))
        .label(parameter(i).span, "declared here")
        .help(fmt::format("{}all of them as one: {}.sum(), .gather()", own, text));
    return body_.error(expr.span);
  }

  bool is_point_itself(const ast::Index& index) const {
    const std::vector<ast::Name>& names = domain_->point->names;
    if (index.items.size() != names.size()) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const ast::Expr* at = index.items[i].at.get();
      auto* name = at ? std::get_if<ast::NameExpr>(&at->node) : nullptr;
      if (!name || name->name.text != names[i].text) return false;
    }
    return true;
  }

  // What the signature says where the call says nothing.
  Term standard(std::size_t i) {
    const std::vector<std::optional<Value>>& known = world_.info(task_).defaults;
    const std::size_t at = plain_position(i);
    if (at < known.size() && known[at]) return body_.constant(*known[at], parameter(i).type, span_);
    not_built(world_.diags, span_, fmt::format("{}, which is worked out at the call", described(i)),
              "defaults of launches")
        .label(parameter(i).span, "declared here")
        .help("write the argument");
    return body_.error(span_);
  }

  // Among the agent's parameters and the declared ones: the numbers that signatures use.
  std::size_t plain_position(std::size_t i) const {
    const AgentId owner = callee().agent;
    return i + (owner.valid() ? world_.program[owner].parameters.size() : 0);
  }

  // What int parameters stand for in the types of others.
  void set_symbols(std::size_t i) {
    if (!body_.type(terms_[i]).is(Kind::integer)) return;
    for (const auto& [symbol, source] : world_.info(task_).symbols)
      if (!source.module.valid() && source.parameter == plain_position(i))
        match_->set(symbol, extent_of(body_, terms_[i].id, body_.text(terms_[i].span)));
  }

  bool is_number_of_point(std::size_t i) const {
    const Type type = body_.type(terms_[i]);
    return parameter(i).type.is(Kind::integer) && type.is(Kind::launch_map) && type.parts[0].is(Kind::integer);
  }

  // ---- the call ----

  // Points of a launch run in any order: none of them leaves a version that the next one reads.
  void refuse_shared_places() {
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      if (parameter(i).privilege != Privilege::inout || parameter(i).type.is(Kind::view)) continue;
      failed_ = true;
      wrong_type(world_.diags, args_.empty() ? span_ : args_.front().span,
                 fmt::format("{} is an inout tensor, which all points of a launch would write", described(i)))
          .label(parameter(i).span, "declared here")
          .help("make it an output, or a field of a region");
    }
  }

  // Of the points that are known; a domain that is not may as well be empty.
  void refuse_dependent_points() {
    Rect points = Rect::of({});
    if (domain_) {
      points = Rect::of(std::vector<std::int64_t>(domain_->rank, 1));
      const std::optional<Value> known = body_.known(domain_->value.id);
      if (known && known->is_range())
        points = {{known->range().begin}, {known->range().end}, 1};
      else if (known && known->is_tuple())
        for (std::size_t axis = 0; axis < domain_->rank; ++axis) points.hi[axis] = known->tuple().items[axis].integer();
      else
        return;
    }
    std::vector<PieceArgument> arguments;
    for (std::size_t i = 0; i < declared_.size(); ++i)
      if (pieces_[i]) arguments.push_back({pieces_[i], &parameter(i)});
    failed_ = !points_are_apart(body_, domain_ ? domain_->point : nullptr, points, arguments);
  }

  Term emit(const Term& sharding) {
    Call made;
    made.form = Form::launch;
    made.span = span_;
    made.callee = task_;
    auto push = [&](const Term& term) {
      made.in.push_back(term.id);
      made.in_spans.push_back(term.span);
    };
    push(domain_ ? domain_->value : Term{});
    push(sharding);
    if (agent_) push(*agent_);
    for (const Term& term : terms_) push(term);
    made.type = Type(Kind::invocation);
    for (const Output& output : callee().outputs) {
      Type type = match_->result(output.type);
      if (!has_known_extents(type, output)) return body_.error(span_);
      made.type.names.push_back(output.name);
      made.type.parts.push_back(domain_ ? map_of(std::move(type)) : std::move(type));
    }
    made.guards = std::move(match_->guards);
    EffectNotes& effects = body_.info().effects;
    effects.callees.push_back({task_, span_, true});
    effects.graph = effects.writes = effects.invokes = true;
    return {body_.emit(std::move(made)), span_, true};
  }

  Type map_of(Type element) const {
    Type type(Kind::launch_map);
    type.parts.push_back(std::move(element));
    type.inputs = static_cast<std::uint32_t>(domain_->rank);
    return type;
  }

  // Pieces differ in extents, and a map holds tensors of one shape.
  bool has_known_extents(const Type& type, const Output& output) {
    for (const Dim& dim : type.dims) {
      if (is_reachable(body_, dim)) continue;
      wrong_type(world_.diags, span_,
                 fmt::format("the output '{}' of {} has an extent of a piece, which differs from piece to piece",
                             output.name, world_.described(task_)))
          .label(output.span, output.type.text())
          .help("give it a shape of its own, or write it to a field");
      return false;
    }
    return true;
  }

  Body& body_;
  World& world_;
  FunctionId task_;
  const std::optional<Term> agent_;  // of a member
  const std::span<const ast::Arg> args_;
  Span span_;
  const Domain* domain_;
  std::optional<Match> match_;
  std::vector<std::size_t> declared_;
  std::vector<Term> terms_;
  std::vector<const ast::Expr*> pieces_;  // of parameters that are views
  std::vector<std::uint8_t> ranks_;       // of what is given for them
  bool failed_ = false;
};

std::optional<LaunchedTask> launched_task(Body& body, const ast::Call& call) {
  World& world = body.world;
  LaunchedTask found;
  if (const std::optional<Binding> binding = binding_of(body, *call.callee);
      binding && binding->kind == Binding::Kind::function) {
    found.id = binding->function;
    if (world.program[found.id].agent.valid()) found.agent = body.self(call.callee->span);
  } else {
    const Term callee = expression(body, *call.callee);
    if (body.is_error(callee)) return std::nullopt;
    const Call& made = body[callee.id];
    if (made.form == Form::function || made.form == Form::member) found.id = made.callee;
    if (made.form == Form::member) found.agent = Term{made.in[0], callee.span};
  }
  if (found.id.valid() && world.program[found.id].kind == FunctionKind::task) return found;
  wrong_type(world.diags, call.callee->span,
             fmt::format("a task is launched, '{}' is none", body.text(call.callee->span)))
      .help("launch t(p[i]) for i in 0..n, with a task t");
  return std::nullopt;
}

bool spans_a_grid(Body& body, const ast::Expr& expr) {
  auto* call = std::get_if<ast::Call>(&expr.node);
  auto* name = call ? std::get_if<ast::NameExpr>(&call->callee->node) : nullptr;
  if (!name || body.find(name->name.text)) return false;
  const Record record = find_builtin(body.world, name->name.text);
  return record && record.builtin->serves == Serves::grids;
}

// Of `grid(n, m)` the extents: it is not made a list. Nothing when something is wrong.
std::optional<Domain> domain_of(Body& body, const ast::Launch& node) {
  Domain domain{&node.point, {}, 1};
  if (spans_a_grid(body, *node.domain)) {
    std::vector<Term> extents;
    for (const ast::Arg& arg : std::get<ast::Call>(node.domain->node).args) {
      extents.push_back(convert(body, expression(body, *arg.value), Kind::integer, {"an extent of a grid", {}}));
      if (body.is_error(extents.back())) return std::nullopt;
    }
    if (extents.empty() || extents.size() > deepest_rank) {
      body.world.diags.error("E1003", node.domain->span, "a grid has one to four extents");
      return std::nullopt;
    }
    domain.rank = extents.size();
    domain.value = body.make(Form::tuple, Type::tuple(std::vector<Type>(extents.size(), Kind::integer)),
                             node.domain->span, extents);
  } else {
    domain.value = typed(body, output_of(body, expression(body, *node.domain)));
    const Type type = body.type(domain.value);
    if (type.is(Kind::error)) return std::nullopt;
    const bool points = type.is(Kind::list) && type.parts[0].is(Kind::tuple) &&
                        std::ranges::all_of(type.parts[0].parts, [](const Type& p) { return p.is(Kind::integer); });
    if (points) domain.rank = type.parts[0].parts.size();
    if (!points && !type.is(Kind::range)) {
      wrong_type(body.world.diags, node.domain->span,
                 fmt::format("a launch runs over a range or a grid, this is {}", type.text()))
          .help(type.is(Kind::integer) ? fmt::format("count up to it: 0..{}", body.text(node.domain->span)) : "");
      return std::nullopt;
    }
  }
  if (node.point.names.size() == 1 || node.point.names.size() == domain.rank) return domain;
  wrong_type(body.world.diags, node.point.span,
             fmt::format("a point has {}, here {}", plural(domain.rank, "coordinate"), node.point.names.size()))
      .label(node.domain->span, "the points");
  return std::nullopt;
}

Term sharding_of(Body& body, const ast::Launch& node) {
  if (!node.sharding) return {};
  const Type integer(Kind::integer);
  const Type wanted = Type::function({integer, integer, integer}, integer);
  return convert(body, expression(body, *node.sharding, &wanted), wanted, {"a sharding", {}});
}

bool in_task(Body& body, Span span, const std::string& what) {
  if (body.function().kind != FunctionKind::task) return false;
  not_built(body.world.diags, span, fmt::format("{} in a task body", what), "nested tasks");
  body.info().broken = true;
  return true;
}

}  // namespace

bool takes_views(const Function& function) {
  return std::ranges::any_of(function.parameters,
                             [](const Parameter& parameter) { return parameter.type.is(Kind::view); });
}

Term launch_expression(Body& body, const ast::Launch& node, Span span) {
  const Span word{span.source, span.begin, span.begin + 6};
  if (in_task(body, word, "a launch")) return body.error(span);
  auto* call = std::get_if<ast::Call>(&node.call->node);
  if (!call) {
    wrong_type(body.world.diags, node.call->span, "a call of a task is launched: launch t(p[i]) for i in 0..n");
    return body.error(span);
  }
  const std::optional<LaunchedTask> task = launched_task(body, *call);
  const std::optional<Domain> domain = domain_of(body, node);
  const Term sharding = sharding_of(body, node);
  if (!task || !domain || (sharding.valid() && body.is_error(sharding))) return body.error(span);
  resolve_signature(body.world, task->id);
  return RegionCall(body, *task, call->args, span, &*domain).run(sharding);
}

Term call_over_regions(Body& body, FunctionId function, const std::optional<Term>& agent,
                       std::span<const ast::Arg> args, Span span) {
  if (in_task(body, span, fmt::format("a call of {}", body.world.described(function)))) return body.error(span);
  return RegionCall(body, {function, agent}, args, span, nullptr).run({});
}

}  // namespace taskspec::checking
