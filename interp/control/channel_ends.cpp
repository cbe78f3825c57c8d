#include "interp/control/channel_ends.hpp"

#include "interp/control/capture.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/rebuilt.hpp"
#include "interp/control/received.hpp"

namespace taskspec {

namespace {

// A copy that shares nothing which can be changed.
Value detached(const Value& value) {
  return rebuilt_items(value, [](const Value& leaf) { return leaf; });
}

// What print shows of a future or an invocation, without the future itself.
class Named final : public Object {
 public:
  explicit Named(std::string t) : text_(std::move(t)) {}
  std::string text() const override { return text_; }

 private:
  std::string text_;
};

Value names_in(const Value& value) {
  return rebuilt_items(value, [](const Value& leaf) {
    if (!leaf.is_object() && !leaf.is_array()) return leaf;
    return Value(std::static_pointer_cast<Object>(std::make_shared<Named>(print(leaf))));
  });
}

// Handles belong to the graph's thread: none of them may leave it, wherever in a value they are. An agent is for the
// host what it makes of one itself: without slots.
Value without_tensors(const Target& target, const Value& value) {
  return rebuilt(value, [&](const Value& leaf) { return target.is_tensor(leaf) ? Value() : without_slots(leaf); });
}

// An agent as it is now, its layers too.
Value contents_of(Target& target, const Value& value, Span span) {
  return rebuilt(value, [&](const Value& leaf) {
    if (target.is_tensor(leaf)) return Value(target.receive(leaf, span));
    auto* agent = leaf.as<Agent>();
    if (!agent || agent->slots.empty()) return leaf;
    auto copy = std::make_shared<Agent>(*agent);
    for (Value& slot : copy->slots) slot = contents_of(target, slot, span);
    return Value(std::static_pointer_cast<Object>(copy));
  });
}

Value failed(const Diags& diags) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<FailedReceive>(diags)));
}

}  // namespace

ChannelEnd::ChannelEnd(const CutProgram& cut, Exchange& exchange, Part side, std::function<void(Part)> pause)
    : cut_(cut), exchange_(exchange), pause_(std::move(pause)), side_(side), whole_of_(cut.program.functions.size()) {
  for (std::size_t i = 0; i < cut.parts.size(); ++i)
    for (FunctionId part : {cut.parts[i].host, cut.parts[i].graph})
      if (part.valid()) whole_of_[part.index()] = FunctionId(i);
}

FunctionId ChannelEnd::part(FunctionId whole) const {
  if (whole.index() >= cut_.parts.size()) return {};
  const FunctionKind kind = cut_.program[whole].kind;
  // A task or graph as a value has nothing for the host and is itself the graph's part.
  if (kind == FunctionKind::task || kind == FunctionKind::graph) return side_ == Part::graph ? whole : FunctionId();
  return cut_.part(whole, side_);
}

void ChannelEnd::put(const Frame& frame, const Call& call, Values values) {
  if (pause_) pause_(side_);
  const std::int64_t begin = log_ ? log_->now() : 0;
  exchange_.put(ChannelId(call.index), {frame.activation, std::move(values)});
  if (log_) log_->message(ControlEntry::What::send, call.index, begin);
}

Value ChannelEnd::take(const Frame& frame, const Call& call) {
  const std::int64_t begin = log_ ? log_->now() : 0;
  std::optional<Message> message = exchange_.take(ChannelId(call.index));
  if (!message) throw PartnerEnded{};
  if (log_) log_->message(ControlEntry::What::receive, call.index, begin);
  if (message->activation != frame.activation) bug("host and graph program met in different calls of one function");
  if (message->values.size() == 1) return std::move(message->values[0]);
  return Value(Tuple{List(message->values.begin(), message->values.end())});
}

// ---- host -----------------------------------------------------------------------------------------

void HostChannelEnd::enqueue(Interpreter&, Frame& frame, const Call& call) {
  const Channel& channel = cut_[ChannelId(call.index)];
  Values values;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const Value& value = frame[call.in[i]];
    if (channel.items[i].what != Carries::trips)
      values.push_back(detached(value));
    else
      values.push_back(value.is_range() ? value : Value(Range{0, static_cast<std::int64_t>(value.list().size())}));
  }
  put(frame, call, std::move(values));
}

Value HostChannelEnd::dequeue(Interpreter&, Frame& frame, const Call& call) {
  if (pause_) pause_(Part::host);
  Value value = take(frame, call);
  auto* failure = value.as<FailedReceive>();
  if (!failure) return value;
  heard_failure_ = true;
  throw Error(failure->diags);
}

// ---- graph ----------------------------------------------------------------------------------------

Value GraphChannelEnd::outgoing(Target& target, Carries what, const Value& value, Span span) {
  switch (what) {
    case Carries::scalar:
      return received(target, value, Receive::scalar, span);
    case Carries::array:
      return received(target, value, Receive::array, span);
    case Carries::iter:
      return received(target, value, Receive::iter, span);
    case Carries::contents:
      return contents_of(target, value, span);
    case Carries::handle:
      return names_in(value);
    default:
      return without_tensors(target, value);
  }
}

void GraphChannelEnd::enqueue(Interpreter& interpreter, Frame& frame, const Call& call) {
  const Channel& channel = cut_[ChannelId(call.index)];
  if (channel.orders()) {  // what it allowed has been recorded
    interpreter.target().run_prints();
    exchange_.done();
    if (exchange_.enough()) throw PartnerEnded{};
    return;
  }
  Values values;
  bool fails = false;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const ChannelItem& item = channel.items[i];
    try {
      values.push_back(detached(outgoing(interpreter.target(), item.what, frame[call.in[i]], item.span)));
    } catch (const Error& error) {
      values.push_back(failed(error.diags()));
      fails = true;
      exchange_.fail();
    }
  }
  put(frame, call, std::move(values));
  if (fails) throw PartnerEnded{};  // as the host will when it comes there
}

Value GraphChannelEnd::dequeue(Interpreter& interpreter, Frame& frame, const Call& call) {
  // What is worth it runs meanwhile, whether the message is there already or not: where a session is cut into batches
  // must not hang on the clock. Where the program may end, what has effects comes first: it counts in any case, and
  // only when it is done may the host be told that the rest does not.
  const ChannelId channel(call.index);
  const bool may_end = cut_[channel].items[0].what == Carries::passed;
  if (pause_) pause_(Part::graph);
  if (Target& target = interpreter.target(); target.due()) {
    if (may_end) {
      target.run_effects();
      exchange_.set_ahead();
    }
    if (!exchange_.over(channel)) target.run_pending();
  }
  Value value = take(frame, call);
  if (may_end) exchange_.set_passed();
  if (value.is_array()) return interpreter.target().constant(value.array());  // what the host loaded
  return value;
}

}  // namespace taskspec
