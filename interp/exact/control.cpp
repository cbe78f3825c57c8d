#include "interp/exact/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/exact/fill.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

bool ControlledStep::has_arrived(const ExactFeed& feed) const {
  return feed.delay > 0 || plan_.blocks[feed.source.index()].gives[feed.port] != 0;
}

// A value that a block made once fires once, though it is kept.
bool ControlledStep::fires(ExactTrigger& trigger) {
  if (trigger.asked) return trigger.fired;
  trigger.asked = true;
  const ExactFeed& feed = trigger.cluster.feeds[0];
  trigger.fired = feed.delay > 0 || (plan_.blocks[feed.source.index()].ran && has_arrived(feed));
  if (!trigger.fired) return false;
  fill_exactly(plan_, trigger.cluster, step_);
  const auto* bytes = trigger.cluster.values.raw();
  trigger.fired =
      std::any_of(bytes, bytes + trigger.cluster.values.bytes(), [](std::byte b) { return b != std::byte{0}; });
  return trigger.fired;
}

bool ControlledStep::is_let_run(const ExactBlock& block) {
  bool is_let = block.triggers.empty();
  for (const std::size_t trigger : block.triggers) is_let = fires(plan_.triggers[trigger]) || is_let;
  return is_let;
}

void ControlledStep::count_arrived(ExactBlock& block) {
  for (std::size_t c = 0; c < block.in.size(); ++c) {
    const ExactCluster& cluster = block.in[c];
    block.wanted[c] = cluster.is_there() ? 1 : 0;
    block.arrived[c] = std::ranges::all_of(cluster.feeds, [&](const ExactFeed& feed) { return has_arrived(feed); });
  }
}

// By the clusters that choose, if they have come. False: they make no sense.
bool ControlledStep::choose(ExactBlock& block) {
  const BlockControl* control = block.block->def->control;
  if (!control) return true;
  for (std::size_t c = 0; c < block.in.size(); ++c) {
    if (!block.block->in_cluster(c).chooses) continue;
    if (!block.arrived[c]) return true;
    if (!block.in[c].alias && !block.in[c].is_done) fill_exactly(plan_, block.in[c], step_);
  }
  const std::string fault = control->wants(*block.block, block.in_bytes, block.wanted);
  if (fault.empty()) return true;
  faults_.error("E4033", block.block->span,
                fmt::format("{} '{}': {}", block.block->def->name, block.block->name, fault));
  return false;
}

bool ControlledStep::may_run(ExactBlock& block) {
  block.ran = false;
  if (!is_let_run(block)) {
    std::ranges::fill(block.gives, 1);
    return false;
  }
  count_arrived(block);
  std::ranges::fill(block.gives, 0);
  if (!choose(block)) return false;
  for (std::size_t c = 0; c < block.in.size(); ++c)
    if (block.wanted[c] && !block.arrived[c]) {
      waits_for_ever(block);
      return false;
    }
  std::ranges::fill(block.gives, 1);
  return block.ran = true;
}

bool ControlledStep::comes_by_itself(const ExactBlock& block, std::size_t cluster) const {
  return std::ranges::any_of(block.in[cluster].feeds, [&](const ExactFeed& feed) {
    return feed.delay == 0 && !plan_.blocks[feed.source.index()].is_steady && has_arrived(feed);
  });
}

std::vector<std::string> ControlledStep::names(const ExactBlock& block, bool arrived, bool wanted) const {
  std::vector<std::string> found;
  for (std::size_t c = 0; c < block.in.size(); ++c) {
    if (!block.in[c].is_there() || (block.wanted[c] != 0) != wanted) continue;
    const bool is_one = arrived ? comes_by_itself(block, c) : !block.arrived[c];
    if (is_one) found.push_back(block.block->in_cluster_name(c));
  }
  return found;
}

// Blocks come in an order in which nothing can come later. One that nothing has come for just does not run.
void ControlledStep::waits_for_ever(const ExactBlock& block) {
  const std::vector<std::string> come = names(block, true, true), missing = names(block, false, true);
  if (come.empty()) return;
  faults_.error("E4031", block.block->span,
                fmt::format("{} '{}' waits for {}, which does not come in step {}; {} came", block.block->def->name,
                            block.block->name, joined(missing, ", "), step_, joined(come, ", ")));
}

void ControlledStep::has_run(const ExactBlock& block) {
  const std::vector<std::string> left = names(block, true, false);
  if (left.empty()) return;
  faults_.error("E4032", block.block->span,
                fmt::format("{} '{}' leaves {} over in step {}: its token does not take what came there",
                            block.block->def->name, block.block->name, joined(left, ", "), step_));
}

void ControlledStep::finish() {
  if (faults_.has_errors()) throw Error(std::move(faults_));
}

}  // namespace taskspec
