// Mapped programs that are damaged at random places: what changes an output is caught, by the checks of every run where
// data moves or lies, by the exact engine where contents or parameters changed. What changes nothing is counted apart.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <regex>

#include "hwsim/cores/check_ways.hpp"
#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "interp/exact/engine.hpp"
#include "interp/hw/hw_program.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/lowered_nets.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::faults_test {
using tests::BlockGraphMaker;

namespace {

constexpr int fault_steps = 4;

bool same_values(const Array& a, const Array& b) {
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.integer(i) != b.integer(i)) return false;
  return true;
}

// One change of a program; empty: there was nothing of that kind.
class Vandal {
 public:
  Vandal(ChipProgram& program, std::mt19937_64& random) : p_(program), random_(random) {}

  static constexpr int kinds = 26;
  static constexpr int first_of_contents = 24;  // from there on the engine is asked, too
  static constexpr const char* names[kinds] = {
      "address",    "run from",   "run to", "run length", "lost run",  "lost message", "message twice",
      "delay",      "result",     "order",  "overlap",    "move run",  "lost move",    "operand",
      "multicast",  "slots",      "ring",   "batch",      "step rows", "late batch",   "early rows",
      "other turn", "other rows", "waits",  "parameter",  "contents"};

  bool damage(int kind) {
    switch (kind) {
      case 0:
        return with(buffer(), [&](ChipBuffer& b) { b.address += shift(4) * (maybe() ? 16 : 8); });
      case 1:
        return with(run(), [&](ChipMessage::Run& r) { r.from += shift(16); });
      case 2:
        return with(run(), [&](ChipMessage::Run& r) { r.to += shift(16); });
      case 3:
        return with(run(), [&](ChipMessage::Run& r) { r.bytes += shift(9); });
      case 4:
        return with(message(), [&](ChipMessage& m) {
          m.runs.erase(m.runs.begin() + any(0, static_cast<std::int64_t>(m.runs.size()) - 1));
        });
      case 5:
        return with(sends(), [&](std::vector<std::int32_t>& s) { s.erase(s.begin() + place(s)); });
      case 6:
        return with(sends(), [&](std::vector<std::int32_t>& s) { s.push_back(s[place(s)]); });
      case 7:
        return with(message(), [&](ChipMessage& m) { m.delay = std::max(0, m.delay + static_cast<int>(shift(2))); });
      case 8:
        return with(call(), [&](ChipCall& c) { c.result = number(*core_); });
      case 9:
        if (p_.order.size() < 2) return false;
        std::swap(p_.order[place(p_.order)], p_.order[place(p_.order)]);
        return true;
      case 10:
        return with(buffer(), [&](ChipBuffer& b) { b.address = core_->buffers[place(core_->buffers)].address; });
      case 11:
        return with(move(), [&](ChipMove& m) {
          ChipMove::Run& r = m.runs[place(m.runs)];
          (maybe() ? r.byte : r.bytes) += shift(9);
        });
      case 12:
        return with(phase(), [&](ChipPhase& k) {
          if (!k.moves.empty()) k.moves.erase(k.moves.begin() + static_cast<std::ptrdiff_t>(place(k.moves)));
        });
      case 13:
        return with(call(), [&](ChipCall& c) { c.in[place(c.in)] = number(*core_); });
      case 14:
        return with(chained(), [&](ChipMessage& m) {
          if (maybe())
            m.behind = static_cast<std::int32_t>(any(-1, static_cast<std::int64_t>(p_.messages.size())));
          else
            m.relays.push_back(static_cast<std::int32_t>(any(-2, 170)));
        });
      case 15:
        return with(buffer(), [&](ChipBuffer& b) { b.slots = std::max<std::int64_t>(1, b.slots + shift(1)); });
      case 16:
        return with(ring(), [&](ChipBuffer& b) { b.kept_rows -= 1; });
      case 17:
        return with(batch(), [&](ChipMove& m) { m.box.position[0] += shift(2); });
      case 18:
        return with(long_ring(),
                    [&](ChipBuffer& b) { b.step_rows = std::max<std::int64_t>(0, b.step_rows + shift(2)); });
      case 19:  // into the rows of another step
        return with(batch_of_rows(), [&](ChipMove& m) { m.delay = std::max(0, m.delay + static_cast<int>(shift(2))); });
      case 20:
        return with(long_ring(), [&](ChipBuffer& b) { b.early.pop_back(); });
      case 21:  // a batch is moved in another phase
        return with(core(), [&](ChipCore& c) {
          ChipPhase &a = c.phases[place(c.phases)], &b = c.phases[place(c.phases)];
          std::swap(a.moves, b.moves);
          if (maybe()) std::swap(a.receives, b.receives);
        });
      case 22:  // a call makes other rows
        return with(call(), [&](ChipCall& c) {
          if (!c.reads.empty() && !c.reads[0].position.empty()) c.reads[place(c.reads)].position[0] += shift(2);
        });
      case 23:  // a message is moved in a step of another number
        return with(message(), [&](ChipMessage& m) { m.delay = m.delay == 0 ? 1 : 0; });
      case 24:
        return with(call(), [&](ChipCall& c) { change_parameter(c.block); });
      default:
        return contents();
    }
  }

