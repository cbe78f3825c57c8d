// A model as it stands in the file, in plain records: what the rest of the importer sees of protobuf.
//
//   Model model = read_model("net.onnx");     model.graph.nodes[0].op == "Conv"
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/types/array.hpp"

namespace taskspec::onnx {

struct Graph;

// A tensor of the file. What is no array of ours (texts, brain floats) is only told of when something uses it.
struct Stored {
  std::string name;
  std::optional<Array> array;
  std::string other;  // the type it has else
};

// One of these, as its kind says; the lists are empty otherwise.
struct Attribute {
  std::string name;
  std::optional<std::int64_t> integer;
  std::optional<double> real;
  std::optional<std::string> text;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::optional<Stored> tensor;
  std::shared_ptr<const Graph> graph;
};

struct Node {
  std::string op, domain, name;              // domain "": that of ONNX itself
  std::vector<std::string> inputs, outputs;  // "": left out
  std::vector<Attribute> attributes;

  const Attribute* attribute(std::string_view wanted) const;
  std::string shown() const;  // its name, or what it makes
};

// An extent is a number, or a name; an empty name: it is not said.
using Extent = std::variant<std::int64_t, std::string>;

struct Declared {
  std::string name;
  std::optional<Precision> precision;  // none: no tensor of ours
  std::string other;                   // then: what it is
  std::optional<std::vector<Extent>> extents;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Stored> initializers;
  std::vector<Declared> inputs, outputs;
};

struct Model {
  Graph graph;
  std::map<std::string, std::int64_t> opsets;  // by domain
  std::string producer;
  std::uint64_t bytes = 0;  // of its file, and of the data beside it
};

// Throws Error: E7001, E7003. Data beside the model are read from its folder only.
Model read_model(const std::string& path);

// A tensor alone in its file, as the test data of ONNX are.
Stored read_tensor(const std::string& path);

}  // namespace taskspec::onnx
