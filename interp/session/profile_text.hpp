// What a run did, as text and JSON: --profile, --report, --trace.
#pragma once
#include <string>

#include "interp/control/op_text.hpp"
#include "interp/session/session_report.hpp"
#include "ir/base/render.hpp"

namespace taskspec {

// One row per chain (only the time that it ran); where ops were recorded, one per op of a task and place of the text;
// one for what the session took of the backend, one for its plans.
std::string profile_text(const SessionReport& report, const Sources& sources);
// With what ended the run, if it failed.
// "strip"; of scalar code also why: "scalar (line 4: ...)".
std::string form_text(const BodyForm& body);
std::string report_text(const SessionReport& report, const std::vector<PlainDiag>& failures);
// `chips`, `shards`: JSON of each run on a chip, and on shards.
std::string report_json(const SessionReport& report, const std::vector<PlainDiag>& failures,
                        const std::vector<std::string>& chips = {}, const std::vector<std::string>& shards = {});
// Chrome and Perfetto: one row per worker; each dispatch with the tasks of its chain and where the first one stands.
// `more`: events of others, each with ",\n" before it.
std::string trace_json(const SessionReport& report, const Sources& sources, std::string_view more = {});

}  // namespace taskspec
