// The calls of the program as all shards compare them, and as the analysis sees them.
#include "interp/control/field_files.hpp"
#include "interp/control/region_values.hpp"
#include "interp/mpi/shard_launches.hpp"

namespace taskspec {

namespace {

const NumberedNames& use_names() {
  static const NumberedNames names("argument");
  return names;
}
const NumberedNames& value_names() {
  static const NumberedNames names("value");
  return names;
}

void put_value(CallEncoder& call, const char* as, const Value& value) {
  const Array* known = value.is_array() ? &value.array() : known_number(value);
  if (!known) return;  // a future
  const Array& array = *known;
  const ArrayType& type = array.type();
  if (type.elements() == 1 && info(type.precision).is_float)
    call.real(as, array.number(0));
  else if (type.elements() == 1)
    call.integer(as, array.integer(0));
  else
    call.text(as, hash128(std::span(array.raw(), array.bytes())).text());
}

void mix(std::uint64_t& into, std::uint64_t value) {
  into = (into ^ value) * 0x9E3779B97F4A7C15;
  into ^= into >> 29;
}

}  // namespace

std::uint64_t ShardLaunches::work_of(const Launch& what) {
  return (static_cast<std::uint64_t>(what.work) << 32) + (what.task.valid() ? what.task.value + 1 : 0);
}

CallKind ShardLaunches::kind_of(const Launched& launch) const {
  using Work = Launch::Work;
  switch (launch.what.work) {
    case Work::fill:
      return CallKind::fill;
    case Work::read:
    case Work::total:
      return CallKind::receive;
    case Work::files:
      return launch.what.uses.front().privilege == Privilege::in ? CallKind::detach : CallKind::attach;
    case Work::reduce:
    case Work::gather:
    case Work::element:
      return CallKind::future;
    default:
      return launch.what.single ? CallKind::single : CallKind::launch;
  }
}

namespace {

// Futures by what made them: one from before a loop is the same in each turn, however many calls back.
std::uint64_t work_and_futures(std::uint64_t work, std::span<const CallFuture> futures) {
  std::uint64_t hash = work;
  for (const CallFuture& future : futures) {
    hash = (hash ^ (future.work * 0x9E3779B97F4A7C15 + future.slot)) * 0xC2B2AE3D27D4EB4F;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

// Which call made it; none: what is made of tensors alone is no call.
CallFuture ShardLaunches::future_of(const Value& value) const {
  if (auto* map = value.as<LaunchMap>()) {
    auto* home = dynamic_cast<Home*>(map->home.get());
    return home ? home->future : CallFuture();
  }
  if (!value.as<Tensor>()) return {};
  const auto made = tensors_.find(value.object().get());
  return made == tensors_.end() || made->second.tensor.expired() ? CallFuture() : made->second.future;
}

// What the program holds no more is forgotten from time to time: nobody can ask for it.
ShardLaunches::Outputs ShardLaunches::made_by(CallFuture first, Outputs outputs) {
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const CallFuture future{first.call, static_cast<std::uint32_t>(slot), first.work};
    if (auto* map = outputs[slot].as<LaunchMap>()) {
      if (auto* home = dynamic_cast<Home*>(map->home.get())) home->future = future;
    } else if (outputs[slot].as<Tensor>()) {
      const std::shared_ptr<const Object> tensor = outputs[slot].object();
      tensors_.insert_or_assign(tensor.get(), MadeTensor{tensor, future});
    }
  }
  if (tensors_.size() >= most_tensors_) {
    std::erase_if(tensors_, [](const auto& made) { return made.second.tensor.expired(); });
    most_tensors_ = std::max<std::size_t>(1024, 2 * tensors_.size());
  }
  return outputs;
}

// Tells the log of the call, and gives what the analysis sees of it.
Operation ShardLaunches::operation(const Launched& launch, CallKind kind, const PointSharding& sharding) {
  const Launch& what = launch.what;
  CallEncoder call = run_.begin_call();
  const std::uint64_t task = what.task.valid() ? what.task.value : 0;
  call.created("task", Created::task, task).domain("domain", what.domain).sharding("sharding", sharding);
  if (kind == CallKind::future) call.text("operation", launch.named.name);
  if (what.work == Launch::Work::files) call.text("files", dynamic_cast<const FieldFiles&>(*what.files).call_key());
  for (std::size_t u = 0; u < what.uses.size(); ++u) {
    const LaunchUse& use = what.uses[u];
    const char* as = use_names()[u];
    if (use.partition.valid())
      call.created(as, Created::partition, data_.number(use.partition)).projection("projection", use.projection);
    else if (use.space.partition.valid())
      call.created(as, Created::partition, data_.number(use.space.partition)).text("colour", use.space.colour.text());
    else
      call.created(as, Created::region, data_.number(use.space.root));
    std::string rest = std::to_string(static_cast<int>(use.privilege)) + "/" + std::to_string(static_cast<int>(use.op));
    use.fields.each([&](std::uint32_t field) { rest += " " + std::to_string(field); });
    call.text("fields", rest);
  }
  std::vector<CallFuture> futures;
  for (std::size_t k = 0; k < launch.values.size(); ++k) {
    const char* as = value_names()[k];
    if (k < what.numbers.size() && what.numbers[k]) {
      call.projection(as, *what.numbers[k]);  // an int that differs from point to point
      continue;
    }
    put_value(call, as, launch.values[k]);
    const CallFuture future = future_of(launch.values[k]);
    if (future.call == 0) continue;
    call.future(as, future.call, future.slot);
    if (k < what.taken.size() && what.taken[k]) call.projection("element", what.taken[k]->at);
    futures.push_back(future);
  }
  if (what.work == Launch::Work::element) call.integer("position", what.position);
  Operation op;
  op.number = run_.called(kind, launch.named.name, launch.span);
  op.what = work_and_futures(work_of(what), futures);
  op.kind = kind;
  op.domain = what.domain;
  op.sharding = sharding;
  op.uses = what.uses;
  // Ids of regions and partitions are given again; these are not.
  for (const LaunchUse& use : what.uses) {
    mix(op.what, data_.number(use.space.root));
    for (const PartitionId partition : {use.space.partition, use.partition})
      if (partition.valid()) mix(op.what, data_.number(partition));
  }
  return op;
}

void ShardLaunches::note_new() {
  if (data_.note_new()) loop_.forget();
}

void ShardLaunches::receiving(const Tensor& tensor, Span span) {
  note_new();
  loop_.interrupt();
  const auto made = tensors_.find(&tensor);
  const bool is_part = made != tensors_.end() && made->second.is_part && !made->second.tensor.expired();
  Type type = tensor.type;
  if (is_part) type.dims.clear();  // they differ
  run_.begin_call().text("type", type.text());
  run_.called(CallKind::receive, "receive", span);
}

void ShardLaunches::begin_trace(Span place) {
  note_new();
  run_.begin_trace(place);
}

void ShardLaunches::end_trace(Span place) {
  note_new();
  run_.end_trace(place);
}

}  // namespace taskspec
