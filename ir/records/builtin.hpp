// The record of a host builtin: print, format, chains, load, ... Same pattern as OpDef; it runs in the host
// program, at once. The implementations live in interp/control/builtins; the checker gets the table.
#pragma once
#include "ir/records/operand.hpp"
#include "ir/records/rule_context.hpp"

namespace taskspec {

class HostContext;  // interp/control/host_context.hpp: output stream, session, program, files

enum class Effect : std::uint8_t {
  pure,
  host,
  local,   // as host; what it gives may differ between shards
  agrees,  // as host; all shards take part in it, and what it gives is the same on each of them
};

// Where it runs when a program is cut in two (ir/cut/cut_program.hpp).
enum class RunsIn : std::uint8_t {
  host,    // in the host program; contents of tensors are brought to it, a tensor that it makes is sent
  names,   // in the host program, which only wants the names of tensors
  either,  // wherever its value is wanted: cheap and pure
  graph,   // in the graph program: it makes tensors
  asked,   // in the graph program, which sends what it found to the host; with an effect, when the host has come there
};

// Does it end the program, on purpose?
enum class EndsProgram : std::uint8_t {
  no,         // or as everything that can fail
  exits,      // it does nothing else
  complains,  // if something is not as it should be
};

// What its call does that can go wrong.
enum class BuiltinFails : std::uint8_t {
  maybe,
  never,
  by_first,  // only if its first operand is not known before the program runs
};

struct BackendRecord;

struct BuiltinFields {
  std::string_view name;
  std::span<const Operand> operands;
  std::string_view doc;
  std::string_view example;
  TypeRule type = nullptr;
  Effect effect = Effect::pure;
  Value (*run)(HostContext&, std::span<const Value>) = nullptr;
  bool method = false;  // also callable as first.name(rest)
  RunsIn runs_in = RunsIn::host;
  const BackendRecord* backend = nullptr;  // it chooses a backend: what it gives is a BackendChoice
  EndsProgram ends = EndsProgram::no;
  BuiltinFails fails = BuiltinFails::maybe;
  Serves serves = Serves::nothing;
  std::string_view module = {};  // of the prelude, whose functions it uses: a program that calls it has them
  // Of several with one name: whether a call with a first operand of this type is one of it. Null: any.
  bool (*takes)(const Type& first) = nullptr;
};

struct Builtin : BuiltinFields {
  consteval Builtin(BuiltinFields fields) : BuiltinFields(fields) {
    if (name.empty() || doc.empty() || example.empty()) throw "a builtin needs name, doc and example";
    if (!type || !run) throw "a builtin needs a type rule and an implementation";
  }
};

class BuiltinTable {
 public:
  explicit BuiltinTable(std::span<const Builtin* const> items) : items_(items) {}
  const Builtin* find(std::string_view name) const;  // of several the first
  std::span<const Builtin* const> named(std::string_view name) const;
  // Of several the one that takes such a first operand; the first, where none does.
  const Builtin* find(std::string_view name, const Type& first) const;
  const Builtin* serving(Serves serves) const;
  std::span<const Builtin* const> all() const { return items_; }  // by name

 private:
  std::span<const Builtin* const> items_;
};

}  // namespace taskspec
