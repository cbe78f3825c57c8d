#include "hwsim/spikes/window_max.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

constexpr std::int32_t most_byte = 127;

struct Term {
  std::int32_t source = 0, target = 0, weight = 1;
};

SparseSynapses rows_of(std::vector<Term> terms, std::int64_t sources) {
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.source < b.source; });
  SparseSynapses rows{
      .offsets = std::vector<std::uint32_t>(static_cast<std::size_t>(sources) + 1), .targets = {}, .weights = {}};
  for (const Term& term : terms) {
    ++rows.offsets[static_cast<std::size_t>(term.source) + 1];
    rows.targets.push_back(static_cast<std::uint32_t>(term.target));
    rows.weights.push_back(term.weight);
  }
  for (std::size_t i = 1; i < rows.offsets.size(); ++i) rows.offsets[i] += rows.offsets[i - 1];
  return rows;
}

class Halving {
 public:
  Halving(SpikingNet& net, PopulationId values, WindowMax max) : net_(net), values_(values), max_(std::move(max)) {}

  PopulationId run() {
    while (!is_last_) halve();
    return values_;
  }

 private:
  GradedSums cut_from(std::int32_t least) const {
    GradedSums sums{.block = max_.cut};
    sums.block->set(*sums.block->def->find_attribute("cmp"), least);
    return sums;
  }
  void connect(PopulationId from, PopulationId to, std::vector<Term> terms) {
    net_.connect({.name = fmt::format("{} to {}", net_[from].name, net_[to].name),
                  .from = from,
                  .to = to,
                  .synapses = rows_of(std::move(terms), net_[from].neurons())});
  }

  // Of each window the first two, the next two, ...: one place each.
  void halve() {
    is_last_ = std::ranges::all_of(max_.windows, [](const auto& window) { return window.size() <= 2; });
    std::vector<Term> firsts, differences, seconds;  // seconds: from differences to what is kept
    std::int32_t kept = 0, pairs = 0;
    for (std::vector<std::int32_t>& window : max_.windows) {
      std::vector<std::int32_t> left;
      for (std::size_t i = 0; i < window.size(); i += 2) {
        const bool is_pair = i + 1 < window.size();
        if (window[i] != WindowMax::zero) firsts.push_back({window[i], kept, 1});
        if (is_pair) {
          if (window[i] != WindowMax::zero) differences.push_back({window[i], pairs, -1});
          if (window[i + 1] != WindowMax::zero) differences.push_back({window[i + 1], pairs, 1});
          seconds.push_back({pairs++, kept, 1});
        }
        left.push_back(kept++);
      }
      window = std::move(left);
    }
    const PopulationId result = net_.add(is_last_ ? last() : between(kept));
    connect(values_, result, std::move(firsts));
    for (std::int32_t above = 0; pairs > 0 && above < most_byte - std::min(max_.least, 0); above += most_byte) {
      const PopulationId more = net_.add({.name = fmt::format("{} over {}", max_.result.name, above),
                                          .shape = {.f = pairs},
                                          .model = cut_from(0),
                                          .bias = std::vector<std::int32_t>(static_cast<std::size_t>(pairs), -above)});
      connect(values_, more, differences);
      connect(more, result, seconds);
    }
    values_ = result;
  }
  SpikePopulation last() const {
    SpikePopulation result = max_.result;
    result.model = cut_from(max_.least);
    return result;
  }
  SpikePopulation between(std::int32_t count) const {
    return {.name = max_.result.name + " halved", .shape = {.f = count}, .model = cut_from(max_.least)};
  }

  SpikingNet& net_;
  PopulationId values_;
  WindowMax max_;
  bool is_last_ = false;
};

}  // namespace

PopulationId add_window_max(SpikingNet& net, PopulationId values, WindowMax max) {
  return Halving(net, values, std::move(max)).run();
}

}  // namespace taskspec
