// Whether the rows of a unit can be made one after the other, and into how many batches rows can come.
#include <fmt/format.h>

#include <algorithm>

#include "hwsim/map/rows.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

const TaskBlock& block_of_work(const ChipNet& net, std::size_t work) { return (*net.graph)[net.works[work].block]; }

bool cluster_has_rows(const TaskBlock& block, std::size_t cluster) {
  const ClusterDef& def = block.in_cluster(cluster);
  return !def.axes.empty() && def.axes[0] == BlockAxis::y && !def.length && !def.extents && block.shape.y > 0;
}

bool brings_data(const BlockGraph& graph, const NetSource& source) {
  const TaskBlock& block = graph[source.block];
  return source.delay == 0 && !block.def->computes() && block.data && !graph.is_state(source.block);
}

std::optional<std::string> fault_of_block(const ChipNet& net, std::size_t work) {
  const TaskBlock& block = block_of_work(net, work);
  if (value_type(block).extents.size() != 3 || block.shape.y < 2) return "makes no rows";
  if (block.def->memory && block.def->memory(block) > 0) return "remembers what came before";
  const BlockRewrites& rules = *block.def->rewrites;
  if (std::ranges::find(rules.axes, BlockAxis::y) == rules.axes.end()) return "is not cut along its rows";
  if (!rules.refuses) return std::nullopt;
  const auto why = rules.refuses(block, BlockAxis::y);
  return why.empty() ? std::nullopt : std::optional("is not cut along its rows: " + std::string(why));
}

// Each of its rows comes from units, in this step or in one before, and from nowhere else.
std::optional<std::string> fault_of_input(const ChipNet& net, std::size_t work, std::size_t c) {
  const NetCluster& cluster = net.works[work].in[c];
  if (!cluster.is_there() || cluster.is_data) return std::nullopt;
  const std::string name = "'" + std::string((*net.graph)[cluster.holder].name) + "'";
  if (!cluster_has_rows(block_of_work(net, work), c) || cluster.type.extents.size() != 3)
    return "reads " + name + " as a whole";
  if (cluster.is_state) return std::nullopt;  // of each row its own part
  for (const NetSource& source : cluster.sources)
    if (brings_data(*net.graph, source)) return "reads " + name + ", of which a part is data";
  if (cluster.has_holes) return "reads " + name + ", of which a part is never filled";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> stream_fault(const ChipNet& net, const ChipUnit& unit) {
  bool reads_rows = false;
  for (const std::size_t work : {unit.axon, unit.soma}) {
    if (work == no_work) continue;
    const std::string name = "'" + std::string(block_of_work(net, work).name) + "' ";
    if (const auto fault = fault_of_block(net, work)) return name + *fault;
    for (std::size_t c = 0; c < net.works[work].in.size(); ++c) {
      const bool is_sum = work == unit.soma && unit.axon != no_work && c == 0;
      if (is_sum) continue;
      if (const auto fault = fault_of_input(net, work, c)) return name + *fault;
      const NetCluster& cluster = net.works[work].in[c];
      reads_rows |= cluster.is_there() && !cluster.is_data && !cluster.is_state;
    }
  }
  if (!reads_rows) return "'" + unit.name + "' reads nothing that comes in rows";
  return std::nullopt;
}

bool works_with(const UnitRows& a, const UnitRows& b) {
  auto same = [](const UnitPhase& x, const UnitPhase& y) {
    return x.begin == y.begin && x.end == y.end && x.tick == y.tick && x.batches.empty() == y.batches.empty();
  };
  return std::ranges::equal(a.phases, b.phases, same);
}

std::int64_t input_rows(const ChipNet& net) {
  std::int64_t most = 1;
  for (const BlockId id : net.inputs) most = std::max(most, rows_of_values((*net.graph)[id]));
  return most;
}

std::optional<std::string> slabs_fault(std::int64_t slabs, std::int64_t input_rows) {
  if (slabs >= 1 && slabs <= input_rows) return std::nullopt;
  return fmt::format("inputs come in 1 to {} batches of rows (slabs), not {}: the longest has {}", input_rows, slabs,
                     plural(static_cast<std::size_t>(input_rows), "row"));
}

}  // namespace taskspec
