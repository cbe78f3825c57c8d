// Nets on chips from C++: include/taskspec/mapping.hpp. Each call is the entry that a text would be.
#include "taskspec/mapping.hpp"

#include "interp/embed/checked.hpp"
#include "interp/embed/host_program.hpp"

namespace taskspec::dsl {

using detail::At;
using detail::HostProgram;

namespace {

// Of what map() or a method gave; runs nothing else.
const Record& record_of(const Value& value, const char* what, At at) {
  const auto* record = value.as<Record>();
  if (!record) detail::fail("E1004", at, std::string("this is ") + print(value) + ", not " + what);
  return *record;
}

std::int64_t integer_in(const Record& record, const char* name) { return record.find(name)->integer(); }

MappingEstimate estimate_of(const Tensor& made, At at) {
  const Value value = HostProgram::here().known(detail::use(Operand(made, at)), at);
  const Record& record = record_of(value, "an estimate of a mapping", at);
  return {integer_in(record, "latency"), integer_in(record, "interval"), record.find("energy")->real(),
          integer_in(record, "memory"),  integer_in(record, "cores"),    integer_in(record, "packets")};
}

void add(std::vector<Operand>& operands, const char* name, const std::optional<std::int64_t>& number, At at) {
  if (number) operands.push_back(Operand(*number, at).named(name));
}

}  // namespace

Mapping map(const Graph& net, const MappingOptions& options, At at) {
  std::vector<Operand> operands;
  operands.emplace_back(static_cast<const Task&>(net), at);
  operands.push_back(Operand(options.chip, at).named("chip"));
  if (!options.chips.empty()) operands.push_back(Operand(options.chips, at).named("chips"));
  add(operands, "cores", options.cores, at);
  operands.push_back(Operand(options.objective, at).named("objective"));
  add(operands, "slabs", options.slabs, at);
  operands.push_back(Operand(options.depth, at).named("depth"));
  operands.push_back(Operand(options.step_groups, at).named("step_groups"));
  operands.push_back(Operand(options.a2s2, at).named("a2s2"));
  return Mapping(Tensor(detail::call_op("map", std::move(operands))));
}

MappingEstimate Mapping::act(const char* method, std::vector<Operand> operands, At at) const {
  operands.insert(operands.begin(), Operand(value_, at));
  return estimate_of(Tensor(detail::call_op(method, std::move(operands))), at);
}

MappingEstimate Mapping::split(const std::string& unit, const GridParts& parts, At at) {
  std::vector<Operand> operands{Operand(unit, at)};
  add(operands, "y", parts.y, at);
  add(operands, "x", parts.x, at);
  add(operands, "f", parts.f, at);
  add(operands, "r", parts.r, at);
  return act(".split", std::move(operands), at);
}
MappingEstimate Mapping::fuse(const std::string& a, const std::string& b, At at) {
  return act(".fuse", {Operand(a, at), Operand(b, at)}, at);
}
MappingEstimate Mapping::replicate(const std::string& unit, std::int64_t n, At at) {
  return act(".replicate", {Operand(unit, at), Operand(n, at)}, at);
}
MappingEstimate Mapping::share_storage(const std::string& a, const std::string& b, At at) {
  return act(".share_storage", {Operand(a, at), Operand(b, at)}, at);
}
MappingEstimate Mapping::merge(std::int64_t core, std::int64_t other, At at) {
  return act(".merge", {Operand(core, at), Operand(other, at)}, at);
}
MappingEstimate Mapping::put_in(const std::string& unit, std::int64_t core, At at) {
  return act(".put_in", {Operand(unit, at), Operand(core, at)}, at);
}
MappingEstimate Mapping::take_out(const std::string& unit, At at) { return act(".take_out", {Operand(unit, at)}, at); }
MappingEstimate Mapping::move(std::int64_t core, std::int64_t to, At at) {
  return act(".move", {Operand(core, at), Operand(to, at)}, at);
}
MappingEstimate Mapping::pipeline_rows(const std::string& unit, std::int64_t rows, At at) {
  return act(".pipeline_rows", {Operand(unit, at), Operand(rows, at)}, at);
}
MappingEstimate Mapping::set_phase(const std::string& unit, std::int64_t phase, At at) {
  return act(".set_phase", {Operand(unit, at), Operand(phase, at)}, at);
}
MappingEstimate Mapping::slabs(std::int64_t count, At at) { return act(".slabs", {Operand(count, at)}, at); }
MappingEstimate Mapping::depth(std::int64_t items, At at) { return act(".depth", {Operand(items, at)}, at); }
MappingEstimate Mapping::step_groups(std::int64_t count, At at) {
  return act(".step_groups", {Operand(count, at)}, at);
}
MappingEstimate Mapping::a2s2(bool on, At at) { return act(".a2s2", {Operand(on, at)}, at); }
MappingEstimate Mapping::optimise(const std::string& budget, At at) {
  return act(".optimise", {Operand(budget, at)}, at);
}
MappingEstimate Mapping::undo(At at) { return act(".undo", {}, at); }
MappingEstimate Mapping::redo(At at) { return act(".redo", {}, at); }
MappingEstimate Mapping::load(const std::string& path, At at) { return act(".load", {Operand(path, at)}, at); }
MappingEstimate Mapping::estimate(At at) const { return act(".estimate", {}, at); }

void Mapping::save(const std::string& path, At at) {
  detail::Node node;
  node.kind = detail::Node::Kind::method;
  node.at = at;
  node.text = "save";
  node.in = {detail::use(Operand(value_, at)), detail::use(Operand(path, at))};
  node.names.resize(node.in.size());
  HostProgram::here().perform(std::move(node));
}

namespace {

std::string text_of(const Tensor& made, At at) {
  const Value value = HostProgram::here().known(detail::use(Operand(made, at)), at);
  return value.is_string() ? value.string() : print(value);
}

}  // namespace

std::string Mapping::text(At at) const {
  return text_of(Tensor(detail::call_op(".text", std::vector<Operand>{Operand(value_, at)})), at);
}
std::string Mapping::explain(const std::string& unit, At at) const {
  return text_of(Tensor(detail::call_op(".explain", std::vector<Operand>{Operand(value_, at), Operand(unit, at)})), at);
}

ChipReport chip_report(const Tensor& run, At at) {
  const Value value = HostProgram::here().known(detail::use(Operand(run, at)), at);
  const auto* invocation = value.as<Invocation>();
  const Value* last = invocation && !invocation->outputs.empty() ? &invocation->outputs.back() : nullptr;
  const auto* record = last ? last->as<Record>() : nullptr;
  if (!record || !record->find("cycles"))
    detail::fail("E1002", at, "only a run on a chip has such a report", "chip_report(graph(arguments).run(hw()))");
  return {integer_in(*record, "cycles"), record->find("time")->real(), record->find("energy")->real(),
          integer_in(*record, "memory"), integer_in(*record, "packets")};
}

}  // namespace taskspec::dsl
