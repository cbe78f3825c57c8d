// What ops take, by place of the text; and where a program can try out what something takes.
//
//   std::unique_ptr<Trial> trial = recorder.trial();      // beside the session, on its backend
//   RecordTarget target(program, trial->recorder());      // record tasks into it, then
//   trial->run();  trial->rows();                         // what they took so far
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/records/kernel.hpp"

namespace taskspec {

class Recorder;

// All runs of one op of one task, at one place of the text, that make values of one type.
struct OpRow {
  TrainingPass pass = TrainingPass::none;
  std::string task;      // "Net.c1.forward"
  std::string op;        // "matmul"; "number": host code in a task; "body": nobody knows what the task is made of
  Span span;             // where the task comes to it
  std::string type;      // of what it makes: "f32[64, 10]"
  bool product = false;  // each element of what it makes is a sum of many products
  bool fused = false;    // one pass over the data with its neighbours
  std::uint64_t calls = 0;
  std::int64_t ns = 0;
  Work work;    // of all of them, by the record of the op; nothing where nobody knows
  Span inside;  // where the loop, branch or fn stands that is one node of a graph and that it ran in, if it did
};

// How fast a machine is.
struct MachineRates {
  double products = 0, elements = 0;  // operations per second: of sums of products, of other ops
  double cache = 0, memory = 0;       // bytes per second: of what a cache holds, of more
  double call = 0;                    // seconds that an op takes which has next to nothing to do
};

// A session of its own on the backend of another one: nothing there changes by what runs here. What is recorded must be
// forgotten before it ends.
class Trial {
 public:
  virtual ~Trial() = default;
  virtual Recorder& recorder() = 0;
  virtual void run() = 0;                        // all that was recorded
  virtual std::vector<OpRow> rows() const = 0;   // so far, in the order of plans; those that are there stay in place
  virtual std::uint64_t peak_bytes() const = 0;  // that it took of the backend at once
};

}  // namespace taskspec
