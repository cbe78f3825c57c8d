#include "ir/lowering/state.hpp"

#include <fmt/format.h>

#include "ir/base/ascii.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

BlockBuilder::State::State(const OpList& l, const LowerOptions& o) : list(l), options(o), values(l.types.size()) {
  readers.resize(l.types.size());
  for (const Type& type : l.types) types_.push_back(concrete(type));
  for (const OpList::Line& line : l.lines)
    for (ValueId in : line.in) ++readers[in.index()];
  for (const OpList::Output& output : l.outputs) ++readers[output.value.index()];
}

// ---- blocks ---------------------------------------------------------------------------------------

std::string BlockBuilder::State::name_for(std::string_view base) {
  std::string name;
  for (const char c : base) name += is_word(c) ? c : '_';
  int& number = names_[name];
  std::string made_name;
  do {
    ++number;
    made_name = number == 1 ? name : fmt::format("{}_{}", name, number);
  } while (!taken_.insert(made_name).second);
  return made_name;
}

BlockId BlockBuilder::State::add(std::string_view type, std::string_view name, Precision precision,
                                 const BlockShape& shape) {
  TaskBlock block;
  block.def = options.blocks.find(type);
  if (!block.def) bug(fmt::format("the table of blocks has no {}", type));
  block.name = name_for(name);
  block.precision = precision;
  block.shape = shape;
  block.span = span;
  made.graph.blocks.push_back(std::move(block));
  return BlockId(made.graph.blocks.size() - 1);
}

void BlockBuilder::State::set(BlockId id, std::string_view attribute, std::int64_t value) {
  const BlockAttributeDef* def = options.blocks.attribute(attribute);
  if (!def) bug(fmt::format("no attribute {}", attribute));
  if (value != def->standard) block(id).set(*def, value);
}

// In bits; files call it so.
void BlockBuilder::State::set_shift(BlockId id, int bits) { set(id, "BIT_SHIGT_NUM", bits); }

void BlockBuilder::State::set_windows(BlockId id, const WindowSide& y, const WindowSide& x, bool dilated) {
  set(id, "stride_y", y.stride), set(id, "stride_x", x.stride);
  set(id, "pad_up", y.before), set(id, "pad_down", y.after);
  set(id, "pad_left", x.before), set(id, "pad_right", x.after);
  if (dilated) set(id, "dilation_y", y.dilation), set(id, "dilation_x", x.dilation);
}

namespace {

Box whole_cluster(const TaskBlock& block, std::size_t cluster) {
  return whole(cluster_extents(block, block.in_cluster(cluster)));
}

}  // namespace

void BlockBuilder::State::connect(BlockId from, BlockId to, std::string_view cluster) {
  const std::optional<std::size_t> position = block(to).in_cluster_named(cluster);
  if (!position) bug(fmt::format("{} has no input {}", block(to).def->name, cluster));
  BlockEdge edge;
  edge.from = {from, 0, whole(value_type(block(from)).extents)};
  edge.to = {to, static_cast<std::uint16_t>(*position), whole_cluster(block(to), *position)};
  if (edge.from.box.size != edge.to.box.size) edge.moves.push_back({&rearrange_reshape, {}});
  edge.span = span;
  made.graph.edges.push_back(std::move(edge));
}

void BlockBuilder::State::fill(BlockId to, const BlockGather& gather, Precision precision) {
  const std::optional<std::vector<BlockLink>> links = links_of(gather);
  if (!links)
    throw Refused{
        "E4011",
        fmt::format("'{}' picks its elements in more than {} pieces, one edge for each", block(to).name, most_links),
        "let the host rearrange it, or keep elements that lie beside one another together"};
  for (const BlockLink& link : *links) {
    BlockEdge edge;
    if (link.from)
      edge.from = {*link.from, 0, link.source};
    else
      edge.from = {data("SI", "border", shape_of(link.target.size), precision, link.constants), 0,
                   whole(link.target.size)};
    edge.to = {to, 0, link.target};
    edge.moves = link.moves;
    edge.span = span;
    made.graph.edges.push_back(std::move(edge));
  }
}

BlockId BlockBuilder::State::data(std::string_view type, std::string_view name, const BlockShape& shape,
                                  Precision precision, const std::vector<std::int64_t>& contents) {
  const BlockId id = add(type, name, precision, shape);
  Array array = Array::make(value_type(block(id)));
  if (array.elements() != static_cast<std::int64_t>(contents.size())) bug("data of another shape than its block");
  for (std::size_t k = 0; k < contents.size(); ++k) array.set_integer(static_cast<std::int64_t>(k), contents[k]);
  block(id).data = std::move(array);
  return id;
}

// ---- storage --------------------------------------------------------------------------------------

