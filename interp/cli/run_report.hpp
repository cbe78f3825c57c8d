// What a run leaves behind: --profile, --report and --trace, on standard output or in files.
#pragma once
#include "interp/cli/options.hpp"
#include "interp/control/session_report.hpp"

namespace taskspec::cli {

// Wrong usage of --report in words, or empty.
std::string refused_report(const Options& options);
void write_reports(const Options& options, const Program& program, const SessionReport& report);

// One graph per plan that ran, each with its steps; the timeline of all dispatches.
std::string run_report_html(const std::string& title, const Program& program, const SessionReport& report);

}  // namespace taskspec::cli
