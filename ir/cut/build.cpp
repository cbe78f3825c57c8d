#include "ir/cut/build.hpp"

#include "ir/cut/shape.hpp"

namespace taskspec {

namespace {

// What goes through channels at one call of the whole function.
struct Crossing {
  std::vector<std::pair<VariableId, std::uint32_t>> before;  // copies of variables, in front of a loop
  std::uint32_t trips = none, order = none, operands = none, value = none, passed = none;
  static constexpr std::uint32_t none = UINT32_MAX;
};

class Cutter {
 public:
  Cutter(const Program& program, FunctionId id, const FunctionDemand& demand, bool hoist)
      : id_(id),
        whole_(program[id]),
        demand_(demand),
        tree_(whole_),
        reuse_(hoist),
        sends_(place_variable_sends(whole_, demand, hoist)),
        crossings_(whole_.calls.size()),
        conditions_(whole_.calls.size(), false) {
    for (const Call& call : whole_.calls) {
      if (call.form->is_control() && call.form->to_run == FormRecord::ToRun::decision)
        conditions_[decision_of(call).index()] = true;
    }
    for (const Parameter& parameter : whole_.parameters) find_crossings(parameter.default_block);
    find_crossings(whole_.body);
  }

  FunctionCut run() {
    FunctionCut result;
    if (demand_.host.part) result.host = part(Part::host);
    if (demand_.graph.part) result.graph = part(Part::graph);
    result.channels = std::move(channels_);
    return result;
  }

 private:
  // ---- channels, in program order ----

  std::uint32_t add_channel(CallId at, bool to_host, std::vector<ChannelItem> items) {
    const auto site = static_cast<std::uint32_t>(channels_.size());
    channels_.push_back({id_, site, to_host, tree_.loops_around(at), std::move(items)});
    return site;
  }
  ChannelItem nothing(Carries what, CallId at) const { return {what, Type(Type::Kind::none), at, whole_[at].span}; }
  ChannelItem item(Carries what, CallId value) const { return {what, whole_[value].type, value, whole_[value].span}; }

  void find_crossings(const Block& block) {
    for (CallId id : block.calls) {
      before(id);
      for (const Block& inner : whole_[id].blocks) find_crossings(inner);
      if (demand_.named[id.index()]) crossings_[id.index()].operands = add_channel(id, true, operands(id));
      const bool sent = demand_.sent[id.index()] && !sends_.reused[id.index()];
      if (sent) crossings_[id.index()].value = add_channel(id, false, {item(decides(id), id)});
      if (demand_.received[id.index()])
        crossings_[id.index()].value = add_channel(id, true, {item(received_as(id), id)});
      if (demand_.passed[id.index()] && !sent)  // the value tells it too
        crossings_[id.index()].passed = add_channel(id, false, {nothing(Carries::passed, id)});
    }
  }

  void before(CallId id) {
    Crossing& crossing = crossings_[id.index()];
    if (auto found = sends_.before.find(id.value); found != sends_.before.end())
      for (VariableId variable : found->second)
        crossing.before.emplace_back(
            variable,
            add_channel(id, false, {{Carries::value, whole_.variables[variable.index()].type, id, whole_[id].span}}));
    const bool list_is_there = demand_.counted[id.index()] && demand_.graph.wanted[whole_[id].in[0].index()];
    if (demand_.counted[id.index()] && !list_is_there)
      crossing.trips = add_channel(id, false, {item(Carries::trips, whole_[id].in[0])});
    if (demand_.ordered[id.index()]) crossing.order = add_channel(id, false, {nothing(Carries::order, id)});
  }

  std::vector<CallId> crossing_operands(CallId id) const {
    std::vector<CallId> found;
    for (CallId in : whole_[id].in)
      if (in.valid() && home_of(whole_[in].type) != ValueSide::host) found.push_back(in);
    return found;
  }
  std::vector<ChannelItem> operands(CallId id) const {
    const bool names = whole_[id].builtin->runs_in == RunsIn::names;
    std::vector<ChannelItem> items;
    for (CallId in : crossing_operands(id)) items.push_back(item(names ? Carries::handle : Carries::contents, in));
    return items;
  }

  Carries decides(CallId id) const {
    if (!whole_[id].type.is(Type::Kind::boolean)) return Carries::value;
    return conditions_[id.index()] ? Carries::predicate : Carries::value;
  }
  Carries received_as(CallId id) const {
    const Call& call = whole_[id];
    if (call.builtin || call.form == Form::output) return Carries::result;
    if (call.form != Form::receive) return Carries::shape;
    const auto kind = static_cast<Receive>(call.index);
    return kind == Receive::scalar ? Carries::scalar : kind == Receive::array ? Carries::array : Carries::iter;
  }