BlockGather BlockBuilder::State::arranged(const LoweredValue& value, const BlockLayout& layout) const {
  const Extents& tensor = type(value.id).extents;
  if (!covers(tensor, layout))
    throw Refused{"E4011",
                  fmt::format("{} has more extents above 1 than blocks have axes: they are y, x and f, of one sample",
                              type(value.id).text()),
                  "lower the graph for one sample, a batch of 1"};
  if (value.layout == layout) return value.gather;
  const std::vector<std::int64_t> is = tensor_places(tensor, value.layout), wanted = tensor_places(tensor, layout);
  std::vector<std::int64_t> at(is.size());
  for (std::size_t k = 0; k < is.size(); ++k) at[static_cast<std::size_t>(is[k])] = static_cast<std::int64_t>(k);
  std::vector<BlockGather::Place> places;
  for (const std::int64_t place : wanted) places.push_back({0, at[static_cast<std::size_t>(place)]});
  return value.gather.picked(block_extents(tensor, layout), places);
}

BlockId BlockBuilder::State::stored(const BlockGather& gather, Precision precision, std::string_view kind,
                                    std::string_view name) {
  const BlockDef* def = options.blocks.find(kind);
  const bool as_r = std::ranges::find(def->axes, BlockAxis::r) != def->axes.end();
  std::string key;
  if (gather.is_whole()) {
    key = fmt::format("{} {}", gather.sources()[0].block.index(), kind);
    for (const std::int64_t extent : gather.extents()) key += fmt::format(" {}", extent);
    if (auto known = stores_.find(key); known != stores_.end()) return known->second;
  }
  const BlockId id = add(kind, name, precision, shape_of(gather.extents(), as_r));
  fill(id, gather, precision);
  if (!key.empty()) stores_.emplace(key, id);
  return id;
}

BlockId BlockBuilder::State::stored(const LoweredValue& value, const BlockLayout& layout, std::string_view kind) {
  return stored(arranged(value, layout), value.precision, kind, line_name + "_in");
}

std::vector<double> BlockBuilder::State::contents_of(const Array& array) const {
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < array.elements(); ++k) numbers.push_back(array.number(k));
  return numbers;
}

LoweredPort BlockBuilder::State::port_of(const LoweredValue& value, const std::string& name) const {
  LoweredPort port{name, type(value.id), value.scale, value.precision, value.gather.extents(), {}, {}, value.id};
  for (std::size_t k = 0; k < port.tensor.extents.size(); ++k) {
    const std::size_t axis = k == value.layout.y ? 0 : k == value.layout.x ? 1 : 2;
    const bool is_there = k == value.layout.y || k == value.layout.x || k == value.layout.f;
    port.axes.push_back(!is_there ? no_axis : port.extents.size() == 1 ? 0 : axis);
  }
  return port;
}

void BlockBuilder::State::note_layer(ValueId value, const std::string& name, double scale, double sum_scale, int cut) {
  made.layers.push_back({value, name, scale, sum_scale, cut});
}

// ---- values ---------------------------------------------------------------------------------------

void BlockBuilder::State::keep(LoweredValue value) {
  value.kind = LoweredValue::Kind::made;
  values[value.id.index()] = std::move(value);
}

void BlockBuilder::State::place_input(LoweredValue& value, const BlockLayout* wish) {
  const ArrayType& tensor = type(value.id);
  const bool scaled = scales() && is_float(tensor.precision);
  if (!scaled && tensor.precision != Precision::i8 && tensor.precision != Precision::i32)
    throw Refused{"E4011", fmt::format("input '{}' is {}: blocks take i8 and i32", value.name, tensor.text()),
                  is_float(tensor.precision) ? "quantize(net, data) makes integers of a net of floats"
                                             : "convert it on the host: x as i8"};
  value.layout = wish ? *wish : plain_layout(tensor.extents);
  if (!covers(tensor.extents, value.layout))
    throw Refused{"E4011",
                  fmt::format("input '{}' is {}: blocks have y, x and f, of one sample", value.name, tensor.text()),
                  "lower the graph for one sample, a batch of 1"};
  value.precision = scaled ? Precision::i8 : tensor.precision;
  value.range = range_of(value.precision);
  if (scaled) scales()->held(value.id), value.scale = scales()->of(value.id);
  const Extents extents = block_extents(tensor.extents, value.layout);
  const BlockId id = add("INPUT", value.name, value.precision, shape_of(extents));
  value.gather = BlockGather::of(id, extents);
  value.base = value.id;
  value.kind = LoweredValue::Kind::made;
  for (std::size_t k = 0, open = 0; k < list.inputs.size(); ++k) {
    if (values[k].kind == LoweredValue::Kind::fixed) continue;
    if (k == value.id.index()) made.inputs[open] = port_of(value, block(id).name), made.inputs[open].block = id;
    ++open;
  }
}

LoweredValue& BlockBuilder::State::ready(ValueId id, const BlockLayout* wish) {
  LoweredValue& it = value(id);
  if (it.kind == LoweredValue::Kind::missing) throw MissingValue{};
  if (it.kind == LoweredValue::Kind::fixed) bug("a value that is known needs no block");
  if (it.kind == LoweredValue::Kind::input) place_input(it, wish);
  if (it.sum || !it.stage.is_nothing()) settle(it);
  return it;
}

Sums BlockBuilder::State::summed_by(BlockId axon, const ArrayType& tensor, const BlockLayout& layout, double scale,
                                    ValueRange range) {
  return {BlockGather::of(axon, block_extents(tensor.extents, layout)), layout, scale, range, block(axon).name};
}

}  // namespace taskspec
