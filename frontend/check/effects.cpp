#include "frontend/check/effects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/messages.hpp"

namespace taskspec::checking {

namespace {

struct Flags {
  bool host = false, local = false, graph = false, writes = false, invokes = false;
  friend bool operator==(const Flags&, const Flags&) = default;
  friend Flags operator|(const Flags& a, const Flags& b) {
    return {a.host || b.host, a.local || b.local, a.graph || b.graph, a.writes || b.writes, a.invokes || b.invokes};
  }
};

class Inference {
 public:
  explicit Inference(World& world) : world_(world), flags_(world.infos.size()), callers_(world.infos.size()) {}

  void run() {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      const EffectNotes& notes = world_.infos[i].effects;
      flags_[i] = {!notes.host.empty(), notes.local, notes.graph, notes.writes, notes.invokes};
      for (const EffectNotes::CallSite& site : notes.callees)
        if (site.invoked || kind(site.callee) == FunctionKind::fn) callers_[site.callee.index()].push_back(i);
    }
    spread();
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      const Flags& f = flags_[i];
      world_.program.functions[i].effects = {.host = f.host, .graph = f.graph, .local = f.local};
      require_no_host(FunctionId(i));
      require_no_nested_task(FunctionId(i));
    }
    warn_about_dropped();
    if (world_.diags.has_errors()) return;
    std::vector<bool> host;
    for (const Flags& f : flags_) host.push_back(f.host);
    refuse_host_functions(world_, host);
    refuse_hidden_places(world_);
    refuse_agents_in_control(world_);
  }

 private:
  // Callers have the effects of what they call.
  void spread() {
    std::vector<std::size_t> todo(flags_.size());
    for (std::size_t i = 0; i < todo.size(); ++i) todo[i] = i;
    while (!todo.empty()) {
      std::size_t callee = todo.back();
      todo.pop_back();
      for (std::size_t caller : callers_[callee]) {
        Flags more = flags_[caller] | flags_[callee];
        if (more == flags_[caller]) continue;
        flags_[caller] = more;
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
      if (!flags_[site.callee.index()].host || must_be_pure(site.callee)) continue;
      if (world_.program[site.callee].name == "<closure>")
        collect_sites(site.callee, sites);
      else
        sites.push_back({world_.name_of(site.callee), site.span});
    }
  }

  void require_no_host(FunctionId id) {
    if (!flags_[id.index()].host || !must_be_pure(id)) return;
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
    if (kind(id) == FunctionKind::module) diag.note("an imported file holds declarations and pure lets only");
  }

  std::string described(FunctionId id) const {
    const Function& function = world_.program[id];
    if (function.kind != FunctionKind::module) return world_.described(id);
    return fmt::format("module '{}'", world_.program.modules[function.module.index()].name);
  }

  // Directly it was refused where it stands; here it is a fn that invokes a task.
  void require_no_nested_task(FunctionId id) {
    if (kind(id) != FunctionKind::task || !flags_[id.index()].invokes) return;
    for (const EffectNotes::CallSite& site : world_.infos[id.index()].effects.callees)
      if (flags_[site.callee.index()].invokes && kind(site.callee) == FunctionKind::fn) {
        not_built(world_.diags, site.span,
                  fmt::format("a call of {}, which invokes tasks, in a task body", world_.described(site.callee)),
                  "nested tasks");
        return;
      }
  }

  void warn_about_dropped() {
    for (const DroppedCall& call : world_.dropped) {
      const Flags& f = flags_[call.callee.index()];
      if (f.host || f.local || f.writes) continue;
      world_.diags.warning("E1008", call.span,
                           fmt::format("the result of {} is not used", world_.described(call.callee)));
    }
    world_.dropped.clear();
  }

  World& world_;
  std::vector<Flags> flags_;
  std::vector<std::vector<std::size_t>> callers_;  // by callee
};

}  // namespace

void infer_effects(World& world) { Inference(world).run(); }

}  // namespace taskspec::checking
