// Reading definitions back: the pieces of import_graph. Internal to ir/json/ and ir/library/.
#pragma once
#include <vector>

#include "ir/blocks/block.hpp"
#include "ir/json/item.hpp"
#include "ir/json/types.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

// What the ids of a file mean in the program that is being made.
struct ImportIds {
  std::vector<FunctionId> functions;  // by def; invalid for other kinds
  std::vector<AgentId> agents;
  std::vector<ModuleId> modules;
  std::vector<FieldsId> fields;

  FunctionId function(const Item& item) const;
  AgentId agent(const Item& item) const;
  ModuleId module(const Item& item) const;
};

struct ImportContext {
  Program& program;
  const OpTable& ops;
  const BuiltinTable& builtins;
  ImportIds ids;
  std::span<const Form> forms = all_forms();
  BlockTable blocks = {};
  // Of a library: its symbols become these of the program, and whose they are is noted.
  std::uint32_t first_symbol = 0;
  std::size_t symbols = INT32_MAX;  // how many it may have
  std::vector<std::pair<std::uint32_t, FunctionId>> owners = {};
};

// Fills the function of this def; its id and kind are known already.
void read_function(ImportContext& context, const Item& def, FunctionId id);
FieldsTable read_fields(const Item& def);                              // without its module
void read_agent(ImportContext& context, const Item& def, AgentId id);  // without its members

// Every form has operands of the kinds that it works on, so that running the function cannot meet a value of another
// kind. Extents are left to the run, which works out the types of ops anew.
void check_types(const Program& program, FunctionId id, const Item& def);

// Texts of blanks in which every place of the table exists, and the spans of functions, agents and calls in them.
struct GraphSpans {  // of a recorded graph, else nothing
  std::vector<Span> nodes;
  std::vector<std::vector<Span>> lines;  // of op lists, by def
};
GraphSpans read_spans(Program& program, const Item& root, const ImportIds& ids, bool recorded);

Value read_value(const Item& item, const Type& type, const TypeNames& names);
Array read_array(const Item& item, const Item& type);  // "data" or "base64", of that type

// Nodes, edges and chains are made anew from the definitions, but a file whose ids lead nowhere, or whose nodes
// wait for one another, is broken.
void check_graph_part(const Item& root);

}  // namespace taskspec
