#include "interp/repl/repl.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

void listen_to_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
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
            [] { return pressed.exchange(false); }};
  }

  Words complete(std::string_view line, std::size_t cursor) {
    line = line.substr(0, cursor);
    if (line.starts_with(":") && line.find(' ') == std::string_view::npos) {
      Words words;
      for (const Command& command : commands())
        if (command.name.starts_with(line)) words.list.emplace_back(command.name);
      return words;
    }
    const bool names_file = line.starts_with(":load ") || line.starts_with(":save ");
    const std::string text = names_file ? "\"" + std::string(line.substr(6)) : std::string(line);
    Workspace::Completion found = work_.complete(text, text.size());
    return {names_file ? found.begin + 5 : found.begin, std::move(found.words)};
  }

  void print(const std::string& text) {
    if (!text.empty()) std::printf("%s\n", text.c_str());
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
      print(answer_text(answer));
      exit_ = answer.exit;
    });
  }

  void command(const std::string& line) {
    if (line[0] == '?') {
      const std::string name = trimmed(line.substr(1));
      return print(name.empty() ? help_text() : work_.describe(name).text);
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
    while_running([&] { print(command->run(work_, argument)); });
  }

  const bool terminal_;
  Workspace work_;
  std::unique_ptr<Editor> editor_;
  std::optional<int> exit_;
};

}  // namespace

int run(const Settings& settings) {
  listen_to_interrupts();
  return Prompt(settings, isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)).run();
}

}  // namespace taskspec::repl
