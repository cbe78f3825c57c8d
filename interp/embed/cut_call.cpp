#include "interp/embed/cut_call.hpp"

#include <algorithm>

#include "frontend/check.hpp"
#include "frontend/dsl/make_ast.hpp"
#include "frontend/dsl/record.hpp"
#include "interp/control/host_context.hpp"
#include "interp/embed/checked.hpp"
#include "interp/embed/natives.hpp"
#include "interp/mpi/shard_picture.hpp"
#include "interp/pipeline.hpp"
#include "ir/cut_report/report.hpp"
#include "ir/json/cut_program.hpp"
#include "taskspec/host.hpp"

namespace taskspec::dsl::detail {

namespace {

// No text can say this name.
constexpr const char* hand_back = "%hand_back";

taskspec::Type nothing(RuleContext&) { return taskspec::Type::Kind::none; }
Value run_hand_back(HostContext& host, std::span<const Value> values) {
  const bool is_first = !host.replica || host.replica->number == 0;  // others may run the same, unseen
  return is_first ? call_host(host.natives, hand_back, values, host.span) : Value();
}

constexpr taskspec::Operand value_operand[] = {{"value", OperandKind::value}};
constinit const Builtin builtin_hand_back = BuiltinFields{.name = hand_back,
                                                          .operands = value_operand,
                                                          .doc = "Gives the value to the C++ program around this one.",
                                                          .example = "%hand_back(1)",
                                                          .type = nothing,
                                                          .effect = Effect::host,
                                                          .run = run_hand_back};

// All builtins and that one.
BuiltinTable builtins_here() {
  static const std::vector<const Builtin*> table = [] {
    std::span<const Builtin* const> all = toolbox().builtins.all();
    std::vector<const Builtin*> made(all.begin(), all.end());
    made.push_back(&builtin_hand_back);
    std::ranges::sort(made, {}, [](const Builtin* builtin) { return builtin->name; });
    return made;
  }();
  return BuiltinTable(table);
}

// What shards count, by the names of their report.
std::map<std::string, std::int64_t> counts_of(const RunPictures& pictures) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& picture : pictures)
    if (auto* shards = dynamic_cast<const ShardPicture*>(picture.get()))
      counts.insert(shards->counts().begin(), shards->counts().end());
  return counts;
}

ast::ExprPtr boxed(ast::Expr expr) { return std::make_unique<ast::Expr>(std::move(expr)); }

ast::ExprPtr handed_back(ast::ExprPtr value, Span span) {
  ast::Call call{boxed({span, ast::NameExpr{{hand_back, span}}}), {}, span};
  call.args.push_back({span, {}, std::move(value)});
  return boxed({span, std::move(call)});
}

}  // namespace

CutCall::CutCall(const Node& call, std::vector<CutPlace> places_of_call)
    : gives_(!call.in[0]->function->outputs.empty()), places_(std::move(places_of_call)) {
  Sources sources;
  Places places(sources);
  Declared declared;
  Span span = places.line(call.at);
  Ast tree(span.source, needed_by(call, places, declared));
  for (const auto& [symbol, function] : declared.natives) define_body(natives_, symbol, function);
  auto add = [&](auto statement) { tree.items.push_back({span, ast::Stmt{span, std::move(statement)}}); };
  ExprMaker make(places, declared.names);
  for (const CutPlace& place : places_) add(ast::Let{true, {span, {{place.name, span}}}, nullptr, make(*place.value)});
  ast::ExprPtr value = make.content(call);
  if (gives_) value = handed_back(std::move(value), span);
  add(ast::ExprStmt{std::move(value)});
  for (const CutPlace& place : places_)
    add(ast::ExprStmt{handed_back(boxed({span, ast::NameExpr{{place.name, span}}}), span)});
  taskspec::Result<Program> program =
      check(sources, std::move(tree), {.ops = toolbox().ops, .builtins = builtins_here(), .blocks = toolbox().blocks});
  if (!program) throw error_of(sources, program.diags());
  program_ = std::move(*program);
}

NodePtr CutCall::run(const On& backend, At at) {
  std::vector<Value> given;  // the result, then the places
  natives_.define_host(hand_back, [&given](std::span<const Value> values) {
    given.push_back(values[0]);
    return Value();
  });
  RunSettings settings;
  BackendChoice on(*toolbox().builtins.find(backend.name));
  if (Value* threads = on.option("threads")) *threads = Value(backend.threads);
  if (Value* schedule = on.option("schedule")) *schedule = Value(backend.schedule);
  for (const auto& [name, value] : backend.options) {
    Value* option = on.option(name);
    if (!option) fail("E1003", at, backend.name + " takes no '" + name + "'");
    *option = value;
  }
  settings.on = std::make_shared<BackendChoice>(std::move(on));
  settings.natives = &natives_;
  settings.pictures = std::make_shared<RunPictures>();
  settings.output = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  RunResult done = run_program(program_, toolbox(), settings);
  if (done.diags.has_errors()) throw error_of(program_.sources, done.diags);
  const std::size_t wanted = places_.size() + (gives_ ? 1 : 0);
  if (given.size() != wanted && gives_) fail("E1006", at, "the run was ended by exit before it gave its result");
  for (std::size_t i = 0; given.size() == wanted && i < places_.size(); ++i)
    places_[i].value = literal_of(given[wanted - places_.size() + i], at);
  if (!gives_) return nullptr;
  auto result = std::make_shared<Node>(*literal_of(given[0], at));
  auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  result->report = std::make_shared<const Report>(
      Report{number(done.report.tasks), number(done.report.chains), number(done.report.dispatches),
             number(done.report.memory.peak_bytes), done.report.seconds, counts_of(*settings.pictures)});
  return result;
}

std::string CutCall::cut_json() const {
  const CutProgram cut = cut_program(program_);
  return taskspec::cut_json(cut.program, report_cut(cut));
}

NodePtr literal_of(const Value& value, At at) {
  auto node = std::make_shared<Node>();
  node->at = at;
  auto all = [&](Node::Kind kind, const List& items) {
    node->kind = kind;
    for (const Value& item : items) node->in.push_back(literal_of(item, at));
  };
  if (value.is_list()) {
    all(Node::Kind::list, value.list());
  } else if (value.is_tuple()) {
    all(Node::Kind::tuple, value.tuple().items);
  } else if (value.is_array()) {
    node->kind = Node::Kind::given;
    node->data = std::make_shared<const Array>(value.array());
  } else if (value.is_string()) {
    node->kind = Node::Kind::string;
    node->text = value.string();
  } else if (value.is_bool()) {
    node->kind = Node::Kind::boolean;
    node->integer = value.boolean();
  } else if (value.is_integer()) {
    node->kind = Node::Kind::integer;
    node->integer = value.integer();
  } else if (value.is_real()) {
    node->kind = Node::Kind::real;
    node->real = value.real();
  } else {
    fail("E1004", at, "a fn that runs by itself takes and gives tensors and host values, not " + print(value));
  }
  return node;
}

}  // namespace taskspec::dsl::detail
