#include "ir/slice_passes.hpp"

#include <algorithm>

#include "ir/slice_program.hpp"

namespace taskspec {

namespace {

bool communicates(const Call& call) { return call.form == Form::enqueue || call.form == Form::dequeue; }

// Takes no time, enters no function, prints nothing.
bool is_cheap(Form form) {
  switch (form) {
    case Form::constant:
    case Form::parameter:
    case Form::dimension:
    case Form::type:
    case Form::variable:
    case Form::global:
    case Form::op:
    case Form::tuple:
    case Form::list:
    case Form::range:
    case Form::element:
    case Form::item:
    case Form::field:
    case Form::self:
    case Form::member:
    case Form::function:
    case Form::closure:
    case Form::output:
    case Form::write:
      return true;
    default:
      return false;
  }
}

template <class F>
void each_block(Function& function, Block& block, F&& visit) {
  visit(block);
  for (CallId id : block.calls)
    for (Block& inner : function[id].blocks) each_block(function, inner, visit);
}

class Sinking {
 public:
  Sinking(Function& function, const std::function<bool(FunctionId)>& quiet) : function_(function), quiet_(quiet) {}

  void block(Block& block) {
    // From the end, so that neighbouring receives keep their order.
    for (std::size_t i = block.calls.size(); i-- > 0;)
      if (function_[block.calls[i]].form == Form::dequeue) move_down(block, i);
  }

 private:
  void move_down(Block& block, std::size_t at) {
    const CallId receive = block.calls[at];
    std::size_t to = at;
    while (to + 1 < block.calls.size() && may_pass(block.calls[to + 1], receive)) ++to;
    auto first = block.calls.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(first, first + 1, block.calls.begin() + static_cast<std::ptrdiff_t>(to + 1));
  }

  bool may_pass(CallId id, CallId receive) const {
    const Call& call = function_[id];
    if (std::ranges::find(call.in, receive) != call.in.end()) return false;
    const bool quiet_call = call.form == Form::call && quiet_(call.callee);
    const bool control = call.form == Form::if_ || call.form == Form::for_ || call.form == Form::both ||
                         call.form == Form::either;  // a while may never end
    const bool pure = call.form == Form::builtin && call.builtin->effect == Effect::pure && !may_fail(function_, call);
    if (!is_cheap(call.form) && !quiet_call && !control && !pure) return false;
    if (call.form == Form::item || (call.form == Form::op && call.type.is(Type::Kind::integer)))
      return false;  // fails?
    return std::ranges::all_of(call.blocks, [&](const Block& block) {
      return block.result != receive &&
             std::ranges::all_of(block.calls, [&](CallId inner) { return may_pass(inner, receive); });
    });
  }

  Function& function_;
  const std::function<bool(FunctionId)>& quiet_;
};

class Merging {
 public:
  explicit Merging(CutFunction& cut) : cut_(cut), ends_(cut.channels.size()) {}

  void run() {
    find_ends(cut_.host, Part::host);
    find_ends(cut_.graph, Part::graph);
    each_block(cut_.host, cut_.host.body, [&](Block& block) { merge_in(block); });
    remove_empty();
  }

 private:
  // Where a channel's call stands in each part.
  struct End {
    Block* block = nullptr;
    CallId call;
  };
  struct Ends {
    End host, graph;
  };

  void find_ends(Function& function, Part side) {
    each_block(function, function.body, [&](Block& block) {
      for (CallId id : block.calls)
        if (communicates(function[id]))
          (side == Part::host ? ends_[function[id].index].host : ends_[function[id].index].graph) = {&block, id};
    });
  }

  void merge_in(Block& block) {
    for (bool merged = true; merged;) {
      merged = false;
      std::uint32_t before = UINT32_MAX;
      for (CallId id : block.calls) {
        const Call& call = cut_.host[id];
        if (communicates(call)) {
          if (before != UINT32_MAX && fit(before, call.index)) {
            merge(before, call.index);
            merged = true;
            break;
          }
          before = call.index;
        } else if (!is_cheap(call.form)) {
          before = UINT32_MAX;
        }
      }
    }
  }

