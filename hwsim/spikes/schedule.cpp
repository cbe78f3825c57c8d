#include "hwsim/spikes/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

std::int32_t longest_extra(const SpikeConnection& connection) {
  const auto* rows = std::get_if<SparseSynapses>(&connection.synapses);
  if (!rows || rows->delays.empty()) return 0;
  return *std::max_element(rows->delays.begin(), rows->delays.end());
}

std::int32_t shortest_extra(const SpikeConnection& connection) {
  const auto* rows = std::get_if<SparseSynapses>(&connection.synapses);
  if (!rows || rows->delays.empty()) return 0;
  return *std::min_element(rows->delays.begin(), rows->delays.end());
}

// Longest paths over the connections, each as long as the ticks that it takes at least, minus its shortest delay.
class Depths {
 public:
  Depths(const SpikingNet& net, SpikeSchedule& made, const SpikeDelivery& delivery)
      : net_(net), made_(made), delivery_(delivery) {}

  // Empty, or the connections of a loop that has no end.
  std::vector<std::size_t> run() {
    const std::size_t count = net_.populations.size();
    made_.depth.assign(count, 0);
    by_.assign(count, none);
    for (std::size_t round = 0; round <= count; ++round) {
      std::size_t changed = none;
      for (std::size_t c = 0; c < net_.connections.size(); ++c)
        if (relax(c)) changed = net_.connections[c].to.index();
      if (changed == none) return {};
      if (round == count) return loop_at(changed);
    }
    return {};
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  bool relax(std::size_t c) {
    const SpikeConnection& connection = net_.connections[c];
    const std::int32_t length = delivery_.ticks(connection.to.index()) - made_.delay[c] - shortest_extra_of(c);
    const std::int32_t depth = made_.depth[connection.from.index()] + length;
    if (depth <= made_.depth[connection.to.index()]) return false;
    made_.depth[connection.to.index()] = depth;
    by_[connection.to.index()] = c;
    return true;
  }

  std::int32_t shortest_extra_of(std::size_t c) {
    if (extra_.empty())
      for (const SpikeConnection& connection : net_.connections) extra_.push_back(shortest_extra(connection));
    return extra_[c];
  }

  std::vector<std::size_t> loop_at(std::size_t population) const {
    for (std::size_t i = 0; i < by_.size(); ++i) population = net_.connections[by_[population]].from.index();
    std::vector<std::size_t> loop;
    for (std::size_t at = population; loop.empty() || at != population;) {
      loop.push_back(by_[at]);
      at = net_.connections[by_[at]].from.index();
    }
    std::reverse(loop.begin(), loop.end());
    return loop;
  }

  const SpikingNet& net_;
  SpikeSchedule& made_;
  const SpikeDelivery& delivery_;
  std::vector<std::size_t> by_;  // the connection that made a population as deep as it is
  std::vector<std::int32_t> extra_;
};

class Scheduler {
 public:
  Scheduler(const SpikingNet& net, const SpikeDelivery& delivery) : net_(net), delivery_(delivery) {
    for (const SpikeConnection& connection : net.connections) made_.delay.push_back(connection.delay);
  }

  Result<SpikeSchedule> run() {
    if (delivery_.next_tick)
      shift();
    else
      order();
    if (diags_.has_errors()) return std::move(diags_);
    count_slots();
    return std::move(made_);
  }

 private:
  // A target that made its step before its sources has a slot to spare: the one that it has just emptied.
  void count_slots() {
    std::vector<std::size_t> level(net_.populations.size());
    for (std::size_t l = 0; l < made_.levels.size(); ++l)
      for (const PopulationId id : made_.levels[l]) level[id.index()] = l;
    for (std::size_t c = 0; c < net_.connections.size(); ++c) {
      const SpikeConnection& connection = net_.connections[c];
      const std::size_t from = connection.from.index(), to = connection.to.index();
      const std::int32_t ahead = std::max(0, made_.depth[to] - made_.depth[from]);
      const std::int32_t waits = level[to] > level[from] ? 1 : 0;
      made_.slots_ = std::max(made_.slots_, made_.delay[c] + longest_extra(connection) + ahead + waits);
    }
  }

