// Where the prompt gets its lines from: a terminal with history and completion, or a pipe.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taskspec::repl {

struct Words {
  std::size_t begin = 0;  // where the word that is replaced starts
  std::vector<std::string> list;
  std::string hint;  // shown instead of the list
};

// Lines that are longer than `columns` are broken between words, and go on below where they began.
std::string wrapped(std::string_view text, std::size_t columns);

class Editor {
 public:
  virtual ~Editor() = default;
  enum class Got { line, cancelled, end };
  struct Line {
    Got got = Got::end;
    std::string text;  // without its line end
  };
  virtual Line read(const std::string& prompt) = 0;
  virtual void remember(const std::string& /*entry*/) {}  // one whole statement, for the history
};

struct TerminalOptions {
  std::string history_path;  // empty: none is kept
  std::function<Words(std::string_view line, std::size_t cursor)> complete;
  const std::function<bool()> interrupted;  // Ctrl-C came since the last line
  std::function<std::size_t()> columns;     // of the terminal, now
};

std::unique_ptr<Editor> make_terminal(TerminalOptions options);
// Lines of standard input, echoed with their prompts, so that what comes out reads like a session. When the input
// is such a session itself, its answers are passed over.
std::unique_ptr<Editor> make_pipe();

}  // namespace taskspec::repl
