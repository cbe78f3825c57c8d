// Of ShardRun: calls that come again and again, with other numbers.
#include "interp/mpi/shard_run.hpp"
#include "interp/shards/traces/token.hpp"

namespace taskspec {

std::optional<KnownCall> ShardRun::known(Operation op, std::string_view name, Span span,
                                         const std::vector<bool>& numbers) {
  if (options_.inject) return std::nullopt;  // one of them may become another one
  // What was sent with it came once.
  const std::size_t sent = CallEncoder::has_sent(arguments_) ? 1 : 0;
  KnownCall call{{op.kind, span, std::string(name), ++known_calls_, CallArguments().append(arguments_, sent), {}},
                 numbers.size(),
                 {},
                 token_of(op),
                 &text_of(op.kind, name, span)};
  const std::size_t first = call.repeated.arguments.marks().size() - numbers.size();
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (!numbers[k]) continue;
    call.repeated.numbers.push_back({call.repeated.arguments.number(first + k), k});
  }
  call.op = std::make_shared<Operation>(std::move(op));
  return call;
}

// Others are answered now and then: a call that comes again is over sooner than their messages.
static constexpr std::uint64_t calls_of_a_turn = 16;

std::uint64_t ShardRun::log_again(CallLog::Repeated& call, std::span<const std::uint64_t> bits) {
  if (!CallEncoder::has_only_sent(arguments_)) return log_.record_again(call, bits);
  for (const CallLog::Repeated::Number& number : call.numbers) call.arguments.put(number.place, bits[number.value]);
  return log_.record(call.kind, call.name, arguments_.append(call.arguments), call.span);
}

void ShardRun::call_again(KnownCall& call, std::span<const std::uint64_t> bits) {
  wait_for_checks();
  const std::uint64_t number = log_again(call.repeated, bits);
  call.op->number = number;
  has_called(number, call.repeated.kind, call.repeated.name, call.repeated.span, call.text);
  if (++called_again_ % calls_of_a_turn == 0) {
    turn();
    raise();
  }
  tell_dump(*call.op);
  engine_.issue_again(call.op, call.token);
}

std::uint64_t ShardRun::call_again(std::span<KnownCall* const> calls, std::span<const std::uint64_t> bits) {
  beat();
  turn();
  raise();
  wait_for_checks();  // a search may have begun just now
  const std::uint64_t first = last_call() + 1;
  untold_ = {calls, bits};
  engine_.replay_again(first, calls.size());
  const KnownCall& last = *calls.back();
  note_call(last_call(), last.repeated.kind, last.repeated.name, last.repeated.span, last.text);
  return first;
}

bool ShardRun::work() {
  if (untold_.calls.empty() || watch_.is_searching()) return false;
  KnownCall& call = *untold_.calls.front();
  log_again(call.repeated, untold_.bits);
  untold_ = {untold_.calls.subspan(1), untold_.bits.subspan(call.values)};
  watch_.called();
  return true;
}

void ShardRun::tell_all_calls() {
  while (!untold_.calls.empty()) {
    wait_for_checks();
    work();
  }
}

}  // namespace taskspec
