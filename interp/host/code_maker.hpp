// Makes the code of a plan's tasks: kernels and compiled bodies where the control of a task does not depend
// on data, else calls of the interpreter. Consecutive tasks of a chain become one code where they can.
//
//   const TaskCode& code = maker.make(first, last, operands);   // of as many tasks from `first` as fit
//   CodeSet codes = std::move(maker).finish();                  // they live here
#pragma once
#include <deque>
#include <map>

#include "interp/host/fused_code.hpp"
#include "interp/host/kernel_cache.hpp"
#include "interp/host/lookup_table.hpp"
#include "interp/host/point_code.hpp"

namespace taskspec {

struct CodeSet {
  std::vector<std::unique_ptr<TaskCode>> codes;
  std::vector<std::unique_ptr<LaunchCode>> launches;
  std::size_t scratch_bytes = 0;  // of the largest
  std::size_t most_operands = 0;
};

class CodeMaker {
 public:
  CodeMaker(std::shared_ptr<const Plan> plan, Bodies& bodies, ViewBodies& views);

  // For tasks [first, last) of the plan, which follow one another in a chain: the code of the first ones of
  // them. Appends the buffers of its operands. May throw Error.
  const TaskCode& make(std::size_t first, std::size_t last, std::vector<BufferId>& operands);
  CodeSet finish() && { return std::move(set_); }

 private:
  std::span<const BufferId> inputs(std::size_t task) const;
  std::span<const BufferId> outputs(std::size_t task) const;
  const ArrayType& type(BufferId buffer) const { return plan_->buffers[buffer.index()].type; }
  std::uint32_t bytes_of(BufferId buffer) const { return places_[buffer.index()].location.value; }
  Definition::Kind kind(std::size_t task) const { return plan_->graph->definition(plan_->tasks[task].node).kind; }
  bool has_list(std::size_t task) const {
    return kind(task) == Definition::Kind::task || kind(task) == Definition::Kind::listed;
  }
  OpInstance instance(std::size_t task) const;
  bool writes_safely(std::size_t task) const;
  bool is_straight(std::size_t task);  // one op, or a list of such
  std::shared_ptr<const OpList> list(std::size_t task);
  std::vector<std::uint32_t> append(FusedBody& body, std::size_t task, std::span<const std::uint32_t> given);
  std::string key(std::size_t task, bool with_bytes) const;
  void count_readers();

  const TaskCode& make_interpreted(std::size_t task);
  const TaskCode& make_native(std::size_t task);
  const TaskCode& make_kernel(std::size_t task);
  const TaskCode& make_body(std::size_t task);
  const TaskCode& make_watched(std::size_t task);
  const TaskCode& make_point(std::size_t task);
  std::vector<std::shared_ptr<const Kernel>> kernels_of(const FusedBody& body);
  struct Chain {
    std::string key;  // equal ones do the same with operands that lie alike
    std::vector<BufferId> inputs, outputs;
  };
  Chain chain(std::size_t first, std::size_t count) const;
  const TaskCode& make_chain(std::size_t first, std::size_t count, std::vector<BufferId>& operands);
  const TaskCode& compile(FusedBody body);
  // Launches that are one and the same code, and of each point what runs it, as far as it is made.
  struct Points {
    const PointGroup* group = nullptr;  // the first of them
    const LaunchCode* launch = nullptr;
    std::vector<const TaskCode*> codes;
  };
  Points& points(const PointGroup& group);
  const TaskCode& keep(std::unique_ptr<TaskCode> code);

  std::shared_ptr<const Plan> plan_;
  Bodies& bodies_;
  ViewBodies& views_;
  std::vector<CellPlace> places_;
  std::vector<std::uint32_t> readers_;  // by buffer; results of the graph have one more
  KernelCache kernels_;
  CodeSet set_;
  std::vector<const TaskCode*> natives_;                   // by definition
  std::map<std::string, const TaskCode*> known_, chains_;  // by key
  std::deque<Points> points_;
  std::vector<Points*> points_of_;                              // by group of points
  std::map<std::string, std::vector<Points*>> known_points_;    // by key
  std::map<std::string, std::shared_ptr<const OpList>> lists_;  // by key; null: there is none
};

}  // namespace taskspec
