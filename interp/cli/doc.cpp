// `taskspec doc`: the reference manual out of the records.
#include "interp/cli/commands.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/reference/reference.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

int doc(const Options& options, const Toolbox& tools) {
  if (options.topic.empty()) {
    write_out(overview_text(tools));
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
