// How a program is run, and what came of it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/control/host_context.hpp"
#include "interp/control/replica.hpp"
#include "interp/control/run_picture.hpp"
#include "interp/session/session_report.hpp"
#include "ir/cut/cut_program.hpp"

namespace taskspec {

struct RunSettings {
  std::shared_ptr<const BackendChoice> on;  // of the session of the program itself; null: host
  // For every session, whatever the text or `on` says:
  int threads = 0;  // 0: as they say
  std::optional<Schedule> schedule;
  std::vector<std::pair<std::string, std::string>> backend_options = {};  // where a backend has one of that name
  bool record = false;                                                    // for a profile
  bool record_ops = false;                                                // what each op took, too
  bool rates = false;                  // and, of a program that trains, what the machine would let expect
  bool timeline = false;               // of all dispatches: SessionReport::timeline
  bool detect_nan = false;             // the op that makes the first one is an error
  bool keep_graph = false;             // somebody will look at the sessions' graphs: nothing is given back
  std::size_t window = 4096;           // tasks that may be pending, about; 0: any number (SessionOptions)
  std::size_t sweep = 8192;            // entries between two sweeps of a session, at least
  std::vector<std::string> arguments;  // after --
  std::function<void(std::string_view)> output;
  Screen screen;
  const std::atomic<bool>* interrupted = nullptr;
  std::shared_ptr<RunPictures> pictures;  // takes what backends have to show; null: nobody looks
  const Natives* natives = nullptr;       // behind `extern` tasks
  bool is_hidden = false;                 // another process shows what this one would, and writes its files
  std::shared_ptr<Replica> replica;       // which run of the program this is; null: there is none but it
  // Of the two programs that run beside each other:
  CutOptions cut;
  std::size_t capacity = 64;  // messages that wait in one channel at most
  // For tests, by either side: called before each message, and by the host between its end and what follows from that.
  std::function<void(Part)> pause;
};

struct RunResult {
  int exit_code = 0;  // 0, 3, 130, or what exit(code) said
  Diags diags;
  SessionReport report;
};

}  // namespace taskspec
