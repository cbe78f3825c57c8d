#include "interp/host/view/view_body.hpp"

#include "interp/host/view/lane_maker.hpp"
#include "interp/host/view/machine.hpp"
#include "ir/view_code/make_view_code.hpp"

namespace taskspec {

namespace {

class LaneBody final : public ViewBody {
 public:
  LaneBody(ViewCode code, const OpTable& ops) : code_(std::move(code)), program_(make_lanes(code_, ops)) {}

  std::size_t scratch_bytes() const override { return program_.scratch_bytes; }
  std::string_view form() const override { return program_.why_not_strip.empty() ? "strip" : "scalar"; }
  const std::string& why_not_strip() const override { return program_.why_not_strip; }

  bool run(const ViewRun& run, TaskContext& context) const override {
    try {
      LaneMachine(program_, code_, run, context).run();
      return true;
    } catch (LaneFault& fault) {
      context.faults.push_back({0, std::move(fault.fault)});
    } catch (...) {
      keep_thrown(context);
    }
    return false;
  }

 private:
  const ViewCode code_;
  const LaneProgram program_;
};

}  // namespace

Result<std::shared_ptr<const ViewBody>> ViewBody::make(const Request& request) {
  Result<ViewCode> code = make_view_code({request.program, request.task, request.ops, request.inputs, request.global});
  if (!code) return code.diags();
  return of(*std::move(code), request.ops);
}

Result<std::shared_ptr<const ViewBody>> ViewBody::of(ViewCode code, const OpTable& ops) {
  try {
    return std::shared_ptr<const ViewBody>(std::make_shared<LaneBody>(std::move(code), ops));
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace taskspec
