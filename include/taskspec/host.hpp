// The host program is C++ itself. Calls outside of bodies are recorded into the session of the thread; nothing runs
// until a value is asked for.
//
//   Tensor x = tensor({1, 2, 3, 4}, f32);
//   Tensor r = pipeline(x);                 // a future
//   float e = r["e"].scalar<float>();       // now it runs
//   Tensor s = pipeline(x).run(host(2));    // in a session of its own, on two threads
//   std::size_t tasks = report(s).tasks;
#pragma once
#include <map>
#include <type_traits>

#include "taskspec/graph.hpp"

namespace taskspec::dsl {

// ---- values that come in ---------------------------------------------------------------------------

namespace detail {
NodePtr given(const void* data, std::size_t count, const char* precision, std::vector<std::int64_t> shape, At at);
NodePtr tensor_of(Operand list, const char* precision, At at);
}  // namespace detail

// Nested lists: tensor({{1, 2}, {3, 4}}, f32).
inline Tensor tensor(std::initializer_list<Operand> list, Precision precision, detail::At at = detail::At::current()) {
  return Tensor(detail::tensor_of(Operand(list, at), precision.name(), at));
}

// The elements of an array, row by row; they are copied. Without a shape it has one axis.
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) Tensor
    tensor(std::span<const T> data, std::vector<std::int64_t> shape, detail::At at = detail::At::current()) {
  return Tensor(detail::given(data.data(), data.size(), detail::precision_of<T>(), std::move(shape), at));
}
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) Tensor
    tensor(const std::vector<T>& data, detail::At at = detail::At::current()) {
  return tensor(std::span<const T>(data), {static_cast<std::int64_t>(data.size())}, at);
}
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) Tensor
    tensor(const std::vector<T>& data, std::vector<std::int64_t> shape, detail::At at = detail::At::current()) {
  return tensor(std::span<const T>(data), std::move(shape), at);
}

// A host value as a tensor, as in a text: floats become f32, ints i32. In the body of a fn it goes to the graph.
inline Tensor tensor(Operand value) { return Tensor(detail::call_op("tensor", {std::move(value)})); }

// ---- values that go out ----------------------------------------------------------------------------

namespace detail {

// The contents; `wanted` is for messages. Runs what they need.
std::vector<double> reals(const Tensor& value, At at);
std::vector<std::int64_t> integers(const Tensor& value, std::int64_t least, std::int64_t greatest, At at);

template <class T>
std::vector<T> contents(const Tensor& value, At at) {
  static_assert(std::is_arithmetic_v<T>, "the elements of a tensor are numbers or bools");
  std::vector<T> result;
  if constexpr (std::is_floating_point_v<T>) {
    for (double element : reals(value, at)) result.push_back(static_cast<T>(element));
  } else {
    constexpr auto least = static_cast<std::int64_t>(std::numeric_limits<T>::min());
    constexpr auto greatest = sizeof(T) == 8 ? INT64_MAX : static_cast<std::int64_t>(std::numeric_limits<T>::max());
    for (std::int64_t element : integers(value, least, greatest, at)) result.push_back(static_cast<T>(element));
  }
  return result;
}

double only_real(const Tensor& value, At at);
std::int64_t only_integer(const Tensor& value, std::int64_t least, std::int64_t greatest, At at);

}  // namespace detail

template <class T>
T Tensor::scalar(At at) const {
  static_assert(std::is_arithmetic_v<T>, "an element of a tensor is a number or a bool");
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(detail::only_real(*this, at));
  else
    return static_cast<T>(detail::only_integer(
        *this, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
        sizeof(T) == 8 ? INT64_MAX : static_cast<std::int64_t>(std::numeric_limits<T>::max()), at));
}

template <class T>
std::vector<T> Tensor::array(At at) const {
  return detail::contents<T>(*this, at);
}

template <class T>
T Var::scalar(At at) const {
  return Tensor(*this).scalar<T>(at);
}
template <class T>
std::vector<T> Var::array(At at) const {
  return Tensor(*this).array<T>(at);
}

// ---- sessions --------------------------------------------------------------------------------------

// A call of a recorded fn is a program of its own: cut in two, its host part and its graph part run beside each other,
// and what it returns comes back as a value, as does what it makes of a Var that it takes as inout. Nothing of it waits
// for somebody to ask.
//
//   double total = run(episode(p, 3)).scalar<double>();
inline Tensor run(const Tensor& call, const Backend& backend = {}, detail::At at = detail::At::current()) {
  return call.run(backend, at);
}
// The two programs of such a call and the channels between them, as `taskspec slices --format json` shows them.
std::string slices_json(const Tensor& call, detail::At at = detail::At::current());

// A run on shards of this process; further options by the names of the language: mpi(4, {arg("level", "every")}).
//
//   Tensor r = run(heat(x), mpi(4));
//   report(r).of_backend.at("fences")
inline Backend mpi(int shards = 0, std::vector<Operand> options = {}, detail::At at = detail::At::current()) {
  Backend made{.name = "mpi"};
  made.options = std::move(options);
  made.options.push_back(arg("shards", Operand(shards, at)));
  return made;
}

// What a session did: of one that `run` opened.
struct Report {
  std::int64_t tasks = 0, chains = 0, dispatches = 0, peak = 0;
  double seconds = 0;
  std::map<std::string, std::int64_t> of_backend = {};  // what it counts besides
};
Report report(const Tensor& run, detail::At at = detail::At::current());

// The C++ body of `task ... extern "symbol"` in texts that this program runs.
template <class F>
void define_extern(Name symbol, F body) {
  detail::define_extern(symbol, detail::native_of(std::move(body)), std::nullopt);
}
// And its reverse, for training.
template <class F, class B>
void define_extern(Name symbol, F body, B backward) {
  detail::define_extern(symbol, detail::native_of(std::move(body)), detail::native_of(std::move(backward)));
}

}  // namespace taskspec::dsl
