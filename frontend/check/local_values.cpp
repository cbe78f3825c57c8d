#include "frontend/check/local_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "frontend/check/effects.hpp"
#include "frontend/check/local_walk.hpp"
#include "ir/program/call_graph.hpp"
#include "ir/program/kinds.hpp"
#include "ir/program/top_level.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec::checking {

namespace {

// Something in it is local by itself. Programs without that are not looked at any further.
bool has_source(const Function& function, std::size_t first_call) {
  if (function.extern_local) return true;
  return std::any_of(function.calls.begin() + static_cast<std::ptrdiff_t>(first_call), function.calls.end(),
                     [](const Call& call) {
                       if (call.builtin) return call.builtin->effect == Effect::local;
                       return call.form->payload == Payload::field && is_local_in_reports(call.name);
                     });
}

bool covers(Span a, Span b) { return a.source == b.source && a.begin <= b.begin && b.end <= a.end; }

class LocalValues : public LocalPeers {
 public:
  LocalValues(World& world, const NewPart& added) : world_(world), added_(added) {}

  void run() {
    const std::vector<FunctionId> functions = functions_of(world_, added_);
    auto is_source = [&](FunctionId id) { return has_source(world_.program[id], first_call(id, added_)); };
    world_.has_local = world_.has_local || std::ranges::any_of(functions, is_source);
    if (!world_.has_local) return;
    if (world_.program.main_module.valid()) books_of(world_.program.main_module);
    for (FunctionId id : functions)
      if (world_.program[id].kind == FunctionKind::module)
        books_of(world_.program[id].module);
      else
        summary(id);
  }

  const LocalSummary& summary(FunctionId id) override {
    LocalSummary& known = world_.info(id).local;
    if (!known.known) begin(id);
    if (!known.known) settle(id);
    return known;
  }

  LocalFacts global(ModuleId module, VariableId variable) override {
    const LocalBooks& books = books_of(module);
    const auto known = books.variables.find(variable.value);
    return known == books.variables.end() ? LocalFacts() : known->second;
  }

  void found(const Divergence& divergence) override {
    const std::vector<Origin> way = way_of({divergence.function, divergence.source});
    const bool told = std::ranges::any_of(way, [&](const Origin& at) { return reported_.contains(at); });
    if (told) return;  // also where what a function gives is wrong for that
    reported_.insert(way.front());
    report(divergence, way.back());
  }

 private:
  // Of a top level as far as it goes: functions see no lets but those above their first use.
  LocalBooks& books_of(ModuleId module) {
    LocalBooks& books = world_.file(module).local;
    const FunctionId id = world_.program.modules[module.index()].top_level;
    const Function& top = world_.program[id];
    if (books.walked == top.calls.size()) return books;
    const std::vector<CallId> calls = listed_since(top, books.walked, books.listed);
    books.walked = top.calls.size();
    books.listed = top.body.calls.size();
    LocalWalk(world_.program, id, books, *this).run(calls);
    return books;
  }

  // What nobody has to look into: tasks and graphs see what they are given and nothing else, of C++ its author tells.
  void begin(FunctionId id) {
    const Function& function = world_.program[id];
    LocalSummary& made = world_.info(id).local;
    made.known = function.kind != FunctionKind::fn || !function.extern_symbol.empty();
    if (!made.known) return;
    if (function.kind != FunctionKind::fn) made.acts.source = CallId(0);
    if (function.extern_local) made.result.is.source = CallId(0);
  }

  // It and all that it calls, callees first; those that call one another until nothing new is found.
  void settle(FunctionId first) {
    const std::vector<FunctionId> functions = unknown_from(first);
    for (FunctionId id : functions) world_.info(id).local.known = true;
    for (const std::vector<FunctionId>& group : groups_of(functions))
      for (bool more = true; more;) {
        more = false;
        for (FunctionId id : group) {
          LocalBooks books;
          LocalSummary made = LocalWalk(world_.program, id, books, *this).run();
          const bool grew = made != world_.info(id).local;
          world_.info(id).local = std::move(made);
          more = more || grew;
        }
        if (group.size() == 1 && !calls_itself(group[0])) break;
      }
  }

  bool calls_itself(FunctionId id) const {
    return std::ranges::any_of(world_.program[id].calls, [&](const Call& call) { return call.callee == id; });
  }

  template <class Visit>
  void each_unknown(FunctionId id, const Visit& visit) {
    for (const Call& call : world_.program[id].calls)
      each_callee(world_.program, call, [&](FunctionId callee) {
        if (!world_.info(callee).local.known) begin(callee);
        if (!world_.info(callee).local.known) visit(callee);
      });
  }

