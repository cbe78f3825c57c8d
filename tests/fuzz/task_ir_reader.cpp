// Task IR files, in both forms: read, checked, and, where they are well formed, written and read back equal.
#include <random>

#include "interp/import/task_ir/task_ir.hpp"
#include "ir/blocks/check.hpp"
#include "ir/show/blocks_text.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/unit/block_graphs.hpp"

namespace taskspec::fuzz {

namespace {

std::vector<std::string> task_ir_samples() {
  std::vector<std::string> samples;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 random(seed);
    const BlockGraph graph = tests::random_block_graph(random);
    const TaskIrForm form = seed % 2 == 0 ? TaskIrForm::text : TaskIrForm::binary;
    samples.push_back(write_task_ir(graph, form).value_or_throw());
  }
  samples.push_back(
      "blocks: < id: 0x1, type: SB; precision: 8 shape { nf: 2 } data { int32_data: [-1, 1] } x { y: 'z' } >");
  return samples;
}

bool read_task_ir_file(const std::string& bytes) {
  const BlockTable blocks = standard_blocks();
  Sources sources;
  const Result<TaskIrFile> file = read_task_ir(bytes, sources.add("x.task", ""), "x", blocks);
  if (!file) return false;
  if (check_blocks(file->graph, blocks, BlockMode::rabbit).has_errors()) return false;
  for (const Rearrangement& move :
       file->graph.edges.empty() ? std::vector<Rearrangement>() : file->graph.edges[0].moves)
    if (move.text().empty()) throw Odd("a rearrangement without a text");
  const Result<std::string> written = write_task_ir(file->graph, file->form);
  if (!written) throw Odd("what was read cannot be written");
  const Result<TaskIrFile> again = read_task_ir(*written, sources.add("y.task", ""), "x", blocks);
  if (!again || !tests::same(file->graph, again->graph)) throw Odd("written and read again it is another graph");
  if (blocks_text(file->graph, "x.npz").text.empty()) throw Odd("a graph without a text");
  return true;
}

}  // namespace

extern const Reader reader_taskir{Grain::bytes, task_ir_samples, nullptr, read_task_ir_file};

}  // namespace taskspec::fuzz
