#include "hwsim/time/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "hwsim/map/chains.hpp"
#include "hwsim/time/batch_credits.hpp"
#include "hwsim/time/deadlock.hpp"
#include "hwsim/time/group_pace.hpp"
#include "hwsim/time/overruns.hpp"
#include "hwsim/time/seen_frames.hpp"
#include "hwsim/time/slowest_step.hpp"
#include "hwsim/time/step_levels.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t most_frames = 256;  // without a number of frames: as many as may be tried

class Clock {
 public:
  Clock(const ChipProgram& program, const ClockOptions& options)
      : program_(program),
        options_(options),
        noc_(noc_figures(*program.chip, program.chips), options.noc),
        frames_(options.frames > 0 ? options.frames : most_frames),
        arrived_(program.messages.size()),
        credits_(program.messages.size()),
        busiest_port_(busiest_port(program, options.noc)),
        slowest_step_(std::max(slowest_step(program), busiest_port_.clk)) {
    prepare();
  }

  Diags diags;
  ChipTiming timing;

  void run() {
    if (diags.has_errors()) return;
    for (std::int32_t g = 0; g < program_.groups; ++g) start(g);
    for (std::int32_t message : host_sends_) send_from_host(message);
    while (!is_done() && !diags.has_errors()) {
      const std::int64_t own = events_.empty() ? INT64_MAX : events_.top().time;
      if (const std::optional<NocEvent> event = noc_.next(own == INT64_MAX ? own : own - 1)) {
        now_ = event->at();
        on(*event);
      } else if (!events_.empty()) {
        const Event next = events_.top();
        events_.pop();
        now_ = next.time;
        on(next);
      } else {
        tell_deadlock();
      }
    }
    finish();
    if (const auto& first = overruns_.first())
      diags.add(overruns_.told(*program_.chip, core_name(first->core), layer_name(first->core, first->phase)));
  }

