#include "hwsim/cores/check_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hwsim/map/piece_buffers.hpp"

namespace taskspec {

namespace {

// What a byte is: a part of an element of a block, some steps ago. Of elements smaller than bytes the first one.
struct ByteOrigin {
  std::int32_t block = -1, delay = 0;
  std::int64_t part = 0;
  friend bool operator==(const ByteOrigin&, const ByteOrigin&) = default;
};

class WayChecker {
 public:
  explicit WayChecker(const ChipProgram& program) : program_(program), came_(program.outputs.size()) {}

  void check() {
    for (const ChipCore& core : program_.cores) check_core(core);
    for (std::size_t m = 0; m < program_.messages.size(); ++m) check_message(m);
    check_multicasts();
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) check_output(o);
  }

 private:
  using Origins = std::vector<ByteOrigin>;
  using Key = std::pair<std::int32_t, std::int32_t>;  // core, buffer

  [[noreturn]] static void refuse(const std::string& what) { throw failure("E5012", {}, what); }

  template <class F>
  static Origins origins(const ChipLayout& layout, std::int64_t elements, F&& origin_of) {
    Origins made(static_cast<std::size_t>(layout.bytes));
    const std::int64_t width = std::max<std::int64_t>(1, layout.bits / 8);
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t bit = layout.bit_of(i);
      if (bit % 8 != 0) continue;
      const ByteOrigin origin = origin_of(i);
      if (origin.block < 0) continue;
      for (std::int64_t b = 0; b < width; ++b)
        made[static_cast<std::size_t>(bit / 8 + b)] = {origin.block, origin.delay, origin.part * width + b};
    }
    return made;
  }

  static Origins made_of(BlockId block, const Extents& extents, const Box& box, const ChipLayout& layout) {
    const std::vector<std::int32_t> places = places_in(extents, box);
    return origins(layout, static_cast<std::int64_t>(places.size()), [&](std::int64_t i) {
      return ByteOrigin{static_cast<std::int32_t>(block.index()), 0, places[static_cast<std::size_t>(i)]};
    });
  }
  static Origins wanted_by(const NetCluster& cluster, const Box& box, const ChipLayout& layout) {
    const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
    return origins(layout, static_cast<std::int64_t>(places.size()), [&](std::int64_t i) {
      const NetPlace place = cluster.places[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
      if (place.source < 0) return ByteOrigin{};
      const NetSource& source = cluster.sources[static_cast<std::size_t>(place.source)];
      return ByteOrigin{static_cast<std::int32_t>(source.block.index()), source.delay, place.place};
    });
  }

  const BlockGraph& graph() const { return *program_.net.graph; }
  const ChipBuffer& buffer(const ChipCore& core, std::int32_t number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= core.buffers.size())
      refuse(fmt::format("core {} has no buffer {}", core.core, number));
    return core.buffers[static_cast<std::size_t>(number)];
  }

  // ---- one core -----------------------------------------------------------------------------------
  void check_core(const ChipCore& core) {
    const auto position = static_cast<std::int32_t>(&core - program_.cores.data());
    for (const ChipPhase& phase : core.phases) {
      if (phase.axon) check_call(core, *phase.axon, no_buffer, position);
      if (phase.soma) check_call(core, *phase.soma, phase.axon ? phase.axon->result : no_buffer, position);
    }
    for (const ChipPhase& phase : core.phases)
      for (const ChipMove& move : phase.moves) {
        const ChipBuffer &from = buffer(core, move.from), &to = buffer(core, move.to);
        const auto found = readers_.find({position, move.to});
        if (from.use != BufferUse::receive || found == readers_.end() || from.box != to.box || from.block != to.block ||
            from.slots < move.delay + 1 || from.slots > move.delay + 2)
          refuse(fmt::format("core {}: a move from '{}' to '{}'", core.core, from.name, to.name));
        readers_[{position, move.from}] = found->second;
      }
  }

