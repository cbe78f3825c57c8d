#include "frontend/check/block_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/check/arguments.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/check.hpp"

namespace taskspec::checking {

namespace {

constexpr std::int64_t most_delay = 1 << 20;

class BlockLines {
 public:
  BlockLines(Body& file, const ast::IrDecl& declaration)
      : file_(file), diags_(file.world.diags), table_(file.world.options.blocks), declaration_(declaration) {}

  std::shared_ptr<const BlockGraph> read() {
    graph_->name = declaration_.name.text;
    for (const ast::IrLine& line : declaration_.lines)
      if (auto* block = std::get_if<ast::IrBlock>(&line.node)) add(*block, line.span);
    // Blocks may stand below the edges that name them, and where a cluster stands depends on how many there are.
    for (const ast::IrLine& line : declaration_.lines)
      if (auto* edge = std::get_if<ast::IrEdge>(&line.node)) count_branches(edge->to);
    for (const ast::IrLine& line : declaration_.lines)
      if (auto* edge = std::get_if<ast::IrEdge>(&line.node)) add(*edge, line.span);
    for (std::size_t id = 0; id < graph_->blocks.size(); ++id) set_bias(BlockId(id));
    if (failed_) return nullptr;
    const Diags found = check_blocks(*graph_, table_);
    failed_ = found.has_errors();
    diags_.append(found);
    return failed_ ? nullptr : graph_;
  }

 private:
  // ---- values that must be known ----

  std::optional<Value> known(const ast::Expr& expr) {
    std::optional<Value> value;
    const bool wrong = dry_run(file_, [&] {
      const Term term = expression(file_, expr);
      value = file_.known(term.id);
      return file_.is_error(term);
    });
    if (!value && !wrong)
      refuse("E1003", expr.span, fmt::format("'{}' is not known before the program runs", file_.text(expr.span)))
          .help("blocks have the extents and attributes that are written");
    failed_ = failed_ || !value;
    return value;
  }

  std::optional<std::int64_t> integer(const ast::Expr& expr) {
    const std::optional<Value> value = known(expr);
    if (!value) return std::nullopt;
    if (value->is_integer()) return value->integer();
    if (value->is_bool()) return value->boolean();
    refuse("E1003", expr.span, fmt::format("an int is wanted, this is {}", print(*value)));
    return std::nullopt;
  }

  Diag& refuse(Code code, Span span, std::string message) {
    failed_ = true;
    return diags_.error(code, span, std::move(message));
  }

  Diag& unknown(const ast::Name& name, std::string_view what, const std::vector<std::string>& candidates) {
    Diag& diag = refuse("E1001", name.span, fmt::format("unknown {} '{}'", what, name.text));
    if (auto best = nearest(name.text, candidates)) diag.help(fmt::format("did you mean '{}'?", *best));
    return diag;
  }

  const ast::Name* named(const ast::Arg& argument, std::string_view what) {
    if (argument.name) return &*argument.name;
    refuse("E1003", argument.span, fmt::format("{} go by their names", what));
    return nullptr;
  }

  // ---- blocks ----

  void add(const ast::IrBlock& line, Span span) {
    if (line.kind.text == "TEST") return add_test(line);
    TaskBlock block;
    block.name = line.name.text;
    block.span = span;
    block.def = table_.find(line.kind.text);
    if (!block.def) {
      std::vector<std::string> kinds;
      for (const BlockDef* def : table_.all()) kinds.emplace_back(def->name);
      unknown(line.kind, "kind of block", kinds);
    }
    if (auto precision = precision_of(line.precision.text))
      block.precision = *precision;
    else
      unknown_type(diags_, line.precision), failed_ = true;
    if (block.def) {
      for (const ast::Arg& extent : line.dims) add_extent(block, extent);
      for (const ast::Arg& attribute : line.attributes) add_attribute(block, attribute);
    }
    if (line.init) block.data.emplace();  // comes with each run
    auto known = std::ranges::find(graph_->blocks, block.name, &TaskBlock::name);
    if (known != graph_->blocks.end()) {
      defined_twice(diags_, block.name, known->span, line.name.span);
      failed_ = true;
    }
    graph_->blocks.push_back(std::move(block));
  }

