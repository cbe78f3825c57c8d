#include "interp/host/null_backend.hpp"

#include "interp/host/memory.hpp"

namespace taskspec {

namespace {

class CountedPlan final : public Executable {
 public:
  explicit CountedPlan(std::shared_ptr<const Plan> plan) : taken(taken_inputs(*plan)), plan_(std::move(plan)) {}
  std::shared_ptr<const Plan> plan() const override { return plan_; }
  const std::vector<std::uint32_t> taken;

 private:
  const std::shared_ptr<const Plan> plan_;
};

// Locations are types here; bytes are counted and never had.
class NullBackend final : public PlanBackend {
 public:
  std::string name() const override { return "null"; }

  Location allocate(const ArrayType& type) override {
    count_.take(type.bytes());
    types_.push_back(type);
    live_.push_back(1);
    return Location(types_.size() - 1);
  }
  Location allocate_zeros(const ArrayType& type) override { return allocate(type); }
  void write(Location location, const Array& array) override {
    if (type(location) != array.type()) bug("an array of another type was written to a location");
  }
  Array read(Location location) const override { return Array::make(type(location)); }
  Location copy(Location location) override { return allocate(ArrayType(type(location))); }
  void free(Location location) override {
    count_.give(type(location).bytes());
    live_[location.index()] = 0;
    types_[location.index()] = {};
  }

  using PlanBackend::prepare;
  std::shared_ptr<Executable> prepare(std::shared_ptr<const Plan> plan, Bodies&) override {
    return std::make_shared<CountedPlan>(std::move(plan));
  }

  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override {
    const auto& counted = dynamic_cast<CountedPlan&>(executable);
    const Plan& plan = *counted.plan();
    Memory before = count_.now();
    count_.begin_run();
    Outcome outcome;
    if (plan.arena_bytes > 0) count_.take(plan.arena_bytes);
    for (std::size_t i = 0; i < plan.results.size(); ++i) {
      const bool takes = counted.taken[i] != UINT32_MAX;
      if (takes) outcome.taken.push_back(counted.taken[i]);
      outcome.results.emplace_back(takes ? inputs[counted.taken[i]]
                                         : allocate(plan.buffers[plan.results[i].index()].type));
    }
    if (plan.arena_bytes > 0) count_.give(plan.arena_bytes);
    outcome.tasks_run = plan.tasks.size();
    outcome.dispatches = options.schedule == Schedule::eager ? plan.tasks.size() : plan.steps();
    Memory after = count_.now();
    outcome.allocations = after.allocations - before.allocations;
    outcome.frees = after.frees - before.frees;
    outcome.peak_bytes = count_.run_peak();
    return outcome;
  }

  Memory memory() const override { return count_.now(); }
  void interrupt() override {}

 private:
  const ArrayType& type(Location location) const {
    if (!location.valid() || location.index() >= types_.size()) bug("a location that no backend gave");
    if (!live_[location.index()]) bug("use of a location that was freed");
    return types_[location.index()];
  }

  MemoryCount count_{UINT64_MAX};  // it has no bytes that could run out
  std::vector<ArrayType> types_;   // by location; never used again, so that a stale one is recognised
  std::vector<char> live_;
};

}  // namespace

std::unique_ptr<PlanBackend> make_null_backend() { return std::make_unique<NullBackend>(); }

}  // namespace taskspec