 private:
  std::int64_t any(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  bool maybe() { return random_() % 2 == 0; }
  std::int64_t shift(std::int64_t most) { return any(1, most) * (maybe() ? 1 : -1); }
  template <class T>
  std::size_t place(const std::vector<T>& list) {
    return random_() % list.size();
  }
  template <class T, class F>
  static bool with(T* thing, F&& change) {
    if (thing) change(*thing);
    return thing != nullptr;
  }

  ChipCore* core() { return core_ = p_.cores.empty() ? nullptr : &p_.cores[place(p_.cores)]; }
  ChipBuffer* buffer() { return core() && !core_->buffers.empty() ? &core_->buffers[place(core_->buffers)] : nullptr; }
  std::int32_t number(const ChipCore& of) { return static_cast<std::int32_t>(place(of.buffers)); }
  ChipPhase* phase() { return core() ? &core_->phases[place(core_->phases)] : nullptr; }
  ChipCall* call() {
    ChipPhase* k = phase();
    if (!k) return nullptr;
    return k->soma && (!k->axon || maybe()) ? &*k->soma : k->axon ? &*k->axon : nullptr;
  }
  ChipMove* move() {
    ChipPhase* k = phase();
    return k && !k->moves.empty() ? &k->moves[place(k->moves)] : nullptr;
  }
  ChipBuffer* ring() {
    ChipBuffer* b = buffer();
    return b && b->kept_rows > 1 ? b : nullptr;
  }
  ChipMove* batch() {
    ChipMove* m = move();
    return m && m->box.size.size() == 3 ? m : nullptr;
  }
  ChipBuffer* long_ring() {
    std::vector<ChipBuffer*> all;
    for (ChipCore& c : p_.cores)
      for (ChipBuffer& b : c.buffers)
        if (b.step_rows > 0) all.push_back(&b);
    return all.empty() ? nullptr : all[place(all)];
  }
  ChipMove* batch_of_rows() {
    ChipMove* m = move();
    return m && core_->buffers[static_cast<std::size_t>(m->from)].kept_rows > 0 ? m : nullptr;
  }
  std::vector<std::int32_t>* sends() {
    ChipPhase* k = phase();
    return k && !k->sends.empty() ? &k->sends : nullptr;
  }
  ChipMessage* message() { return p_.messages.empty() ? nullptr : &p_.messages[place(p_.messages)]; }
  // One that is sent on, where there is one.
  ChipMessage* chained() {
    std::vector<ChipMessage*> all;
    for (ChipMessage& m : p_.messages)
      if (m.behind != ChipMessage::no_message) all.push_back(&m);
    return all.empty() ? message() : all[place(all)];
  }
  ChipMessage::Run* run() {
    ChipMessage* m = message();
    return m ? &m->runs[place(m->runs)] : nullptr;
  }
  // Any of those that its record has, in its bounds. Windows move data, the others are contents.
  void change_parameter(TaskBlock& block) {
    const auto list = block.def->attributes;
    if (list.empty()) return;
    const BlockAttributeDef& one = *list[random_() % list.size()];
    const std::int64_t now = block.attribute(one.name);
    block.set(one, std::clamp(now + shift(4), one.least, one.most));
  }
  bool contents() {
    std::vector<ChipBuffer*> all;
    for (ChipCore& core : p_.cores)
      for (ChipBuffer& held : core.buffers)
        if (held.use == BufferUse::fixed && held.data) all.push_back(&held);
    if (all.empty()) return false;
    ChipBuffer* b = all[place(all)];
    Array changed = Array::make(b->data->type());
    for (std::int64_t i = 0; i < changed.elements(); ++i) changed.set_integer(i, b->data->integer(i));
    const std::int64_t at = any(0, changed.elements() - 1);
    changed.set_integer(at, changed.integer(at) > 0 ? changed.integer(at) - 1 : changed.integer(at) + 1);
    b->data = changed;
    return true;
  }

  ChipProgram& p_;
  std::mt19937_64& random_;
  ChipCore* core_ = nullptr;
};

// "core 3, phase 1, soma1 of 'conv1': ...": with numbers and names that are there.
bool tells_where(const std::string& message, const ChipProgram& program) {
  static const std::regex where(
      "^(?:the host|core ([0-9]+), phase ([0-9]+)), (axon|soma1|send|receive|soma2) of '([^']*)'[,:] ");
  std::smatch found;
  if (!std::regex_search(message, found, where)) return false;
  const BlockGraph& graph = *program.net.graph;
  const std::string name = found[4].str();
  if (std::ranges::find(graph.blocks, name, &TaskBlock::name) == graph.blocks.end()) return false;
  if (found[1].length() == 0) return found[3] == "send" || found[3] == "receive";
  return std::ranges::any_of(program.cores, [&](const ChipCore& core) {
    return core.core == std::stoi(found[1]) && std::stoul(found[2]) < core.phases.size();
  });
}

struct FaultCounts {
  int told = 0, engine = 0, harmless = 0;
};

}  // namespace