  // All populations side by side, each as late as it has to be.
  void shift() {
    for (std::vector<std::size_t> loop; !(loop = Depths(net_, made_, delivery_).run()).empty();) {
      const std::int32_t lacks = lack(loop);
      if (!delivery_.allow_delay) {
        refuse(loop, lacks);
        return;
      }
      // The longest delay of the loop is its way back.
      const std::size_t back = *std::max_element(
          loop.begin(), loop.end(), [&](std::size_t a, std::size_t b) { return made_.delay[a] < made_.delay[b]; });
      made_.delay[back] += lacks;
      made_.notes.push_back(fmt::format("connection '{}' is delayed by {} more, {} in all: {}",
                                        net_.connections[back].name, steps_text(lacks), made_.delay[back], path(loop)));
    }
    made_.levels.emplace_back();
    for (std::size_t p = 0; p < net_.populations.size(); ++p) made_.levels[0].push_back(PopulationId(p));
  }

  // Levels of the connections without delay.
  void order() {
    SpikingNet now;  // what must be done within a step
    now.populations.resize(net_.populations.size());
    std::vector<std::size_t> which;
    for (std::size_t c = 0; c < net_.connections.size(); ++c) {
      const SpikeConnection& connection = net_.connections[c];
      if (connection.delay + shortest_extra(connection) > 0) continue;
      now.connections.push_back({.name = {}, .from = connection.from, .to = connection.to, .synapses = {}});
      which.push_back(c);
    }
    SpikeSchedule levels;
    levels.delay.assign(now.connections.size(), 0);
    const SpikeDelivery within_tick;
    std::vector<std::size_t> loop = Depths(now, levels, within_tick).run();
    if (!loop.empty()) {
      for (std::size_t& c : loop) c = which[c];
      diags_.error("E4041", Span{}, fmt::format("a loop without a delay: {}", path(loop)))
          .help(fmt::format("give '{}' a delay of one step", net_.connections[loop.back()].name));
      return;
    }
    made_.depth.assign(net_.populations.size(), 0);
    made_.levels.resize(1);
    for (std::size_t p = 0; p < net_.populations.size(); ++p) {
      const auto level = static_cast<std::size_t>(levels.depth[p]);
      if (made_.levels.size() <= level) made_.levels.resize(level + 1);
      made_.levels[level].push_back(PopulationId(p));
    }
  }

  std::int32_t lack(const std::vector<std::size_t>& loop) const {
    std::int32_t sum = 0;
    for (const std::size_t c : loop)
      sum += delivery_.ticks(net_.connections[c].to.index()) - made_.delay[c] - shortest_extra(net_.connections[c]);
    return sum;
  }

  void refuse(const std::vector<std::size_t>& loop, std::int32_t lacks) {
    const auto length = static_cast<std::int32_t>(loop.size());
    std::int32_t delay = 0;
    for (const std::size_t c : loop) delay += made_.delay[c] + shortest_extra(net_.connections[c]);
    diags_
        .error("E4041", Span{},
               fmt::format("a loop of {} population{} is delayed by {}: {}", length, length == 1 ? "" : "s",
                           steps_text(delay), path(loop)))
        .note("this chip delivers a spike one tick after it was fired, so each population of a loop takes one")
        .help(fmt::format("delay '{}' by {} more, or allow it with allow_delay", net_.connections[loop.back()].name,
                          steps_text(lacks)));
  }

  static std::string steps_text(std::int32_t steps) { return fmt::format("{} step{}", steps, steps == 1 ? "" : "s"); }

  std::string path(const std::vector<std::size_t>& loop) const {
    std::string text = net_[net_.connections[loop.front()].from].name;
    for (const std::size_t c : loop) text += " -> " + net_[net_.connections[c].to].name;
    return text;
  }

  const SpikingNet& net_;
  SpikeDelivery delivery_;
  SpikeSchedule made_;
  Diags diags_;
};

}  // namespace

std::int32_t SpikeSchedule::deepest() const {
  return depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
}

Result<SpikeSchedule> schedule_spikes(const SpikingNet& net, const SpikeDelivery& delivery) {
  return Scheduler(net, delivery).run();
}

}  // namespace taskspec
