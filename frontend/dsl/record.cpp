#include "frontend/dsl/record.hpp"

#include <algorithm>
#include <atomic>

#include "frontend/dsl/errors.hpp"
#include "ir/base/text.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl::detail {

namespace {

// Each thread records its own bodies.
thread_local Recording* innermost = nullptr;

}  // namespace

Owner new_owner() {
  static std::atomic<Owner> next = host_program + 1;
  return next++;
}

// ---- the body being written -----------------------------------------------------------------------

Recording::Recording(std::shared_ptr<Function> function)
    : function_(std::move(function)), open_{&function_->body}, outer_(innermost) {
  innermost = this;
}

Recording::~Recording() { innermost = outer_; }

Recording* Recording::current() { return innermost; }

void Recording::inside(Block& into, FunctionRef<void()> f) {
  struct Close {
    std::vector<Block*>& open;
    ~Close() { open.pop_back(); }
  } close{open_};
  open_.push_back(&into);
  f();
}

void Recording::close(const Block& into) {
  while (open_.size() > 1 && open_.back() != &into) open_.pop_back();
  if (open_.size() > 1) open_.pop_back();
}

bool Recording::is_open(const Block* block) const {
  return !block || std::find(open_.begin(), open_.end(), block) != open_.end();
}

std::string full_name(const Function& function) {
  auto agent = function.agent.lock();
  return (agent ? agent->name.text + "." : "") + function.name.text;
}

std::string described(const Function& function) {
  static constexpr const char* words[] = {"task", "graph", "fn"};
  return std::string(words[static_cast<int>(function.kind)]) + " '" + full_name(function) + "'";
}

// ---- operands -------------------------------------------------------------------------------------

namespace {

bool is_open(const Node& node) {  // holds others, whose owners count
  return node.kind == Node::Kind::list || node.kind == Node::Kind::tuple || node.kind == Node::Kind::callable;
}

bool belongs_here(const Node& node) {
  if (is_open(node))
    return std::all_of(node.in.begin(), node.in.end(), [](const NodePtr& part) { return belongs_here(*part); });
  if (node.owner == nobody) return true;
  Recording* here = Recording::current();
  if (!here || (here->function().of_host && node.owner == host_program)) return node.owner == host_program;
  auto agent = here->function().agent.lock();
  if (agent && node.owner == agent->owner) return true;
  return node.owner == here->function().owner && here->is_open(node.block);
}

bool is_gone(const Node& node) {
  if (is_open(node))
    return std::any_of(node.in.begin(), node.in.end(), [](const NodePtr& part) { return is_gone(*part); });
  return node.gone;
}

}  // namespace

NodePtr use(const Operand& operand) {
  NodePtr node = operand.take();
  if (!node || is_gone(*node))
    fail("E1006", operand.at(), "this value is not set, or it was moved away",
         "a value that was handed on by std::move cannot be used again");
  if (!belongs_here(*node)) {
    Recording* here = Recording::current();
    fail("E1001", operand.at(),
         here ? "this value is not one of " + described(here->function()) + ", which is being written here"
              : "this value belongs to a body that was written before",
         "a body uses its own parameters and values; hand others to it as parameters");
  }
  return node;
}

NodePtr use_for_agent(const Operand& operand) {
  return operand.node() && operand.node()->of_agent ? operand.take() : use(operand);
}

Operand placed(Operand operand, At at) {
  return operand.at().line() != 0 ? std::move(operand) : Operand(operand.take(), at);
}

// ---- statements -----------------------------------------------------------------------------------

namespace {

// The temporaries that a call takes in, in the order of a text.
class Temporaries {
 public:
  explicit Temporaries(bool with_agent) : with_agent_(with_agent) {}
  void collect(const Node& node) {
    for (const NodePtr& part : node.in) consider(part);
    for (const Item& item : node.items) {
      consider(item.low);
      consider(item.high);
    }
  }
  const std::vector<Node*>& found() const { return found_; }

 private:
  void consider(const NodePtr& part) {
    if (!part) return;
    if (is_open(*part) || part->part) return collect(*part);
    constexpr long by_statement_and_operand = 2;  // nobody else can name it
    bool is_agent = with_agent_ && part->kind == Node::Kind::agent;
    if (part->bound && (is_agent || part.use_count() == by_statement_and_operand)) found_.push_back(part.get());
  }

