#include "interp/repl/repl.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interp/repl/commands.hpp"
#include "interp/repl/editor.hpp"

namespace taskspec::repl {

namespace {

// Ctrl-C: at the prompt it gives up the line, while something runs it stops that.
std::atomic<Workspace*> running{nullptr};
std::atomic<bool> pressed{false};
std::atomic<int> impatience{0};

void on_interrupt(int) {
  pressed = true;
  Workspace* work = running;
  if (!work) return;
  work->interrupt();
  if (++impatience > 3) _exit(130);  // it does not listen
}

// At a terminal a signal must not break off what is being written there: that would count as nobody listening. Lines
// out of a pipe are waited for in a read, which it has to end.
void listen_to_interrupts(bool is_terminal) {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = is_terminal ? SA_RESTART : 0;
  sigaction(SIGINT, &action, nullptr);
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value && *value) return std::strstr(value, "UTF-8") || std::strstr(value, "utf8");
  }
  return false;
}

std::string history_path() {
  if (const char* path = std::getenv("TASKSPEC_HISTORY")) return path;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state)
    return std::string(state) + "/taskspec/history";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.local/state/taskspec/history" : "";
}

// A prompt that came along with pasted text.
std::string without_prompt(std::string line, bool goes_on) {
  for (std::string_view prompt : {"> ", ". "}) {
    if (line.starts_with(prompt) && (prompt[0] == '>' || goes_on)) line.erase(0, 2);
  }
  return line;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// One line, broken between words; what follows begins where the line began, two further in where it began at the edge.
void wrap_line(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string next = "\n" + std::string(indent, ' ');
  std::size_t width = 0;
  while (!line.empty()) {
    std::size_t letters = 0, end = 0, blank = 0;  // code points; bytes; of the last blank that fits
    while (end < line.size() && (width + letters < columns || (line[end] & 0xC0) == 0x80)) {
      if (line[end] == ' ' && end > (width == 0 ? indent : 0)) blank = end;
      if ((line[end] & 0xC0) != 0x80) ++letters;
      ++end;
    }
    if (end == line.size() || line[end] == ' ') blank = end;
    if (blank == 0) blank = std::min(line.find(' ', end), line.size());  // a word that is longer than a line
    std::string_view part = line.substr(0, blank);
    while (part.ends_with(' ') && blank < line.size()) part.remove_suffix(1);
    out += part;
    line.remove_prefix(blank);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) break;
    out += next;
    width = indent;
  }
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  if (columns < 20) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrap_line(text.substr(0, end), columns, out);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

namespace {

class Prompt {
 public:
  Prompt(const Settings& settings, bool terminal)
      : terminal_(terminal),
        work_(options(settings, terminal)),
        editor_(terminal ? make_terminal(terminal_options()) : make_pipe()) {
    if (terminal)
      std::printf(
          "taskspec %s: agents, tasks, futures and chains\n:help lists the commands, ?NAME explains a name, "
          "Ctrl-D leaves\n",
          settings.version.c_str());
  }

  int run() {
    std::string entry;
    while (!exit_) {
      pressed = false;
      if (std::fflush(stdout) != 0 || std::ferror(stdout)) return unheard;
      Editor::Line line = editor_->read(entry.empty() ? "> " : ". ");
      if (line.got == Editor::Got::cancelled) entry.clear();
      if (line.got == Editor::Got::end) {
        if (pressed) return 130;            // Ctrl-C, where lines come from a pipe
        if (terminal_ && !entry.empty()) {  // Ctrl-D gives a half-typed block up, as Ctrl-C does
          entry.clear();
          continue;
        }
        if (!entry.empty()) enter(entry);  // an unfinished one: says what is missing
        break;
      }
      if (line.got != Editor::Got::line) continue;
      line.text = without_prompt(std::move(line.text), !entry.empty());
      entry += (entry.empty() ? "" : "\n") + line.text;
      if (trimmed(entry).empty()) {
        entry.clear();
        continue;
      }
      const bool is_command = trimmed(entry)[0] == ':' || trimmed(entry)[0] == '?';
      if (!is_command && Workspace::needs_more(entry)) continue;
      editor_->remember(entry);
      is_command ? command(trimmed(entry)) : enter(entry);
      entry.clear();
    }
    return exit_.value_or(0);
  }

 private:
  static Workspace::Options options(const Settings& settings, bool terminal) {
    Workspace::Options options;
    options.backend = settings.backend;
    options.arguments = settings.arguments;
    options.search_path = settings.search_path;
    options.output = [](std::string_view text) {
      if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
      if (Workspace* work = running) work->interrupt();  // nobody reads what it says
    };
    options.colour = terminal && !std::getenv("NO_COLOR");
    options.unicode = !terminal || speaks_utf8();
    if (terminal) options.columns = terminal_columns;
    return options;
  }

  TerminalOptions terminal_options() {
    return {history_path(), [this](std::string_view line, std::size_t cursor) { return complete(line, cursor); },
            [] { return pressed.exchange(false); }, [] { return static_cast<std::size_t>(terminal_columns()); }};
  }

  Words complete(std::string_view line, std::size_t cursor) {
    line = line.substr(0, cursor);
    const std::size_t given = line.size();
    if (line.starts_with(":") && line.find(' ') == std::string_view::npos) {
      Words words;
      for (const Command& command : commands())
        if (command.name.starts_with(line)) words.list.emplace_back(command.name);
      return words;
    }
    for (std::string_view command : {":why ", ":chains ", ":graph ", ":plan "})
      if (line.starts_with(command)) return names_in_graph(line, command.size());
    if (line.starts_with("?")) line.remove_prefix(1), cursor -= 1;  // a name, as in an expression
    const bool names_file = line.starts_with(":load ") || line.starts_with(":save ");
    const std::string text = names_file ? "\"" + std::string(line.substr(6)) : std::string(line);
    Workspace::Completion found = work_.complete(text, text.size());
    return {(names_file ? found.begin + 5 : found.begin) + given - line.size(), std::move(found.words),
            std::move(found.hint)};
  }

  Words names_in_graph(std::string_view line, std::size_t begin) {
    Words words{begin, {}, ""};
    for (std::string& name : work_.names_in_graph())
      if (name.starts_with(line.substr(begin))) words.list.push_back(std::move(name));
    return words;
  }

  void print(const std::string& text) {
    if (!text.empty()) std::printf("%s\n", text.c_str());
  }
  // Sentences; what is drawn and what a program prints stays as it is.
  void print_text(const std::string& text) {
    print(terminal_ ? wrapped(text, static_cast<std::size_t>(terminal_columns())) : text);
  }

  template <class F>
  void while_running(F&& body) {
    impatience = 0;
    running = &work_;
    body();
    running = nullptr;
  }

  void enter(const std::string& entry) {
    while_running([&] {
      Workspace::Answer answer = work_.enter(entry);
      if (terminal_) {
        const auto columns = static_cast<std::size_t>(terminal_columns());
        answer.change = wrapped(answer.change, columns - std::min<std::size_t>(columns, 2));
        for (std::string& note : answer.notes) note = wrapped(note, columns - std::min<std::size_t>(columns, 2));
      }
      print(answer_text(answer));
      exit_ = answer.exit;
    });
  }

  void command(const std::string& line) {
    if (line[0] == '?') {
      const std::string name = trimmed(line.substr(1));
      return print_text(name.empty() ? help_text() : work_.describe(name).text);
    }
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const Command* command = find_command(name);
    if (!command) return print(name + " is no command; :help lists them");
    const std::string argument = space == std::string::npos ? "" : trimmed(line.substr(space));
    if (const std::string refused = refused_argument(*command, argument); !refused.empty()) return print(refused);
    if (!command->run) {
      exit_ = 0;
      return;
    }
    while_running([&] {
      const std::string text = command->run(work_, argument);
      command->sentences ? print_text(text) : print(text);
    });
  }

  const bool terminal_;
  Workspace work_;
  std::unique_ptr<Editor> editor_;
  std::optional<int> exit_;
};

}  // namespace

int run(const Settings& settings) {
  const bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  listen_to_interrupts(is_terminal);
  return Prompt(settings, is_terminal).run();
}

}  // namespace taskspec::repl
