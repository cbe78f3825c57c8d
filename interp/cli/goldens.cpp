#include "interp/cli/goldens.hpp"

#include <algorithm>
#include <array>

#include "interp/cli/stages.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::array stages{"ast", "program", "slices", "ops", "blocks", "graph", "chains", "plan", "json"};

std::string text_of(const fs::path& file, const std::string& ending, const Observed& seen, const Options& options,
                    const Toolbox& tools) {
  std::string text =
      ending == "err" ? render(seen.sources, seen.diags) : stage_text(file.string(), ending, options, tools);
  return with_folder(std::move(text), file.parent_path(), "");
}

std::string first_difference(const fs::path& golden, const std::string& wanted, const std::string& now) {
  std::vector<std::string_view> a = lines_of(wanted), b = lines_of(now);
  std::size_t line = 0;
  while (line < a.size() && line < b.size() && fits_pattern(a[line], b[line])) ++line;
  auto shown = [line](const std::vector<std::string_view>& lines) {
    return line < lines.size() ? std::string(lines[line]) : "(end)";
  };
  return golden.string() + " differs at line " + std::to_string(line + 1) + "\n    golden: " + shown(a) +
         "\n    now:    " + shown(b);
}

}  // namespace

bool has_stage_golden(const fs::path& file) {
  return std::any_of(stages.begin(), stages.end(),
                     [&](const char* stage) { return fs::exists(fs::path(file).replace_extension(stage)); });
}

std::string with_folder(std::string text, const fs::path& folder, const fs::path& instead) {
  if (folder == folder.root_path()) return text;
  const std::string name = (folder / "").string(), replacement = instead.empty() ? "" : (instead / "").string();
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += replacement.size())
    text.replace(at, name.size(), replacement);
  return text;
}

std::string golden_difference(const fs::path& file, const Observed& seen, const Options& options,
                              const Toolbox& tools) {
  std::vector<std::string> endings(stages.begin(), stages.end());
  endings.emplace_back("err");
  for (const std::string& ending : endings) {
    fs::path golden = fs::path(file).replace_extension(ending);
    if (!fs::exists(golden)) continue;
    std::string text = text_of(file, ending, seen, options, tools), wanted = read_text(golden.string());
    if (fits_pattern(wanted, text)) continue;
    if (!options.update) return first_difference(golden, wanted, text);
    write_text(golden.string(), text);
  }
  return "";
}

}  // namespace taskspec::cli
