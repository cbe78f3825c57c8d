// Recordings -> the syntax tree of a text that says the same: what a graph needs, each declaration once, in the order
// in which a text would have them.
//
//   Places places(sources);
//   Ast ast = make_ast({graph}, places);
#pragma once
#include <unordered_map>

#include "frontend/ast.hpp"
#include "frontend/dsl/make_expr.hpp"

namespace taskspec::dsl::detail {

// What these functions need, and they themselves. Throws dsl::Error: two declarations of one name.
Ast make_ast(const std::vector<std::shared_ptr<Function>>& wanted, Places& places);

// The declarations that a host program has made so far. Another one of the same name gets a name of its own there:
// C++ knows them apart.
struct Declared {
  struct Text {
    std::string text;
    At at;
  };
  std::unordered_map<std::string, Text> texts;  // by name
  DeclaredNames names;
  std::vector<std::pair<std::string, std::shared_ptr<Function>>> natives;  // C++ bodies: new ones, by symbol
  std::vector<std::string> new_texts;
  std::vector<Owner> new_names;
  void keep_new();
  void forget_new();  // when what needed them is wrong
};

// A program whose last expression has the types that the outputs of `function` have when its parameters are of theirs;
// a tuple of them if there are several.
Ast output_probe(const Function& function, Places& places);

// What `node` needs and is not declared yet. Its own expression is made with `declared.names`.
std::vector<ast::Item> needed_by(const Node& node, Places& places, Declared& declared);

}  // namespace taskspec::dsl::detail
