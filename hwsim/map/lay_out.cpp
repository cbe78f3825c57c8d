#include "hwsim/map/lay_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hwsim/map/messages.hpp"
#include "hwsim/map/refusals.hpp"

namespace taskspec {

namespace {

class ProgramMaker {
 public:
  ProgramMaker(ChipProgram& program, const ChipPlan& plan)
      : program_(program),
        plan_(plan),
        graph_(*program.net.graph),
        messages_(graph_, program.chip->limits, program.chip->noc.payload_bytes) {}

  Diags diags;

  // `talks`: with messages, for which all pieces of a unit must be there.
  void make(bool talks) {
    make_cores();
    for (const UnitPlan& unit : plan_.units)
      for (std::size_t i = 0; i < unit.pieces.size(); ++i) make_piece(unit, i);
    for (ChipCore& core : program_.cores) give_addresses(core);
    if (diags.has_errors()) return;
    if (!talks) return check_limits();
    make_ports();
    for (const Reader& reader : readers_) bring(reader);
    bring_outputs();
    tell_phases();
  }

 private:
  struct Reader {
    std::int32_t core = 0, phase = 0;  // that moves what comes
    PieceInput input;
    BlockId block;
  };

  void make_cores() {
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      ChipCore core{.core = plan_.places[i], .buffers = {}, .phases = {}};
      const std::int32_t group = plan_.group_of_core[i];
      core.phases.resize(static_cast<std::size_t>(plan_.group_phases[static_cast<std::size_t>(group)]));
      for (ChipPhase& phase : core.phases) phase.group = group;
      program_.cores.push_back(std::move(core));
    }
    program_.groups = static_cast<std::int32_t>(plan_.group_phases.size());
  }

  // Numbers of buffers are those of the core, by those of the piece.
  using Numbers = std::vector<std::int32_t>;
  static void renumber(std::int32_t& buffer, const Numbers& numbers) {
    if (buffer != no_buffer) buffer = numbers[static_cast<std::size_t>(buffer)];
  }
  static void renumber(ChipCall& call, const Numbers& numbers) {
    for (std::int32_t& buffer : call.in) renumber(buffer, numbers);
    renumber(call.result, numbers);
    renumber(call.memory, numbers);
  }

  // A weight that another unit on the core has, and is to share with this one, is not there again.
  Numbers numbers_of(std::size_t unit, std::int32_t position, const ChipCore& core, const PieceBuffers& made) {
    std::vector<std::pair<std::size_t, std::int32_t>>& there = on_core_[position];
    Numbers numbers;
    auto next = static_cast<std::int32_t>(core.buffers.size());
    for (const ChipBuffer& buffer : made.buffers) {
      std::int32_t found = no_buffer;
      for (const auto& [other, number] : there)
        if (found == no_buffer && are_shared(unit, other) &&
            may_be_one(buffer, core.buffers[static_cast<std::size_t>(number)]))
          found = number;
      numbers.push_back(found == no_buffer ? next : found);
      if (found == no_buffer) ++next;
    }
    for (std::int32_t number : numbers) there.emplace_back(unit, number);
    return numbers;
  }
  bool are_shared(std::size_t a, std::size_t b) const {
    const auto both = std::minmax(a, b);
    return std::ranges::any_of(plan_.share,
                               [&](const auto& pair) { return std::minmax(pair.first, pair.second) == both; });
  }

