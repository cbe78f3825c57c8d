#include "ir/cut/cut_program.hpp"

#include <algorithm>
#include <array>

#include "ir/cut/host_code.hpp"
#include "ir/cut/passes.hpp"
#include "ir/program/call_graph.hpp"

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 12> names{"value", "predicate", "trips",    "order",  "passed", "scalar",
                                                 "array", "iter",      "contents", "handle", "shape",  "result"};

FunctionId append(Program& program, Function part) {
  program.functions.push_back(std::move(part));
  return FunctionId(program.functions.size() - 1);
}

// By function: has effects or messages, or may not come to an end. Others may run before or after a receive.
std::vector<bool> find_loud(const Program& program, const std::vector<FunctionCut>& cuts) {
  const CallGraph calls(program);
  std::vector<bool> loud = calls.recurring();
  for (std::size_t i = 0; i < loud.size(); ++i) {
    const Function& function = program.functions[i];
    loud[i] =
        loud[i] || function.effects.host || !cuts[i].channels.empty() ||
        std::ranges::any_of(function.calls, [&](const Call& call) {
          return call.form->enters == FormRecord::Enters::value || call.form->takes_time || may_fail(function, call);
        });
  }
  return calls.with_callers(std::move(loud));
}

// Calls of functions enter their parts, and those with nothing left there go; function values keep naming the whole,
// whose part is found when they are called.
class Linking {
 public:
  Linking(CutProgram& cut, FunctionId id, Part side) : cut_(cut), function_(cut.program[id]), side_(side) {}

  void run(std::uint32_t first_channel) {
    for (Parameter& parameter : function_.parameters) leave_out(parameter.default_block);
    leave_out(function_.body);
    for (Call& call : function_.calls)
      for (Block& block : call.blocks) leave_out(block);
    for (Call& call : function_.calls) {
      if (call.form->talks) call.index += first_channel;
      if (const FunctionId part = part_of(call); part.valid()) call.callee = part;
    }
  }

 private:
  FunctionId part_of(const Call& call) const {
    return call.form == Form::call ? cut_.part(call.callee, side_) : FunctionId();
  }
  void leave_out(Block& block) {
    std::erase_if(block.calls, [&](CallId id) {
      const Call& call = function_[id];
      return call.form == Form::call && !part_of(call).valid();
    });
  }

  CutProgram& cut_;
  Function& function_;
  const Part side_;
};

}  // namespace

std::string_view name_of(Carries what) { return names[static_cast<std::size_t>(what)]; }

CutProgram cut_program(const Program& program, const CutOptions& options) {
  CutProgram cut{program, std::vector<FunctionParts>(program.functions.size()), {}};
  const std::vector<FunctionDemand> demand = find_demand(program, options);
  const std::size_t count = program.functions.size();
  std::vector<FunctionCut> cuts(count);
  for (std::size_t i = 0; i < count; ++i)
    if (demand[i].reached) cuts[i] = cut_function(program, FunctionId(i), demand[i], options.hoist);
  std::vector<std::uint32_t> first_channel(count);
  const std::vector<bool> loud = find_loud(program, cuts);
  for (std::size_t i = 0; i < count; ++i) {
    const FunctionDemand& d = demand[i];
    if (options.sink && d.host.part) sink_receives(cuts[i].host, [&](FunctionId id) { return !loud[id.index()]; });
    if (options.merge && d.host.part && d.graph.part) merge_messages(cuts[i]);
    if (d.host.part) cut.parts[i].host = append(cut.program, std::move(cuts[i].host));
    if (d.graph.part) cut.parts[i].graph = append(cut.program, std::move(cuts[i].graph));
    first_channel[i] = static_cast<std::uint32_t>(cut.channels.size());
    cut.channels.insert(cut.channels.end(), cuts[i].channels.begin(), cuts[i].channels.end());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const FunctionParts parts = cut.parts[i];
    if (parts.host.valid()) Linking(cut, parts.host, Part::host).run(first_channel[i]);
    if (parts.graph.valid()) Linking(cut, parts.graph, Part::graph).run(first_channel[i]);
  }
  return cut;
}

}  // namespace taskspec
