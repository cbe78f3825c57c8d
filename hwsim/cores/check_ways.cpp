#include "hwsim/cores/check_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hwsim/map/piece_buffers.hpp"
#include "hwsim/map/shared_inputs.hpp"
#include "hwsim/program/batch_turns.hpp"
#include "hwsim/program/fault_place.hpp"

namespace taskspec {

namespace {

// What a byte is: a part of an element of a block. Of elements smaller than bytes the first one.
using ByteOrigin = std::uint64_t;
constexpr ByteOrigin nothing = UINT64_MAX;
constexpr int part_bits = 36;

ByteOrigin origin_of(std::size_t block, std::int64_t part) {
  return static_cast<ByteOrigin>(block) << part_bits | static_cast<ByteOrigin>(part);
}
std::size_t block_of(ByteOrigin origin) { return static_cast<std::size_t>(origin >> part_bits); }
std::int64_t part_of_block(ByteOrigin origin) {
  return static_cast<std::int64_t>(origin & ((ByteOrigin{1} << part_bits) - 1));
}

class WayChecker {
 public:
  explicit WayChecker(const ChipProgram& program)
      : program_(program), turns_(program), mover_(program.messages.size(), {-1, -1}), came_(program.outputs.size()) {}

  void check() {
    for (const ChipCore& core : program_.cores) check_core(core);
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      at_ = sender_of(program_, static_cast<std::int32_t>(m));
      check_message(m);
    }
    check_multicasts();
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) check_output(o);
  }

 private:
  using Origins = std::vector<ByteOrigin>;
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // core, buffer, phase

  [[noreturn]] void refuse(const std::string& what) const { chip_fault(program_, at_, what); }

  // "the message to core 5, phase 0, receive of 'conv2'": who sends it stands before.
  std::string to_whom(std::size_t number) const {
    return "the message to " + text_of(program_, receiver_of(program_, static_cast<std::int32_t>(number)));
  }

  // What is wanted, and how many steps it is old then: of an output several delays meet.
  struct Wanted {
    Origins origins;
    std::vector<std::int32_t> delays;
  };

