// What the readers of an `ir` declaration share: values that must be known before the program runs, and their errors.
// Each level knows more of a line: BlockReader values, BlockWords what files carry, BlockMoves what edges do,
// block_lines.cpp the lines.
#pragma once
#include <memory>
#include <optional>
#include <set>

#include "frontend/check/body.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec::checking {

class BlockReader {
 protected:
  explicit BlockReader(Body& file);

  // Reported where it is not known, or no int.
  std::optional<Value> known(const ast::Expr& expr);
  std::optional<std::int64_t> integer(const ast::Expr& expr);
  bool in_32_bits(std::int64_t number, Span span);
  Diag& refuse(Code code, Span span, std::string message);
  Diag& unknown(const ast::Name& name, std::string_view what, const std::vector<std::string>& candidates);
  // The name of an argument, which it must have.
  const ast::Name* named(const ast::Arg& argument, std::string_view what);

  Body& file_;
  Diags& diags_;
  std::shared_ptr<BlockGraph> graph_ = std::make_shared<BlockGraph>();
  bool failed_ = false;
};

// What files carry for a mapper, and nobody computes with: numbers, groups, the test.
class BlockWords : protected BlockReader {
 protected:
  using BlockReader::BlockReader;
  // False: the word is none of these. `block` is the next one of the graph.
  bool file_attribute(TaskBlock& block, const ast::Name& name, const ast::Expr& value);
  void add_test(const ast::IrBlock& line);  // test : TEST of [mode: "PRIM_OUTPUT", seed: 3, name: "cc"]
  bool says_bias(const TaskBlock& block) const { return said_bias_.contains(block.name); }

 private:
  void read_virtual(TaskBlock& block, const ast::Expr& value);
  void read_bias(TaskBlock& block, const ast::Expr& value);
  void read_group(const ast::Name& name, const ast::Expr& value);
  void say_of_groups(const ast::Name& name, const Value& value);
  void join_group(std::int32_t number);
  std::set<std::string> said_bias_;  // blocks
};

// What stands behind the bars of an edge: rearrangements, delay, trigger, its number in a file.
class BlockMoves : protected BlockWords {
 protected:
  using BlockWords::BlockWords;
  void add_move(BlockEdge& edge, const ast::IrMove& move);

 private:
  std::optional<List> arguments(const ast::IrMove& move, std::span<const taskspec::Operand> operands);
  void add_delay(BlockEdge& edge, const ast::IrMove& move);
  void read_initial(BlockEdge& edge, const ast::Expr& written);
  void add_number(BlockEdge& edge, const ast::IrMove& move);
  void add_trigger(BlockEdge& edge, const ast::IrMove& move);
};

}  // namespace taskspec::checking
