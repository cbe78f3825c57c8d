// Mapped programs that are damaged at random places: what changes an output is caught, by the checks of every run where
// data moves or lies, by the exact engine where contents changed. What changes nothing is counted apart.
#include <doctest/doctest.h>

#include <map>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "interp/exact/engine.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::faults_test {

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

  static constexpr int kinds = 25;
  static constexpr const char* names[kinds] = {
      "address",    "run from",   "run to", "run length", "lost run",  "lost message", "message twice",
      "delay",      "result",     "order",  "overlap",    "move run",  "lost move",    "operand",
      "multicast",  "slots",      "ring",   "batch",      "step rows", "late batch",   "early rows",
      "other turn", "other rows", "waits",  "contents"};

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
          if (kind != Vandal::kinds - 1) continue;
          engine.run(inputs[at]);
          for (const NetWork& work : net->works)
            is_seen |= !same_values(ill.value(work.block), engine.value(work.block));
        }
      } catch (const Error& error) {
        CHECK(error.diags().items().front().code == Code("E5012"));
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
}

}  // namespace taskspec::faults_test