TEST_CASE("a damaged program is caught wherever an output changes [chip-faults]") {
  std::map<std::string, FaultCounts> counts;
  int faults = 0;
  for (std::uint64_t seed : random_seeds(20, 100)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random, {.planes = 6, .features = 40}));
    const Result<ChipNet> net = chip_net(graph);
    if (!net) continue;
    const MapOptions options{.chip = tests::chip_variant("tianjicx"),
                             .cores = random() % 2 == 0 ? std::optional<std::int32_t>() : between(random, 1, 3),
                             .depth = seed % 3 == 0 ? 2 : 1,
                             .slabs = seed % 2 == 0 ? std::optional<std::int64_t>() : between(random, 1, 6)};
    const Result<ChipProgram> sound = map_net(*net, options);
    if (!sound) continue;
    std::vector<std::vector<Array>> inputs, wanted;
    ChipMachine machine(std::make_shared<const ChipProgram>(*sound));
    for (int step = 0; step < fault_steps; ++step) {
      inputs.emplace_back();
      for (const ChipBuffer& port : sound->inputs)
        inputs.back().push_back(random_array(random, port.layout.type.precision, port.layout.type.extents));
      wanted.push_back(machine.run(inputs.back()));
    }
    for (int round = 0; round < Vandal::kinds + 2; ++round) {
      const int kind = std::min(round, Vandal::kinds - 1);  // contents more often than the others
      const std::string fault = Vandal::names[kind];
      CAPTURE(fault);
      FaultCounts& count = counts[Vandal::names[kind]];
      ChipProgram damaged = *sound;
      if (!Vandal(damaged, random).damage(kind)) continue;
      ++faults;
      bool differs = false, is_seen = false;
      try {
        ChipMachine ill(std::make_shared<const ChipProgram>(std::move(damaged)));
        ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
        for (int step = 0; step < fault_steps; ++step) {
          const auto at = static_cast<std::size_t>(step);
          const std::vector<Array> made = ill.run(inputs[at]);
          for (std::size_t i = 0; i < made.size(); ++i) differs |= !same_values(made[i], wanted[at][i]);
          if (kind < Vandal::first_of_contents) continue;
          engine.run(inputs[at]);
          for (const NetWork& work : net->works)
            is_seen |= !same_values(ill.value(work.block), engine.value(work.block));
        }
      } catch (const Error& error) {
        const Diag& diag = error.diags().items().front();
        CHECK(diag.code == Code("E5012"));
        CHECK_MESSAGE(tells_where(diag.message, *sound), diag.message);
        ++count.told;
        continue;
      }
      if (differs) CHECK(is_seen);
      ++(differs ? count.engine : count.harmless);
    }
  }
  for (const auto& [name, count] : counts)
    MESSAGE(name << ": " << count.told << " told, " << count.engine << " seen by the engine, " << count.harmless
                 << " change nothing");
  CHECK(faults >= 200);
  CHECK(counts["parameter"].told + counts["parameter"].engine > 0);
}

namespace {

std::string fault_of(ChipProgram program) {
  try {
    ChipMachine machine(std::make_shared<const ChipProgram>(std::move(program)));
  } catch (const Error& error) {
    return error.diags().items().front().message;
  }
  return "";
}

// x -> a -> b, delayed by one step between them.
ChipProgram delayed_sums() {
  BlockGraphMaker make("late");
  const BlockShape plane{.y = 2, .x = 2, .f = 8};
  const BlockId x = make.block("x", "INPUT", Precision::i8, plane), s = make.block("s", "SI", Precision::i8, plane),
                a = make.block("a", "CADD", Precision::i32, plane), t = make.block("t", "SI", Precision::i32, plane),
                b = make.block("b", "CADD", Precision::i32, plane),
                y = make.block("y", "OUTPUT", Precision::i32, plane);
  make.edge(x, s);
  make.edge(s, a);
  make.edge(a, t).delay = 1;
  make.edge(t, b);
  make.edge(b, y);
  const ChipNet net = chip_net(std::make_shared<const BlockGraph>(std::move(make.graph))).value_or_throw();
  return map_net(net, {.chip = tests::chip_variant("tianjicx"), .slabs = 1}).value_or_throw();
}

}  // namespace