  void make_piece(const UnitPlan& unit, std::size_t number) {
    const std::int32_t position = unit.cores[number];
    ChipCore& core = program_.cores[static_cast<std::size_t>(position)];
    const auto phases = static_cast<std::int32_t>(core.phases.size());
    const UnitPiece& piece = unit.pieces[number];
    PieceBuffers made = buffers_of(program_.net, unit.unit, piece, unit.phase, phases);
    const ChipLayout layout = made.buffers[static_cast<std::size_t>(made.result())].layout;
    const auto own = static_cast<std::size_t>(&unit - plan_.units.data());
    const Numbers numbers = numbers_of(own, position, core, made);
    ChipPhase& phase = core.phases[static_cast<std::size_t>(unit.phase)];
    for (auto [from, to] : {std::pair{&made.axon, &phase.axon}, {&made.soma, &phase.soma}}) {
      if (!*from) continue;
      renumber(**from, numbers);
      *to = std::move(*from);
    }
    program_.order.push_back({position, unit.phase});
    const ChipCall& last = phase.soma ? *phase.soma : *phase.axon;
    messages_.makes(
        last.whole,
        {.core = position, .phase = unit.phase, .buffer = last.result, .layout = layout, .box = piece.last().out});
    const std::int32_t before = (unit.phase + phases - 1) % phases;
    for (PieceInput& input : made.inputs) {
      renumber(input.buffer, numbers);
      readers_.push_back({position, before, input, last.whole});
    }
    for (ChipMove& move : made.moves) {
      renumber(move.from, numbers);
      renumber(move.to, numbers);
      core.phases[static_cast<std::size_t>(before)].moves.push_back(std::move(move));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (static_cast<std::size_t>(numbers[i]) == core.buffers.size())
        core.buffers.push_back(std::move(made.buffers[i]));
  }

  // Addresses, and the cycles that depend on them.
  void give_addresses(ChipCore& core) {
    const Chip& chip = *program_.chip;
    if (plan_.depth > 1) double_buffers(core);
    const BufferFit fit = place_buffers(chip, core.buffers, static_cast<std::int32_t>(core.phases.size()));
    core.bytes = fit.bytes;
    if (!fit.fits) {
      diags.error("E4041", graph_[fit.first->block].span,
                  fmt::format("'{}' has no place on a core of {}: {} bytes more, where {} of {} bytes are in use",
                              fit.first->name, chip.name, fit.first->bytes, fit.bytes - fit.first->bytes, fit.there));
      return;
    }
    for (ChipPhase& phase : core.phases) {
      for (std::optional<ChipCall>* call : {&phase.axon, &phase.soma})
        if (*call) tell_cycles(core, **call);
      for (const ChipMove& move : phase.moves) {
        std::int64_t bytes = 0;
        for (const ChipMove::Run& run : move.runs) bytes += run.bytes;
        const std::int64_t port = chip.cycles.soma_bytes_per_clk;
        phase.move_cycles += 2 * ((bytes + port - 1) / port);
      }
      if (phase.move_cycles > 0) phase.move_cycles += chip.cycles.start;
    }
  }

  // A second item may come while the first one waits, where there is room for it.
  void double_buffers(ChipCore& core) const {
    const Chip& chip = *program_.chip;
    for (std::size_t i = 0; i < core.buffers.size(); ++i) {
      if (core.buffers[i].use != BufferUse::receive) continue;
      ++core.buffers[i].slots;
      core.buffers[i].bytes = core.buffers[i].slot_bytes() * core.buffers[i].slots;
      const bool is_too_much = chip.limits.receive_bytes && received_bytes(core) > *chip.limits.receive_bytes;
      if (!is_too_much && place_buffers(chip, core.buffers, static_cast<std::int32_t>(core.phases.size())).fits)
        continue;
      --core.buffers[i].slots;
      core.buffers[i].bytes = core.buffers[i].slot_bytes() * core.buffers[i].slots;
    }
  }

  static std::int64_t received_bytes(const ChipCore& core) {
    std::int64_t received = 0;
    for (const ChipBuffer& buffer : core.buffers) received += buffer.use == BufferUse::receive ? buffer.bytes : 0;
    return received;
  }

  void tell_cycles(const ChipCore& core, ChipCall& call) const {
    const Chip& chip = *program_.chip;
    const ChipBank* input = nullptr;
    const ChipBank* weight = nullptr;
    for (std::size_t c = 0; c < call.in.size(); ++c) {
      if (call.in[c] == no_buffer) continue;
      const ChipBank* bank = chip.bank_at(core.buffers[static_cast<std::size_t>(call.in[c])].address);
      if (c == 0) input = bank;
      if (call.block.in_cluster(c).name == "weight") weight = bank;
    }
    call.use.same_bank = input != nullptr && input == weight;
    call.cycles = cycles(call.block, call.use, chip.cycles);
  }

  // ---- messages -----------------------------------------------------------------------------------
  ChipBuffer port(BlockId id) const {
    const ArrayType type = value_type(graph_[id]);
    ChipBuffer buffer{
        .name = graph_[id].name,
        .block = id,
        .layout = {.type = type, .bits = packed_bits(type.precision), .strides = Extents(type.extents.size())},
        .data = {},
        .early = {}};
    std::int64_t stride = buffer.layout.bits;
    for (std::size_t i = type.extents.size(); i-- > 0;) {
      buffer.layout.strides[i] = stride;
      stride *= type.extents[i];
      if (i + 1 == type.extents.size()) stride = (stride + 63) / 64 * 64;  // pixels begin at whole packets
    }
    buffer.layout.bytes = buffer.bytes = std::max<std::int64_t>(8, stride / 8);
    return buffer;
  }

  // What comes out in one of the first steps, as far as delayed values have not come.
  Array early_output(const NetCluster& output, const Array& constant, std::int32_t step) const {
    Array values = Array::make(constant.type());
    for (std::size_t i = 0; i < output.places.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      values.set_integer(at, constant.integer(at));
      if (output.places[i].source < 0) continue;
      const NetSource& source = output.sources[static_cast<std::size_t>(output.places[i].source)];
      if (source.delay > step && source.initial)
        values.set_integer(at, source.initial->integer(output.places[i].place));
    }
    return values;
  }

  void make_ports() {
    for (BlockId id : program_.net.inputs) {
      program_.inputs.push_back(port(id));
      messages_.makes(id, {.core = host_core,
                           .phase = -1,
                           .buffer = static_cast<std::int32_t>(program_.inputs.size() - 1),
                           .layout = program_.inputs.back().layout,
                           .box = whole(value_type(graph_[id]).extents)});
    }
    for (const NetOutput& output : program_.net.outputs) {
      program_.outputs.push_back(port(output.block));
      ChipBuffer& made = program_.outputs.back();
      made.layout.type.precision = output.in.type.precision;
      made.data = constant_part(graph_, output.in, whole(output.in.type.extents));
      for (const NetSource& source : output.in.sources)
        made.slots = std::max<std::int64_t>(made.slots, source.delay + 1);
      for (std::int32_t step = 0; step + 1 < made.slots; ++step)
        made.early.push_back(early_output(output.in, *made.data, step));
    }
  }

  void bring(const Reader& reader) {
    const ChipCore& core = program_.cores[static_cast<std::size_t>(reader.core)];
    const ChipBuffer& buffer = core.buffers[static_cast<std::size_t>(reader.input.buffer)];
    const std::size_t first = program_.messages.size();
    messages_.bring({.core = reader.core,
                     .buffer = reader.input.buffer,
                     .delay = reader.input.delay,
                     .layout = buffer.layout,
                     .box = reader.input.box,
                     .cluster = reader.input.cluster,
                     .name = buffer.name,
                     .span = graph_[reader.block].span},
                    program_.messages, diags);
    for (std::size_t i = first; i < program_.messages.size(); ++i)
      program_.cores[static_cast<std::size_t>(reader.core)]
          .phases[static_cast<std::size_t>(reader.phase)]
          .receives.push_back(static_cast<std::int32_t>(i));
  }

  void bring_outputs() {
    for (std::size_t i = 0; i < program_.net.outputs.size(); ++i) {
      const NetOutput& output = program_.net.outputs[i];
      std::set<std::int32_t> delays;
      for (const NetSource& source : output.in.sources) delays.insert(source.delay);
      for (std::int32_t delay : delays)
        messages_.bring({.core = host_core,
                         .buffer = static_cast<std::int32_t>(i),
                         .delay = delay,
                         .layout = program_.outputs[i].layout,
                         .box = whole(output.in.type.extents),
                         .cluster = &output.in,
                         .name = graph_[output.block].name,
                         .span = graph_[output.block].span},
                        program_.messages, diags);
    }
  }

  void tell_phases() {
    for (std::size_t i = 0; i < program_.messages.size(); ++i) {
      const ChipMessage& message = program_.messages[i];
      if (message.from_core == host_core) continue;
      ChipCore& core = program_.cores[static_cast<std::size_t>(message.from_core)];
      core.phases[static_cast<std::size_t>(message.from_phase)].sends.push_back(static_cast<std::int32_t>(i));
    }
    check_limits();
  }

  void check_limits() {
    const ChipLimits& limits = program_.chip->limits;
    for (const ChipCore& core : program_.cores) {
      const std::int64_t received = received_bytes(core);
      if (limits.receive_bytes && received > *limits.receive_bytes) refuse_area(core, received);
      const auto phases = static_cast<std::int64_t>(core.phases.size());
      if (limits.phases && phases > *limits.phases)
        refuse(fmt::format("core {} would have {} phases, {} are possible", core.core, phases, *limits.phases),
               fmt::format("limits/phases of {} suffices, or more cores", phases));
      if (limits.soft_phases && phases > *limits.soft_phases)
        program_.notes.push_back(
            fmt::format("core {} has {} phases, {} are the aim", core.core, phases, *limits.soft_phases));
      if (limits.soft_bytes && core.bytes > *limits.soft_bytes)
        program_.notes.push_back(
            fmt::format("core {} takes {} B, {} are the aim", core.core, core.bytes, *limits.soft_bytes));
    }
    if (limits.phase_groups && program_.groups > *limits.phase_groups)
      refuse(fmt::format("{} groups of cores, {} are possible", program_.groups, *limits.phase_groups),
             fmt::format("limits/phase_groups of {} suffices", program_.groups));
  }

  void refuse_area(const ChipCore& core, std::int64_t received) {
    std::vector<std::pair<std::string, std::int64_t>> parts;
    for (const ChipBuffer& buffer : core.buffers)
      if (buffer.use == BufferUse::receive) parts.emplace_back("'" + buffer.name + "'", buffer.bytes);
    refuse(fmt::format("core {} would receive into {} bytes, {} are there: {}", core.core, received,
                       *program_.chip->limits.receive_bytes, largest_of(std::move(parts), "B")),
           fmt::format("limits/receive_bytes of {} suffices, or more cores", received));
  }
  void refuse(const std::string& why, const std::string& change) {
    diags.error("E4043", {}, program_.chip->name + ": " + why).help("in the chip's file " + change);
  }

  ChipProgram& program_;
  const ChipPlan& plan_;
  const BlockGraph& graph_;
  MessageMaker messages_;
  std::vector<Reader> readers_;
  std::map<std::int32_t, std::vector<std::pair<std::size_t, std::int32_t>>> on_core_;  // position: unit, buffer
};

}  // namespace

Result<ChipProgram> lay_out(std::shared_ptr<const Chip> chip, ChipExtent chips, ChipNet net, const ChipPlan& plan) {
  ChipProgram program;
  program.width = static_cast<std::int32_t>(chip->grid.cores.x * chips.x);
  program.cores_there = static_cast<std::int32_t>(chip->grid.cores.area() * chips.area());
  program.chip = std::move(chip);
  program.chips = chips;
  program.net = std::move(net);
  Diags diags;
  lay_out_part(program, plan, diags, true);
  if (diags.has_errors()) return diags;
  return program;
}

void lay_out_part(ChipProgram& program, const ChipPlan& plan, Diags& diags, bool talks) {
  program.cores.clear();
  program.messages.clear();
  program.inputs.clear();
  program.outputs.clear();
  program.order.clear();
  ProgramMaker maker(program, plan);
  maker.make(talks);
  diags.append(maker.diags);
}

}  // namespace taskspec
