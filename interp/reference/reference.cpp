#include "interp/reference/reference.hpp"

#include <fmt/format.h>

#include "interp/reference/blocks.hpp"
#include "interp/reference/types.hpp"
#include "ir/codes/codes.hpp"
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

std::optional<std::string> record_text(const Toolbox& tools, std::string_view name) {
  const OpDef* op = tools.ops.find(name);  // one name may be that of several
  std::string found = op ? whole_text(*op) : "";
  for (const Builtin* builtin : tools.builtins.named(name))
    found += (found.empty() ? "" : "\n\n") + whole_text(*builtin);
  const std::string member = "." + std::string(name);  // of a training: "profile" is training.profile
  for (const Builtin* builtin : tools.builtins.all())
    if (builtin->name.ends_with(member)) found += (found.empty() ? "" : "\n\n") + whole_text(*builtin);
  if (const RearrangeDef* moves = rearrangement_named(name); moves && moves->name == name)
    found += fmt::format("{}{}\n\n{}", found.empty() ? "" : "\n\n", signature_text(*moves), moves->doc);
  if (const BlockDef* block = tools.blocks.find(name))
    found += fmt::format("{}\n\n{}\n\n{}\n\n{}", signature_text(*block), block->doc, clusters_text(*block),
                         example_text(block->example));
  if (!found.empty()) return found;
  for (const TypeRecord& type : type_records())
    if (type.name == name) return fmt::format("{}\n\n{}", type.name, type.doc);
  for (const CodeInfo* info : all_codes())
    if (info->code.text() == name) {
      std::string text = explain(*info);
      while (text.ends_with('\n')) text.pop_back();
      return text;
    }
  return std::nullopt;
}

std::vector<std::string> record_names(const Toolbox& tools) {
  std::vector<std::string> names;
  for (const OpDef* op : tools.ops.all()) names.emplace_back(op->name);
  for (const Builtin* builtin : tools.builtins.all()) names.emplace_back(builtin->name);
  for (const TypeRecord& type : type_records()) names.emplace_back(type.name);
  for (const BlockDef* block : tools.blocks.all()) names.emplace_back(block->name);
  for (const RearrangeDef* moves : all_rearrangements()) names.emplace_back(moves->name);
  return names;
}

std::string overview_text(const Toolbox& tools) {
  std::string text = "ops (x.op(...) is op(x, ...))\n";
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
