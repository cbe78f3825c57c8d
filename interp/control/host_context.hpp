// What the host program may use of the world outside: output, arguments, files beside the program, and how
// `run e on B` opens a session. One per run of a program; builtins get it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interp/control/facts.hpp"
#include "interp/control/natives.hpp"
#include "interp/control/objects.hpp"
#include "interp/control/replica.hpp"
#include "interp/control/time_steps.hpp"
#include "interp/control/trial.hpp"
#include "ir/files/field_file.hpp"
#include "ir/records/builtin.hpp"

namespace taskspec {

struct BlockGraph;
class BlockTable;
struct NirNet;

class Interpreter;
class Target;
struct Frame;

// The session that `run e on B` opens: a target to record into, and its report afterwards.
class NestedSession {
 public:
  virtual ~NestedSession() = default;
  virtual Target& target() = 0;
  virtual bool owns(const Tensor& tensor) const = 0;
  virtual bool named() const = 0;  // a handle still names something in it: the slot of an agent, say
  // What is recorded from here on waits for `run_steps`, which gives each output in all steps, along a new first axis.
  virtual void hold() = 0;
  virtual std::vector<Array> run_steps(const TimeSteps& steps, Span place) = 0;
  virtual Value report() = 0;                   // after everything that has effects ran
  virtual void failed(const Diags& /*why*/) {}  // the program ends by that: others may wait for it
  virtual Diags end_early() = 0;  // what has effects runs, although the program goes no further; what failed of it
};

// What the output is shown on.
struct Screen {
  int columns = 80;
  bool colour = false;  // 24 bits
};

class HostContext {
 public:
  HostContext(const Program& program, const OpTable& ops);

  const Program& program;
  const OpTable& ops;
  // A relative path to read from: as it is if there is such a file, else beside the program, so that a program
  // and its data can be run from anywhere.
  std::string input_path(const std::string& written) const;

  std::string beside;                            // the file instead of the program, where one was entered at a prompt
  std::vector<std::string> arguments;            // after --
  std::function<void(std::string_view)> output;  // standard output
  Screen screen;                                 // where it goes
  std::set<std::string> noted;                   // what `note` said, which it says once
  std::function<std::unique_ptr<NestedSession>(const BackendChoice&, Span)> open_session;
  std::vector<std::unique_ptr<NestedSession>> kept;  // ended, but still named
  Diags unseen;                                      // what failed in sessions that ended early
  const std::atomic<bool>* interrupted = nullptr;    // set by Ctrl-C
  std::span<const FormStep> forms;                   // beyond those of the language
  const BlockTable* blocks = nullptr;                // of Task IR; null: nets cannot be lowered here
  std::function<void(const BlockGraph& graph, const std::string& path)> write_blocks;  // in formats of others
  std::function<void(const NirNet& net, const std::string& path)> write_nir;
  Hdf5Layouts hdf5_layouts;          // of files of fields
  const Natives* natives = nullptr;  // behind `extern` tasks; null: there are none
  std::shared_ptr<Replica> replica;  // which run of the program this is; null: there is none but it
  bool is_seen() const { return !replica || replica->is_seen(); }  // its effects reach the world
  std::uint64_t agreed = 0;                                        // values that it asked the first replica for
  int part = 0;                                                    // of the program, where two run beside each other
  std::optional<MachineRates> rates;                               // once somebody wanted to know

  // The call being executed, for builtins.
  Interpreter* interpreter = nullptr;
  Frame* frame = nullptr;
  Span span;
  const Type* type = nullptr;  // what the checker says of its result
};

}  // namespace taskspec
