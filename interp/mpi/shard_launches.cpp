#include "interp/mpi/shard_launches.hpp"

#include <algorithm>

#include "interp/control/builtins/builtins.hpp"
#include "interp/control/field_files.hpp"
#include "interp/control/host_target.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/value_key.hpp"
#include "ir/base/key.hpp"
#include "ir/region/made_here.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

ShardLaunches::Outputs ShardLaunches::launched(RecordTarget&, Launched launch) {
  using Work = Launch::Work;
  note_new();
  if (LaunchLoop::may_take(launch)) return looped(std::move(launch));
  loop_.interrupt();
  switch (launch.what.work) {
    case Work::task:
    case Work::native:
      return launch.what.single ? single(std::move(launch)) : points(std::move(launch));
    case Work::fill:
      return fill(std::move(launch));
    case Work::read:
      return read(std::move(launch));
    case Work::total:
      return total(std::move(launch));
    case Work::files:
      return files(std::move(launch));
    case Work::reduce:
    case Work::gather:
    case Work::element:
      return of_map(std::move(launch));
    case Work::join:
    case Work::exchange:
    case Work::share:
      break;
  }
  return recorded(std::move(launch));
}

// ---- whose points they are ------------------------------------------------------------------------

namespace {

const Builtin* only_builtin(const Program& program, FunctionId function) {
  const Builtin* found = nullptr;
  for (const Call& call : program[function].calls) {
    if (!call.builtin) continue;
    if (found) return nullptr;
    found = call.builtin;
  }
  return found;
}

void put_sharding(std::string& key, const PointSharding& sharding) {
  put_number(key, static_cast<std::uint64_t>(sharding.kind));
  put_number(key, sharding.owner_shard.value);
  put_hash(key, sharding.hash);
}

}  // namespace

PointSharding ShardLaunches::sharding_of(const Value& value, Span span) {
  auto* callable = value.as<Callable>();
  if (!callable) return PointSharding::block();
  if (const Builtin* builtin = only_builtin(interpreter_.program(), callable->function)) {
    if (builtin == &builtin_block) return PointSharding::block();
    if (builtin == &builtin_cyclic) return PointSharding::cyclic();
  }
  std::string key;
  taskspec::put_value(key, value);
  if (const auto known = shardings_.find(key); known != shardings_.end()) return known->second.at(span);
  // Asked where nothing of a graph can be: a function of numbers. It runs whole, with what the top level holds.
  auto target = std::make_shared<HostTarget>();
  auto alone = std::make_shared<Interpreter>(interpreter_.nested(*target));
  alone->forget_partner();
  auto function = [target, alone, value, span](std::int64_t point, std::int64_t size, std::int64_t shards) {
    return alone->apply(value, {Value(point), Value(size), Value(shards)}, {span}).value.integer();
  };
  return shardings_.emplace(key, PointSharding::of(std::move(function), hash128(key), span)).first->second;
}

ShardLaunches::OwnNumbers ShardLaunches::own(const PointSharding& sharding, const Rect& domain) {
  std::string key;
  put_sharding(key, sharding);
  put_signed(key, domain.size());
  auto& known = own_[key];
  if (known) return known;
  const OwnPoints points = own_points(sharding, domain.size(), run_.shards(), run_.self());
  auto numbers = std::make_shared<std::vector<std::uint32_t>>();
  numbers->reserve(static_cast<std::size_t>(points.count()));
  for (std::int64_t i = 0; i < points.count(); ++i) numbers->push_back(static_cast<std::uint32_t>(points[i]));
  return known = std::move(numbers);
}

// ---- what must move -------------------------------------------------------------------------------

std::size_t ShardLaunches::width(const LaunchUse& use, std::uint32_t field) const {
  return info(forest()[use.space.root].fields[field].precision).bytes;
}

std::optional<LaunchLoop::Exchange> ShardLaunches::exchange(const LaunchUse& use,
                                                            std::vector<FieldExchange::Field> fields) {
  LaunchUse whole{Space{use.space.root}, {}, {}, {}, Privilege::inout, {}, use.name};
  std::vector<Value> inputs;
  for (const FieldExchange::Field& field : fields) {
    if (!field.movement) continue;
    whole.fields.add(field.field);
    for (const Movement::Fill& fill : field.movement->fills)
      inputs.push_back(run_.data.contents({use.space.root, field.field}, fill.number));
  }
  if (whole.fields.empty()) return std::nullopt;
  run_.will_say();
  return LaunchLoop::Exchange{std::move(whole), std::move(fields), std::move(inputs)};
}

