// Standard output and error of the tool: data on one, diagnostics on the other; a full disk is an error, not a crash.
// A reader that goes away (`| head`) has seen enough: the command ends where it stands, cleans up, and says nothing.
#pragma once
#include <atomic>
#include <functional>
#include <string_view>

#include "interp/cli/options.hpp"
#include "interp/control/host_context.hpp"
#include "ir/base/diag.hpp"

namespace taskspec::cli {

// Writes to standard output. Throws Error E7004 when it cannot be written.
void write_out(std::string_view text);
// Words to read: on a terminal their lines are broken between words.
void write_words(std::string_view text);
// Everything written so far has arrived, or Error E7004.
void flush_out();
// E7004 also for what others could not write there before.
void check_out();

// The terminal that standard output is, or 80 columns without colour. NO_COLOR takes the colour away.
Screen screen();

// Of what a rank would tell, which it is to tell: all of it, or nothing. For a process that is one of several.
using RanksTell = std::function<Diags(const Options&, const Diags&)>;
void let_ranks_tell(RanksTell tell);
// Diagnostics on standard error: as text, coloured on a terminal unless NO_COLOR is set, or as JSON.
void report(const Options& options, const Sources& sources, const Diags& diags);

// Set by Ctrl-C; a second one ends the process at once.
const std::atomic<bool>& interrupted();
void install_signals();

// The exit code of the process, at its end. After the reader of standard output went away the process ends by SIGPIPE
// instead, as every tool of Unix does.
int ended(int code);

}  // namespace taskspec::cli