  std::vector<FunctionId> unknown_from(FunctionId first) {
    std::vector<FunctionId> found{first};
    number_ = {{first.value, 0}};
    for (std::size_t i = 0; i < found.size(); ++i)
      each_unknown(FunctionId(found[i]), [&](FunctionId callee) {
        if (number_.emplace(callee.value, number_.size()).second) found.push_back(callee);
      });
    return found;
  }

  std::vector<std::vector<FunctionId>> groups_of(const std::vector<FunctionId>& functions) const {
    CallGraph graph(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i)
      for (const Call& call : world_.program[functions[i]].calls)
        each_callee(world_.program, call, [&](FunctionId callee) {
          if (auto known = number_.find(callee.value); known != number_.end())
            graph.add(FunctionId(i), FunctionId(known->second));
        });
    std::vector<std::vector<FunctionId>> groups;
    for (const std::vector<FunctionId>& group : graph.groups()) {
      std::vector<FunctionId>& named = groups.emplace_back();
      for (FunctionId i : group) named.push_back(functions[i.index()]);
    }
    return groups;
  }

  // ---- what is said ----

  // A call that gives a local value, in its function.
  using Origin = std::pair<FunctionId, CallId>;

  // To what is local by itself, through functions that give its value.
  std::vector<Origin> way_of(Origin at) const {
    constexpr std::size_t deepest = 1000;  // functions that call one another may give each other's value
    std::vector<Origin> way{at};
    while (way.size() < deepest) {
      const Call& call = world_.program[at.first][at.second];
      if (!call.callee.valid() || world_.program[call.callee].calls.empty()) break;
      const LocalFacts& result = world_.infos[call.callee.index()].local.result;
      const CallId inner = result.is.source.valid() ? result.is.source : result.gives.source;
      if (!inner.valid()) break;
      at = {call.callee, inner};
      way.push_back(at);
    }
    return way;
  }

  Span span_of(const Origin& origin) const {
    const Call& call = world_.program[origin.first][origin.second];
    if (call.form->payload != Payload::global) return call.span;
    const Module& module = world_.program.modules[call.module.index()];
    return world_.program[module.top_level].variables[call.variable.index()].span;
  }

  void report(const Divergence& found, const Origin& origin) {
    const std::string text = written({found.function, found.source}, found.used);
    const std::string agreed = "agree(" + to_agree_on(found, origin) + ")";
    Diag& diag = world_.diags.error("E1303", found.used,
                                    fmt::format("'{}' is local to a shard and {} a graph operation; use {}", text,
                                                found.decides ? "decides" : "is handed to", agreed));
    if (!covers(found.used, span_of(origin))) diag.label(span_of(origin), "may differ between shards");
    if (found.given.valid()) diag.label(found.given, "what it calls is given here");
    if (found.inside.valid()) diag.label(found.inside, found.decides ? "decides here" : "is handed over here");
    if (!covers(found.operation, found.used)) diag.label(found.operation, "the graph operation");
    diag.help(agreed + " is the value of shard 0 on all shards");
  }

  // What was found, if it can be sent; a tensor that was chosen by a local value cannot.
  std::string to_agree_on(const Divergence& found, const Origin& origin) const {
    const Function& function = world_.program[found.function];
    const Origin source{found.function, found.source};
    if (may_agree(function[found.value].type)) return written(source, found.used);
    if (may_agree(function[found.source].type)) return written(source, function[found.source].span);
    return written(origin, span_of(origin));
  }

  // As it stands in the text. Where that is longer than a part of a line, as every place in C++ and in libraries may
  // be, it goes by the function that gives it.
  std::string written(const Origin& source, Span span) const {
    const std::string text(world_.sources.text(span));
    constexpr std::size_t longest = 60;
    if (!text.empty() && text.size() <= longest && text.find_first_of(";{}\n") == std::string::npos) return text;
    const Call& call = world_.program[source.first][source.second];
    const std::string name = call.builtin          ? std::string(call.builtin->name)
                             : call.callee.valid() ? world_.name_of(call.callee)
                                                   : call.name;
    if (const Origin inner = way_of(source).back(); name == "<closure>" && inner != source)
      return written(inner, span_of(inner));
    return name + (call.in.empty() ? "()" : "(..)");
  }

  // What the rule of `agree` takes; the other values follow from such.
  bool may_agree(const Type& type) const {
    try {
      for (const Builtin* builtin : world_.options.builtins.all())
        if (builtin->effect == Effect::agrees) ruled(builtin->type, {type}, {nullptr});
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  World& world_;
  const NewPart added_;
  std::set<Origin> reported_;
  std::unordered_map<std::uint32_t, std::size_t> number_;  // of those that are being settled
};

}  // namespace

void refuse_local_decisions(World& world, const NewPart& added) { LocalValues(world, added).run(); }

}  // namespace taskspec::checking
