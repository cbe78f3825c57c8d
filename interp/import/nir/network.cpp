#include "interp/import/nir/network.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <set>

#include "interp/import/nir/kinds.hpp"
#include "interp/import/nir/problems.hpp"
#include "ir/base/diag.hpp"
#include "ir/base/text.hpp"

namespace taskspec::nir {

std::int64_t volume(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(product, extent, &product)) throw Problem{shape_text(shape) + " is too large"};
  return product;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
using Edge = std::pair<std::size_t, std::size_t>;

// ---- nested graphs --------------------------------------------------------------------------------

class Splicing {
 public:
  explicit Splicing(Problems& problems) : problems_(problems) {}

  void run(const Node& root, Network& net, std::vector<Edge>& edges) {
    add(root, "");
    std::ranges::sort(found_, {}, &Population::path);
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < found_.size(); ++i) position[found_[i].path] = i;
    std::set<Edge> unique;
    for (const auto& [from, to] : links_) unique.emplace(position.at(from), position.at(to));
    edges.assign(unique.begin(), unique.end());
    net.nodes = std::move(found_);
    if (unique.size() < links_.size()) net.notes.push_back("edges that stand there twice count once");
  }

 private:
  void add(const Node& graph, const std::string& prefix) {
    for (const Node& node : graph.nodes) {
      if (node.type == "NIRGraph") {
        add(node, prefix + node.name + "/");
        continue;
      }
      Population made;
      made.path = prefix + node.name;
      made.node = &node;
      made.kind = kind_of(node.type);
      made.inner = !prefix.empty() && (node.type == "Input" || node.type == "Output");
      if (!made.kind) problems_.add("node '" + made.path + "' has the unknown type '" + node.type + "'");
      found_.push_back(std::move(made));
    }
    for (const auto& [from, to] : graph.edges) {
      const std::optional<std::string> source = end(graph, prefix, from, to, from, "Output");
      const std::optional<std::string> target = end(graph, prefix, from, to, to, "Input");
      if (source && target) links_.emplace_back(*source, *target);
    }
  }

  // The node that an edge names; of a graph its Input or Output.
  std::optional<std::string> end(const Node& graph, const std::string& prefix, const std::string& from,
                                 const std::string& to, const std::string& name, std::string_view door) {
    const std::string edge = "edge '" + prefix + from + "' -> '" + prefix + to + "': ";
    const auto node = std::ranges::find(graph.nodes, name, &Node::name);
    if (node == graph.nodes.end()) {
      std::vector<std::string> names;
      for (const Node& other : graph.nodes) names.push_back(other.name);
      const std::optional<std::string> best = nearest(name, names);
      problems_.add(edge + "there is no node '" + prefix + name + "'" +
                    (best ? "; did you mean '" + prefix + *best + "'?" : ""));
      return std::nullopt;
    }
    if (node->type != "NIRGraph") return prefix + name;
    std::vector<std::string> doors;
    for (const Node& inner : node->nodes)
      if (inner.type == door) doors.push_back(inner.name);
    if (doors.size() == 1) return prefix + name + "/" + doors[0];
    problems_.add(edge + "graph '" + prefix + name + "' has " + plural(doors.size(), std::string(door)) + ", not one");
    return std::nullopt;
  }

  Problems& problems_;
  std::vector<Population> found_;
  std::vector<std::pair<std::string, std::string>> links_;
};

// ---- order of a step ------------------------------------------------------------------------------

Graph graph_of(std::size_t nodes, const std::vector<Edge>& edges) {
  Graph graph(nodes);
  for (const Edge& edge : edges) boost::add_edge(edge.first, edge.second, graph);  // successors in order of their names
  return graph;
}

// Edges into a node that is still open, going from the inputs, successors by their names.
std::set<Edge> back_edges(const Network& net, const Graph& graph) {
  struct Visitor : boost::dfs_visitor<> {
    std::set<Edge>* found = nullptr;
    void back_edge(Graph::edge_descriptor edge, const Graph& graph) const {
      found->emplace(boost::source(edge, graph), boost::target(edge, graph));
    }
  };
  std::set<Edge> found;
  Visitor visitor;
  visitor.found = &found;
  std::vector<boost::default_color_type> colours(net.nodes.size(), boost::white_color);
  const auto colour = boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph));
  for (const bool inputs : {true, false})
    for (std::size_t i = 0; i < net.nodes.size(); ++i)
      if (colours[i] == boost::white_color && (!inputs || (net.nodes[i].node->type == "Input" && !net.nodes[i].inner)))
        boost::depth_first_visit(graph, i, visitor, colour);
  return found;
}

// A loop of nodes that keep nothing would be its own cause.
void refuse_idle_loops(const Network& net, const std::vector<Edge>& edges, Problems& problems) {
  std::vector<Edge> idle;
  for (const Edge& edge : edges)
    if (!net.nodes[edge.first].kind->keeps && !net.nodes[edge.second].kind->keeps) idle.push_back(edge);
  const Graph graph = graph_of(net.nodes.size(), idle);
  std::vector<std::size_t> component(net.nodes.size());
  boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  std::map<std::size_t, std::vector<std::string>> loops;
  std::set<std::size_t> closed;
  for (const Edge& edge : idle)
    if (edge.first == edge.second) closed.insert(component[edge.first]);
  for (std::size_t i = 0; i < net.nodes.size(); ++i) loops[component[i]].push_back("'" + net.nodes[i].path + "'");
  for (const auto& [id, names] : loops)
    if (names.size() > 1 || closed.contains(id))
      problems.add("a loop without a node that keeps a state: " + joined(names, ", "));
}

