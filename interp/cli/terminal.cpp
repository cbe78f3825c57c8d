#include "interp/cli/terminal.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "interp/repl/editor.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "interp/shards/ranks/ranks.hpp"
#include "ir/base/render.hpp"
#include "ir/json/json.hpp"

namespace taskspec::cli {

namespace {

std::atomic<bool> interrupt_flag{false};
std::atomic<bool> reader_gone{false};  // standard output was a pipe, and the other end is closed

void on_interrupt(int) {
  if (interrupt_flag.exchange(true)) _exit(130);
}

[[noreturn]] void cannot_write() {
  int reason = errno;
  std::clearerr(stdout);
  if (reason == EPIPE) reader_gone = true;
  throw failure("E7004", {}, std::string("cannot write standard output: ") + std::strerror(reason));
}

}  // namespace

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) cannot_write();
}

void write_words(std::string_view text) {
  if (isatty(STDOUT_FILENO))
    write_out(repl::wrapped(text, static_cast<std::size_t>(screen().columns)));
  else
    write_out(text);
}

void flush_out() {
  if (std::fflush(stdout) != 0) cannot_write();
}

void check_out() {
  if (!std::ferror(stdout)) return;
  write_out("\n");  // the reason of then is forgotten, so it is asked for again
  flush_out();
}

Screen screen() {
  Screen screen;
  if (!isatty(STDOUT_FILENO)) return screen;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.columns = size.ws_col;
  const char* terminal = std::getenv("TERM");
  screen.colour = !std::getenv("NO_COLOR") && terminal && std::string_view(terminal) != "dumb";
  return screen;
}

namespace {

// Of several ranks one tells what ended the run: the first, unless another one failed alone, which the first then does
// not know of. Who started the run has nothing to add.
bool is_ours_to_tell(const Options& options, const Diags& diags) {
  static bool has_told = false;
  if (!diags.has_errors() || has_told) return !options.is_hidden || has_told;
  if (options.is_hidden) {
    const CallNotes* notes = starter_notes();
    if (!notes) return false;
    for (int tenths = 0; tenths < 20 && !notes->has_last_word(); ++tenths)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return has_told = claim_last_word();
}

Diags with_rank(const Diags& diags) {
  Diags made;
  for (Diag diag : diags.items()) {
    if (made.items().empty()) diag.note("on rank " + std::to_string(number_in_environment(rank_variable).value_or(0)));
    made.add(std::move(diag));
  }
  return made;
}

}  // namespace

void report(const Options& options, const Sources& sources, const Diags& given) {
  const Diags diags = options.is_hidden ? with_rank(given) : given;
  if (diags.empty() || reader_gone || !is_ours_to_tell(options, diags)) return;
  std::fflush(stdout);
  bool colour = isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
  std::string text = options.diagnostics == "json" ? diagnostics_json(plain(sources, diags)) + "\n"
                                                   : render(sources, diags, {.colour = colour});
  std::fputs(text.c_str(), stderr);
}

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void install_signals() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = SIG_IGN;  // a closed pipe comes back as an error of write, and nothing stays half-written
  sigaction(SIGPIPE, &action, nullptr);
}

int ended(int code) {
  if (!reader_gone) return code;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return 128 + SIGPIPE;  // it is blocked
}

}  // namespace taskspec::cli
