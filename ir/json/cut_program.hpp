// A program cut in two as JSON, for the report and for tools: `taskspec slices FILE --format json`. Keys stand in the
// order of the schema, floats and times do not occur, so equal programs give equal bytes.
//
//   {"format": "taskspec-cut", "version": 1, "sessions": 1, "sinks": 1, ...
//    "channels": [{"id": 0, "name": "episode:0", "to": "graph", "loops": 1, ...
#pragma once
#include <string>
#include <vector>

#include "ir/cut_report/report.hpp"

namespace taskspec {

std::string cut_json(const Program& program, const CutReport& report);

std::string cut_schema();
std::vector<std::string> validate_cut_json(std::string_view text);  // what does not follow the schema

}  // namespace taskspec
