// `taskspec doc`: the reference manual out of the records.
#include "interp/cli/commands.hpp"
#include "interp/cli/shell_pages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/reference/reference.hpp"
#include "interp/reference/textmate.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

std::string whole_manual(const std::string& format, const Toolbox& tools) {
  if (format == "html") return manual_html(tools);
  if (format == "markdown") return manual_markdown(tools);
  if (format == "textmate") return textmate_grammar(tools);
  if (format == "man") return man_page();
  if (format == "bash") return bash_completion();
  if (format == "zsh") return zsh_completion();
  if (format == "fish") return fish_completion();
  return overview_text(tools);
}

}  // namespace

int doc(const Options& options, const Toolbox& tools) {
  if (options.format != "text" && !options.topic.empty()) return usage("--format is for the whole; leave the name out");
  if (options.topic.empty()) {
    write_out(whole_manual(options.format, tools));
  } else if (std::optional<std::string> text = record_text(tools, options.topic)) {
    write_out(*text + "\n");
  } else {
    auto near = nearest(options.topic, record_names(tools));
    return usage("no op, builtin or type is called '" + options.topic + "'" +
                 (near ? "; did you mean '" + *near + "'?" : ""));
  }
  flush_out();
  return 0;
}

}  // namespace taskspec::cli
