// Regions, pieces and launches of the interpreter. What tasks do with views it never runs.
#include <algorithm>
#include <cstring>

#include "interp/control/function_key.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/region_values.hpp"
#include "ir/base/hash.hpp"
#include "ir/region/conflict_error.hpp"
#include "ir/region/independence.hpp"

namespace taskspec {

namespace {

std::int64_t plain_int(const Value& value, Span span) {
  if (!value.is_integer()) throw failure("E1009", span, "a number that only the graph knows is not built yet here");
  return value.integer();
}

Point point_of(Frame& frame, const Call& call, std::size_t from, std::size_t count) {
  Point point = Point::none();
  point.rank = static_cast<std::uint8_t>(count);
  for (std::size_t i = 0; i < count; ++i) point.at[i] = plain_int(frame[call.in[from + i]], call.span);
  return point;
}

Value point_value(const Point& point) {
  if (point.rank == 1) return Value(point[0]);
  Tuple tuple;
  for (std::size_t i = 0; i < point.rank; ++i) tuple.items.push_back(Value(point[i]));
  return Value(std::move(tuple));
}

Point point_in(const Value& value) {
  if (!value.is_tuple()) return Point::of(value.integer());
  Point point = Point::none();
  for (const Value& part : value.tuple().items) point.at[point.rank++] = part.integer();
  return point;
}

// All points of a grid in order, as the language makes them of it.
std::optional<Rect> grid_of(const List& points) {
  if (points.empty()) return Rect::of({0});
  const Point last = point_in(points.back());
  Rect rect;
  rect.rank = last.rank;
  for (std::size_t axis = 0; axis < last.rank; ++axis) rect.hi[axis] = last[axis] + 1;
  if (rect.size() != static_cast<std::int64_t>(points.size())) return std::nullopt;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!(point_in(points[i]) == rect.point(static_cast<std::int64_t>(i)))) return std::nullopt;
  return rect;
}

Rect domain_of(const Value& value, std::size_t rank, Span span) {
  if (value.is_range()) {
    Rect rect = Rect::of({0});
    rect.lo[0] = value.range().begin;
    rect.hi[0] = std::max(value.range().begin, value.range().end);
    return rect;
  }
  if (value.is_tuple()) {
    std::array<std::int64_t, highest_rank> extents{};
    for (std::size_t i = 0; i < rank; ++i)
      extents[i] = std::max<std::int64_t>(0, plain_int(value.tuple().items[i], span));
    return Rect::of(std::span(extents.data(), rank));
  }
  if (!value.is_list()) throw failure("E1009", span, "points that only the graph knows are not built yet");
  std::optional<Rect> rect = grid_of(value.list());
  if (!rect)
    throw failure("E5003", span, "a launch runs over a range or the points of a grid, and this list is neither");
  return *rect;
}

// Those operands say it: the values at 0 and at the unit points.
bool is_affine(const Projection& known, Frame& frame, const Call& call, std::size_t first) {
  using Kind = Projection::Kind;
  if (known.kind == Kind::function) return false;
  const auto number = [&](std::size_t at, std::size_t i, std::int64_t wanted) {
    const Value& value = frame[call.in[first + known.out * at + i]];
    return value.is_integer() && value.integer() == wanted;
  };
  for (std::size_t i = 0; i < known.out; ++i) {
    const std::int64_t offset = known.kind == Kind::affine ? known.offsets[i] : 0;
    if (!number(0, i, offset)) return false;
    for (std::size_t axis = 0; axis < known.in; ++axis) {
      const std::int64_t factor = known.kind == Kind::affine ? known.factors[i][axis] : (i == axis ? 1 : 0);
      std::int64_t unit = 0;
      if (__builtin_add_overflow(offset, factor, &unit) || !number(1 + axis, i, unit)) return false;
    }
  }
  return true;
}

// What stands between the values at 0 and at the unit points, which are the operands from `first` on.
Projection affine_of(Frame& frame, const Call& call, std::size_t first, std::uint8_t in, std::uint8_t out) {
  const Point offset = point_of(frame, call, first, out);
  std::array<std::array<std::int64_t, highest_rank>, highest_rank> factors{};
  for (std::size_t axis = 0; axis < in; ++axis) {
    const Point unit = point_of(frame, call, first + out * (axis + 1), out);
    for (std::size_t i = 0; i < out; ++i)
      if (__builtin_sub_overflow(unit[i], offset[i], &factors[i][axis]))
        throw failure("E5001", call.span, "a colour is beyond the largest int");
  }
  return Projection::affine(in, out, factors, offset.at);
}

// An affine number is an int at every point of the domain if it is one at its corners.
void require_int(const Projection& number, const Rect& domain, Span span) {
  if (domain.empty() || number.kind != Projection::Kind::affine) return;
  __extension__ using Wide = __int128;
  Wide least = number.offsets[0], greatest = least;
  for (std::size_t axis = 0; axis < number.in; ++axis) {
    const Wide one = Wide{number.factors[0][axis]} * domain.lo[axis];
    const Wide other = Wide{number.factors[0][axis]} * (domain.hi[axis] - 1);
    least += std::min(one, other);
    greatest += std::max(one, other);
  }
  if (least < INT64_MIN || greatest > INT64_MAX)
    throw failure("E5001", span, "what a point takes is beyond the largest int");
}

// Two pieces that are in one another's way, where they stand in the text, as the checker shows what it finds.
Error shown(const ConflictError& error, const LaunchCall& launch, const Function& task) {
  std::vector<std::size_t> pieces;  // the argument of each use
  for (std::size_t k = 0; k < launch.arguments.size(); ++k)
    if (launch.arguments[k].kind == LaunchArgument::Kind::piece) pieces.push_back(k);
  const auto [earlier, later] = std::minmax(error.conflict.first_use, error.conflict.second_use);
  Diag diag = error.diags().items().front();
  if (later >= pieces.size()) return Error(std::move(diag));
  const auto place = [&](std::size_t use) { return launch.arguments[pieces[use]].span; };
  const auto parameter = [&](std::size_t use) -> const Parameter& { return task.parameters[pieces[use]]; };
  const auto deed = [&](std::size_t use) { return writes(parameter(use).privilege) ? "written here" : "read here"; };
  diag.primary.span = place(later);
  if (error.conflict.within_point()) {
    diag.at(deed(later));
    diag.label(place(earlier), deed(earlier));
  } else {
    diag.label(parameter(later).span, "declared here");
    if (earlier != later) diag.label(place(earlier), "the other one");
  }
  return Error(std::move(diag));
}

// A colour beyond its partition is told at the argument that takes it, where the launch as a whole was refused for one.
void require_colours(const Program& program, const RegionForest& forest, const LaunchCall& launch) {
  for (const LaunchArgument& argument : launch.arguments) {
    if (argument.kind != LaunchArgument::Kind::piece || !argument.partition.valid()) continue;
    LaunchUse use{argument.space, argument.partition, argument.projection, {}, Privilege::in, {}, {}};
    use.name = written(program, launch, argument, forest[argument.space.root].name);
    check_colours(forest, launch.domain, use, argument.span);
  }
}

}  // namespace

