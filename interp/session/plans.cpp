#include "interp/session/plans.hpp"

#include <algorithm>
#include <chrono>

#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

void name_chains(const TaskGraph& graph, const Chains& chains, Plans::Made& made) {
  for (std::size_t c = 0; c < chains.size(); ++c) {
    std::string text = "[";
    std::uint64_t bytes = 0;
    for (NodeId node : chains.members(ChainId(c))) {
      text += (text.size() > 1 ? ", " : "") + graph.definition(node).title();
      for (TypeId type : graph.out(node)) bytes += concrete(graph.type(type)).bytes();
    }
    made.chains.push_back(text + "]");
    made.bytes.push_back(bytes);
    made.work.push_back(made.executable->work(ChainId(c)));
  }
}

// std::vector<bool> has no span.
class Flags {
 public:
  explicit Flags(const std::vector<bool>& flags) : flags_(new bool[flags.size()]), count_(flags.size()) {
    std::ranges::copy(flags, flags_.get());
  }
  operator std::span<const bool>() const { return {flags_.get(), count_}; }

 private:
  const std::unique_ptr<bool[]> flags_;
  const std::size_t count_;
};

}  // namespace

Plans::Found Plans::find(const Batch& batch, const TaskGraph& graph, const Requirements& requirements) {
  if (auto known = known_.find(batch.key); known != known_.end()) return &known->second;
  const auto begin = std::chrono::steady_clock::now();
  BatchGraph of_batch = graph_of(batch, graph, requirements, users_, &memory_);
  const std::shared_ptr<const TaskGraph> g = of_batch.graph;
  const Chains chains = aggregate(*g, {.sink_rule = rule_});
  constexpr std::size_t largest_verified = 10'000;  // the verifiers use sets: a long batch would wait for them
  if (g->size() <= largest_verified) {
    verified([&] { return verify_graph(*g); });
    verified([&] { return verify_chains(*g, chains); });
  }
  const Flags donated(batch.donated), constants(batch.constants);
  Prepared prepared = backend_.prepare(g, chains, {.donated = donated, .constants = constants}, bodies_);
  if (auto* refused = std::get_if<std::vector<Poison>>(&prepared)) {
    for (Poison& poison : *refused) poison.origin = NodeId(of_batch.position(poison.origin));
    return std::move(*refused);
  }
  Made made;
  made.executable = std::get<std::shared_ptr<Executable>>(std::move(prepared));
  made.graph = std::move(of_batch);
  made.chain_count = chains.size();
  made.number = made_;
  if (named_) name_chains(*g, chains, made);
  constexpr std::size_t most_plans = 1024;    // a program whose every turn is another batch must not fill the memory
  constexpr std::size_t most_tasks = 65'536;  // about 2 KB each
  if (known_.size() == most_plans || (tasks_ += g->size()) > most_tasks) {
    known_.clear();
    tasks_ = g->size();
  }
  ++made_;
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return &known_.emplace(batch.key, std::move(made)).first->second;
}

}  // namespace taskspec
