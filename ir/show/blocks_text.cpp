// What the words mean: interp/import/task_ir/README.md.
#include "ir/show/blocks_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

namespace {

constexpr std::string_view test_modes[] = {"MEMORY_STATE", "PRIM_OUTPUT", "CASE_OUTPUT"};

// "150 values, -3..3"
std::string data_words(const Array& data) {
  if (!data.valid()) return "given with each run";
  const auto count = static_cast<std::size_t>(data.elements());
  if (data.elements() == 0 || is_float(data.precision())) return plural(count, "value");
  std::int64_t least = data.integer(0), most = least;
  for (std::int64_t k = 1; k < data.elements(); ++k) {
    least = std::min(least, data.integer(k));
    most = std::max(most, data.integer(k));
  }
  return fmt::format("{}, {}..{}", plural(count, "value"), least, most);
}

class IrText {
 public:
  // Without an archive data are told of in a few words.
  IrText(const BlockGraph& graph, std::optional<std::string_view> archive)
      : graph_(graph), archive_(archive), has_bias_edge_(graph.blocks.size()), groups_(graph.blocks.size()) {
    for (const BlockEdge& edge : graph.edges)
      if (!edge.trigger && graph[edge.to.block].in_cluster(edge.to.cluster).name == "bias")
        has_bias_edge_[edge.to.block.index()] = true;
    for (const BlockGroup& group : graph.groups)
      for (const BlockId block : group.blocks) groups_[block.index()].push_back(&group);
  }

  BlocksText write() {
    out_.text = "ir " + graph_.name + " {\n";
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) block(BlockId(b));
    for (const BlockEdge& one : graph_.edges) edge(one);
    if (graph_.test) test(*graph_.test);
    out_.text += "}\n";
    return std::move(out_);
  }

 private:
  BiasKind expected_bias(BlockId id) const;
  std::vector<std::string> words(BlockId id) const;
  std::vector<std::string> group_words(BlockId id) const;
  void block(BlockId id);
  void edge(const BlockEdge& edge);
  void test(const BlockTestConfig& test);
  std::string port(const BlockPort& port, bool is_input) const;
  std::string side_file(std::string name, const Array& array) {
    out_.arrays.push_back({name, array});
    return fmt::format("file({}, name: {})", in_quotes(*archive_), in_quotes(name));
  }

  const BlockGraph& graph_;
  const std::optional<std::string_view> archive_;
  std::vector<bool> has_bias_edge_;                     // by block
  std::vector<std::vector<const BlockGroup*>> groups_;  // by block
  BlocksText out_;
};

// The bias that a reader takes for granted: a vector where an edge brings one, a constant where that is given.
BiasKind IrText::expected_bias(BlockId id) const {
  if (has_bias_edge_[id.index()]) return BiasKind::vector;
  return graph_[id].has("constant_b") ? BiasKind::constant : BiasKind::none;
}

// Numbers of its groups; and what is said of a group as a whole, where this is its first block.
std::vector<std::string> IrText::group_words(BlockId id) const {
  std::vector<std::string> numbers, all;
  for (const BlockGroup* group : groups_[id.index()]) numbers.push_back(std::to_string(group->number));
  if (numbers.size() == 1) all.push_back("group: " + numbers[0]);
  if (numbers.size() > 1) all.push_back("group: [" + joined(numbers, ", ") + "]");
  for (const BlockGroup* group : groups_[id.index()])
    if (group->approx && group->blocks[0] == id)
      all.push_back(fmt::format("approx: {}, metric: {}", print(*group->approx), in_quotes(group->metric)));
  return all;
}

