// Functions of the host program that are real C++: called from the body of a recorded fn, on the host's side.
//
//   Fn step = host_fn("step", [](double place, std::int64_t move) { return place + 0.1 * static_cast<double>(move); });
//   Fn walk = fn("walk").in("x", f32["N"]).returns(real).body([&](Tensor x) {
//     return step(0.5, x.argmax(0).scalar());
//   });
//
// Parameters and result are numbers, bools, strings, and vectors, pairs and tuples of them. Each call happens once, in
// the order of the host program and on its thread, which is not the one that called run(). What it throws is E5011.
#pragma once
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <variant>

#include "taskspec/declare.hpp"

namespace taskspec::dsl {

namespace detail {

// A host value on its way into or out of C++.
struct HostValue {
  using List = std::vector<HostValue>;
  struct Tuple {
    List parts;
  };
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Tuple> data;

  template <class T>
  const T& get() const {
    if (const T* value = std::get_if<T>(&data)) return *value;
    throw std::invalid_argument("an argument is of another type than the parameter");
  }
};

template <class T>
struct HostTraits {  // a number or bool
  static_assert(std::is_arithmetic_v<T>, "a host function takes and gives numbers, bools, strings, vectors and tuples");
  static Type type() { return std::is_same_v<T, bool> ? Type(boolean) : std::is_integral_v<T> ? integer : real; }
  static T from(const HostValue& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      std::int64_t number = value.get<std::int64_t>();
      if (!std::in_range<T>(number)) throw std::out_of_range(std::to_string(number) + " does not fit the parameter");
      return static_cast<T>(number);
    } else {
      const auto* whole = std::get_if<std::int64_t>(&value.data);
      return whole ? static_cast<T>(*whole) : static_cast<T>(value.get<double>());
    }
  }
  static HostValue to(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return {value};
    } else if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<std::int64_t>(value)) throw std::out_of_range(std::to_string(value) + " does not fit an int");
      return {static_cast<std::int64_t>(value)};
    } else {
      return {static_cast<double>(value)};
    }
  }
};

template <>
struct HostTraits<std::string> {
  static Type type() { return text; }
  static std::string from(const HostValue& value) { return value.get<std::string>(); }
  static HostValue to(std::string value) { return {std::move(value)}; }
};

template <class T>
struct HostTraits<std::vector<T>> {
  static Type type() { return list_of(HostTraits<T>::type()); }
  static std::vector<T> from(const HostValue& value) {
    std::vector<T> made;
    for (const HostValue& part : value.get<HostValue::List>()) made.push_back(HostTraits<T>::from(part));
    return made;
  }
  static HostValue to(const std::vector<T>& value) {
    HostValue::List made;
    for (const auto& part : value) made.push_back(HostTraits<T>::to(part));
    return {std::move(made)};
  }
};

template <class... T>
struct HostTraits<std::tuple<T...>> {
  static_assert(sizeof...(T) >= 2, "a tuple of the language has two parts or more");
  static Type type() { return tuple_of(HostTraits<T>::type()...); }
  static std::tuple<T...> from(const HostValue& value) {
    return parts(value.get<HostValue::Tuple>().parts, std::index_sequence_for<T...>());
  }
  static HostValue to(const std::tuple<T...>& value) {
    return std::apply([](const T&... part) { return HostValue{HostValue::Tuple{{HostTraits<T>::to(part)...}}}; },
                      value);
  }

 private:
  template <std::size_t... I>
  static std::tuple<T...> parts(const HostValue::List& list, std::index_sequence<I...>) {
    return {HostTraits<T>::from(list.at(I))...};
  }
};

template <class A, class B>
struct HostTraits<std::pair<A, B>> {
  using Same = HostTraits<std::tuple<A, B>>;
  static Type type() { return Same::type(); }
  static std::pair<A, B> from(const HostValue& value) {
    auto [a, b] = Same::from(value);
    return {std::move(a), std::move(b)};
  }
  static HostValue to(const std::pair<A, B>& value) { return Same::to({value.first, value.second}); }
};

struct HostFunction {
  std::vector<Type> parameters;
  std::optional<Type> result;
  std::function<HostValue(std::span<const HostValue>)> call;
  bool local = false;
};

template <class F, class R, class... P, std::size_t... I>
HostFunction host_function_of(F body, R (*)(P...), std::index_sequence<I...>) {
  HostFunction made{{HostTraits<std::remove_cvref_t<P>>::type()...}, {}, {}, false};
  if constexpr (!std::is_void_v<R>) made.result = HostTraits<std::remove_cvref_t<R>>::type();
  made.call = [body = std::move(body)](std::span<const HostValue> given) mutable -> HostValue {
    if constexpr (std::is_void_v<R>) {
      body(HostTraits<std::remove_cvref_t<P>>::from(given[I])...);
      return {};
    } else {
      return HostTraits<std::remove_cvref_t<R>>::to(body(HostTraits<std::remove_cvref_t<P>>::from(given[I])...));
    }
  };
  return made;
}

template <class F, class C, class R, class... P>
HostFunction host_function_of(F body, R (C::*)(P...) const) {
  return host_function_of(std::move(body), static_cast<R (*)(P...)>(nullptr), std::index_sequence_for<P...>());
}
template <class F, class C, class R, class... P>
HostFunction host_function_of(F body, R (C::*)(P...)) {
  return host_function_of(std::move(body), static_cast<R (*)(P...)>(nullptr), std::index_sequence_for<P...>());
}
template <class R, class... P>
HostFunction host_function_of(R (*body)(P...)) {
  return host_function_of(body, body, std::index_sequence_for<P...>());
}
template <class F>
requires std::is_class_v<F> HostFunction host_function_of(F body) {
  return host_function_of(std::move(body), &F::operator());
}

FunctionPtr declare_host(const Name& name, HostFunction body);

}  // namespace detail

// The types of the C++ function are the signature; parameters go by position.
template <class F>
Fn host_fn(Name name, F body) {
  return Fn(detail::declare_host(name, detail::host_function_of(std::move(body))));
}

// What it gives is this process's own, such as a time or a name of the machine, and may differ between shards. It may
// be printed and decide what the host does; where it would decide what the graph does, that is E1303 (see `agree`).
template <class F>
Fn local_host_fn(Name name, F body) {
  detail::HostFunction made = detail::host_function_of(std::move(body));
  made.local = true;
  return Fn(detail::declare_host(name, std::move(made)));
}

// The value that v has on shard 0, on all shards; with one process v itself.
inline Tensor agree(Operand v) { return Tensor(detail::call_op("agree", {std::move(v)})); }

}  // namespace taskspec::dsl
