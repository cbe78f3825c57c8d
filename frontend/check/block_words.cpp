#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/block_reader.hpp"

namespace taskspec::checking {

bool BlockWords::file_attribute(TaskBlock& block, const ast::Name& name, const ast::Expr& value) {
  auto small = [&](auto& field) {
    if (const std::optional<std::int64_t> number = integer(value); number && in_32_bits(*number, value.span))
      field = static_cast<std::int32_t>(*number);
  };
  if (name.text == "number") return small(block.number), true;
  if (name.text == "major_task") return small(block.major_task), true;
  if (name.text == "pipeline") return small(block.pipeline), true;
  if (name.text == "socket") return small(block.socket), true;
  if (name.text == "virtual") return read_virtual(block, value), true;
  if (name.text == "bias") return read_bias(block, value), true;
  if (name.text == "group" || name.text == "approx" || name.text == "metric") return read_group(name, value), true;
  return false;
}

void BlockWords::read_virtual(TaskBlock& block, const ast::Expr& value) {
  const std::optional<Value> flag = known(value);
  if (flag && !flag->is_bool()) refuse("E1003", value.span, "'virtual' is true or false");
  if (flag && flag->is_bool()) block.is_virtual = flag->boolean();
}

// Where it is another kind than the edges and attributes say.
void BlockWords::read_bias(TaskBlock& block, const ast::Expr& value) {
  constexpr std::string_view kinds[] = {"none", "vector", "constant"};
  const std::optional<Value> word = known(value);
  if (!word) return;
  auto found = word->is_string() ? std::ranges::find(kinds, word->string()) : std::end(kinds);
  if (found == std::end(kinds)) {
    refuse("E1003", value.span, "'bias' is \"none\", \"vector\" or \"constant\"");
    return;
  }
  block.bias = static_cast<BiasKind>(found - std::begin(kinds));
  said_bias_.insert(block.name);
}

// The block that is read belongs to these groups; approx and metric speak of those whose first one it is.
void BlockWords::read_group(const ast::Name& name, const ast::Expr& value) {
  const std::optional<Value> given = known(value);
  if (!given) return;
  if (name.text == "group") {
    for (const Value& number : given->is_list() ? given->list() : List{*given}) {
      if (number.is_integer() && in_32_bits(number.integer(), value.span))
        join_group(static_cast<std::int32_t>(number.integer()));
      else if (!number.is_integer())
        refuse("E1003", value.span, "'group' is a number, or a list of numbers");
    }
  } else if (name.text == "approx" ? !given->is_number() : !given->is_string()) {
    refuse("E1003", value.span, fmt::format("'{}' is a {}", name.text, name.text == "metric" ? "string" : "number"));
  } else {
    say_of_groups(name, *given);
  }
}

void BlockWords::say_of_groups(const ast::Name& name, const Value& value) {
  const BlockId here(graph_->blocks.size());
  bool said = false;
  for (BlockGroup& group : graph_->groups) {
    if (group.blocks.front() != here) continue;
    said = true;
    if (name.text == "approx")
      group.approx = value.real();
    else
      group.metric = value.string();
  }
  if (!said)
    refuse("E1003", name.span, fmt::format("'{}' speaks of a group, and this is the first block of none", name.text))
        .help("group: 1, approx: 0.01");
}

void BlockWords::join_group(std::int32_t number) {
  auto group = std::ranges::lower_bound(graph_->groups, number, {}, &BlockGroup::number);
  if (group == graph_->groups.end() || group->number != number)
    group = graph_->groups.insert(group, BlockGroup{.number = number, .blocks = {}, .approx = {}, .metric = {}});
  group->blocks.push_back(BlockId(graph_->blocks.size()));
}

// test : TEST of [mode: "PRIM_OUTPUT", seed: 3, name: "cc"]
void BlockWords::add_test(const ast::IrBlock& line) {
  constexpr std::string_view modes[] = {"MEMORY_STATE", "PRIM_OUTPUT", "CASE_OUTPUT"};
  BlockTestConfig& test = graph_->test.emplace();
  for (const ast::Arg& word : line.dims) {
    const ast::Name* name = named(word, "words of a test");
    const std::optional<Value> value = name ? known(*word.value) : std::nullopt;
    if (!value) continue;
    if (name->text == "seed" && value->is_integer()) {
      test.random_seed = value->integer();
    } else if (name->text == "name" && value->is_string()) {
      test.name = value->string();
    } else if (auto mode = value->is_string() ? std::ranges::find(modes, value->string()) : std::end(modes);
               name->text == "mode" && mode != std::end(modes)) {
      test.mode = static_cast<std::int32_t>(mode - std::begin(modes));
    } else {
      refuse("E1003", word.span, "a test has a mode (MEMORY_STATE, PRIM_OUTPUT or CASE_OUTPUT), a seed and a name");
    }
  }
}

}  // namespace taskspec::checking