  void add_extent(TaskBlock& block, const ast::Arg& extent) {
    const ast::Name* name = named(extent, "extents of a block");
    if (!name) return;
    const std::optional<BlockAxis> axis = block_axis_of(name->text);
    if (!axis || std::ranges::find(block.def->axes, *axis) == block.def->axes.end()) {
      std::vector<std::string> axes;
      for (BlockAxis one : block.def->axes) axes.emplace_back(taskspec::text(one));
      unknown(*name, fmt::format("axis of {}", block.def->name), axes).note("it has " + joined(axes, ", "));
      return;
    }
    const std::optional<std::int64_t> value = integer(*extent.value);
    if (!value) return;
    if (*value < -1)
      refuse("E2001", extent.value->span, fmt::format("an extent is 1 or more, or -1 where there is none, not {}", *value));
    else if (*value > 0)
      block.shape[*axis] = *value;
  }

  void add_attribute(TaskBlock& block, const ast::Arg& attribute) {
    const ast::Name* name = named(attribute, "attributes of a block");
    if (!name) return;
    if (file_attribute(block, *name, *attribute.value)) return;
    const auto& known = block.def->attributes;
    auto def = std::ranges::find(known, std::string_view(name->text), [](const BlockAttributeDef* d) { return d->name; });
    if (def == known.end()) {
      std::vector<std::string> names;
      for (const BlockAttributeDef* one : known) names.emplace_back(one->name);
      unknown(*name, fmt::format("attribute of {}", block.def->name), names);
    } else if (const std::optional<std::int64_t> value = integer(*attribute.value)) {
      block.attributes.push_back({*def, *value});
    }
  }

  // ---- what files carry, and nobody computes with ----