void ShardLaunches::record(LaunchLoop::Exchange exchange, const Site& site) {
  Launched message;
  message.what.work = Launch::Work::exchange;
  message.what.domain = Rect::of({1});
  message.what.single = true;
  message.what.uses.push_back(std::move(exchange.whole));
  message.what.files = std::make_shared<FieldExchange>(run_, std::move(exchange.fields));
  message.named.name = "exchange";
  message.named.inputs.assign(exchange.inputs.size(), "contents");
  message.values = std::move(exchange.inputs);
  message.span = site.span;
  message.scope = site.scope;
  recorded(std::move(message));
}

void ShardLaunches::record(LaunchLoop::Made made) {
  for (LaunchLoop::Exchange& one : made.exchanges) record(std::move(one), {made.launch.span, made.launch.scope});
  recorded(std::move(made.launch));
}

std::vector<LaunchLoop::Exchange> ShardLaunches::exchanges(const Operation& op, const Launch& launch) {
  std::vector<LaunchLoop::Exchange> all;
  for (const LaunchUse& use : launch.uses) {
    if (use.privilege != Privilege::in && use.privilege != Privilege::inout) continue;
    const KeyId key = run_.keys.of(op, use);
    std::vector<FieldExchange::Field> fields;
    use.fields.each([&](std::uint32_t field) {
      fields.push_back({field, width(use, field), run_.data.read({use.space.root, field}, key)});
    });
    if (auto one = exchange(use, std::move(fields))) all.push_back(*std::move(one));
  }
  return all;
}

void ShardLaunches::bring(const Operation& op, const Launch& launch, const Site& site) {
  for (LaunchLoop::Exchange& one : exchanges(op, launch)) record(std::move(one), site);
}

// To every shard what a point of the launch takes, or to one.
void ShardLaunches::bring_all(const Launch& launch, std::size_t point, const Site& site, std::optional<ShardId> to) {
  for (const LaunchUse& use : launch.uses) {
    if (use.privilege == Privilege::out) continue;
    const Space space = use.at(launch.domain.point(static_cast<std::int64_t>(point)));
    if (!to || *to == run_.self()) touch(space);
    std::vector<FieldExchange::Field> fields;
    use.fields.each([&](std::uint32_t field) {
      const LaneKey lane{use.space.root, field};
      fields.push_back(
          {field, width(use, field), to ? run_.data.collect(lane, space, *to) : run_.data.gather(lane, space)});
    });
    if (auto one = exchange(use, std::move(fields))) record(*std::move(one), site);
  }
}

// Of the points of a use those for which this shard answers, as far as a fill has set them.
void ShardLaunches::fill_in(const LaunchUse& use, const Space& space, const Site& site) {
  std::vector<FieldExchange::Field> fields;
  use.fields.each([&](std::uint32_t field) {
    fields.push_back({field, width(use, field), run_.data.fills({use.space.root, field}, space)});
    touch(use.space.root, fields.back().movement.get());
  });
  if (auto one = exchange(use, std::move(fields))) record(*std::move(one), site);
}

std::shared_ptr<const LaunchMessages> ShardLaunches::contributions(const Operation& op, const Launch& launch,
                                                                   OwnNumbers own, const Site& site) {
  std::vector<Contributions::Use> uses;
  for (std::size_t u = 0; u < launch.uses.size(); ++u) {
    const LaunchUse& use = launch.uses[u];
    if (use.privilege != Privilege::reduce) continue;
    const KeyId key = run_.keys.of(op, use);
    fill_in(use, bound(forest(), use), site);
    Contributions::Use made;
    made.op = use.op;
    made.use = u;
    use.fields.each([&](std::uint32_t field) {
      made.precisions.push_back(forest()[use.space.root].fields[field].precision);
      made.movements.push_back(run_.data.reduce({use.space.root, field}, key));
      touch(use.space.root, made.movements.back().get());
    });
    uses.push_back(std::move(made));
  }
  run_.will_say();
  return std::make_shared<Contributions>(run_, std::move(uses), std::move(own));
}

void ShardLaunches::wrote(const Operation& op) {
  for (const LaunchUse& use : op.uses) {
    if (use.privilege != Privilege::out && use.privilege != Privilege::inout) continue;
    const KeyId key = run_.keys.of(op, use);
    use.fields.each([&](std::uint32_t field) { run_.data.write({use.space.root, field}, key); });
  }
}

