#include "interp/open_session.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "interp/backends/backends.hpp"
#include "interp/backends/read.hpp"
#include "interp/captured_run.hpp"
#include "interp/host/start_thread.hpp"
#include "interp/run_settings.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

// Task by task a chip would be mapped for each of them.
SessionOptions options_for(const BackendRecord& record, const Backend& backend, SessionOptions options) {
  options.keeps_constants = record.keeps_constants;
  if (backend.keeps_steps_whole() && options.schedule == Schedule::eager) options.schedule = Schedule::push;
  return options;
}

}  // namespace

OpenSession::OpenSession(const BackendChoice& on, const Interpreter& interpreter, SessionOptions options,
                         const std::atomic<bool>* interrupted)
    : record_(*on.backend->backend),
      backend_(record_.open(on.options)),
      bodies_(interpreter, options.detect_nan),
      session_(std::make_unique<Session>(*backend_, bodies_, options_for(record_, *backend_, options))),
      target_(interpreter.program(), *session_),
      watch_(*backend_, interrupted) {
  if (options.record_ops) bodies_.watch();
}

OpenSession::~OpenSession() {
  failed({});
  end_own();
}

bool OpenSession::is_replicated() const { return dynamic_cast<ReplicatedBackend*>(backend_.get()) != nullptr; }

void OpenSession::join(const std::shared_ptr<Replica>& replica, const Interpreter& interpreter, Span span) {
  auto* replicated = dynamic_cast<ReplicatedBackend*>(backend_.get());
  if (!replicated) return;
  replicated->join(replica, target_, interpreter, span);
  replicated_ = replicated;
}

void OpenSession::join_own(std::shared_ptr<Replica> first, const Interpreter& interpreter, Span span) {
  own_ = std::move(first);
  join(own_, interpreter, span);
}

// Nothing that the program goes on with is in their hands any more.
void OpenSession::end_own() {
  if (!own_) return;
  if (own_->agreed) own_->agreed->end();
  own_->others.reset();
}

void OpenSession::failed(const Diags& why) {
  if (replicated_ && !is_finished_) {
    replicated_->fail(why);
    show();  // how far all have come
  }
  end_own();
}

// All that has effects ran: nothing is said to other shards any more.
void OpenSession::finish() {
  session_->finish();
  if (!replicated_ || is_finished_) return;
  replicated_->finish();
  is_finished_ = true;
}

namespace {

Value report_value(const SessionReport& report, const BackendRecord& backend, std::vector<Value> more,
                   std::string text) {
  auto number = [](std::uint64_t n) { return Value(static_cast<std::int64_t>(n)); };
  std::vector<Value> values = {number(report.tasks),      number(report.chains),
                               number(report.dispatches), number(report.memory.peak_bytes),
                               Value(report.seconds),     number(report.received)};
  std::ranges::move(more, std::back_inserter(values));
  auto record = std::make_shared<Record>();
  record->table = std::move(text);
  for (std::span<const ReportField> fields : {common_report(), backend.report})
    for (const ReportField& field : fields)
      record->fields.emplace_back(field.name, std::move(values[record->fields.size()]));
  return Value(std::static_pointer_cast<Object>(record));
}

}  // namespace

InterruptWatch::InterruptWatch(Backend& backend, const std::atomic<bool>* interrupted) {
  if (!interrupted) return;
  thread_ = start_thread<std::jthread>([this, &backend, interrupted](std::stop_token stop) {
    std::unique_lock lock(mutex_);
    // Again and again: a run that begins just then has not heard of it.
    while (!ended_.wait_for(lock, stop, std::chrono::milliseconds(50), [&] { return stop.stop_requested(); }))
      if (interrupted->load(std::memory_order_relaxed)) backend.interrupt();
  });
}

Value OpenSession::report() {
  finish();
  end_own();
  show();
  return report_value(session_->report(), record_, backend_->report(), backend_->report_text());
}

namespace {

template <class F>
Diags failure_of(F&& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.diags();
  } catch (const std::bad_alloc&) {
    return no_memory_left();
  }
  return {};
}

}  // namespace

Diags OpenSession::end_early() {
  return failure_of([&] { session_->end_early(); });
}

Diags OpenSession::failed_effects() {
  return failure_of([&] { session_->raise_failed_effect(); });
}

Diags OpenSession::failed_print() {
  return failure_of([&] { session_->raise_failed_print(); });
}

Diags no_memory_left() { return failure("E5008", {}, "no memory left").diags(); }

void add_others(Diags& known, const Diags& others) {
  for (const Diag& diag : others.items())
    if (std::ranges::none_of(known.items(), [&](const Diag& d) {
          const bool is_nowhere = !diag.primary.span.valid() && d.code == diag.code && d.message == diag.message;
          return d.primary.span == diag.primary.span || is_nowhere;
        }))
      known.add(diag);
}

