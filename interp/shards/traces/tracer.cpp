#include "interp/shards/traces/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace taskspec {

struct Tracer::Trace {
  bool is_found = false;
  std::uint64_t id = 0;
  std::vector<std::uint64_t> sequence;  // of one that was found
  std::vector<TemplatePtr> templates;
  std::size_t next = 0;  // that goes when there is no room
  std::size_t failures = 0;
  bool is_given_up = false;
  std::uint64_t given_up_with = 0;  // the tokens then; 0: not known yet
};

Tracer::Tracer(TraceHost& host, const RegionForest& forest, KeyTable& keys, ExactLists& lists, Options options)
    : host_(host), forest_(forest), keys_(keys), lists_(lists), options_(std::move(options)) {}
Tracer::~Tracer() = default;

void Tracer::issue(const std::shared_ptr<Operation>& op, std::uint64_t token, bool is_kept) {
  is_kept_ = is_kept;
  step(token, op);
}

void Tracer::call(std::uint64_t token) { step(token * 0x9E3779B97F4A7C15 | 1, nullptr); }

void Tracer::step(std::uint64_t token, const Given& op) {
  if (mode_ == Mode::between &&
      (trace_->is_found ? !may_follow(*template_) || token != template_->steps[0].token : depth_ == 0)) {
    Trace* const again = trace_->is_found && token == template_->steps[0].token ? trace_ : nullptr;
    why_again_.clear();
    if (again) (void)has_data(*template_, &why_again_);
    leave();
    expected_ = again;
  }
  if (mode_ == Mode::between) mode_ = Mode::replaying;
  if (mode_ == Mode::replaying && step_replaying(token, op)) return;
  if (mode_ == Mode::idle && expected_) {
    Trace& trace = *std::exchange(expected_, nullptr);
    if (token == trace.sequence[0]) enter(trace, std::exchange(why_again_, {}));
    if (mode_ == Mode::replaying && step_replaying(token, op)) return;
  }
  if (mode_ == Mode::recording && trace_->is_found && token != trace_->sequence[at_]) drop_record();
  if (mode_ == Mode::recording)
    step_recording(token, op);
  else
    step_idle(token, op);
}

bool Tracer::step_replaying(std::uint64_t token, const Given& op) {
  const auto& steps = template_->steps;
  if (at_ == steps.size() || token != steps[at_].token || (steps[at_].op == TraceTemplate::no_op) != !op) {
    why_ = at_ == steps.size() ? std::string("there is a call after the last one of the template")
                               : fmt::format("call {} of the trace is another one than in the template", at_ + 1);
    failed(*trace_, false);
    fall_back();
    return false;
  }
  if (op) {
    recent_.push(op->number);
    const std::uint32_t call = steps[at_].op;
    host_.replay(*op, template_, call, recent_.last(template_->ops.size() + call + 1));
    matched_.push_back({op, op->number});
  }
  if (++at_ == steps.size() && trace_->is_found) complete();
  return true;
}

void Tracer::step_recording(std::uint64_t token, const Given& op) {
  if (trace_->is_found) (void)finder_.feed(token, op != nullptr);
  sequence_ = (sequence_ ^ token) * 0x9E3779B97F4A7C15;
  if (op) {
    const std::uint32_t call = template_->operation(token, *op);
    for (const LaunchUse& use : op->uses) {
      const KeyId key = keys_.of(*op, use);
      use.fields.each([&](std::uint32_t field) {
        const LaneKey lane{use.space.root, field};
        bool is_new = false;
        const std::uint32_t at = template_->lane(lane, is_new);
        if (is_new) {
          host_.settle();
          template_->lanes[at].before = host_.state(lane);
          if (options_.data) template_->lanes[at].data = options_.data(lane.root, lane.field);
        }
        template_->use(call, lane, use, key);
      });
    }
    recent_.push(op->number);
    host_.analyse(taken(op), template_, call, false);
  } else {
    template_->call(token);
  }
  ++at_;
  if (trace_->is_found && at_ == trace_->sequence.size())
    finish_record();
  else if (at_ > PeriodFinder::remembered / 2)
    drop_record();
}