// What stands in ( ) behind its extents.
std::vector<std::string> IrText::words(BlockId id) const {
  constexpr std::string_view biases[] = {"none", "vector", "constant"};
  const TaskBlock& block = graph_[id];
  std::vector<std::string> all;
  for (const auto& [def, value] : block.attributes) {
    const bool is_word = value >= 0 && value < static_cast<std::int64_t>(def->words.size());
    const std::string text = is_word ? in_quotes(def->words[static_cast<std::size_t>(value)]) : std::to_string(value);
    all.push_back(fmt::format("{}: {}", def->name, text));
  }
  if (block.bias != expected_bias(id))
    all.push_back(fmt::format("bias: \"{}\"", biases[static_cast<std::size_t>(block.bias)]));
  if (block.number >= 0) all.push_back(fmt::format("number: {}", block.number));
  if (block.is_virtual) all.push_back(fmt::format("virtual: {}", *block.is_virtual));
  if (block.major_task) all.push_back(fmt::format("major_task: {}", *block.major_task));
  if (block.pipeline) all.push_back(fmt::format("pipeline: {}", *block.pipeline));
  if (block.socket) all.push_back(fmt::format("socket: {}", *block.socket));
  const std::vector<std::string> groups = group_words(id);
  all.insert(all.end(), groups.begin(), groups.end());
  return all;
}

void IrText::block(BlockId id) {
  const TaskBlock& block = graph_[id];
  out_.text +=
      fmt::format("  {} : {} {} {}", block.name, block.def->name, info(block.precision).name, block.shape.text());
  if (const std::vector<std::string> all = words(id); !all.empty()) out_.text += " (" + joined(all, ", ") + ")";
  if (block.data)
    out_.text += archive_ ? " = " + side_file(block.name, *block.data) : "  // " + data_words(*block.data);
  out_.text += '\n';
}

std::string IrText::port(const BlockPort& port, bool is_input) const {
  const TaskBlock& block = graph_[port.block];
  std::string text = block.name;
  const bool is_only = block.def->in.size() == 1 && !block.def->in[0].repeated;
  if (is_input && !is_only) text += "." + block.in_cluster_name(port.cluster);
  if (!is_input && port.cluster > 0) text += "." + block.out_cluster_name(port.cluster);
  const ClusterDef& cluster = is_input ? block.in_cluster(port.cluster) : block.out_cluster(port.cluster);
  if (port.box == whole(cluster_extents(block, cluster))) return text;
  std::vector<std::string> ranges;
  for (std::size_t k = 0; k < port.box.size.size(); ++k)
    ranges.push_back(fmt::format("{}..{}", port.box.position[k], port.box.position[k] + port.box.size[k]));
  return text + "[" + joined(ranges, ", ") + "]";
}

// What a declaration can read before the program runs: a file it could not. One number where all are the same.
std::string written_values(const Array& array) {
  bool is_one = !is_float(array.precision()) && array.elements() > 0;
  for (std::int64_t i = 1; is_one && i < array.elements(); ++i) is_one = array.integer(i) == array.integer(0);
  return is_one ? std::to_string(array.integer(0)) : print(nested_lists(array));
}

void IrText::edge(const BlockEdge& edge) {
  out_.text += "  " + port(edge.from, false) + " -> " + port(edge.to, true);
  for (const Rearrangement& move : edge.moves) out_.text += " | " + move.text();
  if (edge.delay != 0 || edge.initial) {
    out_.text += fmt::format(" | delay({}", edge.delay);
    if (edge.initial) out_.text += ", initial: " + written_values(*edge.initial);
    out_.text += ')';
  }
  if (edge.trigger) out_.text += " | trigger()";
  if (edge.number >= 0) out_.text += fmt::format(" | number({})", edge.number);
  out_.text += '\n';
}

void IrText::test(const BlockTestConfig& test) {
  std::vector<std::string> words;
  if (test.mode) words.push_back(fmt::format("mode: \"{}\"", test_modes[static_cast<std::size_t>(*test.mode)]));
  if (test.random_seed) words.push_back(fmt::format("seed: {}", *test.random_seed));
  if (test.name) words.push_back("name: " + in_quotes(*test.name));
  if (!words.empty()) out_.text += "  test : TEST of [" + joined(words, ", ") + "]\n";
}

}  // namespace

std::string blocks_text(const BlockGraph& graph) { return IrText(graph, std::nullopt).write().text; }

BlocksText blocks_text(const BlockGraph& graph, std::string_view archive) { return IrText(graph, archive).write(); }

}  // namespace taskspec