  bool with_agent_;
  std::vector<Node*> found_;
};

// C++ leaves open in which order the operands of `f(a) + g(b)` are evaluated; a text does not. So the order of the
// text it is, unless one of them changes a place that another one uses: then what happened first stays first.
bool may_follow_the_text(const std::vector<Node*>& in_text_order, const std::vector<Statement>& statements,
                         std::size_t begin) {
  std::vector<std::size_t> positions;
  std::size_t writers = 0, users = 0;
  for (const Node* node : in_text_order)
    for (std::size_t i = begin; i < statements.size(); ++i)
      if (statements[i].value.get() == node) {
        positions.push_back(i);
        writers += node->writes;
        users += node->writes || node->reads;
      }
  return std::is_sorted(positions.begin(), positions.end()) || writers == 0 || users < 2;
}

// The last statements that only give values to this call become part of its expression.
void take_in(Node& node, Block& block, bool temporary) {
  Temporaries all(temporary);
  all.collect(node);
  const std::vector<Node*>& temporaries = all.found();
  std::vector<Statement>& statements = block.statements;
  std::size_t begin = statements.size();
  auto is_temporary = [&](const Statement& s) {
    return s.kind == Statement::Kind::let &&
           std::find(temporaries.begin(), temporaries.end(), s.value.get()) != temporaries.end();
  };
  while (begin > 0 && is_temporary(statements[begin - 1])) --begin;
  if (!may_follow_the_text(temporaries, statements, begin)) return;
  for (std::size_t i = begin; i < statements.size(); ++i) {
    Node& part = *statements[i].value;
    part.bound = false;
    part.gone = true;
    node.reads = node.reads || part.reads;
    node.writes = node.writes || part.writes;
  }
  statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(begin), statements.end());
}

}  // namespace

void add(Statement statement) { Recording::current()->block().statements.push_back(std::move(statement)); }

void take_last(const NodePtr& value) {
  std::vector<Statement>& statements = Recording::current()->block().statements;
  constexpr long by_statement_and_caller = 2;
  if (!value->bound || statements.empty() || statements.back().value != value) return;
  if (value.use_count() != by_statement_and_caller) return;
  value->bound = false;
  statements.pop_back();
}

NodePtr moved_agent(const NodePtr& agent, At at) {
  if (agent->kind != Node::Kind::agent || agent->entered || agent->gone)
    fail("E1004", at, "this agent is in use elsewhere", "a layer is made where it is declared: layer(\"c1\", Conv(3))");
  auto made = std::make_shared<Node>(std::move(*agent));
  if (made->bound)
    std::erase_if(Recording::current()->block().statements, [&](const Statement& s) { return s.value == agent; });
  made->bound = false;
  return made;
}

NodePtr name_node(std::string text, At at, Owner owner, bool is_place) {
  auto node = std::make_shared<Node>();
  node->text = std::move(text);
  node->at = at;
  node->owner = owner;
  node->reads = is_place;
  return node;
}

namespace {

NodePtr statement(Statement::Kind kind, Node node, bool temporary) {
  Recording& here = *Recording::current();
  take_in(node, here.block(), temporary);
  node.owner = here.function().owner;
  node.block = &here.block();
  node.bound = kind == Statement::Kind::let;
  auto made = std::make_shared<Node>(std::move(node));
  add({kind, made->at, made, nullptr, nullptr, "", nullptr, nullptr});
  return made;
}

void note_uses(Node& node) {
  for (const NodePtr& part : node.in)
    node.reads = node.reads || ((part->kind == Node::Kind::name || part->part) && part->reads);
}

}  // namespace

NodePtr recorded(Node node, bool temporary) {
  note_uses(node);
  if (!Recording::current()) return host_value(std::move(node));
  return statement(Statement::Kind::let, std::move(node), temporary);
}

NodePtr recorded_part(Node node) {
  note_uses(node);
  node.part = true;
  node.owner = host_program;
  if (Recording* here = Recording::current()) {
    take_in(node, here->block(), false);
    node.owner = here->function().owner;
    node.block = &here->block();
  }
  return std::make_shared<Node>(std::move(node));
}

void record_call(Node node, bool temporary) {
  note_uses(node);
  statement(Statement::Kind::call, std::move(node), temporary);
}

// ---- bodies ---------------------------------------------------------------------------------------

