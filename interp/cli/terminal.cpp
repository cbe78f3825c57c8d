#include "interp/cli/terminal.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interp/repl/editor.hpp"
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

RanksTell& ranks_tell() {
  static RanksTell ours;
  return ours;
}

}  // namespace

void let_ranks_tell(RanksTell tell) { ranks_tell() = std::move(tell); }

void report(const Options& options, const Sources& sources, const Diags& given) {
  if (given.empty() || reader_gone) return;
  const Diags diags = ranks_tell() ? ranks_tell()(options, given) : given;
  if (diags.empty()) return;
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
  sigaction(SIGXFSZ, &action, nullptr);  // so does a file that the system lets grow no further
}

int ended(int code) {
  if (!reader_gone) return code;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return 128 + SIGPIPE;  // it is blocked
}

}  // namespace taskspec::cli
