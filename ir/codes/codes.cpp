#include "ir/codes/codes.hpp"

#include "ir/base/text.hpp"
#include "ir/codes/families.hpp"

namespace taskspec {

std::vector<const CodeInfo*> all_codes() {
  std::vector<const CodeInfo*> all;
  for (auto family : {syntax_codes(), name_codes(), shape_codes(), graph_codes(), block_codes(), chip_codes(),
                      run_codes(), shard_codes(), file_codes()})
    for (const CodeInfo& info : family) all.push_back(&info);
  return all;
}

const CodeInfo* find_code(Code code) {
  for (const CodeInfo* info : all_codes())
    if (info->code == code) return info;
  return nullptr;
}

const CodeInfo* find_code_named(std::string_view text) {
  if (!text.empty() && (text[0] == 'E' || text[0] == 'e')) text.remove_prefix(1);
  for (const CodeInfo* info : all_codes())
    if (info->code.text().substr(1) == text) return info;
  return nullptr;
}

namespace {

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (std::string_view line : lines_of(text)) out.append(line.empty() ? "" : indent).append(line).append("\n");
  return out;
}

}  // namespace

std::string explain(const CodeInfo& info) {
  std::string out = info.code.text() + ": " + std::string(info.summary) + "\n\n";
  out += indented(info.program, "    ") + "\n";
  out += "cause:\n" + indented(info.cause, "  ");
  out += "fix:\n" + indented(info.fix, "  ");
  if (info.reach == Reach::later) out += "\nThis code belongs to a part that is not built yet.\n";
  return out;
}

}  // namespace taskspec
