// Random nets on random chips: what comes out of the cores is what the exact engine makes; each is timed, too.
#include <doctest/doctest.h>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/report/account.hpp"
#include "interp/exact/engine.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::mapped_nets_test {

namespace {

constexpr MapObjective objectives[] = {MapObjective::throughput, MapObjective::latency, MapObjective::energy,
                                       MapObjective::cores};

bool equal(const Array& a, const Array& b) {
  if (a.type() != b.type()) return false;
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.integer(i) != b.integer(i)) return false;
  return true;
}

std::vector<Array> inputs_of(std::mt19937_64& random, const BlockGraph& graph) {
  std::vector<Array> inputs;
  for (BlockId id : graph.inputs()) {
    const ArrayType type = value_type(graph[id]);
    inputs.push_back(random_array(random, type.precision, type.extents));
  }
  return inputs;
}

std::string first_text(const Diags& diags) {
  std::string text = diags.items().front().code.text() + " " + diags.items().front().message;
  for (const std::string& note : diags.items().front().notes) text += "; " + note;
  return text;
}

// Refusals that are right for nets made at random: memory, cores, limits.
bool is_too_large(const Diags& diags) {
  const Code code = diags.items().front().code;
  return code == Code("E4040") || code == Code("E4041") || code == Code("E4042") || code == Code("E4043") ||
         code == Code("E4046");
}

std::int64_t rings_of(const ChipProgram& program) {
  std::int64_t rings = 0;
  for (const ChipCore& core : program.cores)
    rings += std::ranges::count_if(core.buffers, [](const ChipBuffer& b) { return b.kept_rows > 0; });
  return rings;
}

}  // namespace

TEST_CASE("random nets with skips, loops, states and delays make on any chip what the engine makes [chip-exact]") {
  int ran = 0, refused = 0, shared = 0, streams = 0, in_step = 0, late = 0, twice = 0;
  for (std::uint64_t seed : random_seeds(40, 500)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random));
    const MapOptions options{.chip = tests::random_chip(random),
                             .cores = random() % 2 == 0 ? std::optional<std::int32_t>() : between(random, 1, 4),
                             .objective = objectives[random() % 4],
                             .depth = seed % 3 == 0 ? 2 : 1,
                             .fetches_ahead = seed % 6 == 0,
                             .slabs = seed % 2 == 0 ? std::optional<std::int64_t>() : between(random, 1, 7)};
    const Result<ChipNet> net = chip_net(graph);
    if (!net) {
      REQUIRE_MESSAGE(net.diags().items().front().code == Code("E4044"), first_text(net.diags()));
      ++refused;
      continue;
    }
    Result<ChipProgram> mapped = map_net(*net, options);
    if (!mapped) {
      REQUIRE_MESSAGE(is_too_large(mapped.diags()), first_text(mapped.diags()));
      ++refused;
      continue;
    }
    // Where rows stream, groups of cores can start each step together.
    if (rings_of(*mapped) > 0 && seed % 4 == 1) {
      MapOptions together = options;
      together.step_groups = between(random, 1, 3);
      if (Result<ChipProgram> other = map_net(*net, together)) {
        CHECK(!other->step_groups.empty());
        mapped = std::move(other);
        ++in_step;
      }
    }
    ++ran;
    auto program = std::make_shared<const ChipProgram>(*std::move(mapped));
    streams += rings_of(*program) > 0 ? 1 : 0;
    for (const ChipCore& core : program->cores)
      for (const ChipBuffer& buffer : core.buffers) {
        late += buffer.step_rows > 0 ? 1 : 0;
        twice += buffer.use == BufferUse::receive && buffer.kept_rows > 0 && buffer.slots > 1 ? 1 : 0;
      }
    for (const ChipCore& core : program->cores) shared += core.phases.size() > 1 ? 1 : 0;
    ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
    ChipMachine machine(program);
    for (int step = 0; step < 5; ++step) {
      CAPTURE(step);
      const std::vector<Array> inputs = inputs_of(random, *graph);
      std::vector<Array> wanted = engine.run(inputs), made;
      REQUIRE_NOTHROW(made = machine.run(inputs));
      REQUIRE(wanted.size() == made.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) CHECK_MESSAGE(equal(wanted[i], made[i]), i);
      for (const NetWork& work : net->works) CHECK(equal(engine.value(work.block), machine.value(work.block)));
    }
    ChipTiming ideal;
    for (NocModel model : {NocModel::ideal, NocModel::contended}) {
      const Result<ChipTiming> timing = time_program(*program, {.noc = model, .frames = 3});
      REQUIRE_MESSAGE(timing, first_text(timing.diags()));
      std::int64_t packets = 0;
      for (const ChipMessage& m : program->messages)
        packets += m.from_core == host_core && m.to_core == host_core ? 0 : m.packets;
      CHECK(timing->traffic.packets <= 3 * packets);  // what leads to no output may not have ended
      if (model == NocModel::ideal) ideal = *timing;
      // Never faster than without a queue.
      if (model == NocModel::contended) CHECK(timing->cycles >= ideal.cycles);
    }
  }
  MESSAGE(ran << " ran, " << refused << " refused, " << shared << " cores shared, " << streams << " nets in rows, "
              << in_step << " of them in step groups, " << late << " rings over several steps, " << twice
              << " double buffers of rows");
  CHECK(in_step > 0);
  CHECK(late > 0);
  CHECK(twice > 0);
  CHECK(ran > 2 * refused);
  CHECK(shared > 0);
  CHECK(4 * streams > ran / 2);
}

