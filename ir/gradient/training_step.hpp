// A graph made ready for training: its tasks as they run forward, leaving what their reverses need, and the reverses.
//
//   graph    conv#0 -> relu#0 -> pool#0 -> dense#0                 one chain
//   step     [conv relu pool dense] -> hidden values               one task
//            [...].backward: d_result, hidden values -> d_w of conv, d_b of conv, d_w of dense, ...
//
// Each forward task has two readers, its successor and its reverse, so source and sink rule would leave no chain. The
// forward graph is aggregated first; then each chain becomes one task, and its reverse is one task as well. An edge
// still leaves the last task of a chain only, so all that holds for graphs holds for the graph of a step.
//
// A task in which tensors decide what runs has no list. It stays by itself, and its reverse carries it out once more,
// writes down what it does, and reverses that.
#pragma once
#include <memory>
#include <optional>

#include "ir/base/function_ref.hpp"
#include "ir/base/result.hpp"
#include "ir/gradient/reverse.hpp"
#include "ir/graph/chains.hpp"
#include "ir/graph/embedded_task.hpp"

namespace taskspec {

// What a task of a step reads.
struct StepRef {
  enum class Kind : std::uint8_t {
    input,     // of the graph
    constant,  // of the graph
    task,      // an output of a task of the step
    upstream,  // the gradient of a result of the graph
    number     // of the step itself, an i64
  };
  Kind kind = Kind::input;
  std::uint32_t id = 0;
  std::uint16_t slot = 0;  // task: output; of a batch in parts: which of them, from 1; else 0
  friend auto operator<=>(const StepRef&, const StepRef&) = default;
};

struct StepTask {
  // One of the two.
  std::shared_ptr<const OpList> list;
  std::shared_ptr<const EmbeddedTask> embedded;
  std::string name;             // of the first task of the chain: "Net.forward"
  std::vector<NodeId> members;  // the tasks of the chain
  std::vector<StepRef> in;      // as the inputs of the list
};

struct StepOptions {
  std::vector<bool> wanted;    // by input of the graph: its gradient is asked for
  std::vector<bool> upstream;  // by result of the graph: its gradient is given
  // An input that the lists of tasks may read behind theirs: the number of the step.
  std::optional<std::size_t> step = {};
  Recompute recompute = Recompute::none;
};

struct TrainingStep {
  std::vector<StepTask> tasks;                  // forward ones, in order
  std::vector<StepTask> reverses;               // in reverse order; their StepRef::id counts on behind `tasks`
  std::vector<std::size_t> reversed;            // by reverse: the forward task after which it is called; or none
  std::vector<StepRef> results;                 // of the graph
  std::vector<std::vector<StepRef>> gradients;  // by input: parts, to be added in this order; none: no path
  struct End {                                  // of a path: an op without a gradient
    std::size_t input = 0;                      // of the graph, which was wanted
    const OpDef* op = nullptr;
    Span span;
  };
  std::vector<End> ends;
  std::vector<std::int64_t> numbers;
  // In parts (parts.hpp): what is there part by part; else empty.
  std::vector<std::vector<StepRef>> result_parts;    // by result
  std::vector<std::vector<StepRef>> gradient_parts;  // by input
  static constexpr std::size_t none = SIZE_MAX;
};

// The list of each task of the graph, or why there is none: E3005 is no error here.
using ListOf = FunctionRef<Result<OpList>(NodeId)>;

// The step shares the graph where it has embedded tasks. Errors: what the lists say.
Result<TrainingStep> training_step(const std::shared_ptr<const TaskGraph>& graph, const StepOptions& options,
                                   ListOf list_of, const OpTable& ops);

}  // namespace taskspec