// A function that is not affine, as what it says of each point: with the domain it is the same where these are. It is
// asked once for all turns of a loop.
// Where there is nothing that it must lie in it may say any number.
Projection Interpreter::tabulated(const Value& function, const Rect& domain, const TakenOf& of, const CallSite& site) {
  require_few_points(domain, site.span);
  const bool any = of.all.rank == 0;
  const auto count = static_cast<std::size_t>(domain.size());
  if (count > memory_limit() / sizeof(std::int64_t))
    throw failure("E5008", site.span,
                  "what each of " + std::to_string(count) + " points takes does not fit into the memory");
  std::string key = function_key(program_, function);
  if (!key.empty()) {
    put_text(key, domain.text() + of.all.text());
    if (auto known = tables_.find(key); known != tables_.end()) return known->second;
  }
  auto places = std::make_shared<std::vector<std::int64_t>>();
  places->reserve(count);
  Hasher hash;
  each_point(domain, [&](const Point& point) {
    const Point taken = point_in(apply(function, {point_value(point)}, site).value);
    if (!any && !of.all.contains(taken)) throw beyond(of, point, taken, site.span);
    places->push_back(any ? taken[0] : of.all.linear(taken));
    hash.add(static_cast<std::uint64_t>(places->back()));
    return true;
  });
  auto look_up = [places, domain, all = of.all, any](const Point& point) {
    const std::int64_t said = (*places)[static_cast<std::size_t>(domain.linear(point))];
    return any ? Point::of(said) : all.point(said);
  };
  const std::uint8_t out = any ? std::uint8_t{1} : of.all.rank;
  Projection made = Projection::of(domain.rank, out, std::move(look_up), hash.digest().low);
  constexpr std::size_t most_tables = 16, most_points = 1 << 22;  // that are kept
  if (key.empty() || count > most_points) return made;
  if (tables_.size() >= most_tables) tables_.clear();
  return tables_.emplace(std::move(key), std::move(made)).first->second;
}

