// Bodies of tasks that are real C++: a function on spans, one per tensor, inputs first and then outputs.
//
//   task("twice").in("x", f32["N"]).out("y", f32["N"]).native([](std::span<const float> x, std::span<float> y) {
//     for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
//   });
//
// Host numbers come as values (`int`: std::int64_t, `float`: double, `bool`), an `inout` place as a span that is not
// const and holds the old contents; a view as a FieldView for each of its fields (field_view.hpp). The function may be
// called on several threads at once, and only when somebody wants its outputs. What it throws is E5011.
//
// A net learns through it when its reverse is there, too. That takes the parameters of the task, its outputs, the
// gradient of each output that is a float, and gives the gradient of each tensor that is one (but not of places):
//
//   .native([](std::span<const float> x, std::span<float> y) { ... },
//           [](std::span<const float> x, std::span<const float> y, std::span<const float> dy, std::span<float> dx) {
//             for (std::size_t i = 0; i < x.size(); ++i) dx[i] = 2 * dy[i];
//           })
//
// In debug builds, and after check_native_tasks(true), each call is checked: that it wrote nothing it may only read
// (E1401), and every element of its outputs (E1006).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "taskspec/field_view.hpp"
#include "taskspec/operand.hpp"

namespace taskspec::dsl {

namespace detail {

// One argument of a call: the bytes of a tensor, a host number, or a field of a view.
struct NativeArgument {
  std::byte* data = nullptr;
  std::size_t elements = 0;
  std::int64_t integer = 0;
  double real = 0;
  const NativeField* field = nullptr;
};
using NativeFunction = std::function<void(std::span<const NativeArgument>)>;

struct NativeParameter {
  std::string precision;  // "f32"; of host numbers "int", "float", "bool"
  bool is_tensor = false, is_output = false;
  std::size_t axes = 0;  // of a field of a view
};

template <class T>
constexpr const char* precision_of() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, bool>) return "bool";
  if constexpr (std::is_same_v<U, float>) return "f32";
  if constexpr (std::is_same_v<U, double>) return "f64";
  if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
    return sizeof(U) == 1 ? "i8" : sizeof(U) == 2 ? "i16" : sizeof(U) == 4 ? "i32" : "i64";
  if constexpr (std::is_integral_v<U> && std::is_unsigned_v<U>)
    return sizeof(U) == 1 ? "u8" : sizeof(U) == 2 ? "u16" : sizeof(U) == 4 ? "u32" : "u64";
  return "";
}

template <class T>
struct NativeTraits {  // a host number
  static_assert(std::is_arithmetic_v<T>, "a native body takes spans, and numbers for parameters of the host");
  static NativeParameter parameter() {
    return {std::is_same_v<T, bool> ? "bool" : std::is_integral_v<T> ? "int" : "float", false, false};
  }
  static T value(const NativeArgument& a) {
    return std::is_floating_point_v<T> ? static_cast<T>(a.real) : static_cast<T>(a.integer);
  }
};

template <class T>
struct NativeTraits<std::span<T>> {
  static NativeParameter parameter() { return {precision_of<T>(), true, !std::is_const_v<T>}; }
  static std::span<T> value(const NativeArgument& a) { return {reinterpret_cast<T*>(a.data), a.elements}; }
};

template <class T, std::size_t rank>
struct NativeTraits<FieldView<T, rank>> {
  static NativeParameter parameter() { return {precision_of<T>(), true, !std::is_const_v<T>, rank}; }
  static FieldView<T, rank> value(const NativeArgument& a) { return FieldView<T, rank>(*a.field); }
};

struct Native {
  std::vector<NativeParameter> parameters;
  NativeFunction call;
  std::string identity = {};  // equal ones do the same; empty: it has captures, and is like no other
};

template <class F, class... P, std::size_t... I>
Native native_of(F body, void (*)(P...), std::index_sequence<I...>) {
  return {{NativeTraits<std::remove_cvref_t<P>>::parameter()...},
          [body = std::move(body)](std::span<const NativeArgument> given) mutable {
            body(NativeTraits<std::remove_cvref_t<P>>::value(given[I])...);
          }};
}

template <class F, class C, class... P>
Native native_of(F body, void (C::*)(P...) const) {
  return native_of(std::move(body), static_cast<void (*)(P...)>(nullptr), std::index_sequence_for<P...>());
}

template <class... P>
Native native_of(void (*body)(P...)) {
  Native made = native_of(body, body, std::index_sequence_for<P...>());
  made.identity = std::to_string(reinterpret_cast<std::uintptr_t>(body));
  return made;
}

template <class F>
requires std::is_class_v<F> Native native_of(F body) {
  Native made = native_of(std::move(body), &F::operator());
  if constexpr (std::is_empty_v<F>) made.identity = typeid(F).name();
  return made;
}

}  // namespace detail

// For the whole process. A checked call copies what it reads, and may run twice: the function must give the same again.
void check_native_tasks(bool on);

}  // namespace taskspec::dsl
