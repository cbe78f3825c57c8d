#include "interp/reference/reference.hpp"

#include <fmt/format.h>

#include "interp/reference/blocks.hpp"
#include "interp/reference/language.hpp"
#include "interp/reference/modules.hpp"
#include "interp/reference/types.hpp"
#include "ir/codes/codes.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

std::string call_text(std::string_view name, std::span<const Operand> operands) {
  std::string text(name);
  text += "(";
  for (const Operand& operand : operands) {
    if (&operand != operands.data()) text += ", ";
    if (operand.privilege == Privilege::inout) text += "inout ";
    text += operand.name;
    if (operand.variadic) text += "...";
    if (operand.standard.kind == Default::Kind::absent)
      text += "?";
    else if (operand.standard.kind == Default::Kind::string)
      text += ": " + in_quotes(operand.standard.string);
    else if (operand.standard.kind != Default::Kind::none)
      text += ": " + print(operand.standard.value());
  }
  return text + ")";
}

namespace {

std::string example_text(std::string_view example) {
  while (example.ends_with('\n')) example.remove_suffix(1);
  return std::string(example);
}

template <class Record>
std::string whole_text(const Record& record) {
  return signature_text(record) + "\n\n" + std::string(record.doc) + "\n\n" + example_text(record.example);
}

}  // namespace

std::string signature_text(const Builtin& builtin) { return call_text(builtin.name, builtin.operands); }

std::string signature_text(const OpDef& op) {
  std::string text = call_text(op.name, op.operands), outputs;
  for (std::string_view name : op.outputs)
    if (!is_place(op, name)) outputs += (outputs.empty() ? "" : ", ") + std::string(name);
  return outputs.empty() ? text : text + " -> (" + outputs + ")";
}

namespace {

void add_text(std::string& found, const std::string& text) { found += (found.empty() ? "" : "\n\n") + text; }

// Fields of reports, of all backends and of one.
void add_report_fields(const Toolbox& tools, std::string_view name, std::string& found) {
  if (name.starts_with('.')) name.remove_prefix(1);
  auto add = [&](std::span<const ReportField> fields, std::string_view whose) {
    for (const ReportField& field : fields)
      if (field.name == name) add_text(found, fmt::format(".report.{}\n\nOf {}: {}.", name, whose, field.doc));
  };
  add(common_report(), "every run .. on");
  for (const Builtin* builtin : tools.builtins.all())
    if (builtin->backend) add(builtin->backend->report, fmt::format("run .. on {}", builtin->name));
}

// Of the modules that come along: "nn", "nn.linear", and "mse_avg" where nothing else has that name.
void add_module_records(std::string_view name, std::string& found) {
  const std::string member = "." + std::string(name);
  std::string inside;
  for (const ModuleRecord& record : module_records()) {
    if (record.name == name) add_text(found, module_text(record));
    if (!found.empty() && record.name.starts_with(std::string(name) + "."))
      inside += fmt::format("\n  {}", record.form.substr(0, record.form.find('\n')));
    if (found.empty() && record.name.ends_with(member)) add_text(inside, record.name + "\n\n" + module_text(record));
  }
  if (found.empty())
    found = std::move(inside);
  else if (!inside.empty())
    add_text(found, "declares" + inside);
}

}  // namespace

std::optional<std::string> record_text(const Toolbox& tools, std::string_view name) {
  const LanguageRecord* language = language_record(name);
  std::string found = language ? language_text(*language) : "";
  const OpDef* op = tools.ops.find(name);  // one name may be that of several
  if (op) add_text(found, whole_text(*op));
  for (const Builtin* builtin : tools.builtins.named(name))
    found += (found.empty() ? "" : "\n\n") + whole_text(*builtin);
  const std::string member = "." + std::string(name);  // of a training: "profile" is training.profile
  for (const Builtin* builtin : tools.builtins.all())
    if (builtin->name.ends_with(member)) found += (found.empty() ? "" : "\n\n") + whole_text(*builtin);
  if (const RearrangeDef* moves = rearrangement_named(name); moves && moves->name == name)
    found += fmt::format("{}{}\n\n{}", found.empty() ? "" : "\n\n", signature_text(*moves), moves->doc);
  if (const BlockDef* block = tools.blocks.find(name))
    found += (found.empty() ? "" : "\n\n") + fmt::format("{}\n\n{}\n\n{}\n\n{}", signature_text(*block), block->doc,
                                                         clusters_text(*block), example_text(block->example));
  add_report_fields(tools, name, found);
  if (!found.empty()) return found;
  add_module_records(name, found);
  if (!found.empty()) return found;
  for (const TypeRecord& type : type_records())
    if (type.name == name) return fmt::format("{}\n\n{}", type.name, type.doc);
  if (const CodeInfo* info = find_code_named(name)) {
    std::string text = explain(*info);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  if (name.size() > 1 && name.starts_with('.')) return record_text(tools, name.substr(1));  // as it is written: x.sum
  return std::nullopt;
}

std::vector<std::string> record_names(const Toolbox& tools) {
  std::vector<std::string> names;
  for (const LanguageChapter& chapter : language_chapters())
    for (const LanguageRecord& record : chapter.records) names.emplace_back(record.name);
  for (const ModuleRecord& record : module_records()) names.push_back(record.name);
  for (const OpDef* op : tools.ops.all()) names.emplace_back(op->name);
  for (const Builtin* builtin : tools.builtins.all()) names.emplace_back(builtin->name);
  for (const TypeRecord& type : type_records()) names.emplace_back(type.name);
  for (const BlockDef* block : tools.blocks.all()) names.emplace_back(block->name);
  for (const RearrangeDef* moves : all_rearrangements()) names.emplace_back(moves->name);
  return names;
}

std::string overview_text(const Toolbox& tools) {
  std::string text = "the language\n";
  for (const LanguageChapter& chapter : language_chapters()) {
    std::vector<std::string> names;
    for (const LanguageRecord& record : chapter.records)
      names.push_back(std::string(record.name) + (record.part.empty() ? "" : " (not built yet)"));
    text += fmt::format("  {}: {}\n", chapter.title, joined(names, " "));
  }
  text += "\nmodules\n";
  for (const ModuleRecord& record : module_records())
    if (record.form.starts_with("import ")) text += fmt::format("  {}\n", record.name);
  text += "\nops (x.op(...) is op(x, ...))\n";
  for (const OpDef* op : tools.ops.all()) text += "  " + signature_text(*op) + "\n";
  text += "\nbuiltins of the host program\n";
  for (const Builtin* builtin : tools.builtins.all()) text += "  " + signature_text(*builtin) + "\n";
  text += "\nblocks of Task IR, in `ir` declarations\n";
  for (const BlockDef* block : tools.blocks.all()) text += "  " + signature_text(*block) + "\n";
  text += "\nwhat their edges do\n";
  for (const RearrangeDef* moves : all_rearrangements()) text += "  " + signature_text(*moves) + "\n";
  text += "\ntypes\n";
  for (const TypeRecord& type : type_records()) text += fmt::format("  {}\n", type.name);
  return text + "\ntaskspec doc NAME tells more of one\n";
}

}  // namespace taskspec
