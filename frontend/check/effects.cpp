#include "frontend/check/effects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/messages.hpp"

namespace taskspec::checking {

namespace {

class Inference {
 public:
  Inference(World& world, const NewPart& added)
      : world_(world), added_(added), functions_(functions_of(world, added)), callers_(world.infos.size() - first()) {}

  void run() {
    for (FunctionId id : functions_) begin(id);
    spread();
    for (FunctionId id : functions_) {
      const EffectFlags& f = found(id);
      world_.program[id].effects = {.host = f.host, .graph = f.graph};
      require_no_host(id);
      require_no_nested_task(id);
    }
    warn_about_dropped();
    if (world_.diags.has_errors()) return;
    refuse_host_functions(world_, added_);
    refuse_hidden_places(world_, added_);
    refuse_local_decisions(world_, added_);
    refuse_asked_functions(world_, added_);
  }

 private:
  std::size_t first() const { return added_.functions; }
  EffectFlags& found(FunctionId id) { return world_.info(id).found; }
  const EffectFlags& found(FunctionId id) const { return world_.infos[id.index()].found; }

  // What it does itself, and what older functions do that it calls; new ones tell it later.
  void begin(FunctionId id) {
    const EffectNotes& notes = world_.info(id).effects;
    found(id) = found(id) | EffectFlags{!notes.host.empty(), notes.graph, notes.writes, notes.invokes};
    for (std::size_t k = id.index() < first() ? added_.callees : 0; k < notes.callees.size(); ++k) {
      const EffectNotes::CallSite& site = notes.callees[k];
      if (!site.invoked && kind(site.callee) != FunctionKind::fn) continue;
      if (site.callee.index() < first())
        found(id) = found(id) | found(site.callee);
      else
        callers_[site.callee.index() - first()].push_back(id);
    }
  }

  // Callers have the effects of what they call.
  void spread() {
    std::vector<FunctionId> todo = functions_;
    while (!todo.empty()) {
      const FunctionId callee = todo.back();
      todo.pop_back();
      if (callee.index() < first()) continue;  // a top level, which nothing calls
      for (FunctionId caller : callers_[callee.index() - first()]) {
        EffectFlags more = found(caller) | found(callee);
        if (more == found(caller)) continue;
        found(caller) = more;
        todo.push_back(caller);
      }
    }
  }

  FunctionKind kind(FunctionId id) const { return world_.program[id].kind; }
  bool must_be_pure(FunctionId id) const {
    FunctionKind k = kind(id);
    bool imported = k == FunctionKind::module && world_.program[id].module != world_.program.main_module;
    return k == FunctionKind::task || k == FunctionKind::graph || imported;
  }

  // What in this function does something to the host: builtins, receives, calls of fns that do. A task or graph
  // that does is told so itself. Closures have no name; what they do stands where they are written.
  void collect_sites(FunctionId id, std::vector<EffectNotes::Site>& sites) const {
    const EffectNotes& notes = world_.infos[id.index()].effects;
    sites.insert(sites.end(), notes.host.begin(), notes.host.end());
    for (const EffectNotes::CallSite& site : notes.callees) {
      if (!found(site.callee).host || must_be_pure(site.callee)) continue;
      if (world_.program[site.callee].name == "<closure>")
        collect_sites(site.callee, sites);
      else
        sites.push_back({world_.name_of(site.callee), site.span});
    }
  }

  void require_no_host(FunctionId id) {
    if (!found(id).host || !must_be_pure(id)) return;
    std::vector<EffectNotes::Site> sites;
    collect_sites(id, sites);
    if (sites.empty()) return;
    std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    std::string list;
    for (const EffectNotes::Site& site : sites) {
      Position at = world_.sources[site.span.source].position(site.span.begin);
      list += fmt::format("{}{} at {}:{}", list.empty() ? "" : ", ", site.name, at.line, at.column);
    }
    Diag& diag =
        world_.diags.error("E1302", sites[0].span, fmt::format("{} has host effects: {}", described(id), list));
    for (std::size_t i = 1; i < sites.size(); ++i) diag.label(sites[i].span, "");
    if (kind(id) == FunctionKind::graph) diag.help("make it a fn, or move the effect to the caller");
    if (kind(id) == FunctionKind::task)
      diag.help(
          "a task computes tensors only; the caller shows them: print(t.y.array), in a graph graph_print(\"y\", t.y)");
    if (kind(id) == FunctionKind::module) diag.note("an imported file holds declarations and pure lets only");
  }

  std::string described(FunctionId id) const {
    const Function& function = world_.program[id];
    if (function.kind != FunctionKind::module) return world_.described(id);
    return fmt::format("module '{}'", world_.program.modules[function.module.index()].name);
  }

  // Directly it was refused where it stands; here it is a fn that invokes a task.
  void require_no_nested_task(FunctionId id) {
    if (kind(id) != FunctionKind::task || !found(id).invokes) return;
    for (const EffectNotes::CallSite& site : world_.infos[id.index()].effects.callees)
      if (found(site.callee).invokes && kind(site.callee) == FunctionKind::fn) {
        not_built(world_.diags, site.span,
                  fmt::format("a call of {}, which invokes tasks, in a task body", world_.described(site.callee)),
                  "nested tasks");
        return;
      }
  }

  void warn_about_dropped() {
    for (const DroppedCall& call : world_.dropped) {
      const EffectFlags& f = found(call.callee);
      if (f.host || f.writes || world_.info(call.callee).broken) continue;
      world_.diags.warning("E1008", call.span,
                           fmt::format("the result of {} is not used", world_.described(call.callee)));
    }
    world_.dropped.clear();
  }

  World& world_;
  const NewPart added_;
  const std::vector<FunctionId> functions_;
  std::vector<std::vector<FunctionId>> callers_;  // by new callee
};

}  // namespace

std::vector<FunctionId> functions_of(const World& world, const NewPart& added) {
  std::vector<FunctionId> functions;
  if (world.program.main_module.valid()) {
    const FunctionId main = world.program.main().top_level;
    if (main.index() < added.functions) functions.push_back(main);
  }
  for (std::size_t i = added.functions; i < world.infos.size(); ++i) functions.emplace_back(i);
  return functions;
}

std::size_t first_call(FunctionId function, const NewPart& added) {
  return function.index() < added.functions ? added.calls : 0;
}

void infer_effects(World& world, const NewPart& added) { Inference(world, added).run(); }

}  // namespace taskspec::checking
