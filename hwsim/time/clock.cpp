#include "hwsim/time/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>

namespace taskspec {

NocFigures noc_figures(const Chip& chip, ChipExtent chips) {
  const ChipNoc& noc = chip.noc;
  auto whole = [](std::int64_t number) { return static_cast<int>(number); };
  return {.shape = static_cast<NocShape>(noc.topology),
          .order = static_cast<NocOrder>(noc.order),
          .cores_x = whole(chip.grid.cores.x),
          .cores_y = whole(chip.grid.cores.y),
          .chips_x = whole(chips.x),
          .chips_y = whole(chips.y),
          .cores_per_router = whole(chip.grid.cores_per_router),
          .link_clk = noc.link_clk,
          .hop_x = noc.hop_clk_x,
          .hop_y = noc.hop_clk_y,
          .burst = noc.burst,
          .vcs = whole(noc.vcs),
          .vc_depth = whole(noc.vc_depth),
          .chip_packet_clk = std::max<std::int64_t>(1, noc.chip_packet_clk),
          .chip_hop_x = std::max<std::int64_t>(1, noc.chip_hop_clk_x),
          .chip_hop_y = std::max<std::int64_t>(1, noc.chip_hop_clk_y)};
}

namespace {

constexpr std::int64_t most_frames = 256;  // without a number of frames: as many as may be tried
constexpr int steady_frames = 3;

class Clock {
 public:
  Clock(const ChipProgram& program, const ClockOptions& options)
      : program_(program),
        options_(options),
        noc_(noc_figures(*program.chip, program.chips), options.noc),
        frames_(options.frames > 0 ? options.frames : most_frames),
        arrived_(program.messages.size()),
        credits_(program.messages.size()) {
    prepare();
  }

  Diags diags;
  ChipTiming timing;

  void run() {
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
  };
  struct GroupState {
    std::vector<std::int32_t> cores;
    std::int64_t turn = -2;  // phases so far: item * phases + phase; -1: what comes before the first
    std::int64_t phases = 1, begin = 0;
    std::int32_t cores_left = 0;
    bool is_waiting = false, is_done = false;  // waiting: for credit
  };
  struct Flight {
    std::int32_t message = 0;
    std::int64_t item = 0;
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
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      const ChipMessage& message = program_.messages[m];
      if (message.from_core == host_core && message.to_core == host_core) continue;  // no packet of the chip
      if (message.from_core == host_core) host_sends_.push_back(static_cast<std::int32_t>(m));
      if (message.to_core == host_core) ++host_receives_;
    }
    host_items_.assign(program_.messages.size(), 0);
    prepare_credits();
  }

  // Batches of a stream share a receive buffer: what is sent next has room when the one before it was moved. Those of
  // a step that are not the first ones wait for one more.
  void prepare_credits() {
    next_.resize(program_.messages.size());
    for (const ChipCore& core : program_.cores) {
      std::map<std::int32_t, std::vector<std::vector<std::int32_t>>> batches;  // by buffer, as phases move them
      const std::size_t phases = core.phases.size();
      for (std::size_t i = 0; i < phases; ++i) {  // what the last one moves comes first
        std::map<std::int32_t, std::vector<std::int32_t>> here;
        for (std::int32_t m : core.phases[(i + phases - 1) % phases].receives)
          here[program_.messages[static_cast<std::size_t>(m)].to_buffer].push_back(m);
        for (auto& [buffer, messages] : here) batches[buffer].push_back(std::move(messages));
      }
      for (const auto& [buffer, list] : batches)
        for (std::size_t i = 0; i < list.size(); ++i)
          for (std::int32_t m : list[i]) {
            next_[static_cast<std::size_t>(list[i][0])] = list[(i + 1) % list.size()];
            credits_[static_cast<std::size_t>(m)] = i == 0 ? 0 : -1;
          }
    }
  }

