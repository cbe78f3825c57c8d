#include "interp/host/eager.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace taskspec {

namespace {

class Unaggregation {
 public:
  explicit Unaggregation(const Plan& from) : from_(from), plan_(std::make_shared<Plan>()) {}

  std::shared_ptr<const Plan> run() {
    plan_->graph = from_.graph;
    plan_->buffers = from_.buffers;
    plan_->types = from_.types;
    plan_->results = from_.results;
    put_tasks();
    link_steps();
    find_homes();
    find_lives();
    place();
    plan_->peak_bytes = plan_->peak_without_chains = plan_->arena_bytes;
    return plan_;
  }

 private:
  void put_tasks() {
    std::vector<std::uint32_t> order(from_.tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [this](std::uint32_t t) { return from_.tasks[t].node; });
    for (std::uint32_t t : order) {
      std::size_t begin = from_.tasks[t].first_in, out = from_.tasks[t].first_out;
      std::size_t end = t + 1 < from_.tasks.size() ? from_.tasks[t + 1].first_in : from_.operands.size();
      auto base = static_cast<std::uint32_t>(plan_->operands.size());
      plan_->tasks.push_back({from_.tasks[t].node, base, base + static_cast<std::uint32_t>(out - begin)});
      plan_->operands.insert(plan_->operands.end(), from_.operands.begin() + static_cast<std::ptrdiff_t>(begin),
                             from_.operands.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  // One step after the other.
  void link_steps() {
    auto count = static_cast<std::uint32_t>(plan_->tasks.size());
    for (std::uint32_t s = 0; s <= count; ++s) {
      plan_->step_starts.push_back(s);
      plan_->successor_starts.push_back(count == 0 ? 0 : std::min(s, count - 1));
      if (s < count) plan_->predecessors.push_back(s == 0 ? 0 : 1);
      if (s > 0 && s < count) plan_->successors.push_back(s);
    }
  }

  void find_homes() {
    for (Buffer& buffer : plan_->buffers) {
      bool given = buffer.home == Buffer::Home::input || buffer.home == Buffer::Home::constant;
      if (!given || buffer.shares != UINT32_MAX) buffer.home = Buffer::Home::arena;
      buffer.shares = UINT32_MAX;
    }
    for (std::size_t i = plan_->results.size(); i-- > 0;) {
      Buffer& buffer = plan_->buffers[plan_->results[i].index()];
      if (buffer.home == Buffer::Home::input || buffer.home == Buffer::Home::constant) continue;
      buffer.home = Buffer::Home::result;
      buffer.index = static_cast<std::uint32_t>(i);
    }
  }

  void find_lives() {
    for (Buffer& buffer : plan_->buffers) buffer.first = buffer.last = StepId();
    for (std::size_t s = 0; s < plan_->tasks.size(); ++s) {
      std::size_t end = s + 1 < plan_->tasks.size() ? plan_->tasks[s + 1].first_in : plan_->operands.size();
      for (std::size_t k = plan_->tasks[s].first_in; k < end; ++k) {
        Buffer& buffer = plan_->buffers[plan_->operands[k].index()];
        if (!buffer.first.valid()) buffer.first = StepId(s);
        buffer.last = StepId(s);
      }
    }
  }

  // Bytes that became free are taken again by values of the same size.
  void place() {
    std::vector<std::vector<std::uint32_t>> begins(plan_->tasks.size()), ends(plan_->tasks.size());
    for (std::uint32_t b = 0; b < plan_->buffers.size(); ++b) {
      const Buffer& buffer = plan_->buffers[b];
      if (buffer.home != Buffer::Home::arena || !buffer.first.valid()) continue;
      begins[buffer.first.index()].push_back(b);
      ends[buffer.last.index()].push_back(b);
    }
    std::map<std::size_t, std::vector<std::uint64_t>> free;
    auto size = [this](std::uint32_t b) { return (plan_->buffers[b].type->bytes() + 63) / 64 * 64; };
    for (std::size_t s = 0; s < begins.size(); ++s) {
      for (std::uint32_t b : begins[s]) {
        std::vector<std::uint64_t>& places = free[size(b)];
        plan_->buffers[b].offset =
            places.empty() ? std::exchange(plan_->arena_bytes, plan_->arena_bytes + size(b)) : places.back();
        if (!places.empty()) places.pop_back();
      }
      for (std::uint32_t b : ends[s]) free[size(b)].push_back(plan_->buffers[b].offset);
    }
  }

  const Plan& from_;
  std::shared_ptr<Plan> plan_;
};

}  // namespace

std::shared_ptr<const Plan> unaggregated(const Plan& plan) { return Unaggregation(plan).run(); }

}  // namespace taskspec