namespace {

std::int64_t number_of(const std::string& name, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw failure("E5003", {}, "--" + name + " takes whole numbers, not " + in_quotes(text));
  return number;
}

// As the command line has it: a word, a number, numbers with commas, or a flag, which is there or not.
Value option_value(const std::string& name, const std::string& text, OperandKind kind) {
  if (kind == OperandKind::string) return Value(text);
  if (kind == OperandKind::integer) return Value(number_of(name, text));
  if (kind == OperandKind::boolean) return Value(text == "true");
  const bool is_path = text.find_first_not_of("0123456789,-") != std::string::npos;
  if (kind == OperandKind::value && is_path) return Value(text);
  List numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    numbers.push_back(Value(number_of(name, std::string_view(text).substr(begin, end - begin))));
    begin = end + 1;
  }
  return Value(std::move(numbers));
}

void set_options(BackendChoice& on, const RunSettings& settings) {
  for (const auto& [name, text] : settings.backend_options)
    for (const Operand& operand : on.backend->operands)
      if (operand.name == name) *on.option(name) = option_value(name, text, operand.kind);
}

}  // namespace

std::unique_ptr<OpenSession> open_session(const Interpreter& interpreter, const BackendChoice& choice,
                                          const RunSettings& settings, Span span) {
  return open_session(interpreter, choice, settings, span, settings.replica);
}

std::unique_ptr<OpenSession> open_session(const Interpreter& interpreter, const BackendChoice& choice,
                                          const RunSettings& settings, Span span,
                                          const std::shared_ptr<Replica>& replica) {
  BackendChoice on = choice;
  set_options(on, settings);
  Value* threads = on.option("threads");
  if (settings.threads != 0 && threads) *threads = Value(std::int64_t{settings.threads});
  const Value* schedule = on.option("schedule");
  SessionOptions options{.schedule = settings.schedule.value_or(schedule_of(schedule ? schedule->string() : "")),
                         .record = settings.record || settings.timeline,
                         .timeline = settings.timeline,
                         .record_ops = settings.record_ops,
                         .detect_nan = settings.detect_nan,
                         .window = settings.window,
                         .forget = !settings.keep_graph,
                         .sweep = settings.sweep};
  auto session = std::make_unique<OpenSession>(on, interpreter, options, settings.interrupted);
  if (settings.pictures) session->show_in(settings.pictures);
  const RunSite* site = RunSite::current();
  if (!replica && site && session->is_replicated())
    session->join_own(captured_replica(*site, settings), interpreter, span);
  else
    session->join(replica, interpreter, span);
  return session;
}

std::unique_ptr<OpenSession> open_session(const Interpreter& interpreter, const RunSettings& settings) {
  return open_session(interpreter, settings.on ? *settings.on : BackendChoice(builtin_host), settings);
}

RunSettings unseen_settings(const RunSettings& given, const std::shared_ptr<AgreedValues>& agreed,
                            std::shared_ptr<Replica> replica) {
  RunSettings unseen = given;
  unseen.output = [](std::string_view) {};
  if (unseen.pictures) unseen.pictures = std::make_shared<RunPictures>();  // all shards are recorded, or none
  unseen.interrupted = replica->ended;
  replica->agreed = agreed;
  unseen.replica = std::move(replica);
  return unseen;
}

void take_settings(HostContext& host, const RunSettings& settings) {
  host.arguments = settings.arguments;
  host.output = settings.output;
  host.screen = settings.screen;
  host.interrupted = settings.interrupted;
  host.natives = settings.natives;
  host.replica = settings.replica;
}

void let_open_sessions(HostContext& host, const Interpreter& interpreter, const RunSettings& settings) {
  host.open_session = [&](const BackendChoice& choice, Span span) -> std::unique_ptr<NestedSession> {
    try {
      std::unique_ptr<OpenSession> session = open_session(interpreter, choice, settings, span, host.replica);
      if (session->own_replica()) host.replica = session->own_replica();
      return session;
    } catch (const Error& error) {  // the threads that it asks for, say
      Diag diag = error.diags().items().front();
      if (!diag.primary.span.valid()) diag.primary.span = span;  // else another shard failed there
      throw Error(std::move(diag));
    }
  };
}

void OpenSession::show_in(std::shared_ptr<RunPictures> pictures) {
  pictures_ = std::move(pictures);
  if (auto* pictured = dynamic_cast<PicturedBackend*>(backend_.get())) pictured->keep_pictures();
}

void OpenSession::show() {
  const auto* pictured = dynamic_cast<const PicturedBackend*>(backend_.get());
  if (pictured && pictures_) std::ranges::move(pictured->pictures(), std::back_inserter(*pictures_));
  pictures_.reset();
}

SessionReport OpenSession::close() {
  failed({});  // unless it has finished: while it parts from others, they still ask about its regions
  session_->drop_unseen();
  show();
  SessionReport report = session_->report();
  session_.reset();
  report.memory = backend_->memory();
  std::ranges::move(bodies_.inner_rows(), std::back_inserter(report.ops));
  return report;
}

}  // namespace taskspec