TEST_CASE("the same net gives the same values, cycles and energy again [chip-hash]") {
  for (std::uint64_t seed : random_seeds(5, 50)) {
    CAPTURE(seed);
    auto result = [&] {
      std::mt19937_64 random(seed);
      auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random));
      std::vector<std::int64_t> numbers;
      const Result<ChipNet> net = chip_net(graph);
      if (!net) return numbers;
      Result<ChipProgram> mapped = map_net(*net, {.chip = tests::chip_variant("tianjicx"), .cores = 3});
      if (!mapped) return numbers;
      auto program = std::make_shared<const ChipProgram>(*std::move(mapped));
      ChipMachine machine(program);
      for (int step = 0; step < 2; ++step)
        for (const Array& made : machine.run(inputs_of(random, *graph)))
          for (std::int64_t i = 0; i < made.elements(); ++i) numbers.push_back(made.integer(i));
      const ChipTiming timing = time_program(*program, {}).value_or_throw();
      const PerEvent counts = counts_of(account_of(*program, timing), 2, timing.cycles);
      numbers.push_back(timing.latency), numbers.push_back(timing.interval), numbers.push_back(timing.cycles);
      numbers.push_back(energy_of(counts, *program->chip));
      return numbers;
    };
    CHECK(result() == result());
  }
}

TEST_CASE("a core filled to its last byte maps, one byte less is refused [chip-exact]") {
  auto graph = std::make_shared<const BlockGraph>(tests::conv_graph(4, 4, 16, 32, false));
  const ChipNet net = chip_net(graph).value_or_throw();
  auto map_with = [&](std::int64_t bytes) {
    const auto chip = tests::chip_variant(
        "tiny",
        {{"\"base\": 0, \"bytes\": {\"v\": 32768", "\"base\": 0, \"bytes\": {\"v\": " + std::to_string(bytes)},
         {"\"mem1\", \"base\": 32768, \"bytes\": {\"v\": 32768, \"unit\": \"B\", \"src\": \"assumed\"}, \"roles\": "
          "[\"input\", \"weight\", \"bias\", \"table\", \"state\", \"output\"]",
          "\"mem1\", \"base\": 32768, \"bytes\": {\"v\": 32768, \"unit\": \"B\", \"src\": \"assumed\"}, \"roles\": "
          "[\"program\"]"}});
    return map_net(net, {.chip = chip, .cores = 1, .slabs = 1});
  };
  // Weights 9 * 16 lines of 32 B, sums 16 pixels of 128 B, the input 16 pixels of 16 B.
  const std::int64_t exact = 9 * 16 * 32 + 16 * 128 + 16 * 16;
  const Result<ChipProgram> mapped = map_with(exact);
  REQUIRE_MESSAGE(mapped, first_text(mapped.diags()));
  std::int64_t filled = 0;
  for (const ChipBuffer& buffer : mapped->cores[0].buffers)
    if (buffer.use != BufferUse::receive) filled += buffer.bytes;
  CHECK(filled == exact);
  std::mt19937_64 random(1);
  ChipMachine machine(std::make_shared<const ChipProgram>(*mapped));
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  const std::vector<Array> inputs = inputs_of(random, *graph);
  CHECK(equal(engine.run(inputs)[0], machine.run(inputs)[0]));
  const Result<ChipProgram> refused = map_with(exact - 1);
  REQUIRE(!refused);
  // It would fit in two pieces, but there is one core.
  CHECK_MESSAGE(refused.diags().items().front().code == Code("E4042"), first_text(refused.diags()));
}

}  // namespace taskspec::mapped_nets_test
