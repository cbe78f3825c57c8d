#include "bench/task_ir_text.hpp"

#include <fmt/format.h>
#include <google/protobuf/text_format.h>

#include "bench/exact_graphs.hpp"
#include "interp/import/task_ir/task_ir.hpp"
#include "interp/import/task_ir/task_ir.pb.h"
#include "stdlib/blocks.hpp"

namespace taskspec::bench {

void task_ir_text(int repeats) {
  const std::string text = write_task_ir(*lenet_graph(), TaskIrForm::text).value_or_throw();
  const BlockTable blocks = standard_blocks();
  bool is_right = true;
  Repeats ours, peer;
  for (int i = 0; i < repeats; ++i) {
    ours.add(measure([&] {
      Sources sources;
      const Result<TaskIrFile> file = read_task_ir(text, sources.add("lenet.task.txt", text), "lenet", blocks);
      is_right = is_right && file;
    }));
    peer.add(measure([&] {
      tianjic_ir::TaskGraph message;
      is_right = google::protobuf::TextFormat::ParseFromString(text, &message) && is_right;
    }));
  }
  const double size = static_cast<double>(text.size()) / 1e6;
  const double rate = size / ours.min_cpu(), limit = size / peer.min_cpu();
  const auto verdict = [](bool held, const char* bar) { return fmt::format("{}: {}", bar, held ? "held" : "MISSED"); };
  fmt::print("\nTask IR text of that LeNet, {:.2f} MB{}\n", size, is_right ? "" : "; NOT READ");
  Table table({"what", "min ms", "median ms", "MB/s", "ratio to", "peer and bar"});
  const auto row = [&](const char* what, const Repeats& times, double other, const std::string& bar) {
    const double own = size / times.min_cpu();
    table.add({what, fmt::format("{:.2f}", times.min_wall() * 1e3), fmt::format("{:.2f}", times.median_wall() * 1e3),
               fmt::format("{:.1f}", own), fmt::format("{:.2f}", own / other), bar});
  };
  row("text to graph of blocks", ours, 20, verdict(rate >= 20, "20 MB/s; bar 1"));
  row("text to graph of blocks", ours, limit, verdict(rate >= 0.8 * limit, "libprotobuf's parser; bar 0.8"));
  row("libprotobuf, text to message", peer, limit, "itself");
  fmt::print("{}", table.text());
}

}  // namespace taskspec::bench
