#include "interp/open_session.hpp"

#include <chrono>

namespace taskspec {

namespace {

Value report_value(const SessionReport& report) {
  auto record = std::make_shared<Record>();
  auto number = [](std::uint64_t n) { return Value(static_cast<std::int64_t>(n)); };
  record->fields = {{"tasks", number(report.tasks)},
                    {"chains", number(report.chains)},
                    {"dispatches", number(report.dispatches)},
                    {"peak", number(report.memory.peak_bytes)},
                    {"seconds", Value(report.seconds)}};
  return Value(std::static_pointer_cast<Object>(record));
}

}  // namespace

InterruptWatch::InterruptWatch(Backend& backend, const std::atomic<bool>* interrupted) {
  if (!interrupted) return;
  thread_ = std::jthread([this, &backend, interrupted](std::stop_token stop) {
    std::unique_lock lock(mutex_);
    // Again and again: a run that begins just then has not heard of it.
    while (!ended_.wait_for(lock, stop, std::chrono::milliseconds(50), [&] { return stop.stop_requested(); }))
      if (interrupted->load(std::memory_order_relaxed)) backend.interrupt();
  });
}

Value OpenSession::report() {
  session_->finish();
  return report_value(session_->report());
}

SessionReport OpenSession::close() {
  SessionReport report = session_->report();
  session_.reset();
  report.memory = backend_->memory();
  return report;
}

}  // namespace taskspec