  bool fit(std::uint32_t first, std::uint32_t second) const {
    if (cut_.channels[first].to_host != cut_.channels[second].to_host) return false;
    if (cut_.channels[second].items.size() != 1) return false;
    if (!has_value(cut_.channels[first]) || !has_value(cut_.channels[second])) return false;
    const Ends &a = ends_[first], &b = ends_[second];
    if (!a.graph.block || a.graph.block != b.graph.block || !a.host.block || a.host.block != b.host.block) return false;
    const std::vector<CallId>& calls = a.graph.block->calls;
    auto from = std::ranges::find(calls, a.graph.call);
    auto to = std::find(from, calls.end(), b.graph.call);
    if (from == calls.end() || to == calls.end()) return false;
    return std::all_of(from + 1, to, [&](CallId id) { return !separates(cut_.graph[id]); });
  }
  // Where nothing is given (export says only that it is done) there is no element of a message.
  static bool has_value(const Channel& channel) { return !channel.items[0].type.is(Type::Kind::none); }
  // Tensor operations take no time where they are recorded. Those whose extents are looked at then can fail there.
  static bool separates(const Call& call) {
    if (!call.guards.empty()) return true;
    const bool records = call.form == Form::invoke || call.form == Form::receive;
    return call.form == Form::builtin ? call.builtin->cut != Cut::graph : !is_cheap(call.form) && !records;
  }

  void merge(std::uint32_t first, std::uint32_t second) {
    Channel &into = cut_.channels[first], &from = cut_.channels[second];
    const bool to_host = into.to_host;
    Function& writer = to_host ? cut_.graph : cut_.host;
    Function& reader = to_host ? cut_.host : cut_.graph;
    const End write_first = to_host ? ends_[first].graph : ends_[first].host;
    const End write_second = to_host ? ends_[second].graph : ends_[second].host;
    // One message, where the second one was written.
    Call& put = writer[write_second.call];
    std::vector<CallId> values = writer[write_first.call].in;
    values.insert(values.end(), put.in.begin(), put.in.end());
    put.in = std::move(values);
    put.index = first;
    std::erase(write_first.block->calls, write_first.call);
    (to_host ? ends_[first].graph : ends_[first].host) = write_second;

    const std::size_t before = into.items.size();
    into.items.insert(into.items.end(), from.items.begin(), from.items.end());
    from.items.clear();
    End& read_first = to_host ? ends_[first].host : ends_[first].graph;
    const End read_second = to_host ? ends_[second].host : ends_[second].graph;
    if (before == 1) read_first.call = take_apart(reader, read_first);
    as_element(reader, read_second.call, read_first.call, before);
    Type& message = reader[read_first.call].type;
    message.parts.push_back(reader[read_second.call].type);
  }

  // The dequeue becomes the first element of a message that is read in front of it.
  CallId take_apart(Function& reader, const End& end) {
    Call message;
    message.form = Form::dequeue;
    message.span = reader[end.call].span;
    message.index = reader[end.call].index;
    message.type = Type::tuple({reader[end.call].type});
    reader.calls.push_back(std::move(message));
    const CallId id(reader.calls.size() - 1);
    end.block->calls.insert(std::ranges::find(end.block->calls, end.call), id);
    as_element(reader, end.call, id, 0);
    return id;
  }
  static void as_element(Function& reader, CallId id, CallId message, std::size_t position) {
    Call& call = reader[id];
    call.form = Form::element;
    call.index = static_cast<std::uint32_t>(position);
    call.in = {message};
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
        if (communicates(call)) call.index = names[call.index];
  }

  CutFunction& cut_;
  std::vector<Ends> ends_;
};

}  // namespace

void sink_receives(Function& host, const std::function<bool(FunctionId)>& quiet) {
  Sinking sinking(host, quiet);
  each_block(host, host.body, [&](Block& block) { sinking.block(block); });
}

void merge_messages(CutFunction& cut) { Merging(cut).run(); }

}  // namespace taskspec
