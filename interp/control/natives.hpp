// The C++ functions behind `extern` tasks and fns, by symbol: a program in C++ that embeds the runtime fills the table.
//
//   natives.define("measure", [](std::span<const Value> arguments, std::span<Array> outputs) { ... });
//   natives.define_host("step", [](std::span<const Value> arguments) { return Value(...); });
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "ir/base/source.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// `arguments` by parameter, tensors as arrays; `outputs` have their types already.
using NativeBody = std::function<void(std::span<const Value> arguments, std::span<Array> outputs)>;
// Of a fn of the host program: host values by parameter, and its result; none where it gives nothing.
using HostBody = std::function<Value(std::span<const Value> arguments)>;

class Natives {
 public:
  void define(const std::string& symbol, NativeBody body);
  std::shared_ptr<const NativeBody> find(const std::string& symbol) const;  // null: there is none
  void define_host(const std::string& symbol, HostBody body);
  std::shared_ptr<const HostBody> find_host(const std::string& symbol) const;  // likewise

 private:
  mutable std::mutex mutex_;  // bodies run on the threads of a backend
  std::map<std::string, std::shared_ptr<const NativeBody>> bodies_;
  std::map<std::string, std::shared_ptr<const HostBody>> host_bodies_;
};

// Calls the function behind `symbol`: E7001 where there is none, E5011 when it throws.
void call_native(const Natives* natives, const std::string& symbol, std::span<const Value> arguments,
                 std::span<Array> outputs, Span place);
Value call_host(const Natives* natives, const std::string& symbol, std::span<const Value> arguments, Span place);

}  // namespace taskspec
