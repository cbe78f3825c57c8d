// How the body of a task or graph gets its parameters and gives its results: by an ordinary lambda.
//
//   [](Tensor dev, Tensor mean) { return (dev * dev).sum(0) + mean * mean; }      one output
//   [](Tensor x) { return results("mean", x.mean(0), "dev", x - x.mean(0)); }     several
#pragma once
#include <functional>
#include <type_traits>

#include "taskspec/tensor.hpp"

namespace taskspec::dsl {

struct NamedValue {
  std::string name;  // empty: the only output
  Operand value;
};

class Results {
 public:
  Results() = default;
  explicit Results(Operand only) { add("", std::move(only)); }
  void add(std::string name, Operand value) { list_.push_back({std::move(name), std::move(value)}); }
  std::vector<NamedValue>& list() { return list_; }

 private:
  std::vector<NamedValue> list_;
};

// Results by name; a value that is an output stays named so in what is exported.
inline Results results() { return {}; }
Results results(Name name, Operand value);
Results results(Name a, Operand x, Name b, Operand y);
Results results(Name a, Operand x, Name b, Operand y, Name c, Operand z);
Results results(Name a, Operand x, Name b, Operand y, Name c, Operand z, Name d, Operand w);

namespace detail {

struct Function;  // a task, graph or fn in the making
using FunctionPtr = std::shared_ptr<Function>;
using Recorded = std::function<Results(const std::vector<Var>&)>;

template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, std::enable_if_t<(I >= 0), Var>...>;
}

inline constexpr std::size_t most_parameters = 16;

// How many values the lambda takes.
template <class F, std::size_t N = 0>
constexpr std::size_t arity() {
  static_assert(N <= most_parameters, "a body takes Tensor or Var parameters, 16 at most");
  if constexpr (takes<F>(std::make_index_sequence<N>()))
    return N;
  else
    return arity<F, N + 1>();
}

template <class F, std::size_t... I>
Results call(F& body, const std::vector<Var>& given, std::index_sequence<I...>, At at) {
  using R = std::invoke_result_t<F&, std::enable_if_t<(I >= 0), Var>...>;
  if constexpr (std::is_void_v<R>) {
    body(given[I]...);
    return {};
  } else if constexpr (std::is_same_v<R, Results>) {
    return body(given[I]...);
  } else {
    return Results(Operand(body(given[I]...), at));
  }
}

// The body as something that can be kept, and the number of its parameters.
template <class F>
std::pair<Recorded, std::size_t> recorded(F body, At at) {
  constexpr std::size_t count = arity<F>();
  return {[body = std::move(body), at](const std::vector<Var>& given) mutable {
            return call(body, given, std::make_index_sequence<count>(), at);
          },
          count};
}

}  // namespace detail
}  // namespace taskspec::dsl
