// Recording: the body that is being written on this thread, and how calls become its statements.
//
//   Recording recording(function);          // until the end of the block
//   NodePtr sum = recorded(node);           // one more statement; temporaries among its operands are taken in
#pragma once
#include "frontend/dsl/node.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec::dsl::detail {

class Recording {
 public:
  explicit Recording(std::shared_ptr<Function> function);
  ~Recording();
  Recording(const Recording&) = delete;
  static Recording* current();  // null: the host program itself

  Function& function() const { return *function_; }
  Block& block() { return *open_.back(); }
  // Statements of `f` go to `into`.
  void inside(Block& into, FunctionRef<void()> f);
  // The same until `close`.
  void open(Block& into) { open_.push_back(&into); }
  void close(const Block& into);
  bool is_open(const Block* block) const;  // here or around here

 private:
  std::shared_ptr<Function> function_;
  std::vector<Block*> open_;  // outermost first
  Recording* outer_;
};

// "task 'Scale.apply'"
std::string described(const Function& function);
std::string full_name(const Function& function);

// The operand as part of a call. Error: not set, moved from, or a value of another body.
NodePtr use(const Operand& operand);
// For an agent, or the first value of a slot: there a parameter of the agent around it may stand, too.
NodePtr use_for_agent(const Operand& operand);
Operand placed(Operand operand, At at);  // the place of its method call

// The value of a call. `temporary`: the agent in front of the call is one, too, and will not be called again.
NodePtr recorded(Node node, bool temporary = false);
// A value that is no statement by itself: v[i], v[i].f, r.f.
NodePtr recorded_part(Node node);
// A call that gives nothing: a statement. Inside of bodies only.
void record_call(Node node, bool temporary = false);
// A value outside of all bodies: the runtime's part (interp/embed).
NodePtr host_value(Node node);
void host_perform(Node call);
NodePtr host_var(const Name& name, Operand initial);
void host_assign(const NodePtr& target, const char* op, Operand value);
void add(Statement statement);
// A value that was recorded last and that nobody else names stands in the statement which takes it.
void take_last(const NodePtr& value);
// What an agent is made by, which from here on is part of something else. Error: somebody has used it already.
NodePtr moved_agent(const NodePtr& agent, At at);
NodePtr name_node(std::string text, At at, Owner owner, bool is_place);

// Records the body with the given function; Error if it takes another number of values than there are parameters.
void record_body(const std::shared_ptr<Function>& function, const std::pair<Recorded, std::size_t>& body, At at);
// The precision whose elements lie in memory like those of `precision` and have a type in C++: "i9" in "i16".
std::string stored_as(const std::string& precision);
// The same for a function without a signature: it gets parameters and outputs, but no types yet.
void record_untyped(const std::shared_ptr<Function>& function, const std::pair<Recorded, std::size_t>& body, At at);
// The C++ function that is the body, and its reverse. Error if their parameters are not those of the signature.
void attach_body(const std::shared_ptr<Function>& function, Native native, At at);
void attach_reverse(const std::shared_ptr<Function>& function, Native backward, At at);
void attach_symbol(const std::shared_ptr<Function>& function, const Name& symbol);

}  // namespace taskspec::dsl::detail
