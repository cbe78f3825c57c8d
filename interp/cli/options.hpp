// What a command line asks for. CLI11 is confined to options.cpp.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace taskspec::cli {

struct Options {
  std::string command;  // "run", "check", ...
  std::vector<std::string> files;
  std::string graph;                                                      // --name
  std::string backend = "host";                                           // --on
  std::vector<std::pair<std::string, std::string>> defines;               // -D name=value
  std::vector<std::pair<std::string, std::string>> backend_options = {};  // --chip tiny, --noc flit, ...
  std::optional<std::size_t> ranks = {};                                  // processes; none: this one
  bool is_hidden = false;                                                 // another of them is seen by the world
  std::int64_t time_steps = 0;                                            // 0: as the text says
  int threads = 0;
  std::string schedule;  // empty: as the text says
  bool profile = false;
  bool detect_nan = false;
  std::string trace;                   // --trace FILE
  std::optional<std::string> report;   // --report [FILE]
  std::vector<std::string> arguments;  // after --

  bool check_only = false;          // fmt --check
  std::vector<std::string> labels;  // test --label
  bool update = false;              // test --update
  std::string implicit_send;        // check --warn=implicit-send ("warn") or --error=implicit-send ("error")
  bool metrics = false;             // slices --metrics
  int optimise = 2;                 // slices -O0, -O2
  int columns = 80;                 // of the terminal, for what is laid out in columns
  std::string stage = "chains";     // graph --stage
  std::string format = "text";      // graph, slices and doc --format
  bool validate = false;            // graph --validate
  std::string sink_rule = "task";   // graph --sink-rule
  std::string topic;                // explain CODE, doc NAME, bench NAME
  long long count = 0;              // bench -n
  int repeats = 0;                  // bench --repeats
  std::string thread_list;          // bench --threads 1,2
  std::string shard_list;           // bench --shards 1,2
  std::string library;              // build --lib NAME
  std::string output;               // build -o FILE
  std::string dt;                   // export --dt SECONDS
  std::string diagnostics = "text";
};

// What the command line means, or what there is to print and the exit code to end with.
struct Parsed {
  std::optional<Options> options;
  std::string text;
  int exit_code = 0;
};
// No argument at all means the prompt where a person sits at a terminal.
Parsed parse_arguments(int argc, const char* const* argv, bool at_terminal);

}  // namespace taskspec::cli
