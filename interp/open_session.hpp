// A backend, a session on it and the target that records into the session: for a program, for `run .. on` inside of
// it, and for a prompt.
//
//   std::unique_ptr<OpenSession> session = open_session(interpreter, settings);
//   interpreter.set_target(session->target());
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "interp/control/bodies.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/record.hpp"
#include "interp/control/replica.hpp"
#include "interp/control/run_picture.hpp"
#include "interp/session/session.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

// Ctrl-C reaches the tasks that a backend runs: whoever waits for them cannot look at the flag meanwhile.
class InterruptWatch {
 public:
  InterruptWatch(Backend& backend, const std::atomic<bool>* interrupted);

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

class OpenSession final : public NestedSession {
 public:
  OpenSession(const BackendChoice& on, const Interpreter& interpreter, SessionOptions options,
              const std::atomic<bool>* interrupted);
  ~OpenSession() override;
  // Of a backend that runs the program several times: this is one of those.
  bool is_replicated() const;
  void join(const std::shared_ptr<Replica>& replica, const Interpreter& interpreter, Span span);
  // What runs several times begins and ends with this session: the others are waited for when it ends.
  void join_own(std::shared_ptr<Replica> first, const Interpreter& interpreter, Span span);
  const std::shared_ptr<Replica>& own_replica() const { return own_; }  // null: there is none
  Target& target() override { return target_; }
  bool owns(const Tensor& tensor) const override { return tensor.is_of(*session_); }
  bool named() const override { return session_->handles > target_.kept_handles(); }
  void hold() override {
    session_->hold();
    target_.keep_agents();
  }
  std::vector<Array> run_steps(const TimeSteps& steps, Span place) override {
    return session_->run_steps(steps, place);
  }
  Value report() override;
  void failed(const Diags& why) override;
  Diags end_early() override;
  // What failed of the effects that ran.
  Diags failed_effects();
  Diags failed_print();  // the first of what was to be shown and could not
  Session& session() { return *session_; }
  void finish();  // what has effects runs; the program records no more
  // The last report: with everything freed that the session held.
  SessionReport close();
  // What its backend has to show goes there once, when it ends.
  void show_in(std::shared_ptr<RunPictures> pictures);

 private:
  const BackendRecord& record_;
  std::unique_ptr<Backend> backend_;
  ProgramBodies bodies_;
  std::unique_ptr<Session> session_;
  RecordTarget target_;
  ReplicatedBackend* replicated_ = nullptr;
  std::shared_ptr<Replica> own_;
  void end_own();
  bool is_finished_ = false;
  InterruptWatch watch_;
  void show();
  std::shared_ptr<RunPictures> pictures_;
};

struct RunSettings;

Diags no_memory_left();  // E5008, instead of std::bad_alloc
// Adds what failed elsewhere than that which is known already.
void add_others(Diags& known, const Diags& others);

// What `on` or a text chooses, with what the settings say of every session.
std::unique_ptr<OpenSession> open_session(const Interpreter& interpreter, const BackendChoice& choice,
                                          const RunSettings& settings, Span span = {});
// As that run of the program, whatever the settings say; null: the only one.
std::unique_ptr<OpenSession> open_session(const Interpreter& interpreter, const BackendChoice& choice,
                                          const RunSettings& settings, Span span,
                                          const std::shared_ptr<Replica>& replica);
// That of the program itself.
std::unique_ptr<OpenSession> open_session(const Interpreter& interpreter, const RunSettings& settings);
// Those of a further run of the same program, or of one call of it, which nobody sees.
RunSettings unseen_settings(const RunSettings& given, const std::shared_ptr<AgreedValues>& agreed,
                            std::shared_ptr<Replica> replica);
// A host program as the settings want it; then, once there is an interpreter, with `run .. on`. Both outlive it.
void take_settings(HostContext& host, const RunSettings& settings);
void let_open_sessions(HostContext& host, const Interpreter& interpreter, const RunSettings& settings);

}  // namespace taskspec
