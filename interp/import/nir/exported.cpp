#include "interp/import/nir/exported.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/files/files.hpp"
#include "ir/json/item.hpp"

namespace taskspec::nir {

namespace {

using Arrays = std::vector<NamedArray>;

const Array& array_named(const Arrays& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  if (found == arrays.end()) throw failure("E7003", {}, "a network refers to numbers that are not there");
  return found->array;
}

Node node_of(const nlohmann::json& written, const Arrays& arrays) {
  Node node;
  node.name = written.at("name").get<std::string>();
  node.type = written.at("type").get<std::string>();
  for (const auto& [name, at] : written.at("numbers").items())
    node.parameters.emplace(name, array_named(arrays, at.get<std::string>()));
  for (const auto& [name, word] : written.at("words").items()) node.parameters.emplace(name, word.get<std::string>());
  return node;
}

}  // namespace

Model model_of_json(const std::string& json, const std::string& arrays) {
  const JsonFile file(json, read_text(json, std::size_t{1} << 30), "network");
  const Arrays numbers = load_arrays(arrays);
  Model model{written_version, {"", "NIRGraph", {}, {}, {}}};
  try {
    for (const nlohmann::json& node : file.json().at("nodes")) model.root.nodes.push_back(node_of(node, numbers));
    for (const nlohmann::json& edge : file.json().at("edges"))
      model.root.edges.emplace_back(edge.at(0).get<std::string>(), edge.at(1).get<std::string>());
  } catch (const nlohmann::json::exception&) {
    throw failure("E7003", {}, "'" + json + "' is no network");
  }
  return model;
}

}  // namespace taskspec::nir
