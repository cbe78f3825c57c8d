// What a run did, as text and JSON: --profile, --report, --trace.
#pragma once
#include <string>

#include "interp/session/session_report.hpp"
#include "ir/base/render.hpp"

namespace taskspec {

std::string bytes_text(double bytes);  // "1.5 KiB"
// One row per chain (only the time that it ran), one for what the session took of the backend, one for its plans.
std::string profile_text(const SessionReport& report);
// With what ended the run, if it failed.
std::string report_text(const SessionReport& report, const std::vector<PlainDiag>& failures);
std::string report_json(const SessionReport& report, const std::vector<PlainDiag>& failures);
// Chrome and Perfetto: one row per worker; each dispatch with the tasks of its chain and where the first one stands.
std::string trace_json(const SessionReport& report, const Sources& sources);

}  // namespace taskspec
