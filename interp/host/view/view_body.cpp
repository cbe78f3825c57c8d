#include "interp/host/view/view_body.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "interp/host/row.hpp"
#include "interp/host/view/lane_maker.hpp"
#include "interp/host/view/machine.hpp"
#include "interp/host/view/scalar_run.hpp"
#include "ir/plan/extern_body.hpp"
#include "ir/view_code/make_view_code.hpp"

namespace taskspec {

namespace {

// False where it throws; context.faults says why.
template <class Run>
bool keeps_faults(TaskContext& context, Run&& run) {
  try {
    run();
    return true;
  } catch (LaneFault& fault) {
    context.faults.push_back({0, std::move(fault.fault)});
  } catch (...) {
    keep_thrown(context);
  }
  return false;
}

class BoundLanes final : public BoundCode {
 public:
  // `compiled`: null, or of that program, which it lives as long as.
  BoundLanes(const LaneProgram& program, const ViewCode& code, const ScalarCode* compiled, const ViewRun& run,
             TaskContext& context)
      : own_scratch_(program.has_strips ? 0 : program.ones.size()),
        memory_(new std::byte[own_scratch_ + LaneMachine::state_bytes(program)]),
        machine_(program, code, run, context, program.has_strips ? context.scratch : memory_.get(),
                 memory_.get() + own_scratch_) {
    std::ranges::copy(std::span(program.ones).first(own_scratch_), memory_.get());
    if (compiled) compiled_.emplace(*compiled, machine_);
  }
  bool run(TaskContext& context) override {
    return keeps_faults(context, [&] { machine_.run(own_scratch_ == 0, compiled_ ? &*compiled_ : nullptr); });
  }
  bool needs_scratch() const override { return own_scratch_ == 0; }

 private:
  const std::size_t own_scratch_;  // bytes: where a register is one element, they are few, and constants stay in them
  const std::unique_ptr<std::byte[]> memory_;
  LaneMachine machine_;
  std::optional<ScalarRun> compiled_;
};

class LaneBody final : public ViewBody {
 public:
  // `sources`: where the text stands, if there is one.
  LaneBody(ViewCode code, const OpTable& ops, const Sources* sources)
      : code_(std::move(code)), program_(make_lanes(code_, ops)), why_not_strip_(program_.why_not_strip) {
    if (program_.loops.empty() && !program_.has_tensors) why_not_strip_ = "no loop over a view";
    if (sources && program_.why_at.valid())
      why_not_strip_ =
          fmt::format("line {}: {}", (*sources)[program_.why_at.source].position(program_.why_at.begin).line,
                      program_.why_not_strip);
  }

  std::size_t scratch_bytes() const override { return program_.scratch_bytes + LaneMachine::state_bytes(program_); }
  std::string_view form() const override {
    return !why_not_strip_.empty() ? "scalar" : program_.has_tensors ? "tensors" : "strip";
  }
  const std::string& why_not_strip() const override { return why_not_strip_; }

  bool run(const ViewRun& run, TaskContext& context) const override {
    return keeps_faults(context, [&] {
      LaneMachine(program_, code_, run, context, context.scratch, context.scratch + program_.scratch_bytes).run();
    });
  }

  std::unique_ptr<BoundCode> bind(const ViewRun& run, TaskContext& context) const override {
    if (program_.has_tensors) return nullptr;
    std::call_once(is_compiled_, [&] { compiled_ = ScalarCode::make(program_, code_); });
    return std::make_unique<BoundLanes>(program_, code_, compiled_.get(), run, context);
  }

 private:
  const ViewCode code_;
  const LaneProgram program_;
  std::string why_not_strip_;
  // Of what is bound; the first one pays for it.
  mutable std::once_flag is_compiled_;
  mutable std::unique_ptr<const ScalarCode> compiled_;
};

// A C++ function.
class ExternViewBody final : public ViewBody {
 public:
  explicit ExternViewBody(std::shared_ptr<const ExternBody> body) : body_(std::move(body)) {}
  std::size_t scratch_bytes() const override { return 0; }
  const ExternBody* extern_body() const override { return body_.get(); }
  std::string_view form() const override { return "extern"; }
  const std::string& why_not_strip() const override { return why_; }

  bool run(const ViewRun& run, TaskContext& context) const override {
    try {
      std::size_t count = 0;
      for (const ViewMemory& view : run.views) count += view.fields.size();
      Row<std::byte*> fields(count);
      Row<ExternView> views(run.views.size());
      std::size_t first = 0;
      for (std::size_t v = 0; v < run.views.size(); ++v) {
        const ViewMemory& view = run.views[v];
        const PieceMemory& memory = view.memory;
        for (std::size_t f = 0; f < view.fields.size(); ++f) fields[first + f] = view.fields[f].base;
        views[v] = {view.points, view.root, fields.from(first, view.fields.size()),
                    memory.box ? memory : PieceMemory::inside(*view.root)};
        first += view.fields.size();
      }
      body_->run({views, run.inputs, run.outputs, run.output_elements, run.point});
      return true;
    } catch (...) {
      keep_thrown(context);
      return false;
    }
  }

 private:
  const std::shared_ptr<const ExternBody> body_;
  const std::string why_ = "it is a C++ function";
};

Result<std::shared_ptr<const ViewBody>> made(ViewCode code, const OpTable& ops, const Sources* sources) {
  try {
    return std::shared_ptr<const ViewBody>(std::make_shared<LaneBody>(std::move(code), ops, sources));
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace

Result<std::shared_ptr<const ViewBody>> ViewBody::make(const Request& request) {
  Result<ViewCode> code = make_view_code({request.program, request.task, request.ops, request.inputs, request.global});
  if (!code) return code.diags();
  return made(*std::move(code), request.ops, &request.program.sources);
}

std::shared_ptr<const ViewBody> ViewBody::of(std::shared_ptr<const ExternBody> body) {
  return std::make_shared<ExternViewBody>(std::move(body));
}

Result<std::shared_ptr<const ViewBody>> ViewBody::of(ViewCode code, const OpTable& ops) {
  return made(std::move(code), ops, nullptr);
}

}  // namespace taskspec
