// A function that is called only while what it was handed to runs: two words and no memory. std::function is for those
// that are kept.
//
//   void each_call(const Block& block, FunctionRef<void(CallId)> visit);
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace taskspec {

template <class Signature>
class FunctionRef;

template <class Result, class... Given>
class FunctionRef<Result(Given...)> {
 public:
  FunctionRef() = default;  // none
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Given...>)
      FunctionRef(F&& f)
      : of_(const_cast<void*>(reinterpret_cast<const volatile void*>(std::addressof(f)))),
        call_([](void* of, Given... given) -> Result {
          return static_cast<Result>(
              (*reinterpret_cast<std::remove_reference_t<F>*>(of))(std::forward<Given>(given)...));
        }) {}

  Result operator()(Given... given) const { return call_(of_, std::forward<Given>(given)...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  void* of_ = nullptr;
  Result (*call_)(void*, Given...) = nullptr;
};

}  // namespace taskspec