Value Interpreter::make_region(Frame& frame, const Call& call) {
  if (!target_->has_regions()) throw failure("E1009", call.span, "a region inside of a graph is not built yet");
  const FieldsTable& table = program_[call.type.fields];
  Region region;
  region.fields_name = table.name;
  region.name = call.name.empty() ? table.name : call.name;
  for (const FieldsTable::Field& field : table.fields) region.fields.push_back({field.name, field.precision});
  std::vector<std::int64_t> extents;
  for (const Dim& dim : evaluate(call.type, frame).dims) {
    const std::optional<std::int64_t> extent = dim.constant();
    if (!extent) throw failure("E1009", call.span, "a region whose extents only the graph knows is not built yet");
    if (*extent < 0) throw failure("E5004", call.span, "a region cannot have the extent " + std::to_string(*extent));
    extents.push_back(*extent);
  }
  region.extents = Rect::of(extents);
  std::shared_ptr<RegionHandle> handle = target_->make_region(std::move(region), call.span);
  const Space all{handle->region};
  return space_value(std::move(handle), all);
}

Value Interpreter::piece(Frame& frame, const Call& call) {
  const PartitionValue& partition = partition_in(*target_, frame[call.in[0]], call.span);
  const Point colour = point_of(frame, call, 1, call.in.size() - 1);
  return space_value(partition.region, target_->regions().piece(partition.id, colour, call.span));
}

Value Interpreter::region_field(Frame& frame, const Call& call) {
  const SpaceValue& of = space_in(*target_, frame[call.in[0]], call.span);
  return Value(
      std::static_pointer_cast<Object>(std::make_shared<FieldValue>(of.region, of.space, call.type.places[0])));
}

Value Interpreter::field_value(Frame& frame, const Call& call) {
  const FieldValue& of = field_in(*target_, frame[call.in[0]], call.span);
  return target_->field_value(of.space, of.field, {call.span, frame.scope});
}

Value Interpreter::map_item(Frame& frame, const Call& call) {
  auto* map = frame[call.in[0]].as<LaunchMap>();
  if (!map) throw failure("E1009", call.span, "outputs of a launch that only the graph knows are not built yet");
  return target_->map_element(*map, point_of(frame, call, 1, call.in.size() - 1), {call.span, frame.scope});
}

// In the next turn of a loop it is the same, and what stands there already.
Flow Interpreter::run_projection(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  auto* known = frame[id].as<ProjectedPiece>();
  const Value& of = frame[call.in[0]];
  const bool is_known = known && of.is_object() && known->partition == of.object() && known->function.is_none();
  if (!is_known || call.in.size() == 1 || frame.function[call.in[1]].type.is(Type::Kind::function) ||
      !is_affine(known->projection, frame, call, 1))
    frame[id] = run.projection(frame, call);
  return Flow::next;
}

Value Interpreter::projection(Frame& frame, const Call& call) {
  const Value& of = frame[call.in[0]];
  const auto out = static_cast<std::uint8_t>(of.is_integer() ? 1 : frame.function[call.in[0]].type.inputs);
  const auto in = static_cast<std::uint8_t>(call.index);
  auto taken = [&](Projection projection, Value function) {
    if (of.is_integer())  // an int that differs
      return Value(std::static_pointer_cast<Object>(
          std::make_shared<ProjectedMap>(nullptr, std::move(projection), std::move(function))));
    if (!of.as<LaunchMap>())
      return Value(std::static_pointer_cast<Object>(std::make_shared<ProjectedPiece>(
          std::static_pointer_cast<const PartitionValue>(of.object()), std::move(projection), std::move(function))));
    return Value(std::static_pointer_cast<Object>(std::make_shared<ProjectedMap>(
        std::static_pointer_cast<const LaunchMap>(of.object()), std::move(projection), std::move(function))));
  };
  if (!of.is_integer() && !of.as<LaunchMap>()) partition_in(*target_, of, call.span);
  if (call.in.size() == 1) return taken(Projection::identity(out), {});  // outputs of a launch: each point its own
  if (frame.function[call.in[1]].type.is(Type::Kind::function)) return taken({}, frame[call.in[1]]);
  return taken(affine_of(frame, call, 1, in, out), {});
}

