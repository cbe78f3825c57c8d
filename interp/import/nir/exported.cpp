#include "interp/import/nir/exported.hpp"

#include <algorithm>

#include "ir/files/files.hpp"
#include "ir/json/item.hpp"

namespace taskspec::nir {

namespace {

using Arrays = std::vector<NamedArray>;

const Array& array_named(const Arrays& arrays, const Item& name) {
  const auto found = std::ranges::find(arrays, name.text(), &NamedArray::name);
  if (found == arrays.end()) name.fail("there are no such numbers");
  return found->array;
}

Node node_of(const Item& written, const Arrays& arrays) {
  Node node;
  node.name = written["name"].text();
  node.type = written["type"].text();
  const Item numbers = written["numbers"], words = written["words"];
  for (std::size_t k = 0; k < numbers.size(); ++k)
    node.parameters.emplace(numbers[k][0].text(), array_named(arrays, numbers[k][1]));
  for (std::size_t k = 0; k < words.size(); ++k) node.parameters.emplace(words[k][0].text(), words[k][1].text());
  return node;
}

}  // namespace

Model model_of_json(const std::string& json, const std::string& arrays) {
  const JsonFile file(json, read_text(json, std::size_t{1} << 30), "network");
  const Arrays numbers = load_arrays(arrays);
  Model model{written_version, {"", "NIRGraph", {}, {}, {}}};
  const Item nodes = file.root()["nodes"], edges = file.root()["edges"];
  for (std::size_t k = 0; k < nodes.size(); ++k) model.root.nodes.push_back(node_of(nodes[k], numbers));
  for (std::size_t k = 0; k < edges.size(); ++k) model.root.edges.emplace_back(edges[k][0].text(), edges[k][1].text());
  return model;
}

}  // namespace taskspec::nir
