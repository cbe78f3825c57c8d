// Launches, and what else happens to regions, as nodes of the recorder's graph.
#include <algorithm>

#include "interp/control/interpreter.hpp"
#include "interp/control/record.hpp"
#include "ir/base/key.hpp"
#include "ir/base/text.hpp"
#include "ir/records/scalar.hpp"
#include "ir/region/conflict_error.hpp"

namespace taskspec {

// ---- handles --------------------------------------------------------------------------------------

RegionHandle::RegionHandle(Recorder& recorder, RegionId r)
    : region(r),
      recorder_(&recorder),
      alive_(recorder.life),
      text_("<region " + recorder.graph.regions[r].text() + ">") {
  recorder.retain(region);
  if (recorder.data_handles) recorder.data_handles->named(region);
}

RegionHandle::~RegionHandle() {
  Recorder* known = recorder();
  if (!known) return;
  if (known->data_handles) known->data_handles->unnamed(region);
  known->release(region);
}

void RegionHandle::retain(PartitionId partition) const {
  Recorder* known = recorder();
  if (!known) return;
  known->retain(partition);
  if (known->data_handles) known->data_handles->named(partition);
}

void RegionHandle::release(PartitionId partition) const {
  Recorder* known = recorder();
  if (!known) return;
  if (known->data_handles) known->data_handles->unnamed(partition);
  known->release(partition);
}

std::string RegionHandle::text() const { return text_; }

std::string LaunchMap::text() const {
  return "<map " + element.text() + ", " + plural(static_cast<std::size_t>(domain.size()), "point") + ">";
}

std::shared_ptr<RegionHandle> RecordTarget::make_region(Region region, Span span) {
  const std::int64_t points = region.extents.size();
  std::size_t each = 0;
  for (const RegionField& field : region.fields) each += info(field.precision).bytes;
  std::size_t bytes = 0;
  const bool too_many = __builtin_mul_overflow(static_cast<std::size_t>(points), each, &bytes);
  if (too_many || bytes > memory_limit())
    throw failure("E5008", span,
                  "region " + region.text() + " needs " + (too_many ? "more than 2^64 bytes" : plural(bytes, "byte")) +
                      "; this machine allows " + std::to_string(memory_limit()));
  const RegionId id = recorder_.graph.add_region(std::move(region), span);
  return std::make_shared<RegionHandle>(recorder_, id);
}

void require_few_points(const Rect& domain, Span span) {
  constexpr std::int64_t most_points = std::int64_t{1} << 31;
  if (domain.size() > most_points)
    throw failure("E5008", span, "a launch over " + domain.text() + " has more than 2^31 points");
}

// ---- any launch -----------------------------------------------------------------------------------

// The same launch in each turn of a loop is one object. One on other regions of the same form is another one, but its
// points are known to be independent: it is checked by its shape, once.
std::shared_ptr<Launch> RecordTarget::interned(Launch launch, Span span) {
  constexpr std::size_t most_kept = 1024;
  const RegionForest& forest = recorder_.graph.regions;
  std::string key = launch.key();
  for (const LaunchUse& use : launch.uses) {  // ids are given again
    put_number(key, forest.serial(use.space.root));
    for (const PartitionId partition : {use.space.partition, use.partition})
      if (partition.valid()) put_number(key, forest[partition].serial);
  }
  if (auto known = launches_.find(key); known != launches_.end()) return known->second;
  if (!is_message(launch)) require_independence(launch, span);
  if (launches_.size() >= most_kept) launches_.clear();
  auto made = std::make_shared<Launch>(std::move(launch));
  return launches_.emplace(std::move(key), std::move(made)).first->second;
}

// Shards look at it together, each at its part: so all must come to it alike, and what each has more of than others,
// messages, must not decide what is known.
void RecordTarget::require_independence(const Launch& launch, Span span) {
  constexpr std::size_t most_kept = 1024;
  const RegionForest& forest = recorder_.graph.regions;
  const bool may_conflict = launch.domain.size() > 1 || launch.uses.size() > 1;  // else not all shards may have it
  std::string shape = may_conflict ? launch.shape_of_uses(forest) : std::string();
  if (may_conflict && independent_.contains(shape)) return;
  if (auto found = conflict(forest, launch.domain, launch.uses, span))
    throw ConflictError(diagnostic(forest, launch.uses, *found, span), *found);
  if (!may_conflict) return;
  if (independent_.size() >= most_kept) {
    independent_.clear();
    launches_.clear();  // who knows a launch by its key knows its shape
  }
  independent_.insert(std::move(shape));
}

void RecordTarget::add_values(Launched& launch, Inputs& inputs) {
  Launch& what = launch.what;
  what.taken.resize(launch.values.size());
  for (const Value& value : launch.values) {
    auto* map = value.as<LaunchMap>();
    std::optional<Launch::Taken>& taken = what.taken[what.each.size()];
    what.each.push_back(map && (what.work == Launch::Work::task || what.work == Launch::Work::native));
    if (!map) {
      add_input(inputs, value, launch.span);
      continue;
    }
    if (!map->all->is_of(recorder_))
      throw failure("E1009", launch.span, "a map of another session is not built yet as an argument");
    const bool own = !taken || (taken->at == Projection::identity(map->domain.rank) && map->domain == what.domain);
    if (what.each.back() && own && map->domain != what.domain)
      throw failure("E1003", launch.span,
                    "a map over " + map->domain.text() + " is an argument of a launch over " + what.domain.text());
    if (own)
      taken.reset();
    else
      taken->points = map->domain;
    inputs.alive.push_back(map->all);
    add_input(inputs, *map->all);
  }
}

// A field once in each use; what the launch does to it, for all its uses together.
void RecordTarget::add_fields(const Launch& launch, Inputs& inputs, Definition& named) {
  for (const LaunchUse& use : launch.uses)
    use.fields.each([&](std::uint32_t field) {
      const RegionId region = use.space.root;
      inputs.refs.push_back(Ref::field(region, field));
      const PlaceId place = recorder_.graph.place(region, field);
      named.inputs.push_back(recorder_.graph.place_name(place));
      // Others may have written the points that it does not: what it writes comes after them, too.
      const Privilege privilege = use.privilege == Privilege::in ? Privilege::in : Privilege::inout;
      auto known = std::ranges::find_if(inputs.requirements,
                                        [&](const Requirement& r) { return r.place == place && !r.has_versions(); });
      if (known == inputs.requirements.end())
        inputs.requirements.push_back({place, privilege, Requirement::no_slot, Requirement::no_slot});
      else if (privilege != Privilege::in)
        known->privilege = privilege;
    });
}

std::vector<Value> RecordTarget::launched(Launched launch) {
  require_few_points(launch.what.domain, launch.span);
  return divider_ ? divider_->launched(*this, std::move(launch)) : recorded(std::move(launch));
}

LaunchBatch* RecordTarget::launch_batch() { return divider_ ? divider_->batch() : nullptr; }

void RecordTarget::launches_taken() { divider_->taken(); }

void RecordTarget::begin_trace(Span place) {
  if (divider_) divider_->begin_trace(place);
}

void RecordTarget::end_trace(Span place) {
  if (divider_) divider_->end_trace(place);
}

std::vector<Value> RecordTarget::recorded(Launched launch) {
  const bool message = is_message(launch.what);
  if (!message) recorder_.adding(launch.span);
  Inputs inputs;
  add_values(launch, inputs);
  launch.named.kind = Definition::Kind::launch;
  add_fields(launch.what, inputs, launch.named);
  const bool files = launch.what.work == Launch::Work::files;
  // Others wait for what is said, whoever needs it here.
  const bool effect = files || talks(launch.what);
  const std::shared_ptr<Launch> what = interned(std::move(launch.what), launch.span);
  std::vector<TypeId> out;
  for (const Type& type : launch.outputs) {
    Type all = type;
    if (!what->single) all.dims.insert(all.dims.begin(), Dim(what->domain.size()));
    out.push_back(recorder_.graph.intern(all));
  }
  const bool maps = !what->single && !out.empty();
  const NodeId node = add(recorder_.graph.define(std::move(launch.named)),
                          {.in = inputs.refs,
                           .out = out,
                           .scope = launch.scope,
                           .agent = instance_of(launch.agent),
                           .arguments = {Value(std::static_pointer_cast<Object>(what))},
                           .span = launch.span,
                           .effect = effect,
                           .maps = maps},
                          inputs);
  if (files && recorder_.executes()) recorder_.carry_out(node, launch.span);
  std::vector<Value> outputs;
  for (std::size_t slot = 0; slot < out.size(); ++slot) {
    std::shared_ptr<Tensor> all = recorder_.tensor(Ref::future(node, slot), recorder_.shared_type(out[slot]));
    outputs.push_back(Value(what->single ? std::static_pointer_cast<Object>(all)
                                         : std::static_pointer_cast<Object>(
                                               std::make_shared<LaunchMap>(all, what->domain, launch.outputs[slot]))));
  }
  return outputs;
}

// ---- tasks ----------------------------------------------------------------------------------------

std::string written(const Program& program, const LaunchCall& call, const LaunchArgument& argument,
                    const std::string& otherwise) {
  constexpr std::size_t longest = 40;
  const bool has_place = argument.span.valid() && !(argument.span == call.span);
  std::string_view text = has_place ? program.sources.text(argument.span) : std::string_view();
  const bool is_one_of = argument.partition.valid() || argument.kind == LaunchArgument::Kind::element;
  if (is_one_of && text.ends_with(']')) {  // without its last brackets
    std::size_t open = 0;
    do {
      open += text.back() == ']';
      open -= text.back() == '[';
      text.remove_suffix(1);
    } while (open > 0 && !text.empty());
  }
  return text.empty() || text.size() > longest ? otherwise : std::string(text);
}

Value RecordTarget::launch(Interpreter& interpreter, const LaunchCall& call) {
  const Function& function = program_[call.task];
  receive_globals(interpreter, interpreter.facts().globals(call.task), {}, call.span);
  Launched launched;
  launched.what.work = Launch::Work::task;
  launched.what.task = call.task;
  launched.what.domain = call.single ? Rect::of({1}) : call.domain;
  launched.what.single = call.single;
  launched.named.name = program_.display_name(call.task);
  launched.named.function = call.task;
  for (std::uint32_t k = 0; k < call.arguments.size(); ++k) {
    const LaunchArgument& argument = call.arguments[k];
    const Parameter& parameter = function.parameters[k];
    if (argument.kind != LaunchArgument::Kind::piece) {
      launched.what.taken.resize(launched.values.size() + 1);
      const bool number = argument.value.is_integer();  // that differs: `element` of nothing
      if (argument.kind == LaunchArgument::Kind::element && !number)
        launched.what.taken.back() = {{}, argument.projection};
      launched.what.numbers.emplace_back();
      if (argument.kind == LaunchArgument::Kind::element && number) launched.what.numbers.back() = argument.projection;
      if (parameter.privilege != Privilege::in)
        throw failure("E1009", call.span,
                      "'" + parameter.name + "': a tensor that a task over regions changes is not built yet");
      launched.values.push_back(launch_value(argument.value));
      launched.named.inputs.push_back(parameter.name);
      continue;
    }
    LaunchUse use{argument.space,
                  argument.partition,
                  argument.projection,
                  {},
                  parameter.privilege,
                  parameter.reduce,
                  written(program_, call, argument, recorder_.graph.regions[argument.space.root].name)};
    for (std::uint32_t field : parameter.type.places) use.fields.add(field);
    launched.what.uses.push_back(std::move(use));
  }
  for (const Output& output : function.outputs) launched.named.outputs.push_back(output.name);
  launched.outputs = call.outputs;
  launched.scope = call.scope;
  launched.agent = call.agent;
  launched.span = call.span;
  launched.sharding = call.sharding;
  auto invocation = std::make_shared<Invocation>();
  invocation->names = launched.named.outputs;
  invocation->outputs = this->launched(std::move(launched));
  return Value(std::static_pointer_cast<Object>(invocation));
}

// Numbers are tensors of one element: another one in the next turn is the same launch.
Value RecordTarget::launch_value(const Value& value) {
  if (value.is_integer()) return Value(scalar_array(value, Precision::i64));
  if (value.is_real()) return Value(scalar_array(value, Precision::f64));
  if (value.is_bool()) return Value(scalar_array(value, Precision::boolean));
  return value;
}

// ---- fields and maps ------------------------------------------------------------------------------

void RecordTarget::fill(const Space& space, std::uint32_t field, const Value& contents, const DataSite& site) {
  const Region& region = recorder_.graph.regions[space.root];
  const Precision precision = region.fields[field].precision;
  Launched launched;
  launched.what.work = Launch::Work::fill;
  launched.what.domain = Rect::of({1});
  launched.what.single = true;
  launched.what.uses.push_back({space, {}, {}, FieldMask::of({field}), Privilege::out, {}, region.name});
  launched.named.name = "fill";
  launched.named.inputs = {"contents"};
  launched.values = {is_tensor(contents) ? contents : Value(scalar_array(contents, precision))};
  if (is_tensor(contents)) {
    const Type type = type_of(contents);
    const std::int64_t points = recorder_.graph.regions.points(space).size(), elements = concrete(type).elements();
    if (type.precision != precision || (elements != 1 && elements != points))
      throw failure("E5004", site.span,
                    "fill of " + plural(static_cast<std::size_t>(points), "point") + " of " +
                        std::string(info(precision).name) + " with " + type.text());
  }
  launched.span = site.span;
  launched.scope = site.scope;
  this->launched(std::move(launched));
}

// At once: what comes later in the program may have to do with the same files.
void RecordTarget::transfer(const FileCall& call, Span span) {
  const RegionForest& forest = recorder_.graph.regions;
  Launched launched;
  launched.what.work = Launch::Work::files;
  launched.what.files = call.files;
  LaunchUse use{
      call.space, {}, {}, call.fields, call.writes ? Privilege::in : Privilege::out, {}, forest[call.space.root].name};
  launched.what.single = !call.partition.valid();
  launched.what.domain = launched.what.single ? Rect::of({1}) : forest[call.partition].colours;
  if (!launched.what.single) {
    use.partition = call.partition;
    use.projection = Projection::identity(launched.what.domain.rank);
  }
  launched.what.uses.push_back(std::move(use));
  launched.named.name = call.writes ? "detach" : "attach";
  launched.span = span;
  this->launched(std::move(launched));
}

namespace {

RecordTarget::Launched read_of(const RegionForest& forest, const Space& space, std::uint32_t field,
                               const DataSite& site) {
  const Region& region = forest[space.root];
  RecordTarget::Launched launched;
  launched.what.work = Launch::Work::read;
  launched.what.domain = Rect::of({1});
  launched.what.single = true;
  launched.what.uses.push_back({space, {}, {}, FieldMask::of({field}), Privilege::in, {}, region.name});
  launched.named.name = region.fields[field].name;
  launched.named.outputs = {"value"};
  launched.outputs = {Type::tensor(region.fields[field].precision, {})};
  launched.span = site.span;
  launched.scope = site.scope;
  return launched;
}

}  // namespace

Value RecordTarget::field_value(const Space& space, std::uint32_t field, const DataSite& site) {
  Launched launched = read_of(recorder_.graph.regions, space, field, site);
  const IndexSpace points = recorder_.graph.regions.points(space);
  std::vector<Dim>& dims = launched.outputs.front().dims;
  if (points.is_rect())
    for (std::size_t axis = 0; axis < points.rect().rank; ++axis) dims.emplace_back(points.rect().extent(axis));
  else
    dims.emplace_back(points.size());
  return this->launched(std::move(launched)).front();
}

Target::HeldElements RecordTarget::held_elements(const Space& space, std::uint32_t field, const DataSite& site) {
  std::shared_ptr<const Intervals> held = divider_ ? divider_->held(space, field) : nullptr;
  if (!held) return {field_value(space, field, site)};
  Launched launched = read_of(recorder_.graph.regions, space, field, site);
  launched.outputs.front().dims.emplace_back(held->size());
  launched.what.held = held;
  return {this->launched(std::move(launched)).front(), std::move(held)};
}

Value RecordTarget::field_total(const Space& space, std::uint32_t field, ReduceOp op, bool keeps_axes,
                                const DataSite& site) {
  constexpr std::string_view names[] = {"sum", "prod", "min", "max"};
  const std::string_view name = names[static_cast<std::size_t>(op)];
  const Region& region = recorder_.graph.regions[space.root];
  const bool needs_elements = op == ReduceOp::min || op == ReduceOp::max;
  if (needs_elements && recorder_.graph.regions.points(space).size() == 0)
    throw failure("E5003", site.span,
                  "'" + std::string(name) + "' of no points: '" + region.fields[field].name + "' has none here");
  const std::vector<Dim> axes(keeps_axes ? region.extents.rank : 0, Dim(1));
  Launched launched;
  launched.what.work = Launch::Work::total;
  launched.what.op = op;
  launched.what.domain = Rect::of({1});
  launched.what.single = true;
  launched.what.uses.push_back({space, {}, {}, FieldMask::of({field}), Privilege::in, {}, region.name});
  launched.named.name = name;
  launched.named.outputs = {"value"};
  launched.outputs = {Type::tensor(reduced_precision(region.fields[field].precision, op), axes)};
  launched.span = site.span;
  launched.scope = site.scope;
  return this->launched(std::move(launched)).front();
}

Value RecordTarget::map_member(const LaunchMap& map, MapMember member, const DataSite& site) {
  constexpr std::string_view names[] = {"sum", "prod", "min", "max", "gather"};
  const auto number = static_cast<std::size_t>(member);
  Launched launched;
  launched.what.work = member == MapMember::gather ? Launch::Work::gather : Launch::Work::reduce;
  launched.what.domain = Rect::of({1});
  launched.what.single = true;
  Type type = map.element;
  if (member == MapMember::gather) {
    type.dims.insert(type.dims.begin(), Dim(map.domain.size()));
  } else {
    launched.what.op = static_cast<ReduceOp>(number);
    type.precision = reduced_precision(type.precision, launched.what.op);
  }
  launched.named.name = names[number];
  launched.named.inputs = {"map"};
  launched.named.outputs = {"value"};
  launched.values = {Value(std::static_pointer_cast<Object>(std::make_shared<LaunchMap>(map)))};
  launched.outputs = {type};
  launched.span = site.span;
  launched.scope = site.scope;
  return this->launched(std::move(launched)).front();
}

Value RecordTarget::map_element(const LaunchMap& map, const Point& point, const DataSite& site) {
  if (point.rank != map.domain.rank || !map.domain.contains(point))
    throw failure("E5003", site.span, "point " + point.text() + " is not in " + map.domain.text());
  Launched launched;
  launched.what.work = Launch::Work::element;
  launched.what.domain = Rect::of({1});
  launched.what.single = true;
  launched.what.position = map.domain.linear(point);
  launched.named.name = "element";
  launched.named.inputs = {"map"};
  launched.named.outputs = {"value"};
  launched.values = {Value(std::static_pointer_cast<Object>(std::make_shared<LaunchMap>(map)))};
  launched.outputs = {map.element};
  launched.span = site.span;
  launched.scope = site.scope;
  return this->launched(std::move(launched)).front();
}

}  // namespace taskspec