  static std::int64_t item_of(const GroupState& group) { return group.turn < 0 ? 0 : group.turn / group.phases; }
  static std::int64_t phase_of(const GroupState& group) {
    return group.turn < 0 ? group.phases - 1 : group.turn % group.phases;
  }
  // The item that the moves of this phase bring in.
  static std::int64_t moved_item(const GroupState& group) { return (group.turn + 1) / group.phases; }

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
        if (program_.messages[static_cast<std::size_t>(m)].to_core != host_core &&
            credits_[static_cast<std::size_t>(m)] < item)
          return false;
    return true;
  }

  // All cores of the group have ended the phase before.
  void start(std::int32_t g) {
    GroupState& group = groups_[static_cast<std::size_t>(g)];
    const std::int64_t next = group.turn + 1;
    if (next >= frames_ * group.phases) {
      group.is_done = true;
      return;
    }
    group.is_waiting = next >= 0 && !has_credit(group, next);
    if (group.is_waiting) return;
    group.turn = next;
    group.begin = now_;
    group.cores_left = static_cast<std::int32_t>(group.cores.size());
    for (std::int32_t c : group.cores) begin_phase(c, group);
    for (std::int32_t c : group.cores) look_for_packets(c);
  }

  void begin_phase(std::int32_t c, const GroupState& group) {
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    const ChipPhase& phase = phase_of_core(c);
    core = {.begin = now_, .computed = now_, .sends_begin = now_, .sent = now_, .has_ended = false};
    core.waits_for_packets = moved_item(group) < frames_;
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
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(m)];
    auto place = [&](std::int32_t core, std::int32_t other) {
      if (core != host_core) return static_cast<int>(program_.cores[static_cast<std::size_t>(core)].core);
      return noc_host(program_.cores[static_cast<std::size_t>(other)].core / program_.width);
    };
    const int flow = noc_.inject({.source = place(message.from_core, message.to_core),
                                  .target = place(message.to_core, message.from_core),
                                  .begin = begin,
                                  .span = span,
                                  .packets = message.packets,
                                  .copies = {}});
    if (flow != static_cast<int>(flights_.size())) bug("flows are numbered in another order");
    flights_.push_back({m, item});
  }

  void send_from_host(std::int32_t m) {
    std::int64_t& item = host_items_[static_cast<std::size_t>(m)];
    while (item < frames_ && credits_[static_cast<std::size_t>(m)] >= item) {
      send(m, now_, program_.messages[static_cast<std::size_t>(m)].packets, item);
      ++item;
    }
  }

  // Has all come that the core moves in this phase?
  void look_for_packets(std::int32_t c) {
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    if (core.has_ended) return;
    const GroupState& group = group_of(c);
    const ChipPhase& phase = phase_of_core(c);
    const std::int64_t item = moved_item(group);
    if (core.waits_for_packets) {
      for (std::int32_t m : phase.receives)
        if (arrived_[static_cast<std::size_t>(m)] < item + 1 - program_.messages[static_cast<std::size_t>(m)].delay)
          return;
      core.waits_for_packets = false;
      core.is_moving = true;
      core.received = now_;
      const std::int64_t begin = std::max(now_, core.computed);
      core.moved = begin + phase.move_cycles;
      stage(c, group, StageTime::Stage::receive, core.begin, now_);
      stage(c, group, StageTime::Stage::move, begin, core.moved);
      events_.push({core.moved, ++made_, Event::Kind::moved, c});
    } else if (!core.is_moving) {  // the last frame: nothing comes behind it
      core.is_moving = true;
      core.moved = core.computed;
      events_.push({core.computed, ++made_, Event::Kind::moved, c});
    }
  }

  void on_moved(std::int32_t c) {
    const GroupState& group = group_of(c);
    if (moved_item(group) < frames_)
      for (std::int32_t moved : phase_of_core(c).receives)
        for (std::int32_t m : next_[static_cast<std::size_t>(moved)])
          events_.push(
              {now_ + way_back(program_.messages[static_cast<std::size_t>(m)]), ++made_, Event::Kind::credit, m});
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    core.has_ended = true;
    end_if_sent(c);
  }

  // Credits take as long as a packet and no bandwidth.
  std::int64_t way_back(const ChipMessage& message) const {
    if (message.from_core == host_core) return 1;
    const std::int32_t a = program_.cores[static_cast<std::size_t>(message.from_core)].core;
    const std::int32_t b = program_.cores[static_cast<std::size_t>(message.to_core)].core;
    const ChipNoc& noc = program_.chip->noc;
    return std::abs(a % program_.width - b % program_.width) * noc.hop_clk_x +
           std::abs(a / program_.width - b / program_.width) * noc.hop_clk_y;
  }

  void end_if_sent(std::int32_t c) {
    CoreState& core = cores_[static_cast<std::size_t>(c)];
    if (!core.has_ended || core.sends_left > 0) return;
    const std::int64_t end = std::max(core.moved, core.sent);
    events_.push({std::max(end, now_), ++made_, Event::Kind::ended, c});
    core.sends_left = -1;  // told
  }

  void on_ended(std::int32_t c) {
    GroupState& group = group_of(c);
    const CoreState& core = cores_[static_cast<std::size_t>(c)];
    CoreTime& total = timing.cores[static_cast<std::size_t>(c)];
    if (group.turn >= 0) {
      stage(c, group, StageTime::Stage::send, core.sends_begin, core.sent);
      total.busy += std::max(core.computed, core.sent) - core.begin;
      const std::int64_t moves = phase_of_core(c).move_cycles, begin = core.moved - moves;
      total.busy += std::max<std::int64_t>(0, core.moved - std::max(begin, std::max(core.computed, core.sent)));
      total.phase = std::max(total.phase, now_ - core.begin);
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
    if (need <= length) return;
    const char* stage = axon > length ? "axon" : computed > length ? "soma1" : sent > length ? "router" : "soma2";
    diags.error("E5012", {},
                fmt::format("core {}: phase {} takes {} clk, a phase of {} has {}: too long since its {}",
                            program_.cores[static_cast<std::size_t>(c)].core, phase_of(group), need,
                            program_.chip->name, length, stage));
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
    if (message.from_core == host_core) return send_from_host(event.which);
    const std::int32_t g = program_.cores[static_cast<std::size_t>(message.from_core)].phases[0].group;
    if (groups_[static_cast<std::size_t>(g)].is_waiting) start(g);
  }

  void on(const NocEvent& event) {
    const Flight flight = flights_[static_cast<std::size_t>(event.flow)];
    const ChipMessage& message = program_.messages[static_cast<std::size_t>(flight.message)];
    if (event.kind == NocEvent::Kind::sent) {
      if (message.from_core == host_core) {
        std::int64_t& first = frame(flight.item).begin;
        first = first < 0 ? event.times.first : std::min(first, event.times.first);
        return;
      }
      CoreState& core = cores_[static_cast<std::size_t>(message.from_core)];
      core.sent = std::max(core.sent, event.times.last);
      --core.sends_left;
      end_if_sent(message.from_core);
      return;
    }
    if (message.to_core == host_core) {
      Frame& done = frame(flight.item);
      done.end = std::max(done.end, event.times.last);
      if (++done.arrived == host_receives_) ++frames_out_;
      return;
    }
    ++arrived_[static_cast<std::size_t>(flight.message)];
    look_for_packets(mover_[static_cast<std::size_t>(flight.message)].first);
  }

  // ---- frames -------------------------------------------------------------------------------------
  struct Frame {
    std::int64_t begin = -1, end = 0, arrived = 0;
    std::int64_t latency() const { return end - begin; }
  };
  Frame& frame(std::int64_t item) {
    if (frames_seen_.size() <= static_cast<std::size_t>(item)) frames_seen_.resize(static_cast<std::size_t>(item) + 1);
    return frames_seen_[static_cast<std::size_t>(item)];
  }

  bool is_done() {
    if (host_receives_ == 0) return std::ranges::all_of(groups_, &GroupState::is_done);
    if (frames_out_ == frames_) return true;
    if (options_.frames > 0 || frames_out_ == looked_at_) return false;
    looked_at_ = frames_out_;
    if (frames_out_ <= steady_frames + program_.groups) return false;
    for (int i = 1; i < steady_frames; ++i) {
      const auto at = static_cast<std::size_t>(frames_out_ - i);
      const Frame &a = frames_seen_[at], &b = frames_seen_[at - 1], &c = frames_seen_[at - 2];
      if (a.latency() != b.latency() || a.end - b.end != b.end - c.end) return false;
    }
    return true;
  }

  void finish() {
    timing.frames = frames_out_;
    timing.traffic = noc_.traffic();
    if (host_receives_ == 0) timing.cycles = timing.latency = now_;
    if (frames_out_ == 0) return;
    const auto last = static_cast<std::size_t>(frames_out_ - 1);
    timing.cycles = frames_seen_[last].end - std::max<std::int64_t>(0, frames_seen_[0].begin) + 1;
    timing.latency = frames_seen_[last].latency() + 1;
    if (last > 0) timing.interval = frames_seen_[last].end - frames_seen_[last - 1].end;
    timing.limit_group =
        static_cast<std::int32_t>(std::ranges::max_element(timing.group_cycles) - timing.group_cycles.begin());
  }

  void stage(std::int32_t core, const GroupState& group, StageTime::Stage kind, std::int64_t begin, std::int64_t end) {
    if (!options_.keeps_stages || end <= begin) return;
    timing.stages.push_back({core, static_cast<std::int32_t>(phase_of(group)), item_of(group), kind, begin, end});
  }

  // ---- nothing moves any more ---------------------------------------------------------------------
  void tell_deadlock() {
    Diag diag("E5012", Severity::error, {}, "the cores of the chip wait for one another");
    std::size_t told = 0;
    for (std::size_t c = 0; c < cores_.size() && told < 8; ++c) {
      const GroupState& group = group_of(static_cast<std::int32_t>(c));
      if (group.is_done) continue;
      const std::int32_t here = program_.cores[c].core;
      if (group.is_waiting) {
        for (std::int32_t m : program_.cores[c].phases[static_cast<std::size_t>((group.turn + 1) % group.phases)].sends)
          if (const ChipMessage& message = program_.messages[static_cast<std::size_t>(m)];
              message.to_core != host_core && credits_[static_cast<std::size_t>(m)] < (group.turn + 1) / group.phases &&
              told++ < 8)
            diag.note(fmt::format("core {}, phase {}: core {} has no room for what it sends", here,
                                  (group.turn + 1) % group.phases,
                                  program_.cores[static_cast<std::size_t>(message.to_core)].core));
      } else if (cores_[c].waits_for_packets) {
        for (std::int32_t m : phase_of_core(static_cast<std::int32_t>(c)).receives) {
          const ChipMessage& message = program_.messages[static_cast<std::size_t>(m)];
          if (arrived_[static_cast<std::size_t>(m)] >= moved_item(group) + 1 - message.delay || told++ >= 8) continue;
          const std::string from =
              message.from_core == host_core
                  ? std::string("the host")
                  : fmt::format("core {}", program_.cores[static_cast<std::size_t>(message.from_core)].core);
          diag.note(fmt::format("core {}, phase {}: waits for packets of {}", here, phase_of(group), from));
        }
      }
    }
    diag.note(fmt::format("{} of {} frames came out, at {}", frames_out_, frames_, now_));
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
  std::vector<std::int64_t> host_items_, arrived_, credits_;  // by message
  std::vector<std::vector<std::int32_t>> next_;               // by message: those that may come when it was moved
  std::int64_t host_receives_ = 0, frames_out_ = 0, looked_at_ = 0;
  std::vector<Frame> frames_seen_;
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
