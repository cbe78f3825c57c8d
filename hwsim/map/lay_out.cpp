#include "hwsim/map/lay_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hwsim/map/messages.hpp"
#include "hwsim/map/refusals.hpp"
#include "hwsim/map/shared_inputs.hpp"

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
    rows_ = row_schedule(program_.net, plan_);
    make_cores();
    if (diags.has_errors()) return;
    for (std::size_t u = 0; u < plan_.units.size(); ++u)
      for (std::size_t i = 0; i < plan_.units[u].pieces.size(); ++i) make_piece(u, i);
    if (diags.has_errors()) return;
    make_order();
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
    std::int32_t core = 0;
    PieceInput input;
    BlockId block;
  };

  void make_cores() {
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      ChipCore core{.core = plan_.places[i], .buffers = {}, .phases = {}};
      const std::int32_t group = plan_.group_of_core[i];
      core.phases.resize(static_cast<std::size_t>(rows_.group_phases[static_cast<std::size_t>(group)]));
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

  // An input of an earlier phase that a unit on the core reads, too, and is to share: it comes no second time, and
  // stays until that unit has read it. By buffer of the piece, as `numbers_of` wants it.
  std::map<std::int32_t, std::int32_t> come_already(std::size_t u, std::int32_t position, ChipCore& core,
                                                    PieceBuffers& made) {
    std::map<std::int32_t, std::int32_t> gone;
    if (plan_.units[u].form == UnitForm::stream || plan_.slabs > 1) return gone;
    const std::int32_t phase = rows_.units[u].phase, last = static_cast<std::int32_t>(core.phases.size()) - 1;
    for (ChipPhase& from : made.phases)
      std::erase_if(from.moves, [&](const ChipMove& move) {
        const auto input = std::ranges::find(made.inputs, move.from, &PieceInput::buffer);
        for (const KnownInput& known : inputs_on_[position]) {
          if (known.phase >= phase || !are_shared(u, known.unit) ||
              !same_input(graph_, *known.cluster, known.box, *input->cluster, input->box))
            continue;
          ChipBuffer& kept = core.buffers[static_cast<std::size_t>(known.buffer)];
          if (kept.first_phase > kept.last_phase && phase >= kept.first_phase)
            kept.first_phase = 0, kept.last_phase = last;
          else if (!kept.is_persistent)
            kept.last_phase = phase;
          gone[move.to] = known.buffer;
          gone[move.from] = no_buffer;
          return true;
        }
        return false;
      });
    std::erase_if(made.inputs, [&](const PieceInput& input) { return gone.contains(input.buffer); });
    return gone;
  }

  // A weight that another unit on the core has, and is to share with this one, is not there again.
  Numbers numbers_of(std::size_t unit, std::int32_t position, ChipCore& core, PieceBuffers& made) {
    const std::map<std::int32_t, std::int32_t> come_already = this->come_already(unit, position, core, made);
    std::vector<std::pair<std::size_t, std::int32_t>>& there = on_core_[position];
    Numbers numbers;
    auto next = static_cast<std::int32_t>(core.buffers.size());
    for (std::size_t i = 0; i < made.buffers.size(); ++i) {
      std::int32_t found = no_buffer;
      if (const auto known = come_already.find(static_cast<std::int32_t>(i)); known != come_already.end()) {
        numbers.push_back(known->second);  // none: where nothing comes any more
        continue;
      }
      const ChipBuffer& buffer = made.buffers[i];
      for (const auto& [other, number] : there)
        if (found == no_buffer && are_shared(unit, other) &&
            may_be_one(buffer, core.buffers[static_cast<std::size_t>(number)]))
          found = number;
      numbers.push_back(found == no_buffer ? next : found);
      if (found == no_buffer) ++next;
    }
    for (std::int32_t number : numbers)
      if (number != no_buffer) there.emplace_back(unit, number);
    return numbers;
  }
  bool are_shared(std::size_t a, std::size_t b) const {
    const auto both = std::minmax(a, b);
    return std::ranges::any_of(plan_.share,
                               [&](const auto& pair) { return std::minmax(pair.first, pair.second) == both; });
  }

  void make_piece(std::size_t u, std::size_t number) {
    const UnitPlan& unit = plan_.units[u];
    const std::int32_t position = unit.cores[number];
    ChipCore& core = program_.cores[static_cast<std::size_t>(position)];
    Result<PieceBuffers> made = buffers_of(program_.net, unit.unit, unit.pieces[number],
                                           {.phase = rows_.units[u].phase,
                                            .phases = static_cast<std::int32_t>(core.phases.size()),
                                            .rows = unit.form == UnitForm::stream ? &rows_.units[u] : nullptr,
                                            .pipeline_rows = unit.pipeline_rows});
    if (!made) return diags.append(made.diags());
    const Numbers numbers = numbers_of(u, position, core, *made);
    BlockId reads;
    for (std::size_t k = 0; k < core.phases.size(); ++k) {
      ChipPhase &from = made->phases[k], &to = core.phases[k];
      for (ChipMove& move : from.moves) {
        const std::int32_t given = move.from;
        renumber(move.from, numbers);
        renumber(move.to, numbers);
        if (const auto input = std::ranges::find(made->inputs, given, &PieceInput::buffer); input != made->inputs.end())
          inputs_on_[position].push_back({u, rows_.units[u].phase, input->cluster, input->box, move.to});
        moved_for_.try_emplace({position, static_cast<std::int32_t>(k)}, u);
        to.moves.push_back(std::move(move));
      }
      if (!from.axon && !from.soma) continue;
      ChipLayout layout = made->buffers[static_cast<std::size_t>((from.soma ? from.soma : from.axon)->result)].layout;
      for (auto [call, place] : {std::pair{&from.axon, &to.axon}, {&from.soma, &to.soma}}) {
        if (!*call) continue;
        renumber(**call, numbers);
        *place = std::move(*call);
      }
      to.pipeline = from.pipeline;
      const ChipCall& last = to.soma ? *to.soma : *to.axon;
      reads = last.whole;
      layout.type.extents = last.out.size;
      messages_.makes(last.whole, {.core = position,
                                   .phase = static_cast<std::int32_t>(k),
                                   .buffer = last.result,
                                   .layout = std::move(layout),
                                   .box = last.out});
    }
    for (PieceInput& input : made->inputs) {
      renumber(input.buffer, numbers);
      readers_.push_back({position, input, reads});
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (static_cast<std::size_t>(numbers[i]) == core.buffers.size())
        core.buffers.push_back(std::move(made->buffers[i]));
  }

  // As the schedule has it, for all cores of each unit or group.
  void make_order() {
    using Who = RowSchedule::Turn::Who;
    for (const RowSchedule::Turn& turn : rows_.order) {
      if (turn.who == Who::host) {
        program_.order.push_back({.core = host_core, .phase = turn.phase});
      } else if (turn.who == Who::unit) {
        const UnitPlan& unit = plan_.units[static_cast<std::size_t>(turn.number)];
        for (const std::int32_t core : unit.cores)
          program_.order.push_back({core, turn.phase, turn.moves, first_of(unit)});
      } else {
        for (std::size_t c = 0; c < program_.cores.size(); ++c)
          if (plan_.group_of_core[c] == turn.number) move_on(static_cast<std::int32_t>(c), turn.phase);
      }
    }
  }
  BlockId first_of(const UnitPlan& unit) const {
    return program_.net.works[unit.unit.axon != no_work ? unit.unit.axon : unit.unit.soma].block;
  }
  void move_on(std::int32_t core, std::int32_t phase) {
    if (const auto reader = moved_for_.find({core, phase}); reader != moved_for_.end())
      program_.order.push_back({core, phase, true, first_of(plan_.units[reader->second])});
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

  // A second item, or batch of rows, may come while the first one waits, where there is room for it.
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
                           .phase = 0,
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

  // Of a batch that lies at the beginning of a receive buffer.
  static ChipLayout part_of_rows(const ChipLayout& layout, const Box& box) {
    return layout.type.extents == box.size ? layout : part_of(layout, box.size);
  }

  void bring(const Reader& reader) {
    const ChipCore& core = program_.cores[static_cast<std::size_t>(reader.core)];
    const ChipBuffer& buffer = core.buffers[static_cast<std::size_t>(reader.input.buffer)];
    const std::size_t first = program_.messages.size();
    messages_.bring({.core = reader.core,
                     .buffer = reader.input.buffer,
                     .delay = reader.input.delay,
                     .layout = part_of_rows(buffer.layout, reader.input.box),
                     .box = reader.input.box,
                     .cluster = reader.input.cluster,
                     .name = buffer.name,
                     .span = graph_[reader.block].span,
                     .sources = reader.input.sources,
                     .source_begin = reader.input.source_begin,
                     .source_end = reader.input.sources.empty() ? INT64_MAX : reader.input.source_end},
                    program_.messages, diags);
    for (std::size_t i = first; i < program_.messages.size(); ++i) {
      if (program_.messages[i].from_core == host_core) program_.messages[i].from_phase = reader.input.tick;
      program_.cores[static_cast<std::size_t>(reader.core)]
          .phases[static_cast<std::size_t>(reader.input.phase)]
          .receives.push_back(static_cast<std::int32_t>(i));
    }
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
    tell_single_bytes();
    check_limits();
  }

  // Traffic that is eight times as much as its bytes, and for what.
  void tell_single_bytes() {
    std::map<std::string, std::int64_t> packets;
    std::int64_t all = 0;
    for (const ChipMessage& message : program_.messages) {
      if (message.singles == 0) continue;
      const ChipBuffer& to = message.to_core == host_core
                                 ? program_.outputs[static_cast<std::size_t>(message.to_buffer)]
                                 : program_.cores[static_cast<std::size_t>(message.to_core)]
                                       .buffers[static_cast<std::size_t>(message.to_buffer)];
      packets["'" + to.name + "'"] += message.singles;
      all += message.singles;
    }
    if (all > 0)
      program_.notes.push_back(fmt::format("{} packets of a step carry one byte each, where {} would fit: {}", all,
                                           program_.chip->noc.payload_bytes,
                                           largest_of({packets.begin(), packets.end()}, "")));
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
    }
    note_aim(limits.soft_phases, "phases", [](const ChipCore& core) { return std::ssize(core.phases); });
    note_aim(limits.soft_bytes, "B", [](const ChipCore& core) { return core.bytes; });
  }

  // In one line for all cores that are beyond it.
  template <class Uses>
  void note_aim(const std::optional<std::int64_t>& aim, std::string_view unit, const Uses& uses) {
    const ChipCore* most = nullptr;
    std::int64_t beyond = 0;
    for (const ChipCore& core : program_.cores) {
      if (!aim || uses(core) <= *aim) continue;
      ++beyond;
      if (!most || uses(core) > uses(*most)) most = &core;
    }
    if (!most) return;
    const std::string others =
        beyond > 1 ? fmt::format("; beyond it {} {} more", beyond == 2 ? "is" : "are", beyond - 1) : "";
    program_.notes.push_back(
        fmt::format("core {} has {} {}, {} are the aim{}", most->core, uses(*most), unit, *aim, others));
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
  struct KnownInput {                                                                  // of a unit that came before
    std::size_t unit = 0;
    std::int32_t phase = 0;
    const NetCluster* cluster = nullptr;
    Box box;
    std::int32_t buffer = 0;  // of the core
  };
  std::map<std::int32_t, std::vector<KnownInput>> inputs_on_;               // position
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> moved_for_;  // core and phase: the first unit
  RowSchedule rows_;
};

// Of a whole program: parts of one have groups that are there for them alone. Each chip has its own.
void check_groups(const ChipProgram& program, Diags& diags) {
  const std::optional<std::int64_t>& most = program.chip->limits.phase_groups;
  const std::int64_t chips = std::max<std::int64_t>(1, program.chips.area());
  if (!most || program.groups <= *most * chips) return;
  diags
      .error("E4043", {},
             fmt::format("{}: {} groups of cores, {} are possible", program.chip->name, program.groups, *most * chips))
      .help(fmt::format("in the chip's file limits/phase_groups of {} suffices", (program.groups + chips - 1) / chips));
}

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
  if (!diags.has_errors()) check_groups(program, diags);
  if (diags.has_errors()) return diags;
  return program;
}

void lay_out_part(ChipProgram& program, const ChipPlan& plan, Diags& diags, bool talks) {
  program.cores.clear();
  program.messages.clear();
  program.inputs.clear();
  program.outputs.clear();
  program.order.clear();
  program.notes.clear();
  ProgramMaker maker(program, plan);
  maker.make(talks);
  diags.append(maker.diags);
}

}  // namespace taskspec
