#include "interp/import/nir/model.hpp"

#include <algorithm>
#include <cstring>

namespace taskspec::nir {

namespace {

void complete(Node& node) {
  for (Node& inner : node.nodes) complete(inner);
  const auto threshold = node.parameters.find("v_threshold");
  const auto* like = threshold == node.parameters.end() ? nullptr : std::get_if<Array>(&threshold->second);
  if (like && !node.parameters.contains("v_reset")) node.parameters.emplace("v_reset", Array::make(like->type()));
  const bool filters = node.type == "CubaLI" || node.type == "CubaLIF";
  if (!filters || node.parameters.contains("w_in")) return;
  Array one = Array::make({Precision::f64, {}});
  one.data<double>()[0] = 1;
  node.parameters.emplace("w_in", std::move(one));
}

bool same(const Parameter& a, const Parameter& b) {
  if (a.index() != b.index()) return false;
  if (auto* word = std::get_if<std::string>(&a)) return *word == std::get<std::string>(b);
  const Array &x = std::get<Array>(a), &y = std::get<Array>(b);
  return x.type() == y.type() && (x.bytes() == 0 || std::memcmp(x.raw(), y.raw(), x.bytes()) == 0);
}

template <class Items>
Items sorted(Items items, auto by) {
  std::ranges::sort(items, {}, by);
  return items;
}

}  // namespace

Model completed(Model model) {
  complete(model.root);
  return model;
}

bool same(const Node& a, const Node& b) {
  if (a.name != b.name || a.type != b.type || a.parameters.size() != b.parameters.size()) return false;
  const bool parameters = std::ranges::equal(a.parameters, b.parameters, [](const auto& x, const auto& y) {
    return x.first == y.first && same(x.second, y.second);
  });
  if (!parameters || sorted(a.edges, std::identity()) != sorted(b.edges, std::identity())) return false;
  return std::ranges::equal(sorted(a.nodes, &Node::name), sorted(b.nodes, &Node::name),
                            [](const Node& x, const Node& y) { return same(x, y); });
}

}  // namespace taskspec::nir
