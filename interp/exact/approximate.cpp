#include "interp/exact/approximate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "interp/exact/engine.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/check.hpp"
#include "ir/blocks/cost.hpp"

namespace taskspec {

namespace {

constexpr std::string_view metrics[] = {"max", "mean", "l2"};

// What leaves a group: values of its blocks that others read, or that go outside.
std::vector<BlockId> leaving(const BlockGraph& graph, const BlockGroup& group) {
  std::vector<BlockId> found;
  auto is_inside = [&](BlockId id) { return std::ranges::find(group.blocks, id) != group.blocks.end(); };
  for (const BlockId id : group.blocks) {
    const bool goes_out =
        graph[id].def->kind == BlockKind::output || std::ranges::any_of(graph.edges, [&](const BlockEdge& edge) {
          return edge.from.block == id && !is_inside(edge.to.block);
        });
    if (goes_out) found.push_back(id);
  }
  return found;
}

std::int64_t stored_in(const BlockGraph& graph) {
  std::int64_t bytes = 0;
  for (const TaskBlock& block : graph.blocks) bytes += stored_bytes(block);
  return bytes;
}

class Approximator {
 public:
  Approximator(const BlockGraph& graph, const BlockTable& table, const std::vector<BlockSample>& samples)
      : table_(table), samples_(samples), exact_(graph), made_{graph, {}} {}

  Result<Approximated> run() {
    Diags diags = check();
    if (diags.has_errors()) return diags;
    for (std::size_t g = 0; g < exact_.groups.size(); ++g)
      if (exact_.groups[g].approx) search(exact_.groups[g]);
    return std::move(made_);
  }

 private:
  Diags check() const {
    Diags diags = check_blocks(exact_, table_);
    for (const BlockGroup& group : exact_.groups) {
      if (!group.approx) continue;
      auto refuse = [&](const std::string& why) {
        diags.error("E4036", group.blocks.empty() ? Span() : exact_[group.blocks[0]].span,
                    fmt::format("group {}: {}", group.number, why));
      };
      if (!(*group.approx >= 0)) refuse(fmt::format("its limit is 0 or more, not {}", *group.approx));
      if (!group.metric.empty() && std::ranges::find(metrics, group.metric) == std::end(metrics))
        refuse(fmt::format("no metric \"{}\": \"max\", \"mean\" or \"l2\"", group.metric));
      if (leaving(exact_, group).empty()) refuse("nothing leaves it");
      if (samples_.empty()) refuse("there are no samples to measure it on");
    }
    return diags;
  }

  // Values that leave a group, of all steps of all samples.
  std::optional<std::vector<double>> values(const BlockGraph& graph, const std::vector<BlockId>& blocks) const {
    Result<ExactEngine> engine = ExactEngine::make(std::make_shared<BlockGraph>(graph), {});
    if (!engine) return std::nullopt;
    std::vector<double> all;
    for (const BlockSample& sample : samples_) {
      engine->reset();
      for (const std::vector<Array>& inputs : sample) {
        engine->run(inputs);
        for (const BlockId id : blocks) {
          const Array value = engine->value(id);
          for (std::int64_t i = 0; i < value.elements(); ++i) all.push_back(value.number(i));
        }
      }
    }
    return all;
  }

  static double error(std::string_view metric, const std::vector<double>& exact, const std::vector<double>& other) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double d = std::abs(exact[i] - other[i]), x = std::abs(exact[i]);
      if (metric == "l2")
        difference += d * d, size += x * x;
      else if (metric == "mean")
        difference += d, size += x;
      else
        difference = std::max(difference, d), size = std::max(size, x);
    }
    if (difference == 0) return 0;
    if (size == 0) return INFINITY;
    return metric == "l2" ? std::sqrt(difference / size) : difference / size;
  }

  // As long as one is taken, others may become possible: a table is halved again.
  void search(const BlockGroup& group) {
    const std::vector<BlockId> measured = leaving(exact_, group);
    const std::optional<std::vector<double>> exact = values(exact_, measured);
    if (!exact) bug("a graph that is well formed does not run");
    std::set<std::string> seen;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const ApproximateRewrite& rewrite : approximate_rewrites())
        for (const BlockId block : group.blocks)
          if (try_one(group, rewrite, block, measured, *exact, seen)) goes_on = true;
    }
  }

  bool try_one(const BlockGroup& group, const ApproximateRewrite& rewrite, BlockId block,
               const std::vector<BlockId>& measured, const std::vector<double>& exact, std::set<std::string>& seen) {
    ApproximateTrial trial;
    trial.group = group.number;
    const std::optional<BlockGraph> changed = rewrite.apply(made_.graph, block, trial.rewrite);
    if (!changed || !seen.insert(trial.rewrite).second) return false;
    if (!stays_inside(group, *changed) || check_blocks(*changed, table_).has_errors()) return false;
    const std::optional<std::vector<double>> made = values(*changed, measured);
    if (!made) return false;
    trial.error = error(group.metric, exact, *made);
    trial.bytes = stored_in(made_.graph) - stored_in(*changed);
    trial.is_taken = trial.error <= *group.approx && trial.bytes > 0;
    if (trial.is_taken) made_.graph = *changed;
    made_.trials.push_back(trial);
    return trial.is_taken;
  }

  // Nothing changes but blocks of the group.
  bool stays_inside(const BlockGroup& group, const BlockGraph& changed) const {
    for (std::size_t b = 0; b < changed.blocks.size(); ++b) {
      const TaskBlock &a = made_.graph.blocks[b], &c = changed.blocks[b];
      const bool is_changed = a.precision != c.precision || a.shape != c.shape || a.attributes != c.attributes;
      if (is_changed && std::ranges::find(group.blocks, BlockId(b)) == group.blocks.end()) return false;
    }
    return true;
  }

  const BlockTable& table_;
  const std::vector<BlockSample>& samples_;
  const BlockGraph exact_;
  Approximated made_;
};

}  // namespace

Result<Approximated> approximate(const BlockGraph& graph, const BlockTable& blocks,
                                 const std::vector<BlockSample>& samples) {
  return Approximator(graph, blocks, samples).run();
}

std::string Approximated::text() const {
  std::string text;
  for (const ApproximateTrial& trial : trials)
    text += fmt::format("group {}: {}: error {:.3g}, saves {} bytes: {}\n", trial.group, trial.rewrite, trial.error,
                        trial.bytes, trial.is_taken ? "taken" : "left");
  return text;
}

}  // namespace taskspec