 private:
  struct Event {
    enum class Kind : std::uint8_t { moved, ended, start, credit };
    std::int64_t time = 0;
    std::int64_t order = 0;  // of events of one time: as they were made
    Kind kind = Kind::ended;
    std::int32_t which = 0;  // core, group or message
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.order) > std::tie(b.time, b.order);
    }
  };

  struct CoreState {
    std::int64_t begin = 0, computed = 0;    // of the phase: its start, and when axon and soma are done
    std::int64_t sends_begin = 0, sent = 0;  // packets leave
    std::int64_t received = 0, moved = 0;
    std::int32_t sends_left = 0;
    bool waits_for_packets = false, is_moving = false, has_ended = true;
    bool waits_ahead = false;  // mode A2S2: for what it moves in the phase behind
  };
  struct GroupState {
    std::vector<std::int32_t> cores;
    std::int64_t turn = -2;  // phases so far: item * phases + phase; -1: what comes before the first
    std::int64_t phases = 1, begin = 0;
    std::int64_t ended = -2;  // the last turn that has
    std::int32_t cores_left = 0;
    bool is_waiting = false, is_done = false;  // waiting: for credit, or for its step group
    GroupPace pace;
  };
  struct Flight {
    std::int32_t message = 0;          // of the sender
    std::int64_t item = 0, begin = 0;  // begin: of the sender's phase
  };

  // ---- beginning ----------------------------------------------------------------------------------
  void prepare() {
    groups_.resize(static_cast<std::size_t>(program_.groups));
    cores_.resize(program_.cores.size());
    timing.cores.resize(program_.cores.size());
    timing.group_cycles.resize(groups_.size());
    mover_.assign(program_.messages.size(), {-1, -1});
    for (std::size_t c = 0; c < program_.cores.size(); ++c) {
      const ChipCore& core = program_.cores[c];
      GroupState& group = groups_[static_cast<std::size_t>(core.phases[0].group)];
      group.cores.push_back(static_cast<std::int32_t>(c));
      group.phases = static_cast<std::int64_t>(core.phases.size());
      for (std::size_t k = 0; k < core.phases.size(); ++k)
        for (std::int32_t message : core.phases[k].receives)
          mover_[static_cast<std::size_t>(message)] = {static_cast<std::int32_t>(c), static_cast<std::int32_t>(k)};
    }
    ways_.resize(program_.messages.size());
    for (ChipWay& way : ways_of(program_)) {
      if (program_.messages[static_cast<std::size_t>(way.message)].from_core == host_core)
        host_sends_.push_back(way.message);
      for (const ChipWay::Leg& leg : way.legs)
        if (leg.message != ChipMessage::no_message &&
            program_.messages[static_cast<std::size_t>(leg.message)].to_core == host_core)
          ++host_receives_;
      ways_[static_cast<std::size_t>(way.message)] = std::move(way);
    }
    // A net of which nothing leaves the chip is done with a frame when all groups are.
    frames_seen_ = SeenFrames(host_receives_ > 0 ? host_receives_ : program_.groups);
    host_items_.assign(program_.messages.size(), 0);
    host_ready_.assign(program_.messages.size(), 0);
    const bool fetches_ahead = std::ranges::any_of(program_.cores, &ChipCore::a2s2);
    stages_ = program_.groups * (fetches_ahead ? 2 : 1) * most_room(program_);
    if (Result<std::vector<std::int64_t>> levels = step_levels(program_))
      levels_ = *std::move(levels);
    else
      diags.append(levels.diags());
    if (options_.noc == NocModel::flit) timing.flits = loaded_phases(program_);
    BatchCredits rooms = batch_credits(program_);
    next_ = std::move(rooms.next);
    credits_ = std::move(rooms.first);
  }

  static std::int64_t item_of(const GroupState& group) { return group.turn < 0 ? 0 : group.turn / group.phases; }
  static std::int64_t phase_of(const GroupState& group) {
    return group.turn < 0 ? group.phases - 1 : group.turn % group.phases;
  }
  // The item that the moves of this phase bring in, or those of a phase behind it.
  static std::int64_t moved_item(const GroupState& group, std::int64_t behind = 0) {
    return (group.turn + behind + 1) / group.phases;
  }

  GroupState& group_of(std::int32_t core) {
    return groups_[static_cast<std::size_t>(program_.cores[static_cast<std::size_t>(core)].phases[0].group)];
  }
  const ChipPhase& phase_of_core(std::int32_t core) {
    const GroupState& group = group_of(core);
    return program_.cores[static_cast<std::size_t>(core)].phases[static_cast<std::size_t>(phase_of(group))];
  }

  // ---- a phase ------------------------------------------------------------------------------------
  bool has_credit(const GroupState& group, std::int64_t turn) const {
    const std::int64_t item = turn / group.phases, k = turn % group.phases;
    for (std::int32_t c : group.cores)
      for (std::int32_t m : program_.cores[static_cast<std::size_t>(c)].phases[static_cast<std::size_t>(k)].sends)
        if (!has_credit(m, item)) return false;
    return true;
  }
  // Of all to whom the packets go.
  bool has_credit(std::int32_t m, std::int64_t item) const {
    return std::ranges::all_of(ways_[static_cast<std::size_t>(m)].legs,
                               [&](const ChipWay::Leg& leg) { return has_room(leg.message, item); });
  }
  bool has_room(std::int32_t m, std::int64_t item) const {
    if (m == ChipMessage::no_message) return true;
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(m)];
    return message.to_core == host_core || credits_[static_cast<std::size_t>(m)] > item;
  }

  // Have the groups of its step group ended the step before, each with its own item?
  bool may_begin(std::int32_t g, std::int64_t turn) const {
    const GroupState& group = groups_[static_cast<std::size_t>(g)];
    if (program_.step_groups.empty() || turn < 0 || turn % group.phases != 0) return true;
    const std::int64_t step = turn / group.phases + levels_[static_cast<std::size_t>(g)];
    for (std::size_t other = 0; other < groups_.size(); ++other)
      if (program_.step_groups[other] == program_.step_groups[static_cast<std::size_t>(g)] &&
          !has_ended(other, step - 1 - levels_[other]))
        return false;
    return true;
  }
  bool has_ended(std::size_t g, std::int64_t item) const {
    if (item < -1) return true;
    return groups_[g].ended >= (std::min(item, frames_ - 1) + 1) * groups_[g].phases - 1;
  }

  // All cores of the group have ended the phase before.
  void start(std::int32_t g) {
    GroupState& group = groups_[static_cast<std::size_t>(g)];
    const std::int64_t next = group.turn + 1;
    if (group.ended < group.turn) {
      group.ended = group.turn;
      wake_step_group(g);
    }
    if (next >= frames_ * group.phases) {
      group.is_done = true;
      return;
    }
    group.is_waiting = next >= 0 && (!may_begin(g, next) || !has_credit(group, next));
    if (group.is_waiting) return;
    group.turn = next;
    group.begin = now_;
    if (next >= 0 && phase_of(group) == 0) group.pace.began(now_);
    group.cores_left = static_cast<std::int32_t>(group.cores.size());
    if (host_sends_.empty() && next >= 0 && phase_of(group) == 0) frames_seen_.entered(item_of(group), now_);
    for (std::int32_t c : group.cores) begin_phase(c, group);
    for (std::int32_t c : group.cores) look_for_packets(c);
  }

  void wake_step_group(std::int32_t g) {
    if (program_.step_groups.empty()) return;
    for (std::int32_t other = 0; other < program_.groups; ++other)
      if (other != g && groups_[static_cast<std::size_t>(other)].is_waiting &&
          program_.step_groups[static_cast<std::size_t>(other)] == program_.step_groups[static_cast<std::size_t>(g)])
        start(other);
  }

  void begin_phase(std::int32_t c, const GroupState& group) {
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    const ChipPhase& phase = phase_of_core(c);
    core = {.begin = now_, .computed = now_, .sends_begin = now_, .sent = now_, .has_ended = false};
    core.waits_for_packets = moved_item(group) < frames_;
    core.waits_ahead = program_.cores[static_cast<std::size_t>(c)].a2s2 && moved_item(group, 1) < frames_;
    if (group.turn < 0) return;
    const std::int64_t axon = phase.axon ? phase.axon->cycles : 0, soma = phase.soma ? phase.soma->cycles : 0;
    core.computed = now_ + computed_at(phase, program_.chip->cycles.start);
    core.sends_begin = core.computed - soma;
    std::int64_t begin = core.sends_begin;
    stage(c, group, StageTime::Stage::axon, now_, now_ + axon);
    stage(c, group, StageTime::Stage::soma, core.sends_begin, core.computed);
    for (std::int32_t m : phase.sends) {
      const ChipMessage& message = program_.messages[static_cast<std::size_t>(m)];
      // As soma makes them; out of memory one per tick, heads before their packets.
      const std::int64_t span = phase.soma ? std::max<std::int64_t>(1, soma) : message.packets + message.heads;
      send(m, begin, span, item_of(group));
      if (!phase.soma) begin += span;
      ++core.sends_left;
    }
  }

  void send(std::int32_t m, std::int64_t begin, std::int64_t span, std::int64_t item) {
    const ChipWay& way = ways_[static_cast<std::size_t>(m)];
    std::vector<int> copies;
    for (std::size_t leg = 1; leg < way.legs.size(); ++leg) copies.push_back(way.legs[leg].place);
    const int flow = noc_.inject({.source = way.source,
                                  .target = way.legs.at(0).place,
                                  .begin = begin,
                                  .span = span,
                                  .packets = program_.messages[static_cast<std::size_t>(m)].packets,
                                  .copies = copies},
                                 timing.flits.goes_by_flits(m));
    if (flow != static_cast<int>(flights_.size())) bug("flows are numbered in another order");
    flights_.push_back({m, item, now_});
  }

  void send_from_host(std::int32_t m) {
    std::int64_t& item = host_items_[static_cast<std::size_t>(m)];
    std::int64_t& ready = host_ready_[static_cast<std::size_t>(m)];
    const std::int64_t packets = program_.messages[static_cast<std::size_t>(m)].packets;
    while (item < frames_ && has_credit(m, item)) {
      ready = std::max(ready, now_);  // frames one behind the other
      send(m, ready, packets, item);
      ready += packets;
      ++item;
    }
  }

  // Has all come that the core moves in this phase?
  void look_for_packets(std::int32_t c) {
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    const GroupState& group = group_of(c);
    if (core.waits_ahead && missing(c, 1) == ChipMessage::no_message) {
      core.waits_ahead = false;
      core.received = now_;
      stage(c, group, StageTime::Stage::receive, core.begin, now_);
      end_if_sent(c);
    }
    if (core.has_ended) return;
    const ChipPhase& phase = phase_of_core(c);
    if (core.waits_for_packets) {
      if (missing(c, 0) != ChipMessage::no_message) return;
      core.waits_for_packets = false;
      core.is_moving = true;
      core.received = now_;
      const std::int64_t begin = std::max(now_, core.computed);
      core.moved = begin + phase.move_cycles;
      if (!program_.cores[static_cast<std::size_t>(c)].a2s2)
        stage(c, group, StageTime::Stage::receive, core.begin, now_);
      stage(c, group, StageTime::Stage::move, begin, core.moved);
      events_.push({core.moved, ++made_, Event::Kind::moved, c});
    } else if (!core.is_moving) {  // the last frame: nothing comes behind it
      core.is_moving = true;
      core.moved = core.computed;
      events_.push({core.computed, ++made_, Event::Kind::moved, c});
    }
  }

  // A message that has not come for the moves of this phase, or of a phase behind it.
  std::int32_t missing(std::int32_t c, std::int64_t behind) const {
    const ChipCore& core = program_.cores[static_cast<std::size_t>(c)];
    const GroupState& group = groups_[static_cast<std::size_t>(core.phases[0].group)];
    const std::int64_t turn = group.turn + behind;
    const auto k = static_cast<std::size_t>(turn < 0 ? group.phases - 1 : turn % group.phases);
    for (std::int32_t m : core.phases[k].receives)
      if (arrived_[static_cast<std::size_t>(m)] <
          moved_item(group, behind) + 1 - steps_waiting(program_.cores, program_.messages[static_cast<std::size_t>(m)]))
        return m;
    return ChipMessage::no_message;
  }

  void on_moved(std::int32_t c) {
    const GroupState& group = group_of(c);
    if (moved_item(group) < frames_)
      for (std::int32_t moved : phase_of_core(c).receives)
        for (std::int32_t m : next_[static_cast<std::size_t>(moved)])
          events_.push({now_ + way_back(program_, m), ++made_, Event::Kind::credit, m});
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    core.has_ended = true;
    end_if_sent(c);
  }

  void end_if_sent(std::int32_t c) {
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    if (!core.has_ended || core.sends_left != 0 || core.waits_ahead) return;
    const std::int64_t end = std::max({core.moved, core.sent, core.received});
    events_.push({std::max(end, now_), ++made_, Event::Kind::ended, c});
    core.sends_left = -1;  // told
  }

  void on_ended(std::int32_t c) {
    GroupState& group = group_of(c);
    const CoreState& core = cores_[static_cast<std::size_t>(c)];
    CoreTime& total = timing.cores[static_cast<std::size_t>(c)];
    if (group.turn >= 0) {
      stage(c, group, StageTime::Stage::send, core.sends_begin, core.sent);
      total.open += std::max(core.computed, core.sent) - core.begin;
      const std::int64_t moves = phase_of_core(c).move_cycles, begin = core.moved - moves;
      total.open += std::max<std::int64_t>(0, core.moved - std::max(begin, std::max(core.computed, core.sent)));
      total.phase = std::max(total.phase, now_ - core.begin);
      if (phase_of(group) == group.phases - 1) {
        total.busy += std::exchange(total.open, 0);
        ++total.steps;
      }
    }
    if (--group.cores_left > 0) return;
    const ChipSync& sync = program_.chip->sync;
    const auto g = static_cast<std::int32_t>(&group - groups_.data());
    std::int64_t next = now_ + sync.phase_clk_overhead;
    if (sync.mode == SyncMode::fixed && group.turn >= 0) {
      for (std::int32_t member : group.cores) check_fixed(member, group);
      next = std::max(now_, group.begin + sync.phase_clk);
    }
    if (group.turn >= 0) {
      std::int64_t& longest = timing.group_cycles[static_cast<std::size_t>(g)];
      longest = std::max(longest, work_of(group));
      if (host_receives_ == 0 && phase_of(group) == group.phases - 1) frames_seen_.left(item_of(group), now_);
    }
    events_.push({next, ++made_, Event::Kind::start, g});
  }

  // What a core needs of a phase by itself may not be longer than it is.
  void check_fixed(std::int32_t c, const GroupState& group) {
    const CoreState& core = cores_[static_cast<std::size_t>(c)];
    const ChipPhase& phase = phase_of_core(c);
    const std::int64_t axon = phase.axon ? phase.axon->cycles : 0, computed = core.computed - core.begin,
                       sent = core.sent - core.begin, length = program_.chip->sync.phase_clk;
    const std::int64_t need = std::max(computed + phase.move_cycles, sent);
    using Stage = Overruns::Stage;
    if (need > length)
      overruns_.note(axon > length       ? Stage::axon
                     : computed > length ? Stage::soma1
                     : sent > length     ? Stage::router
                                         : Stage::soma2,
                     need, phase_of(group), c);
  }

  // What is sent to another core in a phase of fixed length arrives in it.
  void check_fixed(const Flight& flight) {
    const std::int64_t need = now_ - flight.begin;
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(flight.message)];
    if (program_.chip->sync.mode == SyncMode::fixed && message.from_core != host_core &&
        need > program_.chip->sync.phase_clk)
      overruns_.note(Overruns::Stage::router, need, message.from_phase, message.from_core);
  }

  // Of what a core computes in a phase; empty: the program has no net, or it computes nothing.
  std::string layer_name(std::int32_t c, std::int64_t k) const {
    const ChipPhase& phase = program_.cores[static_cast<std::size_t>(c)].phases[static_cast<std::size_t>(k)];
    const ChipCall* call = phase.axon ? &*phase.axon : phase.soma ? &*phase.soma : nullptr;
    return call && program_.net.graph && call->whole.valid() ? (*program_.net.graph)[call->whole].name : "";
  }

  // What the phase takes by itself, without waiting for others.
  std::int64_t work_of(const GroupState& group) {
    std::int64_t most = 0;
    for (std::int32_t c : group.cores) {
      const CoreState& core = cores_[static_cast<std::size_t>(c)];
      most = std::max(most, std::max(core.computed, core.sent) - core.begin + phase_of_core(c).move_cycles);
    }
    return most;
  }

  // ---- events -------------------------------------------------------------------------------------
  void on(const Event& event) {
    switch (event.kind) {
      case Event::Kind::moved:
        return on_moved(event.which);
      case Event::Kind::ended:
        return on_ended(event.which);
      case Event::Kind::start:
        return start(event.which);
      case Event::Kind::credit:
        break;
    }
    ++credits_[static_cast<std::size_t>(event.which)];
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(event.which)];
    if (message.from_core == host_core) return send_from_host(first_of(event.which));
    const std::int32_t g = program_.cores[static_cast<std::size_t>(message.from_core)].phases[0].group;
    if (groups_[static_cast<std::size_t>(g)].is_waiting) start(g);
  }

  void on(const NocEvent& event) {
    const Flight flight = flights_[static_cast<std::size_t>(event.flow)];
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(flight.message)];
    if (event.kind == NocEvent::Kind::sent) {
      if (message.from_core == host_core) {
        frames_seen_.entered(flight.item, event.times.first);
        return;
      }
      CoreState& core = cores_[static_cast<std::size_t>(message.from_core)];
      core.sent = std::max(core.sent, event.times.last);
      --core.sends_left;
      end_if_sent(message.from_core);
      return;
    }
    const std::int32_t brought =
        ways_[static_cast<std::size_t>(flight.message)].legs.at(static_cast<std::size_t>(event.leg)).message;
    if (brought == ChipMessage::no_message) return;  // a relay
    if (program_.messages[static_cast<std::size_t>(brought)].to_core == host_core) {
      frames_seen_.left(flight.item, event.times.last);
      return;
    }
    check_fixed(flight);
    ++arrived_[static_cast<std::size_t>(brought)];
    look_for_packets(mover_[static_cast<std::size_t>(brought)].first);
  }

  std::int32_t first_of(std::int32_t m) const {
    while (program_.messages[static_cast<std::size_t>(m)].behind != ChipMessage::no_message)
      m = program_.messages[static_cast<std::size_t>(m)].behind;
    return m;
  }

  // ---- frames -------------------------------------------------------------------------------------
  bool is_done() {
    return groups_.empty() || frames_seen_.out() == frames_ ||
           (options_.frames == 0 &&
            frames_seen_.is_steady(stages_, slowest_step_, [&](std::int64_t distance, std::int64_t frames) {
              return keep_pace(distance, frames);
            }));
  }

  // No group has been faster or slower: no buffer fills up or runs empty, so that all goes on as it is.
  bool keep_pace(std::int64_t distance, std::int64_t frames) const {
    return std::ranges::all_of(groups_, [&](const GroupState& group) { return group.pace.is(distance, frames); });
  }

  void finish() {
    timing.frames = frames_seen_.out();
    timing.traffic = noc_.traffic();
    timing.busiest_port = busiest_port_;
    if (timing.frames == 0) return;
    timing.cycles = frames_seen_.cycles();
    if (options_.frames == 0 && frames_seen_.turn() == 0 && timing.frames > 3) frames_seen_.look_at_middle();
    timing.latency = frames_seen_.latency();
    timing.turn = frames_seen_.turn();
    for (std::int64_t i = 0; i < timing.frames; ++i)
      timing.frame_times.push_back({frames_seen_.begin(i), frames_seen_.end(i)});
    // Outputs that do not wait for a group come faster than it can go on, and so do the last ones of a run, behind
    // which nothing is sent; but frames that follow one another do not.
    if (timing.frames > 1) timing.interval = std::max(frames_seen_.interval(), slowest_step_);
    timing.limit_group =
        static_cast<std::int32_t>(std::ranges::max_element(timing.group_cycles) - timing.group_cycles.begin());
  }

  void stage(std::int32_t core, const GroupState& group, StageTime::Stage kind, std::int64_t begin, std::int64_t end) {
    if (!options_.keeps_stages || end <= begin) return;
    timing.stages.push_back({core, static_cast<std::int32_t>(phase_of(group)), item_of(group), kind, begin, end});
  }

  // ---- nothing moves any more ---------------------------------------------------------------------
  std::string core_name(std::int32_t position) const {
    return position == host_core ? std::string("the host")
                                 : fmt::format("core {}", program_.cores[static_cast<std::size_t>(position)].core);
  }
  bool is_sent(std::int32_t m) const {
    m = first_of(m);
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(m)];
    if (message.from_core == host_core) return true;
    const std::vector<std::int32_t>& sends = program_.cores[static_cast<std::size_t>(message.from_core)]
                                                 .phases[static_cast<std::size_t>(message.from_phase)]
                                                 .sends;
    return std::ranges::find(sends, m) != sends.end();
  }

  // What keeps a core from going on: room, its step group, packets, or another core of its group.
  std::optional<CoreWait> wait_of(std::int32_t c) const {
    const std::int32_t g = program_.cores[static_cast<std::size_t>(c)].phases[0].group;
    const GroupState& group = groups_[static_cast<std::size_t>(g)];
    if (group.is_done) return std::nullopt;
    if (group.is_waiting) return wait_to_start(g);
    const CoreState& core = cores_[static_cast<std::size_t>(c)];
    for (const auto& [waits, behind] : {std::pair{core.waits_for_packets, 0}, {core.waits_ahead, 1}}) {
      const std::int32_t m = waits ? missing(c, behind) : ChipMessage::no_message;
      if (m == ChipMessage::no_message) continue;
      const std::int32_t from = program_.messages[static_cast<std::size_t>(m)].from_core;
      return CoreWait{c, is_sent(m) ? from : host_core,
                      fmt::format("{}, phase {}: waits for packets of {}{}", core_name(c), phase_of(group),
                                  core_name(from), is_sent(m) ? "" : ", which never sends them")};
    }
    for (const std::int32_t other : group.cores) {
      const CoreState& state = cores_[static_cast<std::size_t>(other)];
      if (other != c && (state.waits_for_packets || state.waits_ahead))
        return CoreWait{
            c, other,
            fmt::format("{}, phase {}: waits for {} of its group", core_name(c), phase_of(group), core_name(other))};
    }
    return std::nullopt;
  }

  std::optional<CoreWait> wait_to_start(std::int32_t g) const {
    const GroupState& group = groups_[static_cast<std::size_t>(g)];
    const std::int64_t turn = group.turn + 1, item = turn / group.phases, k = turn % group.phases;
    for (const std::int32_t c : group.cores)
      for (const std::int32_t m : program_.cores[static_cast<std::size_t>(c)].phases[static_cast<std::size_t>(k)].sends)
        for (const ChipWay::Leg& leg : ways_[static_cast<std::size_t>(m)].legs) {
          if (has_room(leg.message, item)) continue;
          const std::int32_t to = program_.messages[static_cast<std::size_t>(leg.message)].to_core;
          return CoreWait{
              c, to, fmt::format("{}, phase {}: {} has no room for what it sends", core_name(c), k, core_name(to))};
        }
    for (std::size_t other = 0; other < groups_.size(); ++other)
      if (program_.step_groups[other] == program_.step_groups[static_cast<std::size_t>(g)] &&
          !has_ended(other, item + levels_[static_cast<std::size_t>(g)] - 1 - levels_[other])) {
        const std::int32_t c = group.cores[0], on = groups_[other].cores[0];
        return CoreWait{c, on, fmt::format("{}, phase {}: starts its step with {}", core_name(c), k, core_name(on))};
      }
    return std::nullopt;
  }

  void tell_deadlock() {
    Diag diag = deadlock(
        cores_.size(), [&](std::int32_t c) { return wait_of(c); }, [&](std::int32_t c) { return core_name(c); });
    diag.note(fmt::format("{} of {} frames came out, at {}", frames_seen_.out(), frames_, now_));
    diags.add(std::move(diag));
  }

  const ChipProgram& program_;
  const ClockOptions& options_;
  NocRun noc_;
  const std::int64_t frames_;
  std::int64_t now_ = 0, made_ = 0;
  std::vector<GroupState> groups_;
  std::vector<CoreState> cores_;
  std::vector<std::pair<std::int32_t, std::int32_t>> mover_;  // by message: core and phase that move it
  std::vector<std::int32_t> host_sends_;
  std::vector<std::int64_t> host_items_, host_ready_, arrived_, credits_;  // by message
  std::vector<std::vector<std::int32_t>> next_;  // by message: those that may come when it was moved
  std::vector<ChipWay> ways_;                    // by first message
  std::vector<std::int64_t> levels_;             // by group
  const BusiestPort busiest_port_;
  const std::int64_t slowest_step_;
  std::int64_t stages_ = 0;  // of the pipeline, with items that wait between them, at most
  Overruns overruns_;
  std::int64_t host_receives_ = 0;
  SeenFrames frames_seen_{0};
  std::vector<Flight> flights_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

Result<ChipTiming> time_program(const ChipProgram& program, const ClockOptions& options) {
  Clock clock(program, options);
  clock.run();
  if (clock.diags.has_errors()) return clock.diags;
  return std::move(clock.timing);
}

}  // namespace taskspec
