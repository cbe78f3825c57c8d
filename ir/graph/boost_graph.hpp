// The taskGraph as Boost.Graph knows it, for its algorithms.
//
//   boost::topological_sort(boost_graph(graph), std::back_inserter(order));
//
// For sources only: a header that includes this one makes seconds of compilation out of each of its readers.
#pragma once
#include <boost/graph/compressed_sparse_row_graph.hpp>

#include "ir/graph/task_graph.hpp"

namespace taskspec {

using BoostTaskGraph = boost::compressed_sparse_row_graph<boost::bidirectionalS, boost::no_property, std::uint32_t,
                                                          boost::no_property, std::uint32_t, std::uint32_t>;

struct TaskGraph::Boost {
  BoostTaskGraph graph;
};

// Vertices are node ids; an edge's property is its position in edges(). The edges out of a node: futures, then orders,
// each by target. Made on first use after a change, so first use before sharing the graph between threads.
inline const BoostTaskGraph& boost_graph(const TaskGraph& graph) { return graph.boost().graph; }

}  // namespace taskspec