void Tracer::step_idle(std::uint64_t token, const Given& op) {
  sequence_ = (sequence_ ^ token) * 0x9E3779B97F4A7C15;
  if (op) {
    last_.reset();
    recent_.push(op->number);
    host_.analyse(taken(op), nullptr, 0, false);
  }
  if (depth_ > 0 || !options_.automatic) return;
  const bool repeats = finder_.feed(token, op != nullptr);
  if (finder_.broke()) is_muted_ = false;
  const std::size_t turn = repeats && !is_muted_ ? finder_.turn() : 0;
  if (turn == 0) return;
  // What comes next is what came a turn ago; where the period is one call, a turn has it twice.
  std::vector<std::uint64_t> sequence;
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < turn; ++i) {
    sequence.push_back(finder_.token(finder_.period() - i % finder_.period()));
    id = (id ^ sequence.back()) * 0x9E3779B97F4A7C15;
    id ^= id >> 29;
  }
  std::unique_ptr<Trace>& trace = traces_[{true, id}];
  if (!trace) trace = std::make_unique<Trace>();
  trace->is_found = true;
  if (trace->sequence != sequence)
    *trace = {.is_found = true, .id = id, .sequence = std::move(sequence), .templates = {}};
  if (std::exchange(trace->is_given_up, false)) trace->failures = 0;
  expected_ = trace.get();
}

void Tracer::begin(std::uint64_t id) {
  if (depth_++ > 0) return;
  expected_ = nullptr;
  std::unique_ptr<Trace>& trace = traces_[{false, id}];
  if (!trace) trace = std::make_unique<Trace>(Trace{.id = id, .sequence = {}, .templates = {}});
  if (mode_ == Mode::recording) drop_record();
  if (mode_ == Mode::replaying) fall_back();
  finder_.reset();
  sequence_ = 0;
  if (mode_ == Mode::between) {
    std::string why;
    if (trace_ == trace.get() && template_->follows_itself && has_data(*template_, &why)) {
      mode_ = Mode::replaying;
      at_ = 0;
      return;
    }
    leave();
    // The fence behind what has been left differs, too, and tells nothing.
    return enter(*trace, std::move(why));
  }
  enter(*trace);
}

void Tracer::end(std::uint64_t id) {
  if (depth_ == 0 || --depth_ > 0) return;
  Trace& trace = *traces_.at({false, id});
  if (mode_ == Mode::replaying) {
    if (at_ == template_->steps.size()) return complete();
    why_ = fmt::format("the trace ends after {} calls, and the template has {}", at_, template_->steps.size());
    failed(trace, false);
    fall_back();
  } else if (mode_ == Mode::recording) {
    return finish_record();
  }
  if (!trace.is_given_up) return;
  if (trace.given_up_with == 0) trace.given_up_with = sequence_ | 1;
  if (trace.given_up_with != (sequence_ | 1)) trace = {.id = id, .sequence = {}, .templates = {}};
}

void Tracer::enter(Trace& trace, std::string why) {
  if (trace.is_given_up) return;
  trace_ = &trace;
  host_.settle();
  if (last_ && last_->follows_itself && has_data(*last_, nullptr) &&
      std::find(trace.templates.begin(), trace.templates.end(), last_) != trace.templates.end())
    return begin_replay(last_);
  std::vector<LaneState> states;
  std::uint64_t about = 0;
  for (const TemplatePtr& known : trace.templates) {
    states.clear();
    for (const LaneKey lane : known->lane_keys) states.push_back(host_.state(lane));
    TraceSignature present = known->signature(states, recent_.last(known->ops.size())), wanted = known->entry;
    if (options_.blur) options_.blur(present), options_.blur(wanted);
    const SignatureDifference difference =
        first_difference(present, wanted, known->lane_keys, known->ops.size(), forest_, keys_);
    about = 0;
    if (!difference.why.empty()) {
      why_ = difference.why;
      if (difference.back > 0) about = recent_.last(difference.back).front();
    } else if (has_data(*known, &why_)) {
      return begin_replay(known);
    }
  }
  if (!why.empty()) why_ = std::move(why), about = 0;
  if (!trace.templates.empty()) failed(trace, true, about);
  if (trace.is_given_up) return;
  template_ = std::make_shared<TraceTemplate>();
  mode_ = Mode::recording;
  at_ = 0;
}

bool Tracer::has_data(const TraceTemplate& of, std::string* why) const {
  if (!options_.data) return true;
  for (std::size_t i = 0; i < of.lanes.size(); ++i) {
    const LaneKey lane = of.lane_keys[i];
    if (options_.data(lane.root, lane.field) == of.lanes[i].data) continue;
    if (why)
      *why = fmt::format("{}.{}: other shards hold its contents than in the template", forest_[lane.root].name,
                         forest_[lane.root].fields[lane.field].name);
    return false;
  }
  return true;
}

bool Tracer::may_follow(const TraceTemplate& of) const { return of.follows_itself && has_data(of, nullptr); }

void Tracer::begin_replay(const TemplatePtr& of) {
  template_ = of;
  mode_ = Mode::replaying;
  at_ = 0;
  executions_ = 0;
  matched_.clear();
  matched_.reserve(of->ops.size());
  piles_.assign(of->ops.size(), {});
  host_.begin_replay(*of);
}

