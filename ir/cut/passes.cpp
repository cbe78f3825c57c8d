#include "ir/cut/passes.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/cut/host_code.hpp"

namespace taskspec {

namespace {

template <class F>
void each_block(Function& function, Block& block, F&& visit) {
  visit(block);
  for (CallId id : block.calls)
    for (Block& inner : function[id].blocks) each_block(function, inner, visit);
}

// Goes through a block once, with the receives that wait for a call which they may not pass. They keep their order: in
// front of one that stops, all stop that came before it.
class Sinking {
 public:
  Sinking(Function& function, FunctionRef<bool(FunctionId)> quiet)
      : function_(function), quiet_(quiet), place_(function.calls.size(), nowhere) {}

  void block(Block& block) {
    std::vector<CallId> calls;
    calls.reserve(block.calls.size());
    waiting_.clear();
    stopped_ = 0;
    for (CallId id : block.calls) {
      if (function_[id].form == Form::dequeue) {
        place_[id.index()] = static_cast<std::uint32_t>(waiting_.size());
        waiting_.push_back(id);
        continue;
      }
      stop(may_be_passed(id) ? used_by(id) : waiting_.size(), calls);
      calls.push_back(id);
    }
    stop(waiting_.size(), calls);
    for (CallId id : waiting_) place_[id.index()] = nowhere;
    block.calls = std::move(calls);
  }

 private:
  static constexpr std::uint32_t nowhere = UINT32_MAX;

  void stop(std::size_t end, std::vector<CallId>& calls) {
    for (; stopped_ < end; ++stopped_) calls.push_back(waiting_[stopped_]);
  }

  bool may_be_passed(CallId id) const {
    const Call& call = function_[id];
    const bool quiet_call = call.form == Form::call && quiet_(call.callee);
    const bool control = !call.blocks.empty() && !call.form->takes_time &&  // a while may never end
                         call.form->to_run != FormRecord::ToRun::session;
    const bool pure = call.builtin && call.builtin->effect == Effect::pure && !may_fail(function_, call);
    if (!call.form->cheap && !quiet_call && !control && !pure) return false;
    if (call.form->fails == FormRecord::Fails::maybe || (call.op && call.type.is(Type::Kind::integer)))
      return false;  // fails?
    return std::ranges::all_of(call.blocks, [&](const Block& block) {
      return std::ranges::all_of(block.calls, [&](CallId inner) { return may_be_passed(inner); });
    });
  }

  // How many of the waiting must stand in front of what uses the last of them.
  std::size_t used_by(CallId id) const {
    const Call& call = function_[id];
    std::size_t end = 0;
    auto use = [&](CallId value) {
      if (value.valid() && place_[value.index()] != nowhere)
        end = std::max(end, place_[value.index()] + std::size_t{1});
    };
    for (CallId in : call.in) use(in);
    for (const Block& block : call.blocks) {
      use(block.result);
      for (CallId inner : block.calls) end = std::max(end, used_by(inner));
    }
    return end;
  }

  Function& function_;
  FunctionRef<bool(FunctionId)> quiet_;
  std::vector<std::uint32_t> place_;  // by call: in waiting_
  std::vector<CallId> waiting_;
  std::size_t stopped_ = 0;  // so many of them stand already
};

// Neighbouring messages of one direction become one. What moves is noted, and the blocks are written anew at the end.
class Merging {
 public:
  explicit Merging(FunctionCut& cut) : cut_(cut), ends_(cut.channels.size()) {}

  void run() {
    find_ends(cut_.host, Part::host);
    find_ends(cut_.graph, Part::graph);
    find_positions();
    each_block(cut_.host, cut_.host.body, [&](Block& block) { merge_in(block); });
    rewrite(cut_.host, host_);
    rewrite(cut_.graph, graph_);
    remove_empty();
  }

 private:
  // Where a channel's call stands in each part.
  struct End {
    const Block* block = nullptr;
    CallId call;
  };
  struct Ends {
    End host, graph;
    std::size_t reach = 0;  // position in the graph part of the last message that was merged into it
  };
  // What changes in the blocks of a part.
  struct Moves {
    std::unordered_map<std::uint32_t, CallId> in_front;  // of a call
    std::unordered_set<std::uint32_t> gone;
  };

  void find_ends(Function& function, Part side) {
    each_block(function, function.body, [&](Block& block) {
      for (CallId id : block.calls)
        if (function[id].form->talks)
          (side == Part::host ? ends_[function[id].index].host : ends_[function[id].index].graph) = {&block, id};
    });
  }

  // Of the calls of the graph part, block after block; and how many before each of them separate messages.
  void find_positions() {
    position_.resize(cut_.graph.calls.size(), 0);
    separators_.push_back(0);
    each_block(cut_.graph, cut_.graph.body, [&](Block& block) {
      for (CallId id : block.calls) {
        position_[id.index()] = separators_.size() - 1;
        separators_.push_back(separators_.back() + (separates(cut_.graph[id]) ? 1 : 0));
      }
    });
    for (Ends& ends : ends_)
      if (ends.graph.block) ends.reach = position_[ends.graph.call.index()];
  }

