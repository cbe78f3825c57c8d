// Which outputs take over the bytes of inputs: a reshape has the bytes of its input, an element-wise op may write
// over an input, and the new version of a place is written over the old one. Legal only when nobody can read the
// old value any more, under any parallel schedule.
#include <algorithm>

#include "ir/plan/memory.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t no_one = UINT32_MAX;
using Home = Buffer::Home;

// What a definition allows, looked up once: every pair is (input, output).
struct Takeover {
  bool known = false;
  bool is_alias = false;                                          // output 0 has the bytes of input 0
  bool any_input = false;                                         // output 0 may be written over any input of its size
  std::vector<std::pair<std::uint32_t, std::uint32_t>> versions;  // a place: its old and its new version
};

Takeover takeover_of(const Definition& definition) {
  Takeover result;
  result.known = true;
  if (definition.kind == Definition::Kind::launch) return result;
  if (definition.kind == Definition::Kind::op) {
    result.is_alias = definition.op->sharing == Sharing::same_bytes;
    result.any_input = definition.op->sharing == Sharing::in_place;
  }
  const bool one_output = definition.kind == Definition::Kind::op && definition.op->outputs.empty();
  if (!one_output && !definition.structured()) {
    for (std::uint32_t out = 0; out < definition.outputs.size(); ++out) {
      auto in = std::find(definition.inputs.begin(), definition.inputs.end(), definition.outputs[out]);
      if (in != definition.inputs.end())
        result.versions.emplace_back(static_cast<std::uint32_t>(in - definition.inputs.begin()), out);
    }
  }
  return result;
}