void ShardLaunches::wrote_everywhere(const Launch& launch) {
  for (const LaunchUse& use : launch.uses) {
    if (use.privilege == Privilege::in) continue;
    launch.each_point([&](const Point& point) {
      const Space space = use.at(point);
      touch(space);
      use.fields.each([&](std::uint32_t field) { run_.data.everywhere({use.space.root, field}, space); });
      return use.partition.valid();
    });
  }
}

// Null: all elements are here.
const PointSharding* ShardLaunches::sharding_of_map(const Value& value) {
  auto* map = value.as<LaunchMap>();
  auto* home = map ? dynamic_cast<Home*>(map->home.get()) : nullptr;
  return home && !home->is_shared ? &home->sharding : nullptr;
}

// Maps that are asked for elements of other shards: all elements come here, once.
void ShardLaunches::share_maps(const Launched& launch, const PointSharding* sharding) {
  for (std::size_t k = 0; k < launch.values.size(); ++k) {
    auto* map = launch.values[k].as<LaunchMap>();
    auto* home = map ? dynamic_cast<Home*>(map->home.get()) : nullptr;
    if (!home || home->is_shared) continue;
    const bool takes_own = sharding && *sharding == home->sharding && launch.what.domain == map->domain &&
                           (k >= launch.what.taken.size() || !launch.what.taken[k] ||
                            launch.what.taken[k]->at == Projection::identity(map->domain.rank));
    if (takes_own) continue;
    home->is_shared = true;
    SharedMap::Map shared;
    shared.width = static_cast<std::size_t>(concrete(map->element).bytes());
    for (std::size_t shard = 0; shard < run_.shards(); ++shard)
      shared.points.push_back(
          own_points(home->sharding, map->domain.size(), run_.shards(), ShardId(static_cast<std::uint32_t>(shard))));
    std::string key = "m";
    put_sharding(key, home->sharding);
    key += map->domain.text() + map->element.text();
    Launched message;
    message.what.work = Launch::Work::share;
    message.what.domain = Rect::of({1});
    message.what.single = true;
    run_.will_say();
    message.what.messages = std::make_shared<SharedMap>(run_, std::move(shared), std::move(key));
    message.values = {launch.values[k]};
    message.named.name = "share";
    message.named.inputs = {"map"};
    message.span = launch.span;
    message.scope = launch.scope;
    recorded(std::move(message));
  }
}

// ---- each kind of work ----------------------------------------------------------------------------

ShardLaunches::Outputs ShardLaunches::points(Launched launch) {
  const PointSharding sharding = sharding_of(launch.sharding, launch.span);
  const Site site{launch.span, launch.scope};
  const Operation op = operation(launch, CallKind::launch, sharding);
  run_.issue(op);
  touch(op, launch.what, sharding);
  share_maps(launch, &sharding);
  bring(op, launch.what, site);
  launch.what.own = own(sharding, launch.what.domain);
  if (launch.what.reduces()) launch.what.messages = contributions(op, launch.what, launch.what.own, site);
  const std::uint64_t work = work_of(launch.what);
  Outputs outputs = recorded(std::move(launch));
  wrote(op);
  for (Value& output : outputs)
    if (auto* map = output.as<LaunchMap>()) {
      auto home = std::make_shared<Home>();
      home->sharding = sharding;
      const_cast<LaunchMap*>(map)->home = std::move(home);
    }
  return made_by({op.number, 0, work}, std::move(outputs));
}

// One that a loop may make again and again.
ShardLaunches::Outputs ShardLaunches::looped(Launched launch) {
  const PointSharding sharding = sharding_of(launch.sharding, launch.span);
  Operation op = operation(launch, CallKind::launch, sharding);
  run_.issue(op);
  touch(op, launch.what, sharding);
  LaunchLoop::Made made{std::move(launch), {}, {}, {}, {}};
  for (const LaunchUse& use : op.uses)
    use.fields.each([&](std::uint32_t field) { made.lanes.push_back(run_.data.state({use.space.root, field})); });
  made.exchanges = exchanges(op, made.launch.what);
  made.launch.what.own = own(sharding, made.launch.what.domain);
  wrote(op);
  auto before = made.lanes.begin();
  for (const LaunchUse& use : op.uses)
    use.fields.each([&](std::uint32_t field) {
      const LaneKey lane{use.space.root, field};
      const std::uint32_t after = run_.data.state(lane);
      if (after != *before++) made.left.emplace_back(lane, after);
    });
  made.op = std::move(op);
  loop_.take(std::move(made));
  return {};
}

