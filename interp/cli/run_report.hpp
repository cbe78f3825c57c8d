// What a run leaves behind: --profile, --report and --trace, on standard output or in files.
#pragma once
#include "interp/cli/options.hpp"
#include "interp/run_settings.hpp"

namespace taskspec::cli {

// Wrong usage of --report in words, or empty.
std::string refused_report(const Options& options);
// `sources`: those of the program, and whatever else its diagnostics point at.
void write_reports(const Options& options, const Program& program, const Sources& sources, const RunResult& result,
                   const RunPictures* pictures);

// `pictures`: of runs on chips; null: there are none.
// One graph per plan that ran, each with its steps; the timeline of all dispatches; what ended the run, if it failed.
std::string run_report_html(const std::string& title, const Program& program, const Sources& sources,
                            const RunResult& result, const RunPictures* pictures = nullptr);

}  // namespace taskspec::cli