TEST_CASE("delays are compared as they are, not by their last byte [chip-faults]") {
  const ChipProgram sound = delayed_sums();
  check_ways(sound);
  for (std::size_t m = 0; m < sound.messages.size(); ++m)
    for (const std::int32_t more : {256, 512, 1 << 16}) {
      ChipProgram damaged = sound;
      damaged.messages[m].delay += more;
      CHECK_MESSAGE(
          fault_of(damaged).find(fmt::format("{} steps late, where", damaged.messages[m].delay)) != std::string::npos,
          fault_of(damaged));
    }
}

TEST_CASE("faults of a message name who sends and who receives [chip-faults]") {
  const ChipProgram sound = delayed_sums();
  const auto between = std::ranges::find_if(
      sound.messages, [](const ChipMessage& m) { return m.from_core != host_core && m.to_core != host_core; });
  REQUIRE(between != sound.messages.end());
  ChipProgram damaged = sound;
  damaged.messages[static_cast<std::size_t>(between - sound.messages.begin())].runs[0].bytes += 4096;
  const std::string text = fault_of(damaged);
  CHECK_MESSAGE(std::regex_search(text, std::regex("^core [0-9]+, phase 0, send of 'a': the message to core [0-9]+, "
                                                   "phase 0, receive of 'b' is longer than its buffers$")),
                text);
  // The host waits for what no core sends.
  damaged = sound;
  for (ChipCore& core : damaged.cores)
    for (ChipPhase& phase : core.phases)
      std::erase_if(phase.sends,
                    [&](std::int32_t m) { return damaged.messages[static_cast<std::size_t>(m)].to_core == host_core; });
  ChipMachine machine(std::make_shared<const ChipProgram>(damaged));
  std::mt19937_64 random(3);
  std::string waits;
  try {
    machine.run(std::vector<Array>{random_array(random, Precision::i8, {2, 2, 8})});
  } catch (const Error& error) {
    waits = error.diags().items().front().message;
  }
  CHECK_MESSAGE(std::regex_search(waits, std::regex("^the host, receive of 'y', from core [0-9]+, phase 0, send of "
                                                    "'b': [0-9]+ stop flags are awaited for 'y', 0 came$")),
                waits);
}

TEST_CASE("check: \"engine\" names the core, the phase and the place where another value came out [chip-faults]") {
  std::mt19937_64 random(11);
  NetOf net;
  const ValueId x = net.input({Precision::i8, {1, 64}}),
                w = net.weight(random_array(random, Precision::i8, Extents{64, 64}));
  net.give(net.cast(net.emit("shift_right", {net.emit("matmul", {x, w}), Value(std::int64_t{6})}), Precision::i8));
  const LoweredGraph lowered = net.lowered().value_or_throw();
  HwOptions options;
  options.chip = tests::chip_variant("tiny");
  options.checks_values = true;
  const ChipProgram sound =
      map_net(chip_net(std::make_shared<const BlockGraph>(lowered.graph)).value_or_throw(), options).value_or_throw();
  const std::vector<Array> given{random_array(random, Precision::i8, Extents{1, 64})};
  const auto told = [&](const ChipProgram& program) -> std::string {
    try {
      HwProgram::with(lowered, program, options).value_or_throw()->step(given);
    } catch (const Error& error) {
      CHECK(error.diags().items().front().code == Code("E5012"));
      return error.diags().items().front().message;
    }
    return "";
  };
  CHECK(told(sound) == "");

  const auto has_weights = [](const ChipBuffer& b) { return b.use == BufferUse::fixed && b.data; };
  ChipProgram damaged = sound;
  ChipCore& core = damaged.cores.back();
  ChipBuffer& weights = *std::ranges::find_if(core.buffers, has_weights);
  Array other = Array::make(weights.data->type());
  weights.data = other;  // zeros
  std::string text = told(damaged);
  CHECK_MESSAGE(std::regex_search(text, std::regex(fmt::format("^core {}, phase 0, axon of '[^']+': 0 at place [0-9]+ "
                                                               "of what it makes, where the exact engine has "
                                                               "-?[0-9]+, in step 0$",
                                                               core.core))),
                text);

  damaged = sound;
  TaskBlock& soma = damaged.cores.back().phases[0].soma->block;
  const auto shift = std::ranges::find(soma.def->attributes, "shift", &BlockAttributeDef::name);
  REQUIRE(shift != soma.def->attributes.end());
  soma.set(**shift, soma.attribute("shift") + 2);
  text = told(damaged);
  CHECK_MESSAGE(std::regex_search(text, std::regex(fmt::format("^core {}, phase 0, soma1 of '[^']+': -?[0-9]+ at place "
                                                               "[0-9]+ of what it makes, where the exact engine has",
                                                               damaged.cores.back().core))),
                text);
}

}  // namespace taskspec::faults_test