LaunchBatch* ShardLaunches::batch() {
  // In the middle of a batch no call has been made since the last one that was expected: nothing else is due.
  if (!loop_.is_in_batch() || data_.has_new()) note_new();
  return loop_.batch();
}

// A task that is called alone is shard 0's. On the others a task that does nothing stands in its place, so that all
// have one graph, and batches that end at the same places.
ShardLaunches::Outputs ShardLaunches::single(Launched launch) {
  const PointSharding sharding = PointSharding::owner(ShardId(0));
  const bool is_own = run_.self() == ShardId(0);
  const std::uint64_t work = work_of(launch.what);  // before it differs from shard to shard
  const Site site{launch.span, launch.scope};
  const Operation op = operation(launch, CallKind::single, sharding);
  run_.issue(op);
  touch(op, launch.what, sharding);
  share_maps(launch, nullptr);
  bring(op, launch.what, site);
  if (launch.what.reduces())
    launch.what.messages = contributions(op, launch.what, own(sharding, launch.what.domain), site);
  if (!is_own) launch.what.work = Launch::Work::join;
  const std::vector<Type> types = launch.outputs;
  const std::vector<std::string> names = launch.named.outputs;
  Outputs outputs = recorded(std::move(launch));
  wrote(op);
  if (!outputs.empty()) outputs = shared(std::move(outputs), types, names, site);
  return made_by({op.number, 0, work}, std::move(outputs));
}

// Values of shard 0 come to all.
ShardLaunches::Outputs ShardLaunches::shared(Outputs values, const std::vector<Type>& types,
                                             const std::vector<std::string>& names, const Site& site) {
  std::vector<OwnersValue::Part> parts;
  for (const Type& type : types) parts.push_back({0, static_cast<std::size_t>(concrete(type).bytes())});
  Launched message;
  message.what.work = Launch::Work::share;
  message.what.domain = Rect::of({1});
  message.what.single = true;
  run_.will_say();
  message.what.messages = std::make_shared<OwnersValue>(run_, ShardId(0), std::move(parts));
  message.values = std::move(values);
  message.outputs = types;
  message.named.name = "share";
  message.named.inputs = names;
  message.named.outputs = names;
  message.span = site.span;
  message.scope = site.scope;
  return recorded(std::move(message));
}

// One element for all points is written by nobody yet: each shard fills in what it needs of them, when it does. Of a
// tensor with the elements of all points every shard writes all: it has the tensor, too.
ShardLaunches::Outputs ShardLaunches::fill(Launched launch) {
  run_.issue(operation(launch, CallKind::fill, PointSharding::owner(ShardId(0))));
  const Value& contents = launch.values.front();
  if (concrete(target_.type_of(contents)).elements() == 1) {
    // A number is sent to the graph here, by all shards alike, and not by who fills in first.
    const Value sent = contents.is_array() ? target_.constant(contents.array()) : contents;
    for (const LaunchUse& use : launch.what.uses)
      use.fields.each([&](std::uint32_t field) { run_.data.fill({use.space.root, field}, use.space, sent); });
    return {};
  }
  wrote_everywhere(launch.what);
  return recorded(std::move(launch));
}

ShardLaunches::Outputs ShardLaunches::read(Launched launch) {
  Operation op = operation(launch, CallKind::receive, PointSharding::block());
  op.is_counted = false;
  op.by_owners = true;
  run_.issue(op);
  const Site site{launch.span, launch.scope};
  if (launch.what.held) {
    const LaunchUse& use = launch.what.uses.front();
    run_.touched.add(use.space.root, *launch.what.held);
    fill_in(use, use.space, site);
  } else {
    bring_all(launch.what, 0, site);
  }
  const std::uint64_t work = work_of(launch.what);
  const bool is_part = launch.what.held != nullptr;
  Outputs outputs = made_by({op.number, 0, work}, recorded(std::move(launch)));
  tensors_.at(outputs.front().object().get()).is_part = is_part;
  return outputs;
}

std::shared_ptr<const Intervals> ShardLaunches::held(const Space& space, std::uint32_t field) {
  if (run_.shards() == 1) return nullptr;
  note_new();
  loop_.interrupt();  // what was noted of a loop is part of what this finds
  return std::make_shared<const Intervals>(run_.data.answers_for({space.root, field}, space));
}

