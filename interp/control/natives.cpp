#include "interp/control/natives.hpp"

#include "ir/base/diag.hpp"

namespace taskspec {

void Natives::define(const std::string& symbol, NativeBody body) {
  std::lock_guard lock(mutex_);
  bodies_[symbol] = std::make_shared<const NativeBody>(std::move(body));
}

std::shared_ptr<const NativeBody> Natives::find(const std::string& symbol) const {
  std::lock_guard lock(mutex_);
  auto found = bodies_.find(symbol);
  return found == bodies_.end() ? nullptr : found->second;
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

void call_native(const Natives* natives, const std::string& symbol, std::span<const Value> arguments,
                 std::span<Array> outputs, Span place) {
  std::shared_ptr<const NativeBody> body = natives ? natives->find(symbol) : nullptr;
  if (!body) {
    Diags diags;
    diags.error("E7001", place, "no C++ function stands behind extern \"" + symbol + "\"")
        .help("a program in C++ that runs this one says define_extern(\"" + symbol + "\", ...)");
    throw Error(std::move(diags));
  }
  try {
    (*body)(arguments, outputs);
  } catch (const std::exception& thrown) {
    throw failure("E5011", place, std::string("a C++ task threw: ") + thrown.what());
  } catch (...) {
    throw failure("E5011", place, "a C++ task threw something that is no std::exception");
  }
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