  void check_call(const ChipCore& core, const ChipCall& call, std::int32_t sum, std::int32_t position) {
    const NetWork& work = program_.net.works[program_.net.work_of(call.whole)];
    for (std::size_t c = 0; c < call.in.size(); ++c) {
      if (call.in[c] == no_buffer) continue;
      const ChipBuffer& in = buffer(core, call.in[c]);
      const bool is_own = c == 0 && sum != no_buffer
                              ? call.in[c] == sum
                              : in.name == graph()[call.whole].name + "." + graph()[call.whole].in_cluster_name(c) ||
                                    is_shared(in, work.in[c]);
      if (!is_own) refuse(fmt::format("core {}: '{}' reads '{}'", core.core, graph()[call.whole].name, in.name));
      readers_[{position, call.in[c]}] = &work.in[c];
    }
    const ChipBuffer& result = buffer(core, call.result);
    if (result.block != call.whole || result.box != call.out ||
        (result.use != BufferUse::sum && result.use != BufferUse::result))
      refuse(fmt::format("core {}: '{}' writes '{}'", core.core, graph()[call.whole].name, result.name));
  }

  // Of another unit on the core, which has the same there.
  bool is_shared(const ChipBuffer& in, const NetCluster& wanted) const {
    if (in.use != BufferUse::fixed || !in.data || !wanted.is_data(graph())) return false;
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
    auto [found, is_new] = made_.try_emplace({message.from_core, message.from_buffer});
    if (!is_new) return found->second;
    if (message.from_core == host_core) {
      const ChipBuffer& port = program_.inputs[static_cast<std::size_t>(message.from_buffer)];
      return found->second =
                 made_of(port.block, port.layout.type.extents, whole(port.layout.type.extents), port.layout);
    }
    const ChipBuffer& from = buffer(program_.cores[static_cast<std::size_t>(message.from_core)], message.from_buffer);
    if (from.use != BufferUse::result) refuse(fmt::format("packets out of '{}', which is no result", from.name));
    return found->second = made_of(from.block, value_type(graph()[from.block]).extents, from.box, from.layout);
  }

  const Origins& target(const ChipMessage& message) {
    auto [found, is_new] = wanted_.try_emplace({message.to_core, message.to_buffer});
    if (!is_new) return found->second;
    if (message.to_core == host_core) {
      const NetCluster& in = program_.net.outputs[static_cast<std::size_t>(message.to_buffer)].in;
      return found->second = wanted_by(in, whole(in.type.extents),
                                       program_.outputs[static_cast<std::size_t>(message.to_buffer)].layout);
    }
    const ChipBuffer& to = buffer(program_.cores[static_cast<std::size_t>(message.to_core)], message.to_buffer);
    const auto reader = readers_.find({message.to_core, message.to_buffer});
    if (to.use != BufferUse::receive || reader == readers_.end())
      refuse(fmt::format("packets into '{}', from where nobody moves them", to.name));
    return found->second = wanted_by(*reader->second, to.box, to.layout);
  }

  void check_message(std::size_t number) {
    const ChipMessage& message = program_.messages[number];
    const Origins &from = source(message), &to = target(message);
    std::vector<bool>* came =
        message.to_core == host_core ? &came_[static_cast<std::size_t>(message.to_buffer)] : nullptr;
    if (came) came->resize(to.size());
    for (const ChipMessage::Run& run : message.runs) {
      const auto size = [](const Origins& all) { return static_cast<std::int64_t>(all.size()); };
      if (run.from < 0 || run.to < 0 || run.bytes < 0 || run.from + run.bytes > size(from) ||
          run.to + run.bytes > size(to))
        refuse(fmt::format("message {} is longer than its buffers", number));
      for (std::int64_t i = 0; i < run.bytes; ++i) {
        ByteOrigin brought = from[static_cast<std::size_t>(run.from + i)];
        if (brought.block >= 0) brought.delay = message.delay;
        if (brought.block < 0 || brought != to[static_cast<std::size_t>(run.to + i)])
          refuse(fmt::format("message {} brings byte {} to where something else belongs", number, run.from + i));
        if (came) (*came)[static_cast<std::size_t>(run.to + i)] = true;
      }
    }
  }

