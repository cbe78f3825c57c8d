#include "interp/host/point_code.hpp"

#include <algorithm>
#include <cstring>

#include "interp/host/kernel_cache.hpp"
#include "interp/host/repeat_element.hpp"
#include "interp/host/root_tree.hpp"
#include "interp/host/row.hpp"
#include "ir/base/key.hpp"
#include "ir/plan/extern_body.hpp"

namespace taskspec {

namespace {

ArrayType without_points(ArrayType type) {
  type.extents.erase(type.extents.begin());
  return type;
}

}  // namespace

Result<std::shared_ptr<const ViewBody>> ViewBodies::get(Bodies& bodies, const TaskGraph& graph,
                                                        const PointGroup& group) {
  if (!bodies.program() || !bodies.ops()) bug("the body of a task is asked for of somebody who knows no program");
  const Launch& launch = *group.launch;
  ViewBody::Request request{*bodies.program(), launch.task, *bodies.ops(), {}, {}};
  std::string key;
  put_number(key, reinterpret_cast<std::uintptr_t>(&request.program));
  put_number(key, request.task.value);
  for (std::size_t k = 0; k < launch.each.size(); ++k) {
    const ArrayType type = concrete(graph.type(graph.in(group.first)[k]));
    request.inputs.push_back(launch.each[k] ? without_points(type) : type);
    put_text(key, request.inputs.back().text());
  }
  std::shared_ptr<const ViewBody>& body = known_[key];
  if (body) return body;
  request.global = [&](ModuleId module, VariableId variable) { return bodies.global(module, variable); };
  if (auto* externs = dynamic_cast<ExternBodies*>(&bodies);
      externs && !request.program[request.task].extern_symbol.empty()) {
    try {
      body = ViewBody::of(externs->extern_body(request.task, request.inputs));
    } catch (const Error& error) {
      return error.diags();
    }
  } else {
    Result<std::shared_ptr<const ViewBody>> made = ViewBody::make(request);
    if (!made) return made;
    body = *made;
  }
  note({request.program[request.task].name, std::string(body->form()), body->why_not_strip()});
  return body;
}

std::vector<Poison> refused_launches(const TaskGraph& graph, Bodies& bodies, ViewBodies& views) {
  std::vector<Poison> refused;
  for (const PointGroup& group : graph.point_groups()) {
    if (group.folds || group.count == 0 || group.launch->work != Launch::Work::task) continue;
    const Result<std::shared_ptr<const ViewBody>> body = views.get(bodies, graph, group);
    if (body) continue;
    const Diag& why = body.diags().items().front();
    refused.push_back({group.first, {why.code, why.message, why.primary.span}});
  }
  return refused;
}

void ViewBodies::note(BodyForm form) {
  if (std::ranges::find(forms_, form) == forms_.end()) forms_.push_back(std::move(form));
}

// ---- what is the same for all points --------------------------------------------------------------

namespace {

std::uint32_t reduced_fields(const Launch& launch) {
  std::uint32_t count = 0;
  for (const LaunchUse& use : launch.uses)
    if (use.privilege == Privilege::reduce) use.fields.each([&](std::uint32_t) { ++count; });
  return count;
}

}  // namespace

LaunchCode::LaunchCode(const TaskGraph& graph, const PointGroup& group, Bodies& bodies, ViewBodies& views) {
  const Launch& launch = *group.launch;
  for (Ref ref : graph.in(group.first)) types_.push_back(concrete(graph.type(ref)));
  inputs_ = static_cast<std::uint32_t>(types_.size());
  outputs_ = static_cast<std::uint32_t>(graph.out(group.first).size());
  if (group.folds) {
    add_fields(graph, group);
    return;
  }
  for (std::size_t k = 0; k < launch.each.size(); ++k)
    arguments_.push_back({launch.each[k] ? static_cast<std::uint32_t>(without_points(types_[k]).bytes()) : 0});
  add_fields(graph, group);
  if (launch.work == Launch::Work::native) {
    native_ = bodies.point_task(launch.symbol);
    if (!native_.run) bug("no C++ function is called " + launch.symbol);
    views.note({launch.symbol, "extern"});
  }
  if (launch.work != Launch::Work::task) return;
  Result<std::shared_ptr<const ViewBody>> body = views.get(bodies, graph, group);
  if (!body) throw Error(body.diags());
  view_ = *std::move(body);
  extern_ = view_->extern_body();
  std::vector<ArrayType> inputs;
  for (std::size_t k = 0; k < launch.each.size(); ++k)
    inputs.push_back(launch.each[k] ? without_points(types_[k]) : types_[k]);
  extents_.emplace(*bodies.program(), (*bodies.program())[launch.task], inputs);
  for (std::uint32_t k = 0; k < own_outputs_; ++k)
    output_elements_.push_back(static_cast<std::size_t>(concrete(graph.type(graph.out(group.first)[k])).elements()));
  for (std::uint32_t k = first_map_; k < inputs_; ++k)
    output_elements_.push_back(static_cast<std::size_t>(without_points(types_[k]).elements()));
}

void LaunchCode::add_fields(const TaskGraph& graph, const PointGroup& group) {
  const Launch& launch = *group.launch;
  std::uint32_t all = 0;
  for (const PointGroup::Whole& region : group.regions) {
    first_field_.push_back(all);
    all += region.fields;
  }
  first_field_.push_back(all);
  // Of a fold: the buffers, and behind them the fields.
  auto input = static_cast<std::uint32_t>(group.folds ? 0 : arguments_.size());
  if (folds_all(group)) input = inputs_ - reduced_fields(launch);
  std::uint32_t buffers = 0;
  for (std::uint32_t u = 0; u < launch.uses.size(); ++u) {
    const LaunchUse& use = launch.uses[u];
    const bool reduces = use.privilege == Privilege::reduce;
    if (group.folds && !reduces) continue;
    use.fields.each([&](std::uint32_t f) {
      Field field{u, f, 0, 0, {}};
      if (reduces && !group.folds) {
        field.operand = buffers++;  // behind the other outputs
      } else {
        field.operand = input++;
        field.bytes = info(types_[field.operand].precision).bytes;
      }
      fields_.push_back(field);
    });
  }
  first_map_ = input;
  for (std::uint32_t k = input; !group.folds && k < inputs_; ++k)
    maps_.push_back({static_cast<std::uint32_t>(without_points(types_[k]).bytes())});
  own_outputs_ = outputs_ - buffers;
  for (Field& field : fields_) {
    const LaunchUse& use = launch.uses[field.use];
    if (use.privilege != Privilege::reduce || folds_all(group)) continue;
    const std::uint32_t output = own_outputs_ + field.operand;
    const Precision precision =
        group.folds ? types_[field.operand].precision : graph.type(graph.out(group.first)[output]).precision;
    if (!group.folds) field.operand = inputs_ + output;
    field.bytes = info(precision).bytes;
    field.fold = fold_of(precision, use.op);
  }
  if (!group.folds) add_bases();
}

void LaunchCode::add_bases() {
  bases_.assign(first_field_.back(), none);
  for (std::uint32_t k = 0; k < fields_.size(); ++k) {
    bases_[first_field_[fields_[k].use] + fields_[k].field] = fields_[k].operand;
    if (fields_[k].fold.clear) clears_.push_back(k);
  }
}

// Two launches may differ in what they are handed, and in nothing else that a point looks at.
std::string LaunchCode::key(const TaskGraph& graph, const PointGroup& group) {
  const Launch& launch = *group.launch;
  if (group.folds || (launch.work != Launch::Work::task && launch.work != Launch::Work::native)) return {};
  std::string key = launch.key();
  put_number(key, group.count);
  for (Ref ref : graph.in(group.first)) put_type(key, concrete(graph.type(ref)));
  key += '|';
  for (TypeId type : graph.out(group.first)) put_number(key, type.value);
  return key;
}

bool LaunchCode::has_same_pieces(const PointGroup& a, const PointGroup& b) {
  return a.pieces == b.pieces && std::ranges::equal(a.regions, b.regions, [](const auto& one, const auto& other) {
           return one.extents == other.extents && one.fields == other.fields && one.room == other.room;
         });
}

// ---- one point ------------------------------------------------------------------------------------

void LaunchCode::run(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                     TaskContext& context) const {
  using Work = Launch::Work;
  const Launch& launch = *group.launch;
  if (folds_all(group)) return fold_all(group, operands);
  if (group.folds) return fold(group, position, operands);
  switch (launch.work) {
    case Work::task:
    case Work::native:
      return run_task(group, position, operands, context);
    case Work::join:
      return;
    case Work::fill:
      return fill(group, operands);
    case Work::read:
      return read(group, operands);
    case Work::total:
      if (launch.messages) return launch.messages->total(operands[0], group.regions[0].packed(), operands[inputs_]);
      return total(group, operands);
    case Work::files:
    case Work::exchange:
      return transfer(group, position, operands);
    case Work::share:
      return launch.messages->maps({operands, inputs_ + outputs_});
    case Work::gather:
      std::memcpy(operands[inputs_], operands[0], types_[0].bytes());
      return;
    case Work::element: {
      if (launch.messages) return launch.messages->maps({operands, inputs_ + outputs_});
      const std::size_t bytes = without_points(types_[0]).bytes();
      std::memcpy(operands[inputs_], operands[0] + static_cast<std::size_t>(launch.position) * bytes, bytes);
      return;
    }
    case Work::reduce:
      if (launch.messages) return launch.messages->maps({operands, inputs_ + outputs_});
      return reduce_rows(types_[0].precision, launch.op, operands[0], static_cast<std::size_t>(types_[0].extents[0]),
                         static_cast<std::size_t>(without_points(types_[0]).elements()), operands[inputs_]);
  }
}

namespace {

void to_front(std::byte*& base, std::int64_t bytes) { base -= bytes; }
void to_front(ViewField& field, std::int64_t bytes) { field.base -= bytes; }

}  // namespace

// What each view of the point stands for, as `View` says it with bases of fields as `Base`.
template <class View, class Base>
void LaunchCode::put_views(const PointGroup& group, std::uint32_t position, std::byte* const* operands, Base* fields,
                           View* views) const {
  for (std::size_t k = 0; k < bases_.size(); ++k) fields[k] = {bases_[k] == none ? nullptr : operands[bases_[k]]};
  const std::size_t uses = group.regions.size();
  const IndexSpace* const* const pieces = group.pieces.data() + position * uses;
  for (std::size_t u = 0; u < uses; ++u) {
    View& view = *std::construct_at(views + u);
    view.points = pieces[u];
    view.root = &group.regions[u].extents;
    view.fields = {fields + first_field_[u], group.regions[u].fields};
    // Contributions lie in memory of the piece, all else where the region has it.
    if (group.launch->uses[u].privilege == Privilege::reduce)
      view.memory = PieceMemory::own(*pieces[u]);
    else
      view.memory = PieceMemory::inside(*view.root, put_packed(group, u, *pieces[u], fields));
  }
}

// Of a rectangle whose points follow one another in the region each lies as far in front of its index: with arrays that
// begin there it is as if all elements had memory. Of other pieces it is asked for each element.
template <class Base>
const PackedPlaces* LaunchCode::put_packed(const PointGroup& group, std::size_t use, const IndexSpace& piece,
                                           Base* fields) const {
  const PackedPlaces* packed = group.regions[use].packed();
  if (!packed || piece.empty() || group.launch->uses[use].fields.empty()) return nullptr;
  const Run bounds = piece.bounds(group.regions[use].extents);
  if (!piece.is_rect() || bounds.size() != piece.size()) return packed;
  for (const Field& field : fields_)
    if (field.use == use)
      to_front(fields[first_field_[use] + field.field], (bounds.lo - packed->place(bounds.lo)) * field.bytes);
  return nullptr;
}

template <class View, class Base, class Call>
void LaunchCode::with_views(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                            Call&& call) const {
  Row<Base> fields(bases_.size(), unset);
  Row<View> views(group.regions.size(), unset);
  put_views(group, position, operands, fields.data(), views.data());
  call(std::span<const View>(views));
}

template <class Visit>
void LaunchCode::with_piece(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                            Visit&& visit) const {
  Row<std::byte*> bases(group.regions[0].fields);
  for (const Field& field : fields_) bases[field.field] = operands[field.operand];
  const std::span<std::byte*> fields = bases;
  visit(group.launch->number(position), LaunchFiles::Piece{*group.pieces[position],
                                                           group.regions[0].extents,
                                                           fields,
                                                           {operands, group.launch->each.size()},
                                                           group.regions[0].packed()});
}

namespace {

// Of a launch of rank 1 without a division.
Point point_of(const Launch& launch, std::uint32_t position) {
  const std::uint32_t number = launch.number(position);
  return launch.domain.rank == 1 ? Point::of(launch.domain.lo[0] + number) : launch.domain.point(number);
}

#ifdef NDEBUG
constexpr bool checks_membership = false;
#else
constexpr bool checks_membership = true;
#endif

}  // namespace

void LaunchCode::hand(const Launch& launch, std::uint32_t position, std::byte* const* operands, const Point& point,
                      const Handed& to) const {
  for (std::size_t k = 0; k < arguments_.size(); ++k)
    to.in[k] = arguments_[k].bytes ? operands[k] + std::size_t{launch.element(k, position)} * arguments_[k].bytes
                                   : operands[k];
  for (std::size_t k = 0; k < launch.numbers.size(); ++k)
    if (launch.numbers[k]) {
      to.numbers[k] = (*launch.numbers[k])(point)[0];
      to.in[k] = reinterpret_cast<const std::byte*>(&to.numbers[k]);
    }
  for (std::size_t k = 0; k < own_outputs_; ++k) to.out[k] = operands[inputs_ + k];
  for (std::size_t k = 0; k < maps_.size(); ++k)
    to.out[own_outputs_ + k] = operands[first_map_ + k] + std::size_t{launch.number(position)} * maps_[k].bytes;
}

void LaunchCode::run_task(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                          TaskContext& context) const {
  const Launch& launch = *group.launch;
  const IndexSpace* const* const pieces = group.pieces.data() + position * group.regions.size();
  if (extents_) extents_->check(pieces);
  for (const std::uint32_t f : clears_)
    fields_[f].fold.clear(operands[fields_[f].operand],
                          static_cast<std::size_t>(PieceMemory::own(*pieces[fields_[f].use]).elements()));
  const Point point = point_of(launch, position);
  Row<const std::byte*> in(arguments_.size(), unset);
  Row<std::int64_t> numbers(launch.numbers.size(), unset);
  Row<std::byte*> out(handed_out(), unset);
  hand(launch, position, operands, point, {in, numbers, out});
  if (native_.run)
    return with_views<PointView, std::byte*>(group, position, operands, [&](std::span<const PointView> views) {
      native_.run(native_.context, views, in, out, point);
    });
  if (extern_)
    return with_views<ExternView, std::byte*>(group, position, operands, [&](std::span<const ExternView> views) {
      extern_->run({views, in, out, output_elements_, &point});
    });
  with_views<ViewMemory, ViewField>(group, position, operands, [&](std::span<const ViewMemory> views) {
    view_->run({.views = views,
                .inputs = in,
                .outputs = out,
                .output_elements = output_elements_,
                .point = &point,
                .checks_membership = checks_membership},
               context);
  });
}

// ---- a point that comes again ---------------------------------------------------------------------

// Its views, and what it is handed, are made once.
class LaunchCode::Bound final : public BoundCode {
 public:
  Bound(const LaunchCode& launch, const PointGroup& group, std::uint32_t position, std::byte* const* operands)
      : point_(point_of(*group.launch, position)),
        fields_(launch.bases_.size()),
        views_(group.regions.size()),
        in_(launch.arguments_.size()),
        numbers_(group.launch->numbers.size()),
        out_(launch.handed_out()),
        run_{.views = views_,
             .inputs = in_,
             .outputs = out_,
             .output_elements = launch.output_elements_,
             .point = &point_,
             .checks_membership = checks_membership} {
    if (launch.extents_) launch.extents_->check(group.pieces.data() + position * group.regions.size());
    launch.put_views(group, position, operands, fields_.data(), views_.data());
    launch.hand(*group.launch, position, operands, point_, {in_, numbers_, out_});
  }
  // False: nothing is gained.
  bool bind(const ViewBody& body, TaskContext& context) {
    body_ = body.bind(run_, context);
    return body_ != nullptr;
  }
  bool run(TaskContext& context) override { return body_->run(context); }
  bool needs_scratch() const override { return body_->needs_scratch(); }