void Tracer::complete() {
  ++counts_.replayed;
  ++executions_;
  trace_->failures = 0;
  host_.executed();
  matched_.clear();
  mode_ = Mode::between;
  at_ = 0;
  pile_up();
}

void Tracer::pile_up() {
  if (!template_->piles_up) return;
  const auto numbers = recent_.last(template_->ops.size());
  for (const TraceTemplate::Lane& lane : template_->lanes)
    for (std::size_t i = 0; i < lane.left.size(); ++i) {
      const std::uint32_t op = lane.left[i].first;
      std::vector<OperationRun>& pile = piles_[op];
      if (!lane.piles_up[i] || (!pile.empty() && pile.back().last() == numbers[op])) continue;
      if (pile.empty() || !pile.back().add(numbers[op])) pile.push_back({numbers[op]});
    }
}

std::optional<Tracer::Place> Tracer::place() const {
  const bool is_replayed = mode_ == Mode::replaying || mode_ == Mode::between;
  if (!is_replayed || !trace_->is_found || template_->ops.size() != template_->steps.size()) return std::nullopt;
  return Place{template_.get(), at_, mode_ == Mode::between};
}

void Tracer::replay_again(std::uint64_t first, std::size_t calls) {
  const std::size_t length = template_->steps.size(), executions = calls / length;
  std::size_t at = at_;
  for (std::uint64_t number = first; number < first + calls; ++number) {
    recent_.push(number);
    if (++at < length) continue;
    pile_up();
    at = 0;
  }
  counts_.replayed += executions;
  executions_ += executions;
  host_.replayed_again(*template_, executions);
  for (std::size_t i = 0; i < matched_.size(); ++i) matched_[i].number = first + calls - matched_.size() + i;
}

void Tracer::failed(Trace& trace, bool at_entry, std::uint64_t call) {
  ++counts_.failed;
  if (options_.failed) options_.failed({trace.is_found, trace.id, at_entry, call, why_});
  if (++trace.failures < most_failures) return;
  trace.is_given_up = true;
  trace.given_up_with = 0;
  trace.templates.clear();
  if (trace.is_found) is_muted_ = true;
}

void Tracer::fall_back() {
  const std::size_t done = matched_.size();
  if (executions_ > 0) host_.leave(*template_, recent_.last(template_->ops.size(), done), piles_);
  host_.take_back(*template_, done);
  const std::vector<Matched> ops = std::move(matched_);
  matched_.clear();
  const bool is_found = trace_->is_found;
  mode_ = Mode::idle;
  last_.reset();
  if (is_found) finder_.reset();
  sequence_ = 0;
  for (std::size_t i = 0; i < at_; ++i) {
    const TraceTemplate::Step& step = template_->steps[i];
    sequence_ = (sequence_ ^ step.token) * 0x9E3779B97F4A7C15;
    if (is_found) (void)finder_.feed(step.token, step.op != TraceTemplate::no_op);
  }
  for (const auto& [op, number] : ops) {
    Operation again = *op;
    again.number = number;
    host_.analyse(std::move(again), nullptr, 0, true);
  }
  at_ = 0;
}

void Tracer::leave() {
  host_.leave(*template_, recent_.last(template_->ops.size()), piles_);
  mode_ = Mode::idle;
  last_.reset();
  finder_.reset();
}

void Tracer::finish_record() {
  host_.settle();
  mode_ = Mode::idle;
  at_ = 0;
  const std::size_t length = template_->ops.size();
  if (length == 0) return template_.reset();
  for (std::size_t i = 0; i < template_->lanes.size(); ++i)
    template_->lanes[i].after = host_.state(template_->lane_keys[i]);
  template_->finish(recent_.last(length, length), recent_.last(length), lists_);
  ++counts_.records;
  if (trace_->templates.size() < most_templates)
    trace_->templates.push_back(template_);
  else
    trace_->templates[trace_->next++ % most_templates] = template_;
  last_ = template_;
  if (trace_->is_found) expected_ = trace_;
}

void Tracer::forget(FunctionRef<bool(const TraceTemplate&)> is_gone) {
  if (mode_ != Mode::idle && is_gone(*template_)) {
    if (mode_ == Mode::recording)
      drop_record();
    else if (mode_ == Mode::replaying)
      fall_back();
    else
      leave();
  }
  if (template_ && mode_ == Mode::idle && is_gone(*template_)) template_.reset();
  if (last_ && is_gone(*last_)) last_.reset();
  for (auto& [id, trace] : traces_)
    std::erase_if(trace->templates, [&](const TemplatePtr& of) { return is_gone(*of); });
}

void Tracer::drop_record() {
  template_.reset();
  mode_ = Mode::idle;
  at_ = 0;
  last_.reset();
}

}  // namespace taskspec
