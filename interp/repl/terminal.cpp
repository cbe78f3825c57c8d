// The only file that knows libedit.
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <filesystem>

#include "interp/repl/editor.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace taskspec::repl {

namespace {

#ifdef __SANITIZE_ADDRESS__
using MayLeak = __lsan::ScopedDisabler;
#else
struct MayLeak {};
#endif

class Terminal final : public Editor {
 public:
  explicit Terminal(TerminalOptions options) : options_(std::move(options)) {
    std::setlocale(LC_CTYPE, "");
    edit_ = el_init("taskspec", stdin, stdout, stderr);
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, 10000);
    history(history_, &event, H_SETUNIQUE, 1);
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, prompt);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_GETCFN, next_character);
    {
      [[maybe_unused]] const MayLeak copies;  // of both texts, which libedit never gives back
      el_set(edit_, EL_ADDFN, "ts-complete", "complete the word", complete);
      el_set(edit_, EL_ADDFN, "ts-up", "the line above, else the entry before", up);
      el_set(edit_, EL_ADDFN, "ts-down", "the line below, else the next entry", down);
    }
    el_set(edit_, EL_BIND, "^I", "ts-complete", nullptr);
    for (const char* key : {"\033[A", "\033OA"}) el_set(edit_, EL_BIND, key, "ts-up", nullptr);
    for (const char* key : {"\033[B", "\033OB"}) el_set(edit_, EL_BIND, key, "ts-down", nullptr);
    el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(edit_, nullptr);  // ~/.editrc, if there is one
    load_history();
  }
  ~Terminal() override {
    history_end(history_);
    el_end(edit_);
  }

  Line read(const std::string& text) override {
    prompt_ = text;
    int count = 0;
    const char* line = el_gets(edit_, &count);
    if (!line || count <= 0) {
      const bool cancelled = cancelled_;
      cancelled_ = false;
      if (cancelled) el_reset(edit_);
      // What a search or a long line has left below is no part of what comes.
      const char* terminal = std::getenv("TERM");
      const bool clears = cancelled && terminal && std::string_view(terminal) != "dumb";
      std::fputs(clears ? "\n\033[J" : "\n", stdout);
      return {cancelled ? Got::cancelled : Got::end, ""};
    }
    std::string result(line, static_cast<std::size_t>(count));
    while (result.ends_with('\n') || result.ends_with('\r')) result.pop_back();
    return {Got::line, result};
  }

  void remember(const std::string& entry) override {
    HistEvent event;
    history(history_, &event, H_ENTER, entry.c_str());
    save_history();
  }

 private:
  static Terminal& of(EditLine* edit) {
    void* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }
  static char* prompt(EditLine* edit) { return of(edit).prompt_.data(); }

  // Ctrl-C takes from the terminal what was typed before it: a read that was about to get that ends with the signal.
  struct EndsReads {
    EndsReads() { set(0); }
    ~EndsReads() { set(SA_RESTART); }
    static void set(int flags) {
      struct sigaction action {};
      sigaction(SIGINT, nullptr, &action);
      action.sa_flags = flags;
      sigaction(SIGINT, &action, nullptr);
    }
  };

  // libedit itself goes on reading after a signal; Ctrl-C must give the line up.
  static int next_character(EditLine* edit, wchar_t* out) {
    Terminal& self = of(edit);
    const EndsReads here;
    std::mbstate_t state{};
    for (;;) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, 100);
      if (self.options_.interrupted()) {
        self.cancelled_ = true;
        errno = EINTR;
        return -1;
      }
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      char byte = 0;
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return static_cast<int>(got);
      // A Ctrl-D from before libedit read single keys: the system hands it on as this, after which libedit would take
      // the next Ctrl-D for a letter.
      if (byte == 0) continue;
      const std::size_t used = std::mbrtowc(out, &byte, 1, &state);
      if (used == static_cast<std::size_t>(-2)) continue;  // a character of several bytes
      if (used == static_cast<std::size_t>(-1)) *out = static_cast<wchar_t>(static_cast<unsigned char>(byte));
      return 1;
    }
  }

  // In a block that came back from the history the cursor moves by lines; at its first and last line, through entries.
  static unsigned char up(EditLine* edit, int) {
    const LineInfo* info = el_line(edit);
    const std::string_view before(info->buffer, static_cast<std::size_t>(info->cursor - info->buffer));
    const std::size_t line = before.rfind('\n');
    if (line == std::string_view::npos) return push(edit, "\020");               // Ctrl-P
    const std::size_t above = line == 0 ? 0 : before.rfind('\n', line - 1) + 1;  // npos + 1 is 0
    const std::size_t column = before.size() - line - 1;
    return move(edit, above + std::min(column, line - above));
  }

  static unsigned char down(EditLine* edit, int) {
    const LineInfo* info = el_line(edit);
    const std::string_view text(info->buffer, static_cast<std::size_t>(info->lastchar - info->buffer));
    const auto at = static_cast<std::size_t>(info->cursor - info->buffer);
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return push(edit, "\016");  // Ctrl-N
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    const std::size_t below = std::min(text.find('\n', end + 1), text.size());
    return move(edit, std::min(end + 1 + (at - begin), below));
  }

  static unsigned char push(EditLine* edit, const char* key) {
    el_push(edit, key);
    return CC_NORM;
  }

  static unsigned char move(EditLine* edit, std::size_t to) {
    const LineInfo* info = el_line(edit);
    el_cursor(edit, static_cast<int>(to) - static_cast<int>(info->cursor - info->buffer));
    return CC_CURSOR;
  }

  static unsigned char complete(EditLine* edit, int) {
    Terminal& self = of(edit);
    const LineInfo* info = el_line(edit);
    const std::string line(info->buffer, info->lastchar);
    const auto cursor = static_cast<std::size_t>(info->cursor - info->buffer);
    pollfd more{STDIN_FILENO, POLLIN, 0};
    const bool pasted = poll(&more, 1, 0) > 0;  // nobody types that fast
    if (pasted || line.find_first_not_of(" \t") >= cursor) {
      el_insertstr(edit, "  ");
      return CC_REFRESH;
    }
    Words words = self.options_.complete(line, cursor);
    if (!words.hint.empty()) {
      std::fprintf(stdout, "\n%s\n", wrapped(words.hint, self.options_.columns()).c_str());
      return CC_REDISPLAY;
    }
    if (words.list.empty()) return CC_REFRESH_BEEP;
    std::string common = words.list.front();
    for (const std::string& word : words.list) {
      std::size_t same = 0;
      while (same < common.size() && same < word.size() && common[same] == word[same]) ++same;
      common.resize(same);
    }
    const std::size_t written = cursor - words.begin;
    if (common.size() > written) {
      el_insertstr(edit, common.substr(written).c_str());
      return CC_REFRESH;
    }
    if (words.list.size() == 1) return CC_REFRESH;
    std::string shown;
    for (std::size_t i = 0; i < words.list.size() && i < 60; ++i) shown += (i == 0 ? "" : "  ") + words.list[i];
    if (words.list.size() > 60) shown += "  ...";
    std::fprintf(stdout, "\n%s\n", wrapped(shown, self.options_.columns()).c_str());
    return CC_REDISPLAY;
  }

  // A broken or foreign file is no reason not to start: it is put aside when the history is written.
  void load_history() {
    if (options_.history_path.empty()) return;
    HistEvent event;
    std::error_code error;
    if (!std::filesystem::exists(options_.history_path, error)) return;
    if (history(history_, &event, H_LOAD, options_.history_path.c_str()) < 0) {
      std::filesystem::rename(options_.history_path, options_.history_path + ".broken", error);
      std::fprintf(stdout, "the history could not be read; it is now %s.broken\n", options_.history_path.c_str());
    }
  }

  void save_history() {
    if (options_.history_path.empty()) return;
    HistEvent event;
    const std::string beside = options_.history_path + ".new";
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(beside).parent_path(), error);
    if (history(history_, &event, H_SAVE, beside.c_str()) < 0) return;
    std::filesystem::rename(beside, options_.history_path, error);
  }

  TerminalOptions options_;
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  bool cancelled_ = false;
};

}  // namespace

std::unique_ptr<Editor> make_terminal(TerminalOptions options) {
  return std::make_unique<Terminal>(std::move(options));
}

}  // namespace taskspec::repl