namespace {

bool is_over(const Value& domain, const Rect& rect, std::size_t rank, Span span) {
  if (!domain.is_range()) return domain.is_tuple() && domain_of(domain, rank, span) == rect;
  const Range range = domain.range();  // mostly, and without a call
  return rect.rank == 1 && range.begin == rect.lo[0] && std::max(range.begin, range.end) == rect.hi[0];
}

bool is_one(const Value& a, const Value& b) {
  return a.is_object() && b.is_object() ? a.object() == b.object() : a.is_none() && b.is_none();
}

// `known`: the value that was found to be it, by its serial.
bool is_piece(Target& target, const Value& value, const LaunchUse& use, std::uint64_t& known, Span span) {
  if (auto* projected = value.as<ProjectedPiece>()) {
    if (projected->serial == known) return true;
    const bool is_it = projected->partition->id == use.partition && projected->function.is_none() &&
                       projected->projection == use.projection;
    if (is_it) known = projected->serial;
    return is_it;
  }
  return !use.partition.valid() && space_in(target, value, span).space == use.space;
}

// Its bits; none: it is no number of this kind. One that differs from point to point is the same each time.
std::optional<std::uint64_t> bits_of(const Value& value, Precision precision, const Projection* differs) {
  if (differs) {
    auto* projected = value.as<ProjectedMap>();
    if (!projected || projected->map || !projected->function.is_none() || !(projected->projection == *differs))
      return std::nullopt;
    return 0;
  }
  if ((value.is_integer() && precision == Precision::i64) || (value.is_real() && precision == Precision::f64) ||
      (value.is_bool() && precision == Precision::boolean))
    return value.bits();
  const Array* array = known_number(value);
  if (!array || array->type().precision != precision || (array->bytes() < 8 && precision != Precision::boolean))
    return std::nullopt;
  std::uint64_t bits = 0;
  std::memcpy(&bits, array->raw(), array->bytes());
  return bits;
}

}  // namespace

std::vector<ExpectedLaunch::Argument> Interpreter::arguments_of(const ExpectedLaunch& expected) const {
  using Argument = ExpectedLaunch::Argument;
  std::vector<Argument> arguments;
  std::uint32_t pieces = 0, numbers = 0;
  for (const Parameter& parameter : program_[expected.what.task].parameters) {
    if (parameter.type.is(Type::Kind::view)) {
      arguments.push_back({Argument::Kind::piece, {}, pieces++});
      continue;
    }
    const bool differs = numbers < expected.what.numbers.size() && expected.what.numbers[numbers];
    arguments.push_back(
        {differs ? Argument::Kind::number_that_differs : Argument::Kind::number, expected.numbers[numbers], numbers});
    ++numbers;
  }
  return arguments;
}

// In loops of small launches this is nearly all that a turn is, where turns are more than launches and numbers.
bool Interpreter::launches_again(Frame& frame, const Call& call) {
  using Kind = ExpectedLaunch::Argument::Kind;
  LaunchBatch* batch = target_->launch_batch();
  if (!batch || !call.in[0].valid()) return false;
  ExpectedLaunch& expected = batch->launches[batch->taken];
  const Launch& what = expected.what;
  if (expected.span != call.span || what.task != call.callee) return false;
  if (call.in[1].valid() ? !is_one(frame[call.in[1]], expected.sharding) : !expected.sharding.is_none()) return false;
  if (!is_over(frame[call.in[0]], what.domain, what.domain.rank, call.span)) return false;
  if (expected.arguments.empty()) expected.arguments = arguments_of(expected);
  const CallId* in = call.in.data() + 2;
  for (const ExpectedLaunch::Argument& argument : expected.arguments) {
    const Value& value = frame[*in++];
    if (argument.kind == Kind::number && argument.precision == Precision::i64 && value.is_integer()) {
      batch->next[argument.position] = value.bits();
    } else if (argument.kind == Kind::piece) {
      std::uint64_t& known = expected.pieces[argument.position];
      if (!is_piece(*target_, value, what.uses[argument.position], known, call.span)) return false;
    } else {
      const bool differs = argument.kind == Kind::number_that_differs;
      const std::optional<std::uint64_t> bits =
          bits_of(value, argument.precision, differs ? &*what.numbers[argument.position] : nullptr);
      if (!bits) return false;
      batch->next[argument.position] = *bits;
    }
  }
  batch->next += expected.numbers.size();
  if (++batch->taken == batch->due) target_->launches_taken();
  return true;
}

