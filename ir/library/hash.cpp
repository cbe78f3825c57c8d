// Content hashes: of the canonical text of a definition, in which other definitions go by their names, and of those of
// all that it uses.
#include <set>

#include "ir/json/body.hpp"
#include "ir/library/library.hpp"

namespace taskspec {

namespace {

Declared declared(const Def& def) {
  return def.kind == Def::Kind::agent ? Declared{.agent = def.agent} : Declared{.function = def.function};
}

Def def_of(Declared what) {
  return what.agent.valid() ? Def{.kind = Def::Kind::agent, .agent = what.agent}
                            : Def{.kind = Def::Kind::function, .function = what.function};
}

// Blanks and line ends outside of strings say nothing.
std::string without_layout(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!quoted && std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos) continue;
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    out += text[i];
  }
  return out;
}

}  // namespace

std::string default_text(const Sources& sources, const Parameter& parameter) {
  if (!parameter.span.valid()) return "";
  std::string_view written = sources.text(parameter.span);
  std::size_t at = written.find('=');
  return at == std::string_view::npos ? "" : std::string(written.substr(at + 1));
}

std::string ContentHashes::name(Declared what) const {
  if (what.agent.valid()) {
    const AgentDef& agent = program_[what.agent];
    return program_.modules[agent.module.index()].name + "." + agent.name;
  }
  const Function& function = program_[what.function];
  const std::string& module = program_.modules[function.module.index()].name;
  return function.kind == FunctionKind::module ? module : module + "." + program_.display_name(what.function);
}

// Part of the declaration that it is written in: a closure, the first value of a slot.
bool ContentHashes::is_inner(Declared what) const {
  if (!what.function.valid()) return false;
  const Function& function = program_[what.function];
  if (function.name == "<closure>") return true;
  if (!function.agent.valid()) return false;
  for (const Slot& slot : program_[function.agent].slots)
    if (slot.initial == what.function) return true;
  return false;
}

ContentHashes::Own ContentHashes::make_own(Declared what) const {
  static const TaskGraph none;
  Defs defs(
      program_, {def_of(what)},
      [&](const Def& def) {
        return def.kind != Def::Kind::fields && declared(def) != what && !is_inner(declared(def));
      },
      true);
  Own own;
  JsonText out;
  out.open('[');
  for (std::size_t i = 0; i < defs.all().size(); ++i) {
    const Def& def = defs.all()[i];
    if (defs.foreign(def)) {
      own.refs.push_back(declared(def));
      out.string(name(own.refs.back()));
    } else {
      put_def(out, program_, none, defs, i);
    }
  }
  if (what.agent.valid())
    for (const Parameter& parameter : program_[what.agent].parameters)
      out.string(without_layout(default_text(sources_, parameter)));
  own.hash = hash128(out.close(']').take());
  return own;
}

const ContentHashes::Own& ContentHashes::own(Declared what) {
  auto found = own_.find(what);
  return found != own_.end() ? found->second : own_.emplace(what, make_own(what)).first->second;
}

std::vector<Declared> ContentHashes::used(Declared what) {
  std::vector<Declared> list{what};
  std::set<Declared> seen{what};
  for (std::size_t i = 0; i < list.size(); ++i)
    for (Declared ref : own(list[i]).refs)
      if (seen.insert(ref).second) list.push_back(ref);
  list.erase(list.begin());
  return list;
}

Hash128 ContentHashes::of(Declared what) {
  Hasher hasher;
  hasher.add(name(what)).add(own(what).hash);
  for (Declared ref : used(what)) hasher.add(name(ref)).add(own(ref).hash);
  return hasher.digest();
}

}  // namespace taskspec
