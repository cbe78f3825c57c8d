#include "hwsim/map/shared_inputs.hpp"

#include <algorithm>

namespace taskspec {

namespace {

bool same_source(const NetSource& a, const NetSource& b) {
  if (a.block != b.block || a.delay != b.delay || a.initial.has_value() != b.initial.has_value()) return false;
  if (!a.initial) return true;
  if (a.initial->type() != b.initial->type()) return false;
  for (std::int64_t i = 0; i < a.initial->elements(); ++i)
    if (a.initial->integer(i) != b.initial->integer(i)) return false;
  return true;
}

bool is_input(const NetCluster& cluster) { return cluster.is_there() && !cluster.is_state && !cluster.is_data; }

}  // namespace

bool same_input(const BlockGraph& graph, const NetCluster& a, const Box& box_a, const NetCluster& b, const Box& box_b) {
  if (!is_input(a) || !is_input(b) || box_a != box_b || a.type != b.type) return false;
  if (graph[a.holder].def != graph[b.holder].def || !std::ranges::equal(a.sources, b.sources, same_source))
    return false;
  if (a.places.is_identity() && b.places.is_identity()) return a.places.size() == b.places.size();
  for (const std::int32_t place : places_in(a.type.extents, box_a)) {
    const NetPlace left = a.places[static_cast<std::size_t>(place)], right = b.places[static_cast<std::size_t>(place)];
    if (left.source != right.source || (left.source >= 0 && left.place != right.place)) return false;
  }
  return true;
}

bool reads_as_well(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, const NetCluster& cluster,
                   const Box& box) {
  for (const bool of_soma : {false, true}) {
    const std::optional<BlockPart>& part = of_soma ? piece.soma : piece.axon;
    if (!part) continue;
    const NetWork& work = net.works[of_soma ? unit.soma : unit.axon];
    for (std::size_t c = 0; c < work.in.size(); ++c)
      if (same_input(*net.graph, cluster, box, work.in[c], part->in[c])) return true;
  }
  return false;
}

}  // namespace taskspec
