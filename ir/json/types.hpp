// Types as text inside exported bodies, and back. Symbols are written by name; where names of one function collide or
// are no names at all ("(2*N) / 3"), by number. Internal to ir/json/ and ir/library/.
//
//   SymbolNames names;   names.add(N);
//   type_text(Type::tensor(Precision::f32, {Dim(N) + 1}), names, agent_ids)      // "f32[N + 1]"
//   parse_type("f32[N + 1]", {symbol, agent})
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ir/base/function_ref.hpp"
#include "ir/types/type.hpp"

namespace taskspec {

struct FieldsTable;  // ir/program/program.hpp

// The symbols that one function mentions and how each is written.
class SymbolNames {
 public:
  void add(const Dim& dim);
  void add(const Type& type);
  void add(const Symbol& symbol) { symbols_.emplace(symbol->id, symbol); }
  void choose();  // when all are there

  const std::map<std::uint32_t, Symbol>& symbols() const { return symbols_; }  // by id
  const std::string& written(std::uint32_t id) const { return written_.at(id); }
  std::string text(const Dim& dim) const;

 private:
  std::map<std::uint32_t, Symbol> symbols_;
  std::map<std::uint32_t, std::string> written_;
  std::map<std::uint32_t, Symbol> renamed_;  // those that are not written by their name
};

// The definitions that types name by their numbers: "agent#3", "Cell#4[N].{state}".
struct DefNumbers {
  FunctionRef<std::size_t(AgentId)> agent;
  FunctionRef<std::size_t(FieldsId)> fields;
};

std::string type_text(const Type& type, const SymbolNames& names, const DefNumbers& numbers);

struct TypeNames {
  std::function<std::optional<Symbol>(std::string_view)> symbol;
  std::function<std::optional<AgentId>(std::size_t)> agent;
  struct Table {
    FieldsId id;
    const FieldsTable* fields = nullptr;
  };
  std::function<std::optional<Table>(std::size_t)> fields = {};
};

// Nothing for a text that is no type, or names what there is not.
std::optional<Type> parse_type(std::string_view text, const TypeNames& names);
std::optional<Dim> parse_dim(std::string_view text, const TypeNames& names);

}  // namespace taskspec
