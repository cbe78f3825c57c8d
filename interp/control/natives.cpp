#include "interp/control/natives.hpp"

#include <atomic>

#include "interp/control/native_check.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

void NativeTaskBody::over_views(const NativeViewSite& site, const ExternCall&) const {
  throw failure("E5011", {}, "the C++ function behind '" + site.task + "' works on tensors, and is called with views");
}

namespace {

// One without a reverse.
class ForwardAlone final : public NativeTaskBody {
 public:
  explicit ForwardAlone(std::function<void(const NativeCall&)> body) : body_(std::move(body)) {}
  void forward(const NativeCall& call) const override { body_(call); }

 private:
  const std::function<void(const NativeCall&)> body_;
};

}  // namespace

void Natives::define(const std::string& symbol, std::function<void(const NativeCall&)> forward) {
  define(symbol, std::make_shared<const ForwardAlone>(std::move(forward)));
}

void Natives::define(const std::string& symbol, std::shared_ptr<const NativeTaskBody> body,
                     const std::string& instance) {
  std::lock_guard lock(mutex_);
  bodies_[{symbol, instance}] = std::move(body);
}

std::shared_ptr<const NativeTaskBody> Natives::find(const std::string& symbol, const std::string& instance) const {
  {
    std::lock_guard lock(mutex_);
    if (auto own = bodies_.find({symbol, instance}); own != bodies_.end()) return own->second;
    if (auto shared = bodies_.find({symbol, ""}); shared != bodies_.end()) return shared->second;
  }
  return behind_ ? behind_->find(symbol, instance) : nullptr;
}

void Natives::define_host(const std::string& symbol, HostBody body) {
  std::lock_guard lock(mutex_);
  host_bodies_[symbol] = std::make_shared<const HostBody>(std::move(body));
}

std::shared_ptr<const HostBody> Natives::find_host(const std::string& symbol) const {
  std::lock_guard lock(mutex_);
  auto found = host_bodies_.find(symbol);
  return found == host_bodies_.end() ? nullptr : found->second;
}

std::shared_ptr<const NativeTaskBody> native_body(const Natives* natives, const std::string& symbol,
                                                  const NativeSite& site, Span place) {
  if (auto body = natives ? natives->find(symbol, site.instance) : nullptr) return body;
  Diags diags;
  diags.error("E7001", place, "no C++ function stands behind extern \"" + symbol + "\"")
      .help("a program in C++ that runs this one says define_extern(\"" + symbol + "\", ...)");
  throw Error(std::move(diags));
}

namespace {

void run(const NativeTaskBody& body, NativePass pass, const NativeCall& call, Span place) {
  try {
    pass == NativePass::forward ? body.forward(call) : body.backward(call);
  } catch (const Error& error) {  // what the function asked for and may not have
    Diag first = error.diags().items().front();
    if (!first.primary.span.valid()) first.primary.span = place;
    throw Error(std::move(first));
  } catch (const std::exception& thrown) {
    throw failure("E5011", place, std::string("a C++ task threw: ") + thrown.what());
  } catch (...) {
    throw failure("E5011", place, "a C++ task threw something that is no std::exception");
  }
}

// A task over views.
class ViewTask final : public ExternBody {
 public:
  ViewTask(std::shared_ptr<const NativeTaskBody> body, NativeViewSite site, Span place)
      : body_(std::move(body)), site_(std::move(site)), place_(place) {}
  void run(const ExternCall& call) const override {
    try {
      body_->over_views(site_, call);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& thrown) {
      throw failure("E5011", place_, std::string("a C++ task threw: ") + thrown.what());
    } catch (...) {
      throw failure("E5011", place_, "a C++ task threw something that is no std::exception");
    }
  }

 private:
  const std::shared_ptr<const NativeTaskBody> body_;
  const NativeViewSite site_;
  const Span place_;
};

#ifdef NDEBUG
std::atomic<bool> checking = false;
#else
std::atomic<bool> checking = true;
#endif

}  // namespace

void check_native_calls(bool on) { checking = on; }
bool checks_native_calls() { return checking; }

std::shared_ptr<const ExternBody> extern_view(const Natives* natives, const Program& program, FunctionId task,
                                              std::span<const ArrayType> inputs) {
  const Function& function = program[task];
  NativeViewSite site{program.display_name(task), {}, {}};
  for (const Parameter& parameter : function.parameters) {
    NativeViewSite::Parameter made{parameter.name, parameter.privilege, parameter.type.kind, {}, {}};
    if (parameter.type.is(Type::Kind::view)) {
      for (std::uint32_t field : parameter.type.places) {
        const FieldsTable::Field& of = program[parameter.type.fields].fields[field];
        made.fields.push_back({field, of.name, of.precision});
      }
    } else {
      made.type = inputs.front();
      inputs = inputs.subspan(1);
    }
    site.parameters.push_back(std::move(made));
  }
  for (const Output& output : function.outputs) site.outputs.push_back(output.type.precision);
  NativeSite named{site.task, "", {}, {}};
  std::shared_ptr<const NativeTaskBody> body = native_body(natives, function.extern_symbol, named, function.span);
  return std::make_shared<ViewTask>(std::move(body), std::move(site), function.span);
}

void call_native(const NativeTaskBody& body, NativePass pass, const NativeCall& call, Span place) {
  if (!checking) return run(body, pass, call, place);
  run_checked(call, pass, place, [&](const NativeCall& checked) { run(body, pass, checked, place); });
}

Value call_host(const Natives* natives, const std::string& symbol, std::span<const Value> arguments, Span place) {
  std::shared_ptr<const HostBody> body = natives ? natives->find_host(symbol) : nullptr;
  if (!body) throw failure("E7001", place, "no C++ function stands behind fn \"" + symbol + "\"");
  try {
    return (*body)(arguments);
  } catch (const std::exception& thrown) {
    throw failure("E5011", place, "the C++ function '" + symbol + "' threw: " + thrown.what());
  } catch (...) {
    throw failure("E5011", place, "the C++ function '" + symbol + "' threw something that is no std::exception");
  }
}

}  // namespace taskspec