Flow Interpreter::run_launch(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  if (!call.guards.empty()) run.check_guards(frame, call);
  Value& made = frame[id];
  if (!run.launches_again(frame, call)) {
    run.launched_again_ = 0;
    made = run.launch(frame, call);
    return Flow::next;
  }
  ++run.launched_again_;
  if (!is_one(made, run.nothing_launched_)) made = run.nothing_launched_;
  return Flow::next;
}

Value Interpreter::launch(Frame& frame, const Call& call) {
  const Function& task = program_[call.callee];
  LaunchCall launch;
  launch.task = call.callee;
  launch.span = call.span;
  launch.scope = frame.scope;
  launch.single = !call.in[0].valid();
  launch.domain.rank = 0;
  if (!launch.single) {
    const Type& type = frame.function[call.in[0]].type;
    launch.domain = domain_of(frame[call.in[0]], type.parts.size(), call.span);
  }
  if (call.in[1].valid()) launch.sharding = frame[call.in[1]];
  const Value agent = task.agent.valid() ? frame[call.in[2]] : Value();
  launch.agent = agent.as<Agent>();
  std::size_t next = task.agent.valid() ? 3 : 2, agent_parameter = 0;
  for (const Parameter& parameter : task.parameters) {
    LaunchArgument argument;
    argument.span = call.span;
    if (parameter.role == Role::agent_parameter) {
      argument.value = launch.agent->arguments[agent_parameter++];
    } else if (parameter.role == Role::slot) {
      argument.value = *launch.agent->slot(parameter.name);
    } else {
      if (next < call.in_spans.size()) argument.span = call.in_spans[next];
      const Value& value = frame[call.in[next++]];
      if (parameter.type.is(Type::Kind::view))
        take_piece(frame, launch, value, argument);
      else
        take_value(frame, launch, value, argument);
    }
    launch.arguments.push_back(std::move(argument));
  }
  for (const Type& part : call.type.parts)
    launch.outputs.push_back(evaluate(launch.single ? part : part.parts[0], frame));
  try {
    return target_->launch(*this, launch);
  } catch (const ConflictError& error) {
    throw shown(error, launch, task);
  } catch (const Error& error) {
    if (error.diags().items().front().code == Code("E5003") && target_->has_regions())
      require_colours(program_, target_->regions(), launch);
    throw;
  }
}

void Interpreter::take_piece(Frame& frame, const LaunchCall& launch, const Value& value, LaunchArgument& argument) {
  argument.kind = LaunchArgument::Kind::piece;
  auto* projected = value.as<ProjectedPiece>();
  if (!projected) {
    argument.space = space_in(*target_, value, argument.span).space;
    return;
  }
  argument.partition = projected->partition->id;
  argument.space = {target_->regions()[argument.partition].parent.root};
  argument.projection = projected->projection;
  if (projected->function.is_none()) return;
  const RegionForest& forest = target_->regions();
  const TakenOf of{written(program_, launch, argument, forest[argument.space.root].name),
                   forest[argument.partition].colours, false, forest[argument.partition].made};
  argument.projection = tabulated(projected->function, launch.domain, of, {argument.span, &frame});
}

void Interpreter::take_value(Frame& frame, const LaunchCall& launch, const Value& value, LaunchArgument& argument) {
  auto* projected = value.as<ProjectedMap>();
  argument.value = value;
  if (!projected) return;
  argument.kind = LaunchArgument::Kind::element;
  if (!projected->map) {
    argument.value = Value(std::int64_t{0});  // nobody reads it
    argument.projection = projected->projection;
    if (!projected->function.is_none())
      argument.projection = tabulated(projected->function, launch.domain, {"", Rect::of({})}, {argument.span, &frame});
    else
      require_int(argument.projection, launch.domain, argument.span);
    return;
  }
  argument.value = Value(std::static_pointer_cast<Object>(std::make_shared<LaunchMap>(*projected->map)));
  argument.projection = projected->projection;
  const TakenOf of{written(program_, launch, argument, "map"), projected->map->domain, true};
  if (!projected->function.is_none())
    argument.projection = tabulated(projected->function, launch.domain, of, {argument.span, &frame});
  else
    require_inside(projected->projection, launch.domain, of, argument.span);
}

// Who wants to run such a body by calls, or to read it as a list, cannot.
Flow Interpreter::run_view(Interpreter&, Frame& frame, CallId id) {
  throw failure("E1009", frame.function[id].span, "a body over views runs on the backend 'host' only");
}

}  // namespace taskspec
