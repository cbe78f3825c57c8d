#include "bench/chains.hpp"

#include <fmt/format.h>

#include <random>

#include "ir/plan/plan.hpp"

namespace taskspec::bench {

namespace {

// Who comes before whom, decided before the clock starts: 1 to 3 of all earlier tasks each.
struct Shape {
  std::vector<std::uint32_t> predecessors;
  std::vector<std::uint8_t> counts;
};

Shape random_shape(std::size_t tasks) {
  std::mt19937_64 random(2024);
  Shape shape;
  for (std::size_t i = 0; i < tasks; ++i) {
    std::size_t count = i == 0 ? 0 : 1 + random() % 3;
    shape.counts.push_back(static_cast<std::uint8_t>(count));
    for (std::size_t k = 0; k < count; ++k) shape.predecessors.push_back(static_cast<std::uint32_t>(random() % i));
  }
  return shape;
}

// A user's program through the C++ API: one definition, its calls one after another.
std::shared_ptr<TaskGraph> build(const Shape& shape) {
  auto graph = std::make_shared<TaskGraph>();
  Definition empty;
  empty.kind = Definition::Kind::native;
  empty.name = "empty";
  empty.inputs = {"after"};
  empty.outputs = {"done"};
  DefinitionId definition = graph->define(std::move(empty));
  TypeId nothing = graph->intern(Type::tensor(Precision::f32, {0}));
  const std::uint32_t* predecessor = shape.predecessors.data();
  for (std::uint8_t count : shape.counts) {
    Ref in[3];
    for (std::size_t k = 0; k < count; ++k) in[k] = Ref::future(NodeId(*predecessor++), 0);
    graph->add(definition, {.in = {in, count}, .out = {&nothing, 1}});
  }
  return graph;
}

constexpr const char* stages[] = {"build", "aggregate", "plan"};

// One size: times of the stages, and bytes held and needed at most.
struct Row {
  explicit Row(std::size_t tasks) : shape(random_shape(tasks)) {}

  void repeat() {
    forget_peak();
    std::size_t before = resident_bytes();
    std::shared_ptr<TaskGraph> graph;
    Chains chains;
    std::shared_ptr<const Plan> plan;
    Sample sample[3] = {measure([&] { graph = build(shape); }), measure([&] { chains = aggregate(*graph); }),
                        measure([&] { plan = make_plan(graph, chains); })};
    Sample all;
    for (int k = 0; k < 3; ++k) {
      stage[k].add(sample[k]);
      all.wall += sample[k].wall;
      all.cpu += sample[k].cpu;
    }
    total.add(all);
    bytes[0] = graph->bytes();
    bytes[1] = chains.bytes();
    bytes[2] = plan->bytes();
    std::size_t peak = peak_resident_bytes();
    peak_bytes = peak > before ? peak - before : 0;
    chain_count = chains.size();
  }

  Shape shape;
  Repeats stage[3], total;
  std::size_t bytes[3] = {}, peak_bytes = 0, chain_count = 0;
};

std::vector<std::string> cells(const std::string& name, const Repeats& small, const Repeats& large, std::size_t few,
                               std::size_t many, std::size_t bytes) {
  auto ns = [](double seconds, std::size_t tasks) {
    return fmt::format("{:.1f}", seconds * 1e9 / static_cast<double>(tasks));
  };
  return {name,
          ns(small.min_wall(), few),
          ns(small.median_wall(), few),
          ns(large.min_wall(), many),
          ns(large.median_wall(), many),
          ns(small.min_cpu(), few),
          ns(large.min_cpu(), many),
          fmt::format("{:.1f}", large.min_wall() / small.min_wall()),
          fmt::format("{:.1f}", static_cast<double>(bytes) / static_cast<double>(many))};
}

}  // namespace

int chains(const Settings& settings) {
  std::size_t many = std::max<std::size_t>(settings.tasks, 10), few = many / 10;
  int repeats = settings.repeats > 0 ? settings.repeats : 10;
  Row small(few), large(many);
  for (int i = 0; i < repeats; ++i) small.repeat(), large.repeat();

  fmt::print("random graphs of {} and {} empty tasks, 1 to 3 predecessors among all earlier ones; {} chains\n", few,
             many, large.chain_count);
  fmt::print("ns per task: minimum and median of {}, least CPU time of the process; bytes per task held afterwards\n\n",
             repeats);
  Table table({"", "n/10 min", "median", "n min", "median", "CPU n/10", "CPU n", "ratio", "bytes"});
  std::size_t held = 0;
  for (int k = 0; k < 3; ++k) {
    table.add(cells(stages[k], small.stage[k], large.stage[k], few, many, large.bytes[k]));
    held += large.bytes[k];
  }
  table.add(cells("total", small.total, large.total, few, many, held));
  table.add({"bar", "", "", "250.0", "", "", "", "13.0", ""});
  fmt::print("{}\n", table.text());
  if (large.peak_bytes > 0)
    fmt::print("resident at most while building, aggregating and planning: {:.1f} bytes per task (bar 250)\n",
               static_cast<double>(large.peak_bytes) / static_cast<double>(many));
  fmt::print("of a plan at run time: {:.1f} bytes per task (bar 100)\n",
             static_cast<double>(large.bytes[2]) / static_cast<double>(many));
  return 0;
}

}  // namespace taskspec::bench
