#include "bench/tbb_graph.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <deque>

namespace taskspec::bench {

namespace flow = oneapi::tbb::flow;
using Message = flow::continue_msg;

struct TbbGraph::Nodes {
  flow::graph graph;
  std::deque<flow::continue_node<Message>> tasks;
};

TbbGraph::TbbGraph(const Shape& shape, std::span<std::uint8_t> runs) : nodes_(std::make_unique<Nodes>()) {
  for (std::size_t t = 0; t < shape.size(); ++t) {
    if (runs.empty())
      nodes_->tasks.emplace_back(nodes_->graph, [](const Message&) {});
    else
      nodes_->tasks.emplace_back(nodes_->graph, [counter = &runs[t]](const Message&) { ++*counter; });
    for (std::uint32_t p : shape.before(t)) flow::make_edge(nodes_->tasks[p], nodes_->tasks[t]);
  }
}

TbbGraph::~TbbGraph() = default;

void TbbGraph::run(int threads) {
  using oneapi::tbb::global_control;
  global_control limit(global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  nodes_->tasks.front().try_put({});  // every shape has one source
  nodes_->graph.wait_for_all();
}

}  // namespace taskspec::bench
