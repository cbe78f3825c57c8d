// What a run did, as text and JSON: --profile, --report, --trace.
#pragma once
#include <string>

#include "interp/control/session_report.hpp"

namespace taskspec {

std::string bytes_text(double bytes);                   // "1.5 KiB"
std::string profile_text(const SessionReport& report);  // one row per chain, one for memory
std::string report_text(const SessionReport& report);
std::string report_json(const SessionReport& report);
// Chrome and Perfetto: one row per worker; each dispatch with the tasks of its chain and where the first one stands.
std::string trace_json(const SessionReport& report, const Sources& sources);

}  // namespace taskspec