  // ---- parts ----

  Function part(Part side) {
    side_ = side;
    own_ = whole_;
    own_.part = side;
    if (side == Part::host) own_.effects.graph = false;
    const SideDemand& d = demand_[side];
    for (std::size_t k = 0; k < own_.parameters.size(); ++k) {
      Parameter& parameter = own_.parameters[k];
      if (d.parameters[k])
        parameter.default_block = kept(parameter.default_block);
      else
        parameter.default_block = Block(), parameter.default_value = CallId();
      if (side == Part::host && home_of(parameter.type) != ValueSide::host) parameter.variable = VariableId();
    }
    own_.body = kept(own_.body);
    return std::move(own_);
  }

  CallId add(Call call) {
    own_.calls.push_back(std::move(call));
    return CallId(own_.calls.size() - 1);
  }
  Call made(Form form, CallId like, std::uint32_t channel) const {
    Call call;
    call.form = form;
    call.span = whole_[like].span;
    call.index = channel;
    return call;
  }
  CallId enqueue(std::uint32_t channel, CallId like, std::vector<CallId> values) {
    Call call = made(Form::enqueue, like, channel);
    call.in = std::move(values);
    return add(std::move(call));
  }
  CallId dequeue(std::uint32_t channel, CallId like, Type type) {
    Call call = made(Form::dequeue, like, channel);
    call.type = std::move(type);
    return add(std::move(call));
  }
  // The call itself is one end of a channel here.
  void become(CallId id, Form form, std::uint32_t channel, std::vector<CallId> values) {
    Call call = made(form, id, channel);
    call.in = std::move(values);
    if (form == Form::dequeue) call.type = whole_[id].type;
    own_[id] = std::move(call);
  }

  Block kept(const Block& block) {
    Block result;
    const Block from = block;
    for (CallId id : from.calls) side_ == Part::host ? keep_on_host(id, result) : keep_on_graph(id, result);
    if (stays(from.result)) result.result = from.result;
    return result;
  }
  // The value of a block may be one of the other side.
  bool stays(CallId id) const {
    if (!id.valid()) return false;
    return demand_[side_].runs[id.index()] || (side_ == Part::graph && demand_.sent[id.index()]) ||
           whole_[id].form == Form::parameter;
  }
  void keep_blocks(CallId id) {
    for (std::size_t b = 0; b < whole_[id].blocks.size(); ++b) {
      Block inner = kept(whole_[id].blocks[b]);
      own_[id].blocks[b] = std::move(inner);
    }
  }

  void keep_on_host(CallId id, Block& block) {
    const Crossing& crossing = crossings_[id.index()];
    for (const auto& [variable, channel] : crossing.before) {
      Call read = made(Form::variable, id, 0);
      read.variable = variable;
      read.type = whole_.variables[variable.index()].type;
      block.calls.push_back(add(std::move(read)));
      block.calls.push_back(enqueue(channel, id, {block.calls.back()}));
    }
    if (crossing.trips != Crossing::none) block.calls.push_back(enqueue(crossing.trips, id, {whole_[id].in[0]}));
    if (crossing.order != Crossing::none) block.calls.push_back(enqueue(crossing.order, id, {}));
    if (!demand_.host.runs[id.index()]) return;
    keep_blocks(id);
    if (crossing.operands != Crossing::none) take_operands(id, crossing.operands, block);
    if (demand_.received[id.index()])
      become(id, Form::dequeue, crossing.value, {});
    else
      fit_to_host(id);
    block.calls.push_back(id);
    const bool sends = demand_.sent[id.index()] && crossing.value != Crossing::none;
    if (sends) block.calls.push_back(enqueue(crossing.value, id, {id}));
    if (crossing.passed != Crossing::none) block.calls.push_back(enqueue(crossing.passed, id, {}));
  }

  // What a call means where tensors are nothing.
  void fit_to_host(CallId id) {
    Call& call = own_[id];
    std::erase_if(call.places, [&](const Place& place) {
      return home_of(whole_.variables[place.variable.index()].type) != ValueSide::host;
    });
    call.guards.clear();
    const bool is_shape = call.form == Form::field && whole_[call.in[0]].type.is_tensor();
    if (is_shape) {
      call.value = shape_of(whole_[call.in[0]].type, call.name);
      call.form = Form::constant;
      call.in.clear();
    }
    if (call.form->leaves == FormRecord::Leaves::function && !gives(call, Part::host)) call.in.clear();
  }
  bool gives(const Call& call, Part side) const {
    return demand_[side].result && !call.in.empty() && demand_[side].wanted[call.in[0].index()];
  }
  static Value shape_of(const Type& type, const std::string& field) {
    if (field == "rank") return Value(static_cast<std::int64_t>(type.rank()));
    if (field == "precision") return Value(std::string(info(type.precision).name));
    List extents;
    for (const Dim& dim : type.dims) extents.push_back(Value(*dim.constant()));
    return Value(std::move(extents));
  }

