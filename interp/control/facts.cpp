#include "interp/control/facts.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "ir/op_outputs.hpp"
#include "ir/slice_program.hpp"

namespace taskspec {

namespace {

// Where each call of a function stands, and who reads its value last.
class LastReads {
 public:
  explicit LastReads(const Function& function)
      : function_(function),
        homes_(function.calls.size()),
        last_(function.calls.size()),
        uses_(function.calls.size(), 0) {
    place(function.body, CallId());
    for (const Parameter& parameter : function.parameters) place(parameter.default_block, CallId());
    for (std::size_t i = 0; i < function.calls.size(); ++i)
      for (const Block& block : function.calls[i].blocks) place(block, CallId(i));
    for (std::size_t i = 0; i < function.calls.size(); ++i) {
      for (CallId in : function.calls[i].in) read(in, CallId(i));
      for (const Block& block : function.calls[i].blocks) keep(block.result);
    }
    keep(function.body.result);
    for (const Parameter& parameter : function.parameters) keep(parameter.default_value);
  }

  bool once(CallId id) const { return id.valid() && uses_[id.index()] == 1 && last_[id.index()].valid(); }

  void write(FunctionFacts& facts) const {
    std::vector<std::uint32_t>& starts = facts.last_read_starts;
    starts.assign(function_.calls.size() + 1, 0);
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (is_released(i)) ++starts[last_[i].index() + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    facts.last_reads.resize(starts.back());
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (is_released(i)) facts.last_reads[next[last_[i].index()]++] = CallId(i);
  }

  // Somebody reads it at a time that is not seen here.
  void keep(CallId value) {
    if (!value.valid()) return;
    kept_.insert(value);
    last_[value.index()] = CallId();
  }

 private:
  struct Home {
    const Block* block = nullptr;
    CallId owner;  // of the block
    std::size_t position = 0;
  };

  void place(const Block& block, CallId owner) {
    for (std::size_t i = 0; i < block.calls.size(); ++i) homes_[block.calls[i].index()] = {&block, owner, i};
  }

  void read(CallId value, CallId reader) {
    if (!value.valid()) return;
    ++uses_[value.index()];
    const Home& home = homes_[value.index()];
    // A reader inside a loop or branch counts as that loop or branch.
    while (reader.valid() && homes_[reader.index()].block != home.block) reader = homes_[reader.index()].owner;
    CallId& last = last_[value.index()];
    if (!home.block || !reader.valid())
      keep(value);
    else if (!kept_.contains(value) &&
             (!last.valid() || homes_[last.index()].position < homes_[reader.index()].position))
      last = reader;
  }

  // Scalars cost nothing to keep, and extents name them.
  bool is_released(std::size_t i) const {
    const Type& type = function_.calls[i].type;
    return last_[i].valid() && (type.is_tensor() || type.is(Type::Kind::invocation) || type.is(Type::Kind::list) ||
                                type.is(Type::Kind::tuple));
  }

  const Function& function_;
  std::vector<Home> homes_;
  std::vector<CallId> last_;
  std::vector<std::uint32_t> uses_;
  std::set<CallId> kept_;
};

void find_appends(const Function& function, const LastReads& reads, FunctionFacts& facts) {
  facts.appends.resize(function.calls.size(), false);
  for (const Call& call : function.calls) {
    if (call.form != Form::write || call.in.empty() || !reads.once(call.in[0])) continue;
    const Call& sum = function[call.in[0]];
    bool joins = sum.form == Form::op && sum.op->name == "add" && sum.type.is(Type::Kind::list) && sum.in.size() == 2;
    if (!joins || !reads.once(sum.in[0])) continue;
    const Call& left = function[sum.in[0]];
    facts.appends[call.in[0].index()] = left.form == Form::variable && left.variable == call.variable &&
                                        left.type == sum.type && function[sum.in[1]].type == sum.type;
  }
}

FunctionFacts make_facts(const Function& function, bool grows = false) {
  FunctionFacts facts;
  facts.places.resize(function.variables.size(), false);
  for (std::size_t i = 0; i < function.calls.size(); ++i) {
    const Call& call = function.calls[i];
    if (call.form == Form::parameter) facts.parameter_calls.push_back(CallId(i));
    for (const Place& place : call.places) facts.places[place.variable.index()] = true;
  }
  for (const Parameter& parameter : function.parameters)
    if (parameter.privilege == Privilege::inout && parameter.variable.valid())
      facts.places[parameter.variable.index()] = true;
  LastReads reads(function);
  if (grows)
    for (CallId id : function.body.calls) {
      const Call& call = function[id];
      const bool is_let = call.form == Form::write && !function.variables[call.variable.index()].is_mutable;
      if (is_let) reads.keep(call.in[0]);
    }
  reads.write(facts);
  find_appends(function, reads, facts);
  return facts;
}

// Calls `visit` for every call inside the blocks of `call`, nested ones too, in order.
void each_inner(const Function& function, const Call& call, const std::function<void(CallId, const Call&)>& visit) {
  for (const Block& block : call.blocks)
    for (CallId id : block.calls) {
      visit(id, function[id]);
      each_inner(function, function[id], visit);
    }
}

// Visits a function and all that it calls, each once.
void each_reached(const Program& program, FunctionId from, const std::function<void(const Function&)>& visit) {
  std::vector<FunctionId> todo{from};
  std::vector<bool> seen(program.functions.size(), false);
  while (!todo.empty()) {
    FunctionId next = todo.back();
    todo.pop_back();
    if (seen[next.index()]) continue;
    seen[next.index()] = true;
    visit(program[next]);
    for (const Call& call : program[next].calls)
      if (call.callee.valid()) todo.push_back(call.callee);
  }
}

void add_globals(const Function& function, std::vector<GlobalUse>& globals) {
  for (const Call& call : function.calls)
    if (call.form == Form::global) globals.push_back({call.module, call.variable});
}

bool reaches_slots(const Program& program, FunctionId from) {
  bool found = false;
  each_reached(program, from, [&](const Function& function) {
    found = found || std::ranges::any_of(function.parameters, [](const auto& p) { return p.role == Role::slot; });
  });
  return found;
}

FreeUse make_free_use(const Program& program, const Function& function, CallId structured) {
  const Call& outer = function[structured];
  std::vector<bool> inside(function.calls.size(), false), seen(function.calls.size(), false);
  each_inner(function, outer, [&](CallId id, const Call&) { inside[id.index()] = true; });
  FreeUse use;
  auto value = [&](CallId id) {
    if (!id.valid() || inside[id.index()] || seen[id.index()]) return;
    seen[id.index()] = true;
    use.values.push_back(id);
  };
  std::vector<bool> parameters(function.parameters.size(), false);
  std::vector<bool> read(function.variables.size(), false), written(read), outside(read);
  for (CallId id : outer.in) value(id);
  for (const Block& block : outer.blocks) value(block.result);
  each_inner(function, outer, [&](CallId, const Call& call) {
    for (CallId id : call.in) value(id);
    for (const Block& block : call.blocks) value(block.result);
    for_each_host_symbol(call, value);  // fill(f32[h], 0.0) needs h, though it is no operand
    if (call.form == Form::parameter) parameters[call.index] = true;
    if (call.form == Form::self) use.self = true;
    if (call.form == Form::global) use.globals.push_back({call.module, call.variable});
    if (call.callee.valid())
      each_reached(program, call.callee, [&](const Function& f) { add_globals(f, use.globals); });
    use.slots = use.slots || (call.callee.valid() && reaches_slots(program, call.callee));
    if (call.form == Form::variable) read[call.variable.index()] = true;
    if (call.form == Form::write || call.form == Form::store) written[call.variable.index()] = true;
    for (const Place& place : call.places) read[place.variable.index()] = written[place.variable.index()] = true;
    bool calls_graph = call.form == Form::call && program[call.callee].effects.graph;
    bool op = call.form == Form::op && makes_tensors(*call.op, call.type);
    if (call.type.is_tensor() || op || call.form == Form::invoke || calls_graph) use.graph = true;
  });
  for (std::size_t i = 0; i < function.calls.size(); ++i) {
    const Call& call = function.calls[i];
    if (inside[i] || !call.variable.valid() || call.form == Form::global) continue;
    outside[call.variable.index()] = true;
  }
  for (const Output& output : function.outputs) outside[output.variable.index()] = true;
  for (const Parameter& parameter : function.parameters)
    if (parameter.variable.valid()) outside[parameter.variable.index()] = true;
  for (std::size_t v = 0; v < read.size(); ++v) {
    if (read[v] || written[v]) use.read.push_back(VariableId(v));
    if (written[v] && outside[v]) use.written.push_back(VariableId(v));
  }
  for (std::uint32_t k = 0; k < parameters.size(); ++k)
    if (parameters[k]) use.parameters.push_back(k);
  return use;
}

}  // namespace

Facts::Known& Facts::known(FunctionId id) {
  return functions_.get(id.index(), [&](Known& fresh) { fresh.facts = make_facts(program_[id]); });
}

const FunctionFacts& Facts::grown(FunctionId id) {
  Known& known = functions_.get(id.index(), [](Known&) {});
  known.facts = make_facts(program_[id], true);  // in place: frames hold on to it
  known.free_uses.clear();
  return known.facts;
}

const FreeUse& Facts::free_use(FunctionId id, CallId structured) {
  return known(id).free_uses.get(structured.index(),
                                 [&](FreeUse& fresh) { fresh = make_free_use(program_, program_[id], structured); });
}

const std::vector<GlobalUse>& Facts::globals(FunctionId id) {
  return globals_.get(id.index(), [&](std::vector<GlobalUse>& uses) {
    each_reached(program_, id, [&](const Function& function) { add_globals(function, uses); });
  });
}

bool Facts::uses_slots(FunctionId id) {
  return uses_slots_.get(id.index(), [&](bool& uses) { uses = reaches_slots(program_, id); });
}

}  // namespace taskspec