  void merge_in(const Block& block) {
    std::uint32_t before = UINT32_MAX;
    for (CallId id : block.calls) {
      const std::uint32_t channel = cut_.host[id].index;
      if (!cut_.host[id].form->talks) {
        if (!cut_.host[id].form->cheap) before = UINT32_MAX;
      } else if (before != UINT32_MAX && fit(before, channel)) {
        merge(before, channel);
      } else {
        before = channel;
      }
    }
  }

  bool fit(std::uint32_t first, std::uint32_t second) const {
    if (cut_.channels[first].to_host != cut_.channels[second].to_host) return false;
    if (cut_.channels[second].items.size() != 1) return false;
    if (!has_value(cut_.channels[first]) || !has_value(cut_.channels[second])) return false;
    const Ends &a = ends_[first], &b = ends_[second];
    if (!a.graph.block || a.graph.block != b.graph.block || !a.host.block || a.host.block != b.host.block) return false;
    return a.reach < b.reach && separators_[b.reach] == separators_[a.reach + 1];
  }
  // Where nothing is given (export says only that it is done) there is no element of a message.
  static bool has_value(const Channel& channel) { return !channel.items[0].type.is(Type::Kind::none); }
  // Tensor operations take no time where they are recorded. Those whose extents are looked at then can fail there.
  static bool separates(const Call& call) {
    if (!call.guards.empty()) return true;
    const bool records = call.form == Form::invoke || call.form == Form::receive;
    return call.builtin ? call.builtin->runs_in != RunsIn::graph : !call.form->cheap && !records;
  }

  void merge(std::uint32_t first, std::uint32_t second) {
    Channel &into = cut_.channels[first], &from = cut_.channels[second];
    const bool to_host = into.to_host;
    Function& writer = to_host ? cut_.graph : cut_.host;
    Function& reader = to_host ? cut_.host : cut_.graph;
    const End write_first = to_host ? ends_[first].graph : ends_[first].host;
    const End write_second = to_host ? ends_[second].graph : ends_[second].host;
    ends_[first].reach = ends_[second].reach;
    // One message, where the second one was written.
    Call& put = writer[write_second.call];
    std::vector<CallId> values = std::move(writer[write_first.call].in);
    values.insert(values.end(), put.in.begin(), put.in.end());
    put.in = std::move(values);
    put.index = first;
    (to_host ? graph_ : host_).gone.insert(write_first.call.value);
    (to_host ? ends_[first].graph : ends_[first].host) = write_second;

    const std::size_t before = into.items.size();
    into.items.insert(into.items.end(), from.items.begin(), from.items.end());
    from.items.clear();
    End& read_first = to_host ? ends_[first].host : ends_[first].graph;
    const End read_second = to_host ? ends_[second].host : ends_[second].graph;
    if (before == 1) read_first.call = take_apart(reader, read_first, to_host ? host_ : graph_);
    as_element(reader, read_second.call, read_first.call, before);
    Type& message = reader[read_first.call].type;
    message.parts.push_back(reader[read_second.call].type);
  }

  // The dequeue becomes the first element of a message that is read in front of it.
  static CallId take_apart(Function& reader, const End& end, Moves& moves) {
    Call message;
    message.form = Form::dequeue;
    message.span = reader[end.call].span;
    message.index = reader[end.call].index;
    message.type = Type::tuple({reader[end.call].type});
    reader.calls.push_back(std::move(message));
    const CallId id(reader.calls.size() - 1);
    moves.in_front.emplace(end.call.value, id);
    as_element(reader, end.call, id, 0);
    return id;
  }
  static void as_element(Function& reader, CallId id, CallId message, std::size_t position) {
    Call& call = reader[id];
    call.form = Form::element;
    call.index = static_cast<std::uint32_t>(position);
    call.in = {message};
  }

  static void rewrite(Function& function, const Moves& moves) {
    each_block(function, function.body, [&](Block& block) {
      std::vector<CallId> calls;
      for (CallId id : block.calls) {
        if (auto message = moves.in_front.find(id.value); message != moves.in_front.end())
          calls.push_back(message->second);
        if (!moves.gone.contains(id.value)) calls.push_back(id);
      }
      block.calls = std::move(calls);
    });
  }

  void remove_empty() {
    std::vector<std::uint32_t> names(cut_.channels.size());
    std::vector<Channel> kept;
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = static_cast<std::uint32_t>(kept.size());
      if (cut_.channels[i].items.empty()) continue;
      kept.push_back(std::move(cut_.channels[i]));
      kept.back().site = names[i];
    }
    cut_.channels = std::move(kept);
    for (Function* part : {&cut_.host, &cut_.graph})
      for (Call& call : part->calls)
        if (call.form->talks) call.index = names[call.index];
  }

  FunctionCut& cut_;
  std::vector<Ends> ends_;               // by channel
  std::vector<std::size_t> position_;    // by call of the graph part
  std::vector<std::size_t> separators_;  // in front of each position
  Moves host_, graph_;
};

}  // namespace

void sink_receives(Function& host, FunctionRef<bool(FunctionId)> quiet) {
  Sinking sinking(host, quiet);
  each_block(host, host.body, [&](Block& block) { sinking.block(block); });
}

void merge_messages(FunctionCut& cut) { Merging(cut).run(); }

}  // namespace taskspec
