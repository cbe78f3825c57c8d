#include "interp/import/task_ir/task_ir.hpp"
#include "ir/blocks/check.hpp"
#include "ir/files/files.hpp"

namespace taskspec {

namespace {

constexpr std::size_t longest_file = std::size_t{1} << 31;

std::string placed(const Sources& sources, const Label& label, const std::string& text) {
  return label.span.valid() ? sources.place(label.span) + ": " + text : text;
}

// Without spans: what they point into ends here.
Diag without_places(const Sources& sources, const Diag& diag) {
  Diag plain(diag.code, diag.severity, {}, placed(sources, diag.primary, diag.message));
  for (const Label& label : diag.labels) plain.note(placed(sources, label, label.text));
  for (const std::string& note : diag.notes) plain.note(note);
  if (!diag.help_text.empty()) plain.help(diag.help_text);
  return plain;
}

void throw_errors(const Sources& sources, const Diags& diags) {
  if (!diags.has_errors()) return;
  Diags plain;
  for (const Diag& diag : diags.sorted()) plain.add(without_places(sources, diag));
  throw Error(std::move(plain));
}

}  // namespace

LoadedTaskIr load_task_ir(const std::string& path, const std::string& name, const BlockTable& blocks) {
  Sources sources;
  const SourceId source = sources.add(path, read_text(path, longest_file));
  Result<TaskIrFile> file = read_task_ir(sources[source].text(), source, name, blocks);
  throw_errors(sources, file.diags());
  throw_errors(sources, check_blocks(file->graph, blocks, BlockMode::rabbit));
  LoadedTaskIr loaded{std::move(file->graph), file->form, {}};
  for (const Diag& diag : file.diags().items()) loaded.notes.push_back(placed(sources, diag.primary, diag.message));
  return loaded;
}

}  // namespace taskspec
