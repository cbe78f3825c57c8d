#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "ir/base/text.hpp"
#include "ir/json/read.hpp"

namespace taskspec {

// ---- places in the text ---------------------------------------------------------------------------

namespace {

constexpr std::size_t largest_text = std::size_t{64} << 20;  // blanks that stand for all sources together

struct Spot {
  std::size_t file = 0, line = 1, column = 1, length = 0;
};

std::optional<Spot> read_spot(const Item& item, std::size_t files) {
  if (item.is_null()) return std::nullopt;
  if (item.size() != 4) item.expected("file, line, column and length");
  auto number = [&](std::size_t i, std::size_t least) {
    std::size_t value = item[i].id(largest_text, "place");
    if (value < least) item[i].expected(fmt::format("a number from {} on", least));
    return value;
  };
  return Spot{item[0].id(files, "file"), number(1, 1), number(2, 1), number(3, 0)};
}

// One source: how long the lines are that are mentioned. A file may mention any line, so nothing is kept for others.
class Blanks {
 public:
  // By how much the text has grown.
  std::size_t hold(const Spot& spot) {
    const std::size_t before = last_line_, wanted = spot.column - 1 + spot.length;
    last_line_ = std::max(last_line_, spot.line);
    std::size_t& length = lengths_[spot.line];
    const std::size_t longer = wanted > length ? wanted - length : 0;
    length += longer;
    return last_line_ - before + longer;
  }

  std::string text() const {
    std::string text;
    std::size_t line = 1;
    for (const auto& [number, length] : lengths_) {
      text.append(number - line, '\n').append(length, ' ');
      line = number;
    }
    if (!lengths_.empty()) text += '\n';
    return text;
  }

 private:
  std::map<std::size_t, std::size_t> lengths_;  // by line
  std::size_t last_line_ = 0;
};

class SpanReader {
 public:
  SpanReader(Program& program, const Item& spans) : program_(program), files_(spans["files"]), blanks_(files_.size()) {}

  // First what places there are, then, with a text in which they exist, what they are.
  void read(const Item& defs, const Item& places, const ImportIds& ids) {
    if (places.size() != defs.size())
      places.fail(
          fmt::format("{} for {}", plural(places.size(), "entry", "entries"), plural(defs.size(), "definition")));
    for (bool measure : {true, false}) {
      for (std::size_t i = 0; i < places.size(); ++i) definition(i, places[i], ids, measure);
      for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = place((*node_places_)[i], measure);
      if (measure) make_sources();
    }
  }

  // Those of a graph that is read from its nodes count as well.
  void read_nodes(const Item& nodes, std::size_t count) {
    if (nodes.size() != count)
      nodes.fail(fmt::format("{} for {}", plural(nodes.size(), "entry", "entries"), plural(count, "node")));
    node_places_ = nodes;
    nodes_.resize(count);
  }
  GraphSpans take() { return {std::move(nodes_), std::move(lines_)}; }

 private:
  void definition(std::size_t id, const Item& places, const ImportIds& ids, bool measure) {
    Item at = places["at"], calls = places["calls"];
    Span span = place(at, measure);
    if (ids.agents[id].valid()) program_.agents[ids.agents[id].index()].span = span;
    if (ids.fields[id].valid()) program_.fields_tables[ids.fields[id].index()].span = span;
    if (ids.functions[id].valid())
      function(program_[ids.functions[id]], span, calls, measure);
    else if (node_places_)
      lines(id, calls, measure);
  }

  void function(Function& function, Span span, const Item& calls, bool measure) {
    function.span = span;
    if (calls.size() != function.calls.size())
      calls.fail(
          fmt::format("{} for {}", plural(calls.size(), "entry", "entries"), plural(function.calls.size(), "call")));
    for (std::size_t k = 0; k < calls.size(); ++k) function.calls[k].span = place(calls[k], measure);
  }

  void lines(std::size_t id, const Item& places, bool measure) {
    if (lines_.size() <= id) lines_.resize(id + 1);
    lines_[id].resize(places.size());
    for (std::size_t k = 0; k < places.size(); ++k) lines_[id][k] = place(places[k], measure);
  }

  Span place(const Item& item, bool measure) {
    std::optional<Spot> spot = read_spot(item, files_.size());
    if (!spot) return {};
    if (measure) {
      size_ += blanks_[spot->file].hold(*spot);
      if (size_ > largest_text) item.fail("a place beyond every text");
      return {};
    }
    SourceId source(spot->file);
    auto begin = program_.sources[source].line_start(static_cast<std::uint32_t>(spot->line)) +
                 static_cast<std::uint32_t>(spot->column) - 1;
    return {source, begin, begin + static_cast<std::uint32_t>(spot->length)};
  }

  void make_sources() {
    for (std::size_t i = 0; i < files_.size(); ++i) program_.sources.add(files_[i].text(), blanks_[i].text());
  }