namespace {

// The variable that an output is in the body.
constexpr const char* unnamed_output = "value";

std::string output_name(const Output& output) { return output.name.text.empty() ? unnamed_output : output.name.text; }

const Output& output_named(const Function& function, const std::string& name, At at) {
  std::vector<std::string> names;
  for (const Output& output : function.outputs) {
    if (output_name(output) == name) return output;
    names.push_back(output_name(output));
  }
  fail("E1002", at, described(function) + " has no output '" + name + "'; outputs: " + joined(names, ", "));
}

// `let m = x.mean(0)`, whose value becomes the output `mean`, is `mean = x.mean(0)`; it is read by that name then.
bool becomes_output(Block& block, const NodePtr& value, const NodePtr& target) {
  if (!value->bound || value->kind == Node::Kind::invoke || value->kind == Node::Kind::agent) return false;
  for (Statement& statement : block.statements) {
    if (statement.kind != Statement::Kind::let || statement.value != value) continue;
    auto expression = std::make_shared<Node>(*value);
    expression->bound = false;
    *value = *target;
    statement = {Statement::Kind::assign, expression->at, expression, target, nullptr, "=", nullptr, nullptr};
    return true;
  }
  return false;
}

// The arguments of `results(...)`, too, may have been evaluated from right to left.
void order_as_written(Block& block, const std::vector<NamedValue>& results) {
  std::vector<Node*> temporaries;
  constexpr long by_statement_and_result = 2;
  for (const NamedValue& result : results)
    if (const NodePtr& node = result.value.node(); node && node->bound && node.use_count() == by_statement_and_result)
      temporaries.push_back(node.get());
  auto place = [&](const Statement& s) {
    return std::find(temporaries.begin(), temporaries.end(), s.value.get()) - temporaries.begin();
  };
  std::vector<Statement>& statements = block.statements;
  std::size_t begin = statements.size();
  auto is_temporary = [&](const Statement& s) {
    return s.kind == Statement::Kind::let && place(s) < static_cast<std::ptrdiff_t>(temporaries.size());
  };
  while (begin > 0 && is_temporary(statements[begin - 1])) --begin;
  if (!may_follow_the_text(temporaries, statements, begin)) return;
  std::stable_sort(statements.begin() + static_cast<std::ptrdiff_t>(begin), statements.end(),
                   [&](const Statement& a, const Statement& b) { return place(a) < place(b); });
}

void set_outputs(Function& function, Results results, At at) {
  order_as_written(function.body, results.list());
  for (NamedValue& result : results.list()) {
    if (result.name.empty() && function.outputs.size() != 1) {
      std::vector<std::string> names;
      for (const Output& output : function.outputs) names.push_back(output_name(output));
      fail("E1003", at,
           "this body gives one value, and " + described(function) + " has " + std::to_string(function.outputs.size()) +
               " outputs",
           names.empty() ? "declare it: .out(\"y\", f32[1])" : "give them by name: results(\"" + names[0] + "\", ...)");
    }
    const Output& output = result.name.empty() ? function.outputs[0] : output_named(function, result.name, at);
    At place = result.value.at();
    NodePtr value = use(result.value);
    if (function.kind == Kind::fn) {
      take_last(value);
      add({Statement::Kind::return_, place, value, nullptr, nullptr, "", nullptr, nullptr});
      continue;
    }
    NodePtr target = name_node(output_name(output), output.name.at, function.owner, true);
    if (becomes_output(function.body, value, target)) continue;
    take_last(value);
    add({Statement::Kind::assign, place, value, target, nullptr, "=", nullptr, nullptr});
  }
}

}  // namespace

void record_body(const std::shared_ptr<Function>& function, const std::pair<Recorded, std::size_t>& body, At at) {
  if (function->recorded) fail("E1005", at, described(*function) + " has a body already");
  if (body.second != function->parameters.size())
    fail("E1003", at,
         "this body takes " + plural(body.second, "value") + ", and " + described(*function) + " has " +
             plural(function->parameters.size(), "parameter"),
         "one Tensor for each .in(...), one Var for each .inout(...), in that order");
  Recording recording(function);
  std::vector<Var> given;
  for (const Parameter& p : function->parameters)
    given.push_back(Var(name_node(p.name.text, p.name.at, function->owner, p.privilege == "inout")));
  Results results = body.first(given);
  if (!function->typed)
    for (const NamedValue& result : results.list())
      function->outputs.push_back({Name(result.name, result.value.at()), {}});
  set_outputs(*function, std::move(results), at);
  function->recorded = true;
}

void record_untyped(const std::shared_ptr<Function>& function, const std::pair<Recorded, std::size_t>& body, At at) {
  function->typed = false;
  for (std::size_t i = 0; i < body.second; ++i)
    function->parameters.push_back({"in", Name(body.second == 1 ? "x" : "x" + std::to_string(i + 1), at), {}, nullptr});
  record_body(function, body, at);
  if (function->outputs.empty())
    fail("E1003", at, described(*function) + " gives nothing", "return a Tensor or results(...)");
}

}  // namespace taskspec::dsl::detail