class BufferSharing {
 public:
  BufferSharing(Plan& plan, const PlanOptions& options, const StepOrder& order)
      : plan_(plan), options_(options), order_(order), groups_(plan.buffers.size()), values_(plan.buffers.size()) {
    index_uses();
    for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
      const Buffer& buffer = plan.buffers[b];
      values_[b].root = b;
      values_[b].bytes = buffer.type->bytes();
      groups_[b] = {buffer.home, buffer.index, b, last_use(b), buffer.home == Home::result};
    }
    for (BufferId result : plan.results) groups_[result.index()].kept = true;
  }

  std::vector<Storage> run() {
    takeovers_.resize(plan_.graph->definitions().size());
    for (std::uint32_t t = 0; t < plan_.tasks.size(); ++t) visit(t);
    for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      const Group& group = groups_[values_[b].root];
      plan_.buffers[b].home = group.home;
      plan_.buffers[b].index = group.index;
    }
    return storages();
  }

 private:
  struct Value {
    std::uint64_t bytes = 0;
    std::uint32_t root = 0;            // whose group it belongs to
    std::uint32_t next_live = no_one;  // in the list of that group
    std::uint32_t writer = no_one;     // position of a task
    bool overwritten = false;
  };
  // Of a root: the bytes and who looks at them now.
  struct Group {
    Home home;
    std::uint32_t index;       // as in Buffer
    std::uint32_t first_live;  // values in these bytes that are not overwritten
    std::uint32_t last_read;   // position of the last task that reads one of them, or no_one
    bool kept;                 // one of them is a result
  };

  void index_uses() {
    use_starts_.assign(plan_.buffers.size() + 1, 0);
    each_read([&](std::uint32_t, std::uint32_t b) { ++use_starts_[b + 1]; });
    for (std::size_t b = 0; b + 1 < use_starts_.size(); ++b) use_starts_[b + 1] += use_starts_[b];
    uses_.resize(use_starts_.back());
    std::vector<std::uint32_t> next(use_starts_.begin(), use_starts_.end() - 1);
    each_read([&](std::uint32_t t, std::uint32_t b) { uses_[next[b]++] = t; });
    step_of_.resize(plan_.tasks.size());
    for (std::uint32_t s = 0; s < plan_.steps(); ++s)
      std::fill(step_of_.begin() + plan_.step_starts[s], step_of_.begin() + plan_.step_starts[s + 1], s);
  }

  template <class F>
  void each_read(F&& f) const {
    for (std::uint32_t t = 0; t < plan_.tasks.size(); ++t)
      for (BufferId b : inputs(t)) f(t, b.value);
  }

  std::span<const BufferId> inputs(std::uint32_t t) const {
    return std::span(plan_.operands)
        .subspan(plan_.tasks[t].first_in, plan_.tasks[t].first_out - plan_.tasks[t].first_in);
  }
  std::span<const BufferId> outputs(std::uint32_t t) const {
    std::size_t end = t + 1 < plan_.tasks.size() ? plan_.tasks[t + 1].first_in : plan_.operands.size();
    return std::span(plan_.operands).subspan(plan_.tasks[t].first_out, end - plan_.tasks[t].first_out);
  }
  std::span<const std::uint32_t> uses(std::uint32_t b) const {
    return std::span(uses_).subspan(use_starts_[b], use_starts_[b + 1] - use_starts_[b]);
  }
  std::uint32_t last_use(std::uint32_t b) const { return uses(b).empty() ? no_one : uses(b).back(); }

  void visit(std::uint32_t t) {
    for (BufferId out : outputs(t)) values_[out.index()].writer = t;
    Takeover& takeover = takeovers_[(*plan_.graph)[plan_.tasks[t].node].definition.index()];
    if (!takeover.known) takeover = takeover_of(plan_.graph->definition(plan_.tasks[t].node));
    std::span<const BufferId> in = inputs(t), out = outputs(t);
    if (takeover.is_alias && may_alias(in[0].value, out[0].value)) join(in[0].value, out[0].value);
    if (takeover.any_input) {
      auto victim =
          std::find_if(in.begin(), in.end(), [&](BufferId b) { return may_overwrite(b.value, out[0].value, t); });
      if (victim != in.end()) overwrite(victim->value, out[0].value);
    }
    for (auto [slot_in, slot_out] : takeover.versions) {
      if (slot_in >= in.size() || slot_out >= out.size()) continue;
      std::uint32_t old = in[slot_in].value, fresh = out[slot_out].value;
      // The body may read its other operands after it began to write.
      auto same = [&](BufferId b) { return values_[b.index()].root == values_[old].root; };
      if (std::count_if(in.begin(), in.end(), same) == 1 && may_overwrite(old, fresh, t)) overwrite(old, fresh);
    }
  }

  bool is_donated(const Group& group) const {
    return group.home == Home::input && group.index < plan_.donated.size() && plan_.donated[group.index];
  }

  // The caller's bytes become a result only where they were donated, and then as they are: the location goes on as
  // that of the result. One location cannot be two.
  bool can_hold(std::uint32_t root, std::uint32_t fresh) const {
    const Group& group = groups_[root];
    if (plan_.buffers[fresh].home != Home::result) return true;
    if (is_donated(group)) return !group.kept && *plan_.buffers[root].type == *plan_.buffers[fresh].type;
    return group.home != Home::input && group.home != Home::constant && group.home != Home::result;
  }

  bool may_alias(std::uint32_t old, std::uint32_t fresh) const {
    return values_[old].bytes == values_[fresh].bytes && can_hold(values_[old].root, fresh);
  }

  bool may_overwrite(std::uint32_t old, std::uint32_t fresh, std::uint32_t t) const {
    const Group& group = groups_[values_[old].root];
    if (!options_.in_place || values_[old].overwritten || values_[old].bytes == 0) return false;
    if (values_[old].bytes != values_[fresh].bytes || group.kept || group.last_read != t) return false;
    if (group.home == Home::constant || !can_hold(values_[old].root, fresh)) return false;
    if (group.home == Home::input && !is_donated(group)) return false;
    StepId step(step_of_[t]);
    for (std::uint32_t b = group.first_live; b != no_one; b = values_[b].next_live)
      for (std::uint32_t reader : uses(b))
        if (StepId reading(step_of_[reader]); reading != step && !order_.before(reading, step)) return false;
    return true;
  }

  void join(std::uint32_t old, std::uint32_t fresh) {
    Group& group = groups_[values_[old].root];
    const Group& own = groups_[fresh];
    values_[fresh].root = values_[old].root;
    values_[fresh].next_live = group.first_live;
    group.first_live = fresh;
    if (own.last_read != no_one && (group.last_read == no_one || own.last_read > group.last_read))
      group.last_read = own.last_read;
    group.kept |= own.kept;
    bool placed_here = group.home == Home::scratch || (group.home == Home::arena && own.home == Home::result);
    if (placed_here) group.home = own.home, group.index = own.index;
    plan_.buffers[fresh].shares = old;
  }

  void overwrite(std::uint32_t old, std::uint32_t fresh) {
    Group& group = groups_[values_[old].root];
    for (std::uint32_t b = group.first_live; b != no_one; b = values_[b].next_live) values_[b].overwritten = true;
    group.first_live = no_one;
    group.last_read = no_one;
    join(old, fresh);
  }

  std::vector<Storage> storages() {
    std::vector<std::uint32_t> last_task(plan_.buffers.size(), 0);
    for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      if (values_[b].writer == no_one) continue;
      std::uint32_t& last = last_task[values_[b].root];
      last = std::max({last, values_[b].writer, uses(b).empty() ? 0 : last_use(b)});
    }
    std::vector<Storage> result;
    for (std::uint32_t t = 0; t < plan_.tasks.size(); ++t)
      for (BufferId out : outputs(t)) {
        std::uint32_t b = out.value;
        if (values_[b].root != b || values_[b].bytes == 0) continue;
        Storage storage{b, t, last_task[b], groups_[b].kept, {}, false};
        if (groups_[b].home == Home::arena && options_.reuse) find_end(storage);
        result.push_back(storage);
      }
    return result;
  }

  // Values overwritten before are done with when their bytes are overwritten: only the live ones count.
  void find_end(Storage& storage) {
    const Group& group = groups_[storage.root];
    std::vector<std::uint32_t>& steps = scratch_;
    steps.clear();
    for (std::uint32_t b = group.first_live; b != no_one; b = values_[b].next_live)
      for (std::uint32_t reader : uses(b)) steps.push_back(step_of_[reader]);
    if (steps.empty()) steps.push_back(step_of_[values_[group.first_live].writer]);
    StepId last(*std::max_element(steps.begin(), steps.end()));
    bool last_ends_it = std::all_of(steps.begin(), steps.end(),
                                    [&](std::uint32_t s) { return s == last.value || order_.before(StepId(s), last); });
    std::optional<StepId> end = last_ends_it ? last : order_.meeting(steps);
    if (!end) return;
    storage.free_after = *end;
    storage.free_before = *end > last;
  }

  Plan& plan_;
  const PlanOptions& options_;
  const StepOrder& order_;
  std::vector<Takeover> takeovers_;               // by definition
  std::vector<std::uint32_t> use_starts_, uses_;  // CSR: buffer -> positions of the tasks that read it
  std::vector<std::uint32_t> step_of_;            // by position
  std::vector<Group> groups_;                     // by root
  std::vector<Value> values_;                     // by buffer
  std::vector<std::uint32_t> scratch_;
};

}  // namespace

std::vector<Storage> share_buffers(Plan& plan, const PlanOptions& options, const StepOrder& order) {
  return BufferSharing(plan, options, order).run();
}

}  // namespace taskspec