  Program& program_;
  Item files_;
  std::vector<Blanks> blanks_;  // by file
  std::size_t size_ = 0;        // of all texts
  std::optional<Item> node_places_;
  std::vector<Span> nodes_;
  std::vector<std::vector<Span>> lines_;  // by def
};

}  // namespace

GraphSpans read_spans(Program& program, const Item& root, const ImportIds& ids, bool recorded) {
  const Item spans = root["spans"];
  SpanReader reader(program, spans);
  if (recorded) reader.read_nodes(spans["nodes"], root["nodes"].size());
  reader.read(root["defs"], spans["defs"], ids);
  // What has no place of its own points at its function.
  for (Function& function : program.functions)
    for (Output& output : function.outputs) output.span = function.span;
  return reader.take();
}

// ---- nodes and edges ------------------------------------------------------------------------------

namespace {

class GraphPart {
 public:
  explicit GraphPart(const Item& root)
      : root_(root),
        nodes_(root["nodes"]),
        regions_(root["regions"]),
        defs_(root["defs"].size()),
        scopes_(root["scopes"].size()),
        chains_(root["chains"].size()),
        consts_(root["consts"].size()),
        inputs_(root["inputs"].size()),
        agents_(root["agents"].size()) {}

  void check() const {
    for (std::size_t i = 0; i < regions_.size(); ++i) check_partitions(regions_[i]["partitions"]);
    for (std::size_t i = 0; i < nodes_.size(); ++i) node(i);
    Item results = root_["results"], edges = root_["edges"], chains = root_["chains"];
    for (std::size_t i = 0; i < results.size(); ++i) ref(results[i]["ref"], nodes_.size());
    for (std::size_t i = 0; i < edges.size(); ++i) edge(edges[i], i);
    for (std::size_t i = 0; i < chains.size(); ++i)
      for (std::size_t k = 0; k < chains[i]["nodes"].size(); ++k) chains[i]["nodes"][k].id(nodes_.size(), "node");
  }

 private:
  void own_id(const Item& item, std::size_t i) const {
    if (item["id"].integer() != static_cast<std::int64_t>(i)) item["id"].fail(fmt::format("expected {}, its place", i));
  }

  void node(std::size_t i) const {
    Item node = nodes_[i];
    own_id(node, i);
    node["def"].id(defs_, "definition");
    node["scope"].id(scopes_, "scope");
    node["chain"].id(chains_, "chain");
    if (auto launch = node.find("launch")) check_launch(*launch);
    if (auto agent = node.find("agent")) agent->id(agents_, "agent");
    Item in = node["in"];
    for (std::size_t slot = 0; slot < in.size(); ++slot) ref(in[slot]["ref"], i);
  }

  // What a partition was made of is in the file.
  void check_partitions(const Item& partitions) const {
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const auto made = partitions[i].find("made");
      const auto of = made ? made->find("of") : std::nullopt;
      for (std::size_t k = 0; of && k < of->size(); ++k)
        if (!has_partition((*of)[k])) (*of)[k].fail(fmt::format("there is no partition {}", (*of)[k].integer()));
    }
  }

  bool has_partition(const Item& id) const {
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      Item partitions = regions_[i]["partitions"];
      for (std::size_t k = 0; k < partitions.size(); ++k)
        if (partitions[k]["id"].integer() == id.integer()) return true;
    }
    return false;
  }

  void check_launch(const Item& launch) const {
    Item uses = launch["uses"];
    for (std::size_t i = 0; i < uses.size(); ++i) {
      Item region = uses[i]["region"];
      region.id(regions_.size(), "region");
      auto partition = uses[i].find("partition");
      if (!partition) continue;
      Item partitions = regions_[static_cast<std::size_t>(region.integer())]["partitions"];
      bool found = false;
      for (std::size_t k = 0; k < partitions.size(); ++k)
        found = found || partitions[k]["id"].integer() == partition->integer();
      if (!found) partition->fail(fmt::format("region {} has no partition {}", region.integer(), partition->integer()));
    }
  }

  // Nodes stand in program order, so one that reads a later one waits for itself.
  void ref(const Item& ref, std::size_t before) const {
    if (auto id = ref.find("const")) {
      id->id(consts_, "constant");
    } else if (auto input = ref.find("input")) {
      input->id(inputs_, "input");
    } else if (auto region = ref.find("region")) {
      region->id(regions_.size(), "region");
      const std::string& view = ref["view"].text();
      Item types = regions_[static_cast<std::size_t>(region->integer())]["types"];
      for (std::size_t i = 0; i < types.size(); ++i)
        if (types[i]["name"].text() == view) return;
      ref["view"].fail(fmt::format("region {} has no field '{}'", region->integer(), view.substr(0, 60)));
    } else {
      Item node = ref["node"];
      if (node.id(nodes_.size(), "node") >= before)
        node.fail(
            fmt::format("node {} reads node {}, which does not stand before it: a cycle", before, node.integer()));
    }
  }

  void edge(const Item& edge, std::size_t i) const {
    own_id(edge, i);
    if (edge["from"].id(nodes_.size(), "node") >= edge["to"].id(nodes_.size(), "node"))
      edge.fail(fmt::format("an edge from {} to {} closes a cycle", edge["from"].integer(), edge["to"].integer()));
  }

  const Item& root_;
  Item nodes_, regions_;
  std::size_t defs_, scopes_, chains_, consts_, inputs_, agents_;
};

}  // namespace

void check_graph_part(const Item& root) { GraphPart(root).check(); }

}  // namespace taskspec
