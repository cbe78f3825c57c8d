#include "interp/control/watched_target.hpp"

#include <algorithm>
#include <chrono>

#include "interp/control/interpreter.hpp"
#include "interp/control/op_text.hpp"
#include "interp/control/operands.hpp"
#include "ir/base/key.hpp"

namespace taskspec {

namespace {

using InnerClock = std::chrono::steady_clock;

std::int64_t since(InnerClock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(InnerClock::now() - begin).count();
}

// By the record of the op, of its first call: loops repeat shapes.
Work work_of(const OpDef& op, const OperandList& list, const Target& target, const List& made) {
  OpInstance instance{&op, {}, list.attributes, {}};
  for (const Value& tensor : list.tensors) instance.in.push_back(concrete(target.type_of(tensor)));
  for (const Value& output : made)
    if (output.is_array()) instance.out.push_back(output.array().type());
  return op.work(instance);
}

}  // namespace

WatchedTarget::Key WatchedTarget::key(const void* what, Span span) const {
  return {around_, what, span.source.value, span.begin, span.end};
}

// Arrays that share their bytes count once.
void WatchedTarget::note_alive(const List& made) {
  std::erase_if(alive_, [](const auto& entry) { return entry.first.expired(); });
  const auto note = [&](const Array& array) {
    const auto is_it = [&](const auto& entry) { return entry.first.lock() == array.storage(); };
    if (std::ranges::none_of(alive_, is_it)) alive_.emplace_back(array.storage(), array.bytes());
  };
  for (const Value& value : made)
    if (value.is_array()) note(value.array());
  std::uint64_t sum = 0;
  for (const auto& entry : alive_) sum += entry.second;
  most_alive_ = std::max(most_alive_, sum);
}

void WatchedTarget::op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) {
  const auto [known, fresh] = known_.emplace(key(call.op, call.span), entries_.size());
  std::optional<OperandList> list;
  if (fresh) list = sort_operands(*call.op, *this, operands, type);
  const InnerClock::time_point begin = InnerClock::now();
  ImmediateTarget::op(frame, call, operands, type, made);
  const std::int64_t ns = since(begin);
  note_alive(made);
  if (fresh) {
    Entry& entry = entries_.emplace_back();
    entry.way = around_ == 0 ? "" : entries_[around_ - 1].way;
    entry.row.op = call.op->name;
    entry.row.span = call.span;
    if (!made.empty() && made[0].is_array()) entry.row.type = made[0].array().type().text();
    entry.work = work_of(*call.op, *list, *this, made);
  }
  Entry& entry = entries_[known->second];
  ++entry.row.calls;
  entry.row.ns += ns;
  entry.row.work.operations += entry.work.operations;
  entry.row.work.bytes += entry.work.bytes;
}

TaskResult WatchedTarget::task(Interpreter& interpreter, const TaskCall& call) {
  const auto [known, fresh] = known_.emplace(key(&program_[call.function], call.span), entries_.size());
  const std::size_t own = known->second;
  if (fresh) {
    Entry& entry = entries_.emplace_back();
    const std::string name = program_.display_name(call.function);
    entry.way = around_ == 0 ? name : entries_[around_ - 1].way + " > " + name;
    entry.row.op = "task";
    entry.row.span = call.span;
  }
  const std::size_t outer = std::exchange(around_, own + 1);
  const InnerClock::time_point begin = InnerClock::now();
  TaskResult result = ImmediateTarget::task(interpreter, call);
  around_ = outer;
  ++entries_[own].row.calls;
  entries_[own].row.ns += since(begin);
  return result;
}

std::size_t InnerProfile::row(OpRow like) {
  std::string key;
  for (const std::string* part : {&like.task, &like.op, &like.type}) put_text(key, *part);
  for (std::uint64_t part : {like.span.source.value, like.span.begin, like.span.end}) put_number(key, part);
  const auto [known, fresh] = known_.emplace(std::move(key), rows_.size());
  if (fresh) {
    like.calls = 0, like.ns = 0, like.work = {};
    rows_.push_back(std::move(like));
  }
  return known->second;
}

// The turns of a loop: what stands in its body ran once in each, if it does not stand in a branch there.
void InnerProfile::add(const Program& program, const TaskGraph& graph, NodeId node, const WatchedTarget& target,
                       std::int64_t ns) {
  const Definition& definition = graph.definition(node);
  const std::lock_guard lock(mutex_);
  std::uint64_t turns = 0;
  if (definition.kind == Definition::Kind::loop) {
    const Function& function = program[definition.function];
    const Call& loop = function[definition.call];
    for (CallId id : loop.blocks.empty() ? std::vector<CallId>() : loop.blocks.back().calls)
      for (const WatchedTarget::Entry& entry : target.entries())
        if (entry.row.span == function[id].span) turns = std::max(turns, entry.row.calls);
  }
  if (definition.structured()) {
    OpRow like;
    like.task = definition.title();
    like.op = definition.kind == Definition::Kind::loop ? "turn" : "run";
    like.span = like.inside = graph[node].span;
    const std::size_t at = row(std::move(like));
    rows_[at].calls += definition.kind == Definition::Kind::loop ? turns : 1;
    rows_[at].ns += ns;
    std::uint64_t& alive = alive_[at];
    alive = std::max(alive, target.most_alive());
  }
  for (const WatchedTarget::Entry& entry : target.entries()) {
    OpRow like = entry.row;
    like.task = definition.title() + (entry.way.empty() ? "" : " > " + entry.way);
    like.inside = graph[node].span;
    OpRow& known = rows_[row(std::move(like))];
    known.calls += entry.row.calls;
    known.ns += entry.row.ns;
    known.work.operations += entry.row.work.operations;
    known.work.bytes += entry.row.work.bytes;
  }
}

std::vector<OpRow> InnerProfile::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<OpRow> rows = rows_;
  for (const auto& [row, alive] : alive_)
    if (alive > 0) rows[row].type = bytes_text(static_cast<double>(alive)) + " at once";
  return rows;
}

}  // namespace taskspec