 private:
  const Point point_;
  std::vector<ViewField> fields_;
  std::vector<ViewMemory> views_;
  std::vector<const std::byte*> in_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::byte*> out_;
  const ViewRun run_;
  std::unique_ptr<BoundCode> body_;
};

class LaunchCode::BoundTransfer final : public BoundCode {
 public:
  explicit BoundTransfer(std::unique_ptr<LaunchFiles::Bound> files) : files_(std::move(files)) {}
  bool run(TaskContext& context) override {
    try {
      files_->transfer();
      return true;
    } catch (...) {
      keep_thrown(context);
      return false;
    }
  }

 private:
  const std::unique_ptr<LaunchFiles::Bound> files_;
};

// Of a launch of many points this would be more memory than it is worth: a point of some work does not feel it.
std::unique_ptr<BoundCode> LaunchCode::bind(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                                            TaskContext& context) const {
  constexpr std::uint32_t most_points = 1024;
  if (group.folds || group.count > most_points) return nullptr;
  if (group.launch->work == Launch::Work::exchange) {
    std::unique_ptr<LaunchFiles::Bound> files;
    with_piece(group, position, operands, [&](std::size_t number, const LaunchFiles::Piece& piece) {
      files = group.launch->files->bind(number, piece);
    });
    return files ? std::make_unique<BoundTransfer>(std::move(files)) : nullptr;
  }
  if (!view_ || extern_ || !clears_.empty()) return nullptr;
  auto bound = std::make_unique<Bound>(*this, group, position, operands);
  return bound->bind(*view_, context) ? std::move(bound) : nullptr;
}

bool PointCode::run(std::byte* const* operands, TaskContext& context) const {
  const std::size_t before = context.faults.size();
  try {
    launch_.run(group_, position_, operands, context);
  } catch (...) {
    keep_thrown(context);
  }
  return context.faults.size() == before;
}

// What does not fit its views says so when it runs.
std::unique_ptr<BoundCode> PointCode::bind(std::byte* const* operands, TaskContext& context) const {
  try {
    return launch_.bind(group_, position_, operands, context);
  } catch (...) {
    return nullptr;
  }
}

// ---- the other kinds of work ----------------------------------------------------------------------

// Of one value all points get it; else each its own, in order.
void LaunchCode::fill(const PointGroup& group, std::byte* const* operands) const {
  const Field& field = fields_.front();
  const std::size_t bytes = field.bytes;
  const std::byte* from = operands[0];
  const bool is_one = types_[0].elements() == 1;
  std::byte* base = operands[field.operand];
  group.pieces[0]->runs(group.regions[0].extents, [&](Run run) {
    std::byte* at = base + place_in(group.regions[0].packed(), run.lo) * field.bytes;
    const auto count = static_cast<std::size_t>(run.size());
    if (!is_one) {
      std::memcpy(at, from, count * bytes);
      from += count * bytes;
      return;
    }
    repeat_element(at, from, bytes, count);
  });
}

void LaunchCode::read(const PointGroup& group, std::byte* const* operands) const {
  const Field& field = fields_.front();
  std::byte* into = operands[inputs_];
  auto copy = [&](Run run) {
    const std::size_t bytes = static_cast<std::size_t>(run.size()) * field.bytes;
    std::memcpy(into, operands[field.operand] + place_in(group.regions[0].packed(), run.lo) * field.bytes, bytes);
    into += bytes;
  };
  if (group.launch->held)
    std::ranges::for_each(group.launch->held->runs(), copy);
  else
    group.pieces[0]->runs(group.regions[0].extents, copy);
}

void LaunchCode::total(const PointGroup& group, std::byte* const* operands) const {
  RootTree tree(group.launch->op, types_[0].precision);
  group.pieces[0]->runs(group.regions[0].extents, [&](Run run) {
    const std::int64_t place = place_in(group.regions[0].packed(), run.lo);
    tree.add(run.lo, operands[0] + place * fields_.front().bytes, run.size());
  });
  tree.finish(reduced_precision(types_[0].precision, group.launch->op), operands[inputs_]);
}

void LaunchCode::transfer(const PointGroup& group, std::uint32_t position, std::byte* const* operands) const {
  with_piece(group, position, operands, [&](std::size_t number, const LaunchFiles::Piece& piece) {
    group.launch->files->transfer(number, piece);
  });
}

// The buffers of all own points come first.
void LaunchCode::fold_all(const PointGroup& group, std::byte* const* operands) const {
  std::vector<Rect> roots;
  std::vector<const PackedPlaces*> packed;
  for (const PointGroup::Whole& region : group.regions) {
    roots.push_back(region.extents);
    packed.push_back(region.packed());
  }
  std::vector<LaunchMessages::Buffer> buffers;
  const std::size_t count = inputs_ - fields_.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t point = 1 + k / fields_.size();  // behind the whole regions
    buffers.push_back({*group.pieces[point * group.regions.size() + fields_[k % fields_.size()].use], operands[k]});
  }
  group.launch->messages->fold({roots, {operands + count, fields_.size()}, buffers, packed});
}

void LaunchCode::fold(const PointGroup& group, std::uint32_t position, std::byte* const* operands) const {
  const std::size_t buffers = fields_.size();
  for (std::size_t k = 0; k < buffers; ++k) {
    const Field& field = fields_[k];
    const Rect& root = group.regions[field.use].extents;
    const IndexSpace& piece = *group.pieces[position * group.regions.size() + field.use];
    const PieceMemory own = PieceMemory::own(piece);
    std::int64_t number = 0;
    piece.runs(root, [&](Run run) {
      const std::int64_t place = own.scattered ? number : own.box->linear(root.point(run.lo));
      const std::int64_t into = place_in(group.regions[field.use].packed(), run.lo);
      field.fold.into(operands[buffers + k] + into * field.bytes, operands[k] + place * field.bytes,
                      static_cast<std::size_t>(run.size()));
      number += run.size();
    });
  }
}

}  // namespace taskspec