  // What is sent on goes to the places that its heads name: the same bytes to the same addresses. In turn: from one
  // message to one other, and no multicast begins with itself.
  void check_multicasts() const {
    std::vector<bool> goes_on(program_.messages.size());
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      const ChipMessage& sent = program_.messages[m];
      if (sent.behind == ChipMessage::no_message) continue;
      const auto before = static_cast<std::size_t>(sent.behind);
      if (sent.behind < 0 || before >= program_.messages.size() || before == m || goes_on[before])
        refuse(fmt::format("message {} stands behind message {} of a multicast, which is not there for it", m, before));
      goes_on[before] = true;
      const ChipMessage& first = program_.messages[before];
      const auto is_same = [](const ChipMessage::Run& a, const ChipMessage::Run& b) {
        return a.from == b.from && a.to == b.to && a.bytes == b.bytes;
      };
      if (first.to_core == host_core || sent.to_core == host_core || sent.from_core != first.from_core ||
          sent.from_buffer != first.from_buffer || sent.delay != first.delay || sent.packets != first.packets ||
          sent.heads != first.heads || !std::ranges::equal(sent.runs, first.runs, is_same))
        refuse(fmt::format("message {} sends on packets of message {}, which are others", m, before));
      if (received(sent).address != received(first).address || received(sent).slots != received(first).slots)
        refuse(fmt::format("core {} sends packets on to core {}, where their addresses are others'",
                           core_of(first).core, core_of(sent).core));
    }
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      std::size_t at = m;
      for (std::size_t n = 0; program_.messages[at].behind != ChipMessage::no_message; ++n) {
        at = static_cast<std::size_t>(program_.messages[at].behind);
        if (n > program_.messages.size()) refuse(fmt::format("message {} goes round in a circle", m));
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
      if (!message.relays.empty()) refuse(fmt::format("message {} of the host needs no relay", number));
      return;
    }
    at = program_.cores[static_cast<std::size_t>(at)].core;
    std::vector<std::int32_t> stops = message.relays;
    stops.push_back(core_of(message).core);
    for (const std::int32_t stop : stops) {
      if (stop < 0 || stop >= cores) refuse(fmt::format("message {} goes over core {}, which is none", number, stop));
      const std::int64_t dx = stop % width - at % width, dy = stop / width - at / width;
      const std::int64_t low = chip.limits.offset_min.value_or(INT32_MIN);
      const std::int64_t high = chip.limits.offset_max.value_or(INT32_MAX);
      if (dx < low || dx > high || dy < low || dy > high)
        refuse(fmt::format("core {} sends message {} on to core {}, which no head reaches", at, number, stop));
      at = stop;
    }
  }

  // Of cores the shadow of their memory sees what is missing; the host has none.
  void check_output(std::size_t number) {
    const NetCluster& in = program_.net.outputs[number].in;
    const Origins wanted = wanted_by(in, whole(in.type.extents), program_.outputs[number].layout);
    came_[number].resize(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].block < 0 || came_[number][i]) continue;
      const TaskBlock& block = graph()[BlockId(static_cast<std::size_t>(wanted[i].block))];
      if (block.def->computes() || !block.data)
        refuse(fmt::format("nobody sends byte {} of output '{}'", i, program_.outputs[number].name));
    }
  }

  const ChipProgram& program_;
  std::map<Key, Origins> made_, wanted_;
  std::map<Key, const NetCluster*> readers_;  // by buffer
  std::vector<std::vector<bool>> came_;       // bytes of outputs
};

}  // namespace

void check_ways(const ChipProgram& program) { WayChecker(program).check(); }

}  // namespace taskspec