void put_in_order(Network& net, const std::vector<Edge>& edges, Problems& problems) {
  refuse_idle_loops(net, edges, problems);
  const std::set<Edge> back = back_edges(net, graph_of(net.nodes.size(), edges));
  std::vector<Edge> forward;
  for (const Edge& edge : edges) {
    Population& to = net.nodes[edge.second];
    (back.contains(edge) ? to.back : to.from).push_back(edge.first);
    if (!back.contains(edge)) forward.push_back(edge);
  }
  const Graph step = graph_of(net.nodes.size(), forward);
  boost::topological_sort(step, std::back_inserter(net.order));
  std::ranges::reverse(net.order);
}

// ---- shapes ---------------------------------------------------------------------------------------

void check_parameters(const Population& node, Problems& problems) {
  for (const ParameterRecord& parameter : node.kind->parameters)
    if (parameter.needed && !node.node->parameters.contains(std::string(parameter.name)))
      problems.add("node '" + node.path + "' (" + node.node->type + ") has no '" + std::string(parameter.name) + "'");
}

// Shapes that agree, or of which the volumes do; the first one counts.
Shape taken(Network& net, const Population& node) {
  std::optional<Shape> shape;
  for (std::size_t from : node.from) {
    const Shape& given = net.nodes[from].out;
    if (!shape) shape = given;
    if (*shape == given) continue;
    throw Problem{"'" + net.nodes[from].path + "' gives " + shape_text(given) + ", others give " + shape_text(*shape)};
  }
  if (!shape) throw Problem{"nothing leads into it"};
  return *shape;
}

void note_other_shape(Network& net, const Population& output) {
  const std::vector<std::int64_t> said = shape_of(*output.node, "shape");
  if (said != output.out)
    net.notes.push_back("Output '" + output.path + "' says " + shape_text(said) + ", it is " + shape_text(output.out));
}

// The file may say another shape than what it leads into takes: that one counts where the volumes agree, or one is 1.
Shape given_from_outside(Network& net, std::size_t input) {
  Population& node = net.nodes[input];
  const Shape said = node.kind->shape(node, {});
  for (const Population& next : net.nodes) {
    if (std::ranges::find(next.from, input) == next.from.end() || !next.kind->wants) continue;
    const std::optional<Shape> wanted = next.kind->wants(next);
    if (!wanted || *wanted == said) continue;
    const bool fits = volume(*wanted) == volume(said) || volume(*wanted) == 1 || volume(said) == 1;
    if (!fits) continue;
    net.notes.push_back("Input '" + node.path + "' says " + shape_text(said) + ", '" + next.path + "' takes " +
                        shape_text(*wanted) + ": that counts");
    return *wanted;
  }
  return said;
}

void find_shapes(Network& net, Problems& problems) {
  std::set<std::size_t> unknown;
  for (std::size_t i : net.order) {
    Population& node = net.nodes[i];
    const bool behind = std::ranges::any_of(node.from, [&](std::size_t from) { return unknown.contains(from); });
    try {
      if (behind) throw Problem{};  // of which the cause is told
      const bool begins = node.node->type == "Input" && !node.inner;
      node.in = begins ? given_from_outside(net, i) : taken(net, node);
      node.out = begins ? node.in : node.kind->shape(node, node.in);
      if (node.node->type == "Output" && !node.inner) note_other_shape(net, node);
      if (volume(node.out) < 1) throw Problem{"it gives " + shape_text(node.out) + ", which is nothing"};
    } catch (const Problem& problem) {
      unknown.insert(i);
      if (!problem.text.empty()) problems.add("node '" + node.path + "' (" + node.node->type + "): " + problem.text);
    }
  }
  for (const Population& node : net.nodes)
    for (std::size_t from : node.back)
      if (!problems.any() && volume(net.nodes[from].out) != volume(node.in))
        problems.add("node '" + node.path + "' takes " + shape_text(node.in) + ", and '" + net.nodes[from].path +
                     "' leads back to it with " + shape_text(net.nodes[from].out));
}

}  // namespace

Network make_network(const Model& model, const std::string& path) {
  Network net;
  Problems problems;
  std::vector<Edge> edges;
  Splicing(problems).run(model.root, net, edges);
  for (const Population& node : net.nodes)
    if (node.kind) check_parameters(node, problems);
  auto has = [&](std::string_view type) {
    return std::ranges::any_of(net.nodes, [&](const Population& n) { return !n.inner && n.node->type == type; });
  };
  if (!has("Input")) problems.add("it has no Input");
  if (!has("Output")) problems.add("it has no Output");
  problems.raise(path);
  put_in_order(net, edges, problems);
  problems.raise(path);
  find_shapes(net, problems);
  problems.raise(path);
  return net;
}

}  // namespace taskspec::nir
