#include "interp/import/task_ir/importer.hpp"

#include <fmt/format.h>

#include "interp/import/names.hpp"
#include "interp/import/task_ir/task_ir.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/check.hpp"
#include "ir/show/blocks_text.hpp"
#include "stdlib/blocks.hpp"

namespace taskspec::task_ir {

namespace {

constexpr std::string_view suffixes[] = {".task.txt", ".task.pb", ".task.bin", ".prototxt"};
constexpr std::size_t largest = std::size_t{1} << 31;

// The tool knows no lines of the file: they stand in the messages.
Diags with_places(const Diags& diags, const Sources& sources) {
  Diags placed;
  for (Diag diag : diags.items()) {
    if (diag.primary.span.valid()) diag.message = sources.place(diag.primary.span) + ": " + diag.message;
    diag.primary.span = Span();
    diag.labels.clear();
    placed.add(std::move(diag));
  }
  return placed;
}

void note_warnings(const Diags& diags, ModelText& model) {
  for (const Diag& diag : diags.items()) model.notes.push_back(diag.message);
}

ModelText read(const std::string& path, const std::string& name, const ImportOptions& options) {
  if (!options.set.empty())
    throw failure("E7003", {}, fmt::format("'{}' has nothing called '{}' to be set", path, options.set[0].first));
  const BlockTable blocks = standard_blocks();
  Sources sources;
  const SourceId source = sources.add(path, read_text(path, largest));
  const Result<TaskIrFile> file = read_task_ir(sources[source].text(), source, identifier(name), blocks);
  if (!file) throw Error(with_places(file.diags(), sources));
  const Diags found = check_blocks(file->graph, blocks, BlockMode::rabbit);
  if (found.has_errors()) throw Error(with_places(found, sources));
  BlocksText text = blocks_text(file->graph, name + ".npz");
  ModelText model{std::move(text.text), std::move(text.arrays), {}};
  note_warnings(with_places(file.diags(), sources), model);
  model.notes.push_back(
      fmt::format("{}, {}", plural(file->graph.blocks.size(), "block"), plural(file->graph.edges.size(), "edge")));
  return model;
}

}  // namespace

constinit const ImporterRecord importer{
    .name = "Task IR",
    .suffixes = suffixes,
    .doc = "A graph of blocks for many-core chips, as protobuf text or bytes; it becomes an `ir` declaration.",
    .recognises = nullptr,
    .read = read};

}  // namespace taskspec::task_ir
