// A session beside another one, on the same backend: ops are timed, nothing is kept.
#include "interp/session/session.hpp"

namespace taskspec {

namespace {

class SessionTrial final : public Trial {
 public:
  SessionTrial(Backend& backend, Bodies& bodies, SessionOptions options)
      : before_(backend.memory().live_bytes), session_(backend, bodies, options) {}
  Recorder& recorder() override { return session_; }
  void run() override { session_.finish(); }
  std::vector<OpRow> rows() const override { return session_.op_rows(); }
  std::uint64_t peak_bytes() const override {
    return session_.run_peak() > before_ ? session_.run_peak() - before_ : 0;
  }

 private:
  const std::uint64_t before_;  // that others hold, who do nothing meanwhile
  Session session_;
};

}  // namespace

std::unique_ptr<Trial> Session::trial() {
  return std::make_unique<SessionTrial>(
      backend_, bodies_,
      SessionOptions{
          .schedule = options_.schedule, .record_ops = true, .sink_rule = options_.sink_rule, .forget = true});
}

}  // namespace taskspec
