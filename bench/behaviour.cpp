#include "bench/behaviour.hpp"

#include <fmt/format.h>

#include "bench/exact.hpp"
#include "bench/exact_graphs.hpp"
#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/stream_nets.hpp"

namespace taskspec::bench {

namespace {

constexpr double bar = 2.2e9;  // multiply-adds per second of CPU time
constexpr double plain_work = 56.0 * 56 * 64 * 64 * 9;

using Graph = std::shared_ptr<const BlockGraph>;

double work_of(const BlockGraph& graph) {
  double work = 0;
  for (const TaskBlock& block : graph.blocks)
    if (block.def->cost) work += static_cast<double>(multiply_adds(block));
  return work;
}

class Frames {
 public:
  Frames(const Graph& graph, ChipExtent chips, std::shared_ptr<const Chip> chip)
      : machine_(std::make_shared<const ChipProgram>(
            map_net(chip_net(graph).value_or_throw(),
                    {.chip = std::move(chip), .chips = chips, .blocks = standard_blocks()})
                .value_or_throw())) {
    std::uint64_t seed = 5;
    for (const BlockId input : graph->inputs())
      inputs_.push_back(random_bytes(value_type((*graph)[input]).extents, seed++));
    run();  // weights are packed in the first one
  }
  void run() { machine_.run(inputs_); }

 private:
  ChipMachine machine_;
  std::vector<Array> inputs_;
};

}  // namespace

int behaviour(const Settings& settings) {
  const auto chip = std::make_shared<const Chip>(load_chip("tianjicx").value_or_throw());
  const Array weights = random_bytes({64, 64, 3, 3}, 1), image = random_bytes({56, 56, 64}, 2);
  const Array bias = Array::make({Precision::i32, {64}});
  Array sums = Array::make({Precision::i32, {56, 56, 64}});
  const Graph layer = convolution_graph(weights, bias), resnet = tests::resnet({});
  Frames layer_frames(layer, {1, 1}, chip), resnet_frames(resnet, {2, 1}, chip);
  Repeats plain, of_layer, of_resnet;
  const int repeats = settings.repeats > 0 ? settings.repeats : 3;
  for (int i = 0; i < repeats; ++i) {
    plain.add(measure([&] {
      plain_convolution(reinterpret_cast<const std::int8_t*>(image.raw()),
                        reinterpret_cast<const std::int8_t*>(weights.raw()),
                        reinterpret_cast<const std::int32_t*>(bias.raw()), reinterpret_cast<std::int32_t*>(sums.raw()));
    }));
    of_layer.add(measure([&] { layer_frames.run(); }));
    of_resnet.add(measure([&] { resnet_frames.run(); }));
  }
  Table table({"a frame out of the cores, tianjicx", "cpu ms", "M MAC/s", "times the plain loop", "bar M MAC/s", ""});
  const double plain_rate = plain_work / plain.min_cpu();
  const auto row = [&](const char* name, const Repeats& times, double work, bool has_bar) {
    const double rate = work / times.min_cpu();
    table.add({name, fmt::format("{:.1f}", times.min_cpu() * 1e3), fmt::format("{:.0f}", rate / 1e6),
               fmt::format("{:.2f}", rate / plain_rate), has_bar ? fmt::format("{:.0f}", bar / 1e6) : "",
               !has_bar      ? ""
               : rate >= bar ? "holds"
                             : "MISSED"});
  };
  row("plain loop, 56x56x64 to 64, 3x3", plain, plain_work, false);
  row("the same on cores", of_layer, plain_work, true);
  row("ResNet-18", of_resnet, work_of(*resnet), true);
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace taskspec::bench
