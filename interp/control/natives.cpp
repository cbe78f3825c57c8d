#include "interp/control/natives.hpp"

#include <atomic>

#include "interp/control/native_check.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

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

#ifdef NDEBUG
std::atomic<bool> checking = false;
#else
std::atomic<bool> checking = true;
#endif

}  // namespace

void check_native_calls(bool on) { checking = on; }
bool checks_native_calls() { return checking; }

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
