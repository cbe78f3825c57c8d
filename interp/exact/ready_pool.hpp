// What kernels that run an exact engine share: engines that are ready, and arrays on memory of the caller.
//
//   std::unique_ptr<Ready> ready = pool.take([&](const Ready& r) { return r.contents == contents; });
//   if (!ready) ready = make(...);
//   ...
//   pool.give(std::move(ready));
#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/records/kernel.hpp"

namespace taskspec {

// Each run takes one and gives it back, so that there are as many as ever ran at one time.
template <class Ready>
class ReadyPool {
 public:
  // Nothing when none fits.
  template <class Fits>
  std::unique_ptr<Ready> take(const Fits& fits) {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(free_, [&](const auto& ready) { return fits(*ready); });
    if (found == free_.end()) return nullptr;
    std::unique_ptr<Ready> ready = std::move(*found);
    free_.erase(found);
    return ready;
  }
  void give(std::unique_ptr<Ready> ready) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(ready));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Ready>> free_;
};

inline Array array_on(const ArrayType& type, const std::byte* bytes) {
  return Array::wrap(type, std::shared_ptr<std::byte>(std::shared_ptr<void>(), const_cast<std::byte*>(bytes)));
}

// What the engine says of a step that it cannot do is the fault of the kernel.
template <class Step>
std::optional<Fault> faults_of(const Step& step) {
  try {
    step();
    return std::nullopt;
  } catch (const Error& error) {
    const Diag& first = error.diags().items().front();
    return Fault{first.code, first.message};
  }
}

}  // namespace taskspec