  static std::int64_t width_of(const ChipLayout& layout) { return std::max<std::int64_t>(1, layout.bits / 8); }
  // Of all bytes with an element, or with the first of those that share it: the element, and which of its bytes.
  template <class F>
  static void each_byte(const ChipLayout& layout, std::int64_t elements, F&& visit) {
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t bit = layout.bit_of(i);
      if (bit % 8 != 0) continue;
      for (std::int64_t b = 0; b < width_of(layout); ++b) visit(static_cast<std::size_t>(bit / 8 + b), i, b);
    }
  }

  static Origins made_of(BlockId block, const Extents& extents, const Box& box, const ChipLayout& layout) {
    const std::vector<std::int32_t> places = places_in(extents, box);
    Origins made(static_cast<std::size_t>(layout.bytes), nothing);
    each_byte(layout, static_cast<std::int64_t>(places.size()), [&](std::size_t at, std::int64_t i, std::int64_t byte) {
      made[at] = origin_of(block.index(), places[static_cast<std::size_t>(i)] * width_of(layout) + byte);
    });
    return made;
  }
  static Wanted wanted_by(const NetCluster& cluster, const Box& box, const ChipLayout& layout) {
    const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
    const auto bytes = static_cast<std::size_t>(layout.bytes);
    Wanted made{Origins(bytes, nothing), std::vector<std::int32_t>(bytes)};
    each_byte(layout, static_cast<std::int64_t>(places.size()), [&](std::size_t at, std::int64_t i, std::int64_t byte) {
      const NetPlace place = cluster.places[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
      if (place.source < 0) return;
      const NetSource& source = cluster.sources[static_cast<std::size_t>(place.source)];
      made.origins[at] = origin_of(source.block.index(), place.place * width_of(layout) + byte);
      made.delays[at] = source.delay;
    });
    return made;
  }

  const BlockGraph& graph() const { return *program_.net.graph; }
  const ChipBuffer& buffer(const ChipCore& core, std::int32_t number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= core.buffers.size())
      refuse(fmt::format("the core has no buffer {}", number));
    return core.buffers[static_cast<std::size_t>(number)];
  }

  // ---- one core -----------------------------------------------------------------------------------
  void check_core(const ChipCore& core) {
    const auto position = static_cast<std::int32_t>(&core - program_.cores.data());
    for (std::size_t k = 0; k < core.phases.size(); ++k) {
      const ChipPhase& phase = core.phases[k];
      at_ = {.core = position, .phase = static_cast<std::int32_t>(k), .stage = ChipStage::axon};
      if (phase.axon) check_call(core, *phase.axon, no_buffer, position);
      at_.stage = ChipStage::soma1;
      if (phase.soma) check_call(core, *phase.soma, phase.axon ? phase.axon->result : no_buffer, position);
      for (std::int32_t message : phase.receives)
        mover_[static_cast<std::size_t>(message)] = {position, static_cast<std::int32_t>(k)};
    }
    for (std::size_t k = 0; k < core.phases.size(); ++k)
      for (const ChipMove& move : core.phases[k].moves) {
        at_ = {.core = position,
               .phase = static_cast<std::int32_t>(k),
               .stage = ChipStage::soma2,
               .block = user_of(program_, position, move.to).block};
        const ChipBuffer &from = buffer(core, move.from), &to = buffer(core, move.to);
        const auto found = readers_.find({position, move.to});
        const std::int64_t waits = from.kept_rows > 0 ? 0 : move.delay;
        if (from.use != BufferUse::receive || found == readers_.end() || from.box != to.box || from.block != to.block ||
            from.slots < waits + 1 || from.slots > waits + 2 || !is_batch(from, move.box))
          refuse(fmt::format("a move from '{}' to '{}', which nobody wants so", from.name, to.name));
        readers_[{position, move.from}] = found->second;
      }
  }

  // Some rows of what the buffer is for, no more than it has room for; where it keeps no rows, all of it.
  static bool is_batch(const ChipBuffer& buffer, const Box& box) {
    if (buffer.kept_rows == 0) return box == buffer.box;
    if (box.size.size() != buffer.box.size.size() || box.size.empty()) return false;
    for (std::size_t i = 0; i < box.size.size(); ++i) {
      const std::int64_t begin = box.position[i] - buffer.box.position[i], end = begin + box.size[i];
      if (i == 0 ? begin < 0 || end > buffer.box.size[i] : begin != 0 || end != buffer.box.size[i]) return false;
    }
    return buffer.use == BufferUse::sum || box.size[0] <= buffer.kept_rows;
  }

  void check_call(const ChipCore& core, const ChipCall& call, std::int32_t sum, std::int32_t position) {
    at_.block = call.whole;
    const NetWork& work = program_.net.works[program_.net.work_of(call.whole)];
    for (std::size_t c = 0; c < call.in.size(); ++c) {
      if (call.in[c] == no_buffer) continue;
      const ChipBuffer& in = buffer(core, call.in[c]);
      const bool is_own = c == 0 && sum != no_buffer
                              ? call.in[c] == sum
                              : in.name == graph()[call.whole].name + "." + graph()[call.whole].in_cluster_name(c) ||
                                    is_shared(in, work.in[c]);
      if (!is_own) refuse(fmt::format("it reads '{}', which is not its own", in.name));
      readers_[{position, call.in[c]}] = &work.in[c];
    }
    check_reads(core, call);
    const ChipBuffer& result = buffer(core, call.result);
    if (result.block != call.whole || !is_batch(result, call.out) ||
        (result.use != BufferUse::sum && result.use != BufferUse::result))
      refuse(fmt::format("it writes '{}', which is not its own, or not that part", result.name));
  }

  static bool same_window(const TaskBlock& a, const TaskBlock& b, BlockAxis axis) {
    const BlockWindow one = window_of(a, axis), other = window_of(b, axis);
    return one.kernel == other.kernel && one.stride == other.stride && one.dilation == other.dilation &&
           one.before == other.before;
  }

  // Exactly what the part of its block needs, and that is there; with the windows of that part.
  void check_reads(const ChipCore& core, const ChipCall& call) const {
    const Result<BlockPart> part = part_making(graph()[call.whole], call.out);
    if (part && (part->block.shape != call.block.shape || !same_window(part->block, call.block, BlockAxis::y) ||
                 !same_window(part->block, call.block, BlockAxis::x)))
      refuse("it computes with another window, or of another shape, than that part of its block has");
    for (std::size_t c = 0; c < call.in.size(); ++c) {
      if (call.in[c] == no_buffer) continue;
      if (!part || c >= call.reads.size() || part->in[c] != call.reads[c])
        refuse(fmt::format("it reads other parts of '{}' than it computes on", buffer(core, call.in[c]).name));
    }
  }

  // Of another unit on the core, which has the same there.
  bool is_shared(const ChipBuffer& in, const NetCluster& wanted) const {
    if (in.use == BufferUse::input && in.kept_rows == 0)
      return std::ranges::any_of(program_.net.works, [&](const NetWork& work) {
        return std::ranges::any_of(work.in, [&](const NetCluster& cluster) {
          return cluster.holder == in.block && same_input(graph(), cluster, in.box, wanted, in.box);
        });
      });
    if (in.use != BufferUse::fixed || !in.data || !wanted.is_data) return false;
    const Extents& extents = wanted.type.extents;
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (in.box.size.size() != extents.size() || in.box.position[i] + in.box.size[i] > extents[i]) return false;
    const Array own = constant_part(graph(), wanted, in.box);
    for (std::int64_t i = 0; i < own.elements(); ++i)
      if (own.type() != in.data->type() || own.integer(i) != in.data->integer(i)) return false;
    return true;
  }

  // ---- messages -----------------------------------------------------------------------------------
  const Origins& source(const ChipMessage& message) {
    const std::int32_t phase = message.from_core == host_core ? 0 : message.from_phase;
    auto [found, is_new] = made_.try_emplace({message.from_core, message.from_buffer, phase});
    if (!is_new) return found->second;
    if (message.from_core == host_core) {
      const ChipBuffer& port = program_.inputs[static_cast<std::size_t>(message.from_buffer)];
      return found->second =
                 made_of(port.block, port.layout.type.extents, whole(port.layout.type.extents), port.layout);
    }
    const ChipCore& core = program_.cores[static_cast<std::size_t>(message.from_core)];
    const ChipBuffer& from = buffer(core, message.from_buffer);
    const ChipPhase& now = core.phases[static_cast<std::size_t>(message.from_phase)];
    const ChipCall* call = now.soma ? &*now.soma : now.axon ? &*now.axon : nullptr;
    if (from.use != BufferUse::result || !call || call->result != message.from_buffer)
      refuse(fmt::format("packets out of '{}', which is no result", from.name));
    return found->second = made_of(from.block, value_type(graph()[from.block]).extents, call->out,
                                   rows_of_layout(from.layout, call->out));
  }

  static ChipLayout rows_of_layout(const ChipLayout& layout, const Box& box) {
    return layout.type.extents == box.size ? layout : part_of(layout, box.size);
  }

  // Messages for one batch stand side by side: only the last one is remembered.
  const Wanted& target(const ChipMessage& message, std::size_t number) {
    const auto [mover, phase] = mover_[number];
    const Key key{message.to_core, message.to_buffer, phase};
    if (wanted_key_ == key && !wanted_.origins.empty()) return wanted_;
    wanted_key_ = key;
    if (message.to_core == host_core) {
      const NetCluster& in = program_.net.outputs[static_cast<std::size_t>(message.to_buffer)].in;
      return wanted_ = wanted_by(in, whole(in.type.extents),
                                 program_.outputs[static_cast<std::size_t>(message.to_buffer)].layout);
    }
    const ChipCore& core = program_.cores[static_cast<std::size_t>(message.to_core)];
    const ChipBuffer& to = buffer(core, message.to_buffer);
    const auto reader = readers_.find({message.to_core, message.to_buffer});
    const ChipMove* move = nullptr;
    if (mover == message.to_core)
      for (const ChipMove& other : core.phases[static_cast<std::size_t>(phase)].moves)
        if (other.from == message.to_buffer) move = &other;
    if (to.use != BufferUse::receive || reader == readers_.end() || !move)
      refuse(fmt::format("packets into '{}', from where nobody moves them", to.name));
    return wanted_ = wanted_by(*reader->second, move->box, rows_of_layout(to.layout, move->box));
  }

  void check_message(std::size_t number) {
    const ChipMessage& message = program_.messages[number];
    const Origins& from = source(message);
    const Wanted& wanted = target(message, number);
    const Origins& to = wanted.origins;
    std::vector<bool>* came =
        message.to_core == host_core ? &came_[static_cast<std::size_t>(message.to_buffer)] : nullptr;
    if (came) came->resize(to.size());
    for (const ChipMessage::Run& run : message.runs) {
      const auto size = [](const Origins& all) { return static_cast<std::int64_t>(all.size()); };
      if (run.from < 0 || run.to < 0 || run.bytes < 0 || run.from + run.bytes > size(from) ||
          run.to + run.bytes > size(to))
        refuse(fmt::format("{} is longer than its buffers", to_whom(number)));
      for (std::int64_t i = 0; i < run.bytes; ++i) {
        const auto at = static_cast<std::size_t>(run.to + i);
        const ByteOrigin brought = from[static_cast<std::size_t>(run.from + i)];
        if (brought == nothing || brought != to[at])
          refuse(fmt::format("{} brings byte {} to where something else belongs", to_whom(number), run.from + i));
        if (message.delay != wanted.delays[at])
          refuse(fmt::format("{} brings byte {} {} steps late, where {} are wanted", to_whom(number), run.from + i,
                             message.delay, wanted.delays[at]));
        if (came) (*came)[at] = true;
      }
    }
  }

  // What is sent on goes to the places that its heads name: the same bytes to the same addresses. In turn: from one
  // message to one other, and no multicast begins with itself.
  void check_multicasts() {
    std::vector<bool> goes_on(program_.messages.size());
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      const ChipMessage& sent = program_.messages[m];
      if (sent.behind == ChipMessage::no_message) continue;
      at_ = sender_of(program_, static_cast<std::int32_t>(m));
      const auto before = static_cast<std::size_t>(sent.behind);
      if (sent.behind < 0 || before >= program_.messages.size() || before == m || goes_on[before])
        refuse(
            fmt::format("{} stands behind message {} of a multicast, which is not there for it", to_whom(m), before));
      goes_on[before] = true;
      const ChipMessage& first = program_.messages[before];
      const auto is_same = [](const ChipMessage::Run& a, const ChipMessage::Run& b) {
        return a.from == b.from && a.to == b.to && a.bytes == b.bytes;
      };
      if (first.to_core == host_core || sent.to_core == host_core || sent.from_core != first.from_core ||
          sent.from_phase != first.from_phase || sent.from_buffer != first.from_buffer || sent.delay != first.delay ||
          sent.packets != first.packets || sent.heads != first.heads ||
          !std::ranges::equal(sent.runs, first.runs, is_same))
        refuse(fmt::format("{} sends on packets of {}, which are others", to_whom(m), to_whom(before)));
      const auto turn = [&](std::size_t number) { return turns_.of(static_cast<std::int32_t>(number)); };
      if (received(sent).address != received(first).address || received(sent).slots != received(first).slots ||
          (received(sent).slots > 1 && turn(m) != turn(before)))
        refuse(fmt::format("core {} sends packets on as {}, where their addresses are others'", core_of(first).core,
                           to_whom(m)));
    }
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      at_ = sender_of(program_, static_cast<std::int32_t>(m));
      std::size_t at = m;
      for (std::size_t n = 0; program_.messages[at].behind != ChipMessage::no_message; ++n) {
        at = static_cast<std::size_t>(program_.messages[at].behind);
        if (n > program_.messages.size()) refuse(fmt::format("{} goes round in a circle", to_whom(m)));
      }
      check_relays(m);
    }
  }

  const ChipCore& core_of(const ChipMessage& message) const {
    return program_.cores[static_cast<std::size_t>(message.to_core)];
  }
  const ChipBuffer& received(const ChipMessage& message) const {
    return core_of(message).buffers[static_cast<std::size_t>(message.to_buffer)];
  }

  // Cores that send packets on exist, and each is near enough to the one before for a head to name it.
  void check_relays(std::size_t number) const {
    const ChipMessage& message = program_.messages[number];
    const Chip& chip = *program_.chip;
    const std::int64_t width = program_.width, cores = chip.grid.cores.area() * program_.chips.area();
    std::int32_t at = message.from_core;
    if (message.behind != ChipMessage::no_message)
      at = program_.messages[static_cast<std::size_t>(message.behind)].to_core;
    if (at == host_core || message.to_core == host_core) {
      if (!message.relays.empty()) refuse(fmt::format("{} needs no relay", to_whom(number)));
      return;
    }
    at = program_.cores[static_cast<std::size_t>(at)].core;
    std::vector<std::int32_t> stops = message.relays;
    stops.push_back(core_of(message).core);
    for (const std::int32_t stop : stops) {
      if (stop < 0 || stop >= cores) refuse(fmt::format("{} goes over core {}, which is none", to_whom(number), stop));
      const std::int64_t dx = stop % width - at % width, dy = stop / width - at / width;
      const std::int64_t low = chip.limits.offset_min.value_or(INT32_MIN);
      const std::int64_t high = chip.limits.offset_max.value_or(INT32_MAX);
      if (dx < low || dx > high || dy < low || dy > high)
        refuse(fmt::format("{}: core {} sends it on to core {}, which no head reaches", to_whom(number), at, stop));
      at = stop;
    }
  }

  // Of cores the shadow of their memory sees what is missing; the host has none.
  void check_output(std::size_t number) {
    const NetCluster& in = program_.net.outputs[number].in;
    const Origins wanted = wanted_by(in, whole(in.type.extents), program_.outputs[number].layout).origins;
    came_[number].resize(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == nothing || came_[number][i]) continue;
      const BlockId id(block_of(wanted[i]));
      const TaskBlock& block = graph()[id];
      at_ = maker_of(program_, id, part_of_block(wanted[i]) / width_of(program_.outputs[number].layout));
      if (block.def->computes() || !block.data)
        refuse(fmt::format("nobody sends byte {} of output '{}'", i, program_.outputs[number].name));
    }
  }

  const ChipProgram& program_;
  BatchTurns turns_;
  std::map<Key, Origins> made_;
  Key wanted_key_{-2, -2, -2};
  Wanted wanted_;
  FaultPlace at_;  // that is looked at: for what is refused
  std::map<std::pair<std::int32_t, std::int32_t>, const NetCluster*> readers_;  // by core and buffer
  std::vector<std::pair<std::int32_t, std::int32_t>> mover_;                    // by message: core and phase
  std::vector<std::vector<bool>> came_;                                         // bytes of outputs
};

}  // namespace

void check_ways(const ChipProgram& program) { WayChecker(program).check(); }

}  // namespace taskspec