  bool file_attribute(TaskBlock& block, const ast::Name& name, const ast::Expr& value) {
    auto small = [&](auto& field) {
      if (const std::optional<std::int64_t> number = integer(value))
        in_32_bits(*number, value.span) ? static_cast<void>(field = static_cast<std::int32_t>(*number)) : void();
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

  bool in_32_bits(std::int64_t number, Span span) {
    if (number == static_cast<std::int32_t>(number)) return true;
    refuse("E1003", span, fmt::format("{} does not fit 32 bits", number));
    return false;
  }

  void read_virtual(TaskBlock& block, const ast::Expr& value) {
    const std::optional<Value> flag = known(value);
    if (flag && !flag->is_bool()) refuse("E1003", value.span, "'virtual' is true or false");
    if (flag && flag->is_bool()) block.is_virtual = flag->boolean();
  }

  // Where it is another kind than the edges and attributes say.
  void read_bias(TaskBlock& block, const ast::Expr& value) {
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

  // The block that is read next belongs to these groups; approx and metric speak of the last one.
  void read_group(const ast::Name& name, const ast::Expr& value) {
    const std::optional<Value> given = known(value);
    if (!given) return;
    if (name.text == "group") {
      for (const Value& number : given->is_list() ? given->list() : List{*given}) {
        if (number.is_integer() && in_32_bits(number.integer(), value.span))
          join_group(static_cast<std::int32_t>(number.integer()));
        else if (!number.is_integer())
          refuse("E1003", value.span, "'group' is a number, or a list of numbers");
      }
    } else if (graph_->groups.empty()) {
      refuse("E1003", name.span, fmt::format("'{}' speaks of a group, and this block has none yet", name.text))
          .help("group: 1, approx: 0.01");
    } else if (name.text == "approx" && given->is_number()) {
      last_group_->approx = given->real();
    } else if (name.text == "metric" && given->is_string()) {
      last_group_->metric = given->string();
    } else {
      refuse("E1003", value.span, fmt::format("'{}' is a {}", name.text, name.text == "metric" ? "string" : "number"));
    }
  }

  void join_group(std::int32_t number) {
    auto group = std::ranges::find(graph_->groups, number, &BlockGroup::number);
    if (group == graph_->groups.end()) group = graph_->groups.insert(group, BlockGroup{.number = number, .blocks = {}, .approx = {}, .metric = {}});
    last_group_ = &*group;
    group->blocks.push_back(BlockId(graph_->blocks.size()));
  }

  // test : TEST of [mode: "PRIM_OUTPUT", seed: 3, name: "cc"]
  void add_test(const ast::IrBlock& line) {
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

  // ---- edges ----

  void add(const ast::IrEdge& line, Span span) {
    BlockEdge edge;
    edge.span = span;
    const bool from = read_port(line.from, false, edge.from), to = read_port(line.to, true, edge.to);
    if (!from || !to) return;
    for (const ast::IrMove& move : line.moves) add_move(edge, move);
    graph_->edges.push_back(std::move(edge));
  }

  // `add.input3` makes it a block of three inputs.
  void count_branches(const ast::IrPort& to) {
    auto found = std::ranges::find(graph_->blocks, to.block.text, &TaskBlock::name);
    if (found == graph_->blocks.end() || !found->def || !to.member || found->def->in.empty()) return;
    const ClusterDef& first = found->def->in.front();
    if (!first.repeated || !to.member->text.starts_with(first.name)) return;
    if (const std::optional<std::size_t> position = found->in_cluster_named(to.member->text))
      found->branches = std::max(found->branches, static_cast<std::uint16_t>(*position + 1));
  }

  void set_bias(BlockId id) {
    TaskBlock& block = graph_->blocks[id.index()];
    if (!block.def) return;
    const std::optional<std::size_t> cluster = block.in_cluster_named("bias");
    if (said_bias_.contains(block.name)) return;
    if (cluster && !graph_->into(id, *cluster).empty()) block.bias = BiasKind::vector;
    else if (cluster && block.has("constant_b")) block.bias = BiasKind::constant;
  }

  bool read_port(const ast::IrPort& written, bool input, BlockPort& port) {
    auto found = std::ranges::find(graph_->blocks, written.block.text, &TaskBlock::name);
    if (found == graph_->blocks.end()) {
      std::vector<std::string> names;
      for (const TaskBlock& block : graph_->blocks) names.push_back(block.name);
      unknown(written.block, "block", names);
      return false;
    }
    if (!found->def) return false;
    port.block = BlockId(static_cast<std::size_t>(found - graph_->blocks.begin()));
    const std::optional<std::size_t> cluster = read_cluster(*found, written, input);
    if (!cluster) return false;
    port.cluster = static_cast<std::uint16_t>(*cluster);
    const ClusterDef& def = input ? found->in_cluster(*cluster) : found->def->out[*cluster];
    return read_box(written, cluster_extents(*found, def), port.box);
  }

  // By its name; the first where none is written. `input2` is the second of a cluster that is repeated.
  std::optional<std::size_t> read_cluster(const TaskBlock& block, const ast::IrPort& written, bool input) {
    const std::span<const ClusterDef> clusters = input ? block.def->in : block.def->out;
    if (clusters.empty()) {
      refuse("E1003", written.span, fmt::format("{} '{}' has no {}", block.def->name, block.name, input ? "input" : "output"));
      return std::nullopt;
    }
    if (!written.member) return 0;
    const std::string& name = written.member->text;
    auto output = std::ranges::find(block.def->out, name, &ClusterDef::name);
    if (!input && output != block.def->out.end()) return static_cast<std::size_t>(output - block.def->out.begin());
    if (const auto found = input ? block.in_cluster_named(name) : std::nullopt) return found;
    std::vector<std::string> names;
    for (const ClusterDef& cluster : clusters) names.emplace_back(cluster.name);
    no_member(diags_, *written.member, fmt::format("{} '{}'", block.def->name, block.name), "cluster", names);
    failed_ = true;
    return std::nullopt;
  }

  bool read_box(const ast::IrPort& written, const Extents& extents, Box& box) {
    box = whole(extents);
    if (written.index.empty()) return true;
    if (written.index.size() != extents.size()) {
      refuse("E2004", written.span,
             fmt::format("a part of {} is written with {}", ArrayType{Precision::i8, extents}.text().substr(2),
                         plural(extents.size(), "range")));
      return false;
    }
    for (std::size_t k = 0; k < extents.size(); ++k)
      if (!read_range(written.index[k], extents[k], box.position[k], box.size[k])) return false;
    return true;
  }

  bool read_range(const ast::IndexItem& item, std::int64_t extent, std::int64_t& position, std::int64_t& size) {
    std::optional<std::int64_t> low = 0, high = extent;
    if (item.at) low = integer(*item.at), high = low ? std::optional(*low + 1) : std::nullopt;
    if (item.low) low = integer(*item.low);
    if (item.high) high = integer(*item.high);
    if (!low || !high) return false;
    if (*low < 0 || *high > extent || *low >= *high) {
      refuse("E2004", item.span, fmt::format("{}..{} does not lie within 0..{}", *low, *high, extent));
      return false;
    }
    position = *low, size = *high - *low;
    return true;
  }

  // ---- what an edge does on its way ----

  void add_move(BlockEdge& edge, const ast::IrMove& move) {
    const std::string& name = move.name.text;
    if (name == "delay") return add_delay(edge, move);
    if (name == "trigger") return add_trigger(edge, move);
    if (name == "number") return add_number(edge, move);
    const RearrangeDef* def = rearrangement_named(name);
    if (!def) {
      std::vector<std::string> names{"delay", "number", "trigger"};
      for (const RearrangeDef* one : all_rearrangements()) names.emplace_back(one->name);
      unknown(move.name, "rearrangement", names);
      return;
    }
    const std::optional<List> given = arguments(move, def->operands);
    if (!given) return;
    Result<std::vector<std::int64_t>> numbers = def->numbers(*given, move.span);
    diags_.append(numbers.diags());
    failed_ = failed_ || !numbers;
    if (numbers) edge.moves.push_back({def, *std::move(numbers), move.span});
  }

  // A value for each operand, defaults where none is written; those of a variadic one as a list.
  std::optional<List> arguments(const ast::IrMove& move, std::span<const taskspec::Operand> operands) {
    std::vector<ParameterName> names;
    for (const taskspec::Operand& operand : operands)
      names.push_back({operand.name, operand.standard.kind != Default::Kind::none, operand.variadic});
    const auto places =
        place_arguments(diags_, {fmt::format("'{}'", move.name.text), {}, names, 0}, move.args, move.span);
    if (!places) return failed_ = true, std::nullopt;
    List given;
    for (const taskspec::Operand& operand : operands)
      given.push_back(operand.variadic ? Value(List()) : operand.standard.value());
    for (std::size_t i = 0; i < move.args.size(); ++i) {
      const std::optional<Value> value = known(*move.args[i].value);
      if (!value) return std::nullopt;
      const std::size_t at = std::min((*places)[i], operands.size() - 1);
      if (operands[at].variadic)
        given[at].unique_list().push_back(*value);
      else
        given[at] = *value;
    }
    return given;
  }

  // delay(2), delay(1, initial: [0, 0, 1]): what comes before there is a value.
  void add_delay(BlockEdge& edge, const ast::IrMove& move) {
    const bool has_initial = move.args.size() == 2 && move.args[1].name && move.args[1].name->text == "initial";
    if (move.args.empty() || move.args[0].name || (move.args.size() > 1 && !has_initial)) {
      refuse("E1003", move.span, "'delay' takes the number of time steps, and initial: the values before there are some")
          .help("delay(1)");
    } else if (const std::optional<std::int64_t> steps = integer(*move.args[0].value)) {
      if (*steps < 1 || *steps > most_delay)
        refuse("E1003", move.args[0].span, fmt::format("a delay is 1 to {} time steps, not {}", most_delay, *steps));
      else
        edge.delay += static_cast<std::int32_t>(*steps);
      if (has_initial) read_initial(edge, *move.args[1].value);
    }
  }

  // One number for all, or nested lists.
  void read_initial(BlockEdge& edge, const ast::Expr& written) {
    const std::optional<Value> value = known(written);
    if (!value) return;
    const TaskBlock& source = (*graph_)[edge.from.block];
    try {
      const ArrayType type{source.precision, edge.from.box.size};
      Array initial = Array::make(type);
      if (value->is_integer())
        for (std::int64_t i = 0; i < initial.elements(); ++i) initial.set_integer(i, value->integer());
      else
        initial = array_of(*value, source.precision);
      if (initial.type() == type) return static_cast<void>(edge.initial = std::move(initial));
      refuse("E2001", written.span, fmt::format("this is {}, the edge carries {}", initial.type().text(), type.text()));
    } catch (const Error& error) {
      file_.world.report(error, written.span);
      failed_ = true;
    }
  }

  void add_number(BlockEdge& edge, const ast::IrMove& move) {
    const std::optional<std::int64_t> number = move.args.size() == 1 ? integer(*move.args[0].value) : std::nullopt;
    if (number && in_32_bits(*number, move.args[0].span))
      edge.number = static_cast<std::int32_t>(*number);
    else if (move.args.size() != 1)
      refuse("E1003", move.span, "'number' takes that of the edge in its file");
  }

  void add_trigger(BlockEdge& edge, const ast::IrMove& move) {
    if (!move.args.empty()) refuse("E1003", move.span, "'trigger' takes nothing").help("trigger()");
    edge.trigger = true;
  }

  Body& file_;
  Diags& diags_;
  const BlockTable& table_;
  const ast::IrDecl& declaration_;
  std::shared_ptr<BlockGraph> graph_ = std::make_shared<BlockGraph>();
  BlockGroup* last_group_ = nullptr;
  std::set<std::string> said_bias_;  // blocks
  bool failed_ = false;
};

}  // namespace

std::shared_ptr<const BlockGraph> read_block_lines(Body& file, const ast::IrDecl& declaration) {
  return BlockLines(file, declaration).read();
}

}  // namespace taskspec::checking
