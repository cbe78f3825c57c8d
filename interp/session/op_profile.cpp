#include "interp/session/op_profile.hpp"

#include <algorithm>

#include "ir/base/key.hpp"

namespace taskspec {

namespace {

// More operations than elements, on two matrices at least: convolutions and their kin as well.
bool is_product(const OpInstance& call, const Work& work) {
  const auto is_matrix = [](const ArrayType& type) { return type.extents.size() > 1; };
  double elements = 0;
  for (const ArrayType& type : call.out) elements += static_cast<double>(type.elements());
  return call.op && call.op->fusion == Fusion::opaque && std::ranges::count_if(call.in, is_matrix) > 1 &&
         work.operations > 4 * elements;
}

}  // namespace

std::size_t OpProfile::row_of(const OpRow& row) {
  std::string key;
  put_number(key, static_cast<std::uint64_t>(row.pass));
  for (const std::string* part : {&row.task, &row.op, &row.type}) put_text(key, *part);
  for (std::uint64_t part : {row.span.source.value, row.span.begin, row.span.end}) put_number(key, part);
  auto [known, fresh] = row_of_.emplace(std::move(key), rows_.size());
  if (fresh) rows_.push_back(row);
  rows_[known->second].fused |= row.fused;  // in one of its plans at least
  return known->second;
}

OpProfile::KnownPlan& OpProfile::known(const Plans::Made& plan, const TaskGraph& graph, std::span<const NodeId> nodes) {
  auto [known, fresh] = plans_.try_emplace(plan.number);
  if (!fresh) return known->second;
  std::vector<OpSite> sites = plan.executable->ops();
  std::ranges::stable_sort(sites, {}, [](const OpSite& site) { return std::pair(site.node, site.index); });
  KnownPlan& ops = known->second;
  ops.first.assign(plan.graph.graph->size() + 1, 0);
  for (const OpSite& site : sites) {
    ++ops.first[site.node.index() + 1];
    const NodeId node = nodes[plan.graph.position(site.node)];
    const OpInstance& call = site.instance;
    const Work work = call.op ? call.op->work(call) : Work{};
    OpRow row;
    row.pass = graph.definition(node).pass;
    row.task = site.task ? *site.task : graph.definition(node).title();
    row.op = call.op ? call.op->name : site.name;
    row.span = site.span.valid() ? site.span : graph[node].span;
    if (!call.out.empty()) row.type = call.out[0].text();
    row.product = is_product(call, work);
    row.fused = site.fused;
    const std::size_t at = row_of(row);
    ops.ops.push_back({std::move(row), site.span.valid(), at, site.node, work});
  }
  for (std::size_t i = 1; i < ops.first.size(); ++i) ops.first[i] += ops.first[i - 1];
  return ops;
}

void OpProfile::add(const Plans::Made& plan, const TaskGraph& graph, std::span<const NodeId> nodes,
                    const std::vector<OpRecord>& records) {
  KnownPlan& ops = known(plan, graph, nodes);
  for (Known& op : ops.ops) {
    if (op.placed) continue;
    const Span span = graph[nodes[plan.graph.position(op.node)]].span;
    if (span == op.row.span) continue;
    op.row.span = span;
    op.at = row_of(op.row);
  }
  for (const OpRecord& record : records) {
    const std::size_t first = ops.first[record.node.index()] + record.index;
    if (first >= ops.first[record.node.index() + 1]) continue;  // of a backend that does not tell which op it was
    const Known& op = ops.ops[first];
    OpRow& row = rows_[op.at];
    ++row.calls;
    row.ns += static_cast<std::int64_t>(static_cast<double>(record.ticks) * ns_per_tick_);
    row.work.operations += op.work.operations;
    row.work.bytes += op.work.bytes;
  }
}

}  // namespace taskspec
