// The host program of a thread: its values outside of bodies, entered one by one into a program that grows while it
// runs, as the lines of a prompt are.
//
//   Tensor r = pipeline(x);     ->     let %1 = pipeline(...)
//   r.scalar<float>()           ->     the contents of %1
#pragma once
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "frontend/dsl/make_ast.hpp"
#include "interp/control/natives.hpp"
#include "interp/embed/cut_call.hpp"
#include "interp/embed/extern_bodies.hpp"
#include "interp/live_program.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec::dsl::detail {

class HostProgram : public std::enable_shared_from_this<HostProgram> {
 public:
  static HostProgram& here();  // of this thread
  HostProgram();

  // A value that was written now. Calls of graphs wait: `run` may take them to a session of their own.
  NodePtr value(Node node);
  void perform(Node call);  // of what gives nothing
  NodePtr var(const Name& name, Operand initial);
  void assign(const NodePtr& target, const char* op, Operand value);
  // The two programs that a call of a fn is, as JSON.
  std::string cut_json_of(const NodePtr& call, At at);
  // What the interpreter knows of it; enters what is needed for that. Runs nothing.
  Value known(const NodePtr& node, At at);
  Array contents(const Value& value, At at);
  // The graph that a value stands for, as it is recorded; runs nothing.
  void look_at(const NodePtr& graph, At at, ViewContents contents,
               FunctionRef<void(const Program&, const GraphView&)> use);

 private:
  struct Lease;
  // The last handle of a value may go on any thread.
  void give_back(const Lease& lease);
  std::shared_ptr<Lease> lease(const std::string& wanted);
  Lease& lease_of(const Node& node, At at);
  void begin();
  void flush();
  void enter(const NodePtr& node);
  void enter_operands(const Node& node, At at);
  void check_call(const Node& node);
  void check_waiting(const NodePtr& call);
  bool fits_time_steps(const NodePtr& call);
  void check_run(const Node& run);
  NodePtr run_apart(const Node& run);
  NodePtr literal(const NodePtr& operand, At at);
  CutCall cut(const Node& call, At at, std::vector<NodePtr>& changed);  // and the places that it changes
  void settle_types(Function& function, const Node& call);
  taskspec::Type type_of(const Node& node);
  // Declarations that `node` needs, then the statements that `write` adds.
  void run(const Node& node, FunctionRef<void(ExprMaker&, std::vector<ast::Item>&)> write);

  Natives natives_{&extern_bodies()};
  std::unique_ptr<LiveProgram> live_;
  std::unique_ptr<Places> places_;
  std::size_t entries_ = 0;  // of this program
  Declared declared_;
  // Variants of one wanted name: x, x'2, x'3, ... The first free one is given.
  struct Variants {
    std::size_t given = 0;
    std::set<std::size_t> free;
  };
  std::mutex leases_mutex_;
  std::unordered_map<std::string, Variants> variants_;
  std::size_t leased_ = 0;
  NodePtr waiting_;  // a call of a graph
};

// The only output of an invocation, which goes through to it. Error: there are several.
Value only_output(const Value& value, At at);

}  // namespace taskspec::dsl::detail
