#include "bench/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bench/ops_limits.hpp"
#include "bench/train_nets.hpp"
#include "bench/train_torch.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/render.hpp"

namespace taskspec::bench {

namespace {

constexpr int warm_up = 2;    // plans are made: for the first values of the weights, and for all others
constexpr int few_parts = 4;  // of a batch

struct Row {
  const TrainNet* net;
  int threads, parts;
  Repeats ours, torch;
  double our_peak = 0, torch_peak = 0;  // bytes
  std::string about;                    // of PyTorch
};

// The host program hands over a number that the graph program waits for, so that nothing runs between two blocks.
std::string text_of(const TrainNet& net, int parts, int blocks) {
  return fmt::format(
      "import nn\nlet parts = {}\n{}for b in 0..{} {{\n"
      "  if parse_int(format(\"{{}}\", b)) >= 0 {{\n"
      "    for k in 0..{} {{ m.step(x, t) }}\n"
      "    print(m.loss.scalar)\n"
      "  }}\n"
      "}}\n",
      parts, net.text, blocks, net.block);
}

// `done` is called when a block of steps is done; in the meantime nothing else is.
void run_blocks(const TrainNet& net, int parts, int threads, int blocks, const std::function<void()>& done) {
  const Toolbox tools = standard_toolbox();
  Sources sources;
  Result<Program> program = check_text("bench.task", text_of(net, parts, blocks), {}, tools, sources);
  if (!program) bug("a benchmark does not compile: " + render(sources, program.diags()));
  RunSettings settings;
  settings.threads = threads;
  settings.output = [&](std::string_view) { done(); };
  const RunResult result = run_program(*program, tools, settings);
  if (result.exit_code != 0) bug("a benchmark fails: " + render(sources, result.diags));
}

Row measure_net(const TrainNet& net, int threads, int repeats, double& rate) {
  Row row{&net, threads, 1, {}, {}, 0, 0, {}};
  TorchTraining torch(net.name, threads);
  if (torch.there()) row.about = torch.about();
  forget_peak();
  const auto idle = static_cast<double>(resident_bytes());
  double wall = 0, cpu = 0;
  int block = 0;
  auto each = [steps = net.block](Sample sample) { return Sample{sample.wall / steps, sample.cpu / steps}; };
  run_blocks(net, 1, threads, warm_up + repeats, [&] {
    const Sample ours{wall_clock() - wall, cpu_clock() - cpu};
    const std::optional<Sample> theirs = torch.steps(net.block);
    if (block++ >= warm_up) {
      row.ours.add(each(ours));
      if (theirs) row.torch.add(each(*theirs));
    }
    rate = std::max(rate, multiply_add_rate());
    wall = wall_clock(), cpu = cpu_clock();
  });
  row.our_peak = static_cast<double>(peak_resident_bytes()) - idle;
  row.torch_peak = torch.peak_bytes();
  return row;
}

Row measure_parts(const TrainNet& net, int parts, int threads, int repeats) {
  Row row{&net, threads, parts, {}, {}, 0, 0, {}};
  double wall = 0, cpu = 0;
  int block = 0;
  run_blocks(net, parts, threads, warm_up + repeats, [&] {
    const double steps = net.block;
    if (block++ >= warm_up) row.ours.add({(wall_clock() - wall) / steps, (cpu_clock() - cpu) / steps});
    wall = wall_clock(), cpu = cpu_clock();
  });
  return row;
}

bool missed(const Row& row) {
  const double theirs = row.torch.min_wall();
  return theirs > 0 && row.net->wanted > 0 && row.ours.min_wall() > row.net->wanted * theirs;
}

std::vector<std::string> cells(const Row& row, double rate) {
  auto ms = [](double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); };
  auto mb = [](double bytes) { return fmt::format("{:.0f}", 1e-6 * bytes); };
  const bool peer = row.torch.min_wall() > 0;
  auto of_peer = [&](const std::string& text) { return peer ? text : std::string("-"); };
  const double limit = 2 * row.net->multiply_adds / (rate * row.threads);
  return {fmt::format("{} ({})", row.net->name, row.net->size),
          std::to_string(row.threads),
          ms(row.ours.min_wall()),
          ms(row.ours.median_wall()),
          ms(row.ours.min_cpu()),
          of_peer(ms(row.torch.min_wall())),
          of_peer(ms(row.torch.median_wall())),
          of_peer(ms(row.torch.min_cpu())),
          of_peer(fmt::format("{:.2f}", row.ours.min_wall() / row.torch.min_wall())),
          of_peer(fmt::format("{:.2f}", row.ours.median_cpu() / row.torch.median_cpu())),
          row.net->wanted > 0 ? fmt::format("{:.2f}", row.net->wanted) : "-",
          missed(row) ? "<" : "",
          ms(limit),
          fmt::format("{:.2f}", limit / row.ours.min_wall()),
          mb(row.our_peak),
          of_peer(mb(row.torch_peak))};
}

// A step of a batch in parts beside the same one as a whole, by threads.
std::string parts_table(const std::vector<Row>& rows, const std::vector<Row>& wholes) {
  Table table({"net", "parts", "threads", "ms", "median", "CPU", "of whole", "of 1 thread"});
  auto ms = [](double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); };
  auto ratio = [](const Row& row, const std::vector<Row>& others, int threads) {
    for (const Row& other : others)
      if (other.net == row.net && other.threads == threads)
        return fmt::format("{:.2f}", row.ours.min_wall() / other.ours.min_wall());
    return std::string("-");
  };
  for (const Row& row : rows)
    table.add({row.net->name, std::to_string(row.parts), std::to_string(row.threads), ms(row.ours.min_wall()),
               ms(row.ours.median_wall()), ms(row.ours.min_cpu()), ratio(row, wholes, row.threads),
               ratio(row, rows, 1)});
  return table.text();
}

}  // namespace

int train(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 12;
  double rate = 0;
  std::vector<Row> rows;
  for (const TrainNet& net : train_nets())
    for (int threads : settings.threads) rows.push_back(measure_net(net, threads, repeats, rate));
  fmt::print("a step of training, f32: ms, least and median of {} in turns with PyTorch, and the least CPU time\n",
             repeats);
  fmt::print("peer: {}\n", rows.empty() || rows[0].about.empty()
                               ? "none, PyTorch is not installed (Debian: python3-torch, libopenblas0-pthread)"
                               : rows[0].about);
  fmt::print(
      "limit: the multiply-adds of the step at {:.0f} GFLOP/s for each thread, the most that a core of this "
      "machine does\n\n",
      1e-9 * rate);
  Table table({"net", "threads", "ours", "median", "CPU", "torch", "median", "CPU", "ratio", "of CPU", "wanted", "",
               "limit", "reached", "MB", "torch MB"});
  for (const Row& row : rows) table.add(cells(row, rate));
  fmt::print("{}\n{} of {} rows take more of PyTorch's time than wanted ('<')\n", table.text(),
             std::ranges::count_if(rows, missed), rows.size());
  std::vector<Row> in_parts;
  for (const TrainNet& net : train_nets())
    for (int threads : settings.threads) in_parts.push_back(measure_parts(net, few_parts, threads, repeats));
  fmt::print(
      "\nthe same with the batch in {} parts, train(..., parts: {}), which gives the same bits on any threads\n\n{}",
      few_parts, few_parts, parts_table(in_parts, rows));
  return 0;
}

}  // namespace taskspec::bench