// Nobody gets the elements: each shard says what its own come to.
ShardLaunches::Outputs ShardLaunches::total(Launched launch) {
  Operation op = operation(launch, CallKind::receive, PointSharding::block());
  op.is_counted = false;
  op.by_owners = true;
  run_.issue(op);
  const LaunchUse& use = launch.what.uses.front();
  fill_in(use, use.space, {launch.span, launch.scope});
  run_.will_say();
  use.fields.each([&](std::uint32_t field) {
    const std::shared_ptr<const TotalShare> share = run_.data.total({use.space.root, field}, use.space);
    touch(use.space.root, *share);
    launch.what.messages =
        std::make_shared<FieldTotal>(run_, share, launch.what.op, forest()[use.space.root].fields[field].precision);
  });
  const std::uint64_t work = work_of(launch.what);
  return made_by({op.number, 0, work}, recorded(std::move(launch)));
}

// Of a map whose elements are with their points only what is asked for goes round: the nodes of a tree, or one element.
ShardLaunches::Outputs ShardLaunches::of_map(Launched launch) {
  const Operation op = operation(launch, CallKind::future, PointSharding::block());
  const std::uint64_t work = work_of(launch.what);
  const PointSharding* sharding = sharding_of_map(launch.values.front());
  if (sharding && launch.what.work == Launch::Work::reduce) {
    const LaunchMap& map = *launch.values.front().as<LaunchMap>();
    const ArrayType element = concrete(map.element);
    const MapShape shape{element.precision, launch.what.op, map.domain.size(),
                         static_cast<std::size_t>(element.elements())};
    std::string key = "r";
    put_sharding(key, *sharding);
    key += map.domain.text() + map.element.text();
    OwnPoints own = own_points(*sharding, shape.points, run_.shards(), run_.self());
    run_.will_say();
    launch.what.messages = std::make_shared<ReducedMap>(run_, shape, std::move(own), std::move(key));
  } else if (sharding && launch.what.work == Launch::Work::element) {
    const LaunchMap& map = *launch.values.front().as<LaunchMap>();
    const auto bytes = static_cast<std::size_t>(concrete(map.element).bytes());
    const ShardId owner = sharding->shard(launch.what.position, map.domain.size(), run_.shards());
    const OwnersValue::Part part{static_cast<std::size_t>(launch.what.position) * bytes, bytes};
    run_.will_say();
    launch.what.messages = std::make_shared<OwnersValue>(run_, owner, std::vector{part});
  } else {
    share_maps(launch, nullptr);
  }
  return made_by({op.number, 0, work}, recorded(std::move(launch)));
}

// That the file can be read, before anything is changed. Otherwise all shards say so alike.
void ShardLaunches::check(const Launched& launch) {
  const Space& space = launch.what.uses.front().space;
  std::optional<Diag> refused =
      run_.by_first([&] { dynamic_cast<const FieldFiles&>(*launch.what.files).check(0, forest().points(space)); });
  if (!refused) return;
  refused->primary.span = launch.span;
  label_made(*refused, forest()[space.root]);
  throw Error(*std::move(refused));
}

// Shard 0 alone reads and writes a file; what it has read is at home there, and goes to who uses it. Of files of pieces
// each shard has those of its points. Nothing is written before all are known to have come to it alike, and who reads
// what others wrote comes behind them.
ShardLaunches::Outputs ShardLaunches::files(Launched launch) {
  const CallKind kind = kind_of(launch);
  const bool reads = kind == CallKind::attach;
  const Site site{launch.span, launch.scope};
  if (!launch.what.single) {
    const PointSharding sharding = PointSharding::block();
    const Operation op = operation(launch, kind, sharding);
    run_.issue(op);
    touch(op, launch.what, sharding);
    if (!reads) bring(op, launch.what, site), run_.release();
    launch.what.own = own(sharding, launch.what.domain);
    Outputs outputs = recorded(std::move(launch));
    wrote(op);
    run_.barrier();
    return outputs;
  }
  const Operation op = operation(launch, kind, PointSharding::owner(ShardId(0)));
  run_.issue(op);
  touch(op, launch.what, PointSharding::owner(ShardId(0)));
  if (reads)
    check(launch);
  else
    bring_all(launch.what, 0, site, ShardId(0)), run_.release();
  // What shard 0 wants to write is sent; and before it reads, all has been said that was recorded so far.
  if (reads || run_.self() != ShardId(0)) target_.recorder().run_effects();
  Outputs outputs;
  if (run_.self() == ShardId(0)) outputs = recorded(std::move(launch));
  if (reads) wrote(op);
  run_.barrier();
  return outputs;
}

}  // namespace taskspec