  void take_operands(CallId id, std::uint32_t channel, Block& block) {
    const std::vector<CallId> operands = crossing_operands(id);
    Type tuple = Type(Type::Kind::tuple);
    for (CallId in : operands) tuple.parts.push_back(whole_[in].type);
    const CallId message = dequeue(channel, id, operands.size() == 1 ? whole_[operands[0]].type : tuple);
    block.calls.push_back(message);
    std::uint32_t next = 0;
    for (CallId& in : own_[id].in) {
      if (!in.valid() || home_of(whole_[in].type) == ValueSide::host) continue;
      if (operands.size() == 1) {
        in = message;
        continue;
      }
      Call element = made(Form::element, id, next++);
      element.type = whole_[in].type;
      element.in = {message};
      in = add(std::move(element));
      block.calls.push_back(in);
    }
  }

  void keep_on_graph(CallId id, Block& block) {
    const Crossing& crossing = crossings_[id.index()];
    for (const auto& [variable, channel] : crossing.before) {
      const CallId message = dequeue(channel, id, whole_.variables[variable.index()].type);
      block.calls.push_back(message);
      block.calls.push_back(copy_to(variable, message, id));
    }
    if (crossing.trips != Crossing::none) {
      own_[id].in[0] = dequeue(crossing.trips, id, Type(Type::Kind::range));
      block.calls.push_back(own_[id].in[0]);
    }
    const bool meets = demand_.sent[id.index()] || crossing.operands != Crossing::none;
    if (demand_.graph.runs[id.index()]) keep_blocks(id);
    if (crossing.order != Crossing::none) block.calls.push_back(dequeue(crossing.order, id, Type(Type::Kind::none)));
    if (demand_.graph.runs[id.index()] || meets) meet_on_graph(id, crossing, block);
    if (crossing.order != Crossing::none) block.calls.push_back(enqueue(crossing.order, id, {}));  // it is done
    if (crossing.passed != Crossing::none) block.calls.push_back(dequeue(crossing.passed, id, Type(Type::Kind::none)));
  }
  void meet_on_graph(CallId id, const Crossing& crossing, Block& block) {
    if (crossing.operands != Crossing::none) {
      become(id, Form::enqueue, crossing.operands, crossing_operands(id));
      block.calls.push_back(id);
    } else if (demand_.sent[id.index()]) {
      take_value(id, crossing.value, block);
    } else if (demand_.received[id.index()]) {
      give_value(id, crossing.value, block);
    } else {
      if (own_[id].form->leaves == FormRecord::Leaves::function && !gives(own_[id], Part::graph)) own_[id].in.clear();
      block.calls.push_back(id);
    }
  }
  CallId copy_to(VariableId variable, CallId value, CallId like) {
    Call write = made(Form::write, like, 0);
    write.variable = variable;
    write.in = {value};
    return add(std::move(write));
  }
  void take_value(CallId id, std::uint32_t channel, Block& block) {
    const bool is_read = whole_[id].form == Form::variable;
    if (demand_.entered[id.index()]) {  // what its function does here comes first
      Call entered = own_[id];
      block.calls.push_back(add(std::move(entered)));
    }
    if (channel != Crossing::none) become(id, Form::dequeue, channel, {});
    block.calls.push_back(id);
    if (channel != Crossing::none && is_read && reuse_) block.calls.push_back(copy_to(whole_[id].variable, id, id));
  }
  void give_value(CallId id, std::uint32_t channel, Block& block) {
    const bool only_given = whole_[id].form == Form::receive && !demand_.graph.wanted[id.index()];
    if (only_given) become(id, Form::enqueue, channel, {whole_[id].in[0]});
    block.calls.push_back(id);
    if (!only_given) block.calls.push_back(enqueue(channel, id, {id}));
  }

  const FunctionId id_;
  const Function& whole_;
  const FunctionDemand& demand_;
  const CallTree tree_;
  const bool reuse_;
  const VariableSends sends_;
  std::vector<Crossing> crossings_;
  std::vector<bool> conditions_;  // by call: an if or while asks it
  std::vector<Channel> channels_;
  Part side_ = Part::host;
  Function own_;
};

}  // namespace

FunctionCut cut_function(const Program& program, FunctionId id, const FunctionDemand& demand, bool hoist) {
  return Cutter(program, id, demand, hoist).run();
}

}  // namespace taskspec
