// Types of parameters and outputs, as they are written in signatures.
//
//   f32("N", 3)    f32[1]    f32 (rank 0)    real, integer: host numbers    i64("2*N + 1")
//   list_of(real)    tuple_of(integer, text): of the host, for fns
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace taskspec::dsl {

// An extent: a number, a dimension variable such as "N", or an expression of both.
class Dim {
 public:
  template <std::integral T>
  Dim(T value) : text_(std::to_string(value)) {}
  Dim(const char* text) : text_(text) {}
  Dim(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

namespace detail {
struct FieldTable;  // what `fields` declares (region.hpp)
}

struct Type {
  std::string name;  // "f32", "int"; "[]" of lists, "()" of tuples
  std::vector<Dim> dims;
  std::vector<Type> parts = {};                               // of lists and tuples
  std::shared_ptr<const detail::FieldTable> table = nullptr;  // of a region
  std::vector<std::string> fields = {};                       // of a view: those that a task sees
};

inline Type list_of(Type element) { return {"[]", {}, {std::move(element)}}; }
template <class... Parts>
requires(sizeof...(Parts) >= 2) Type tuple_of(Parts... parts) { return {"()", {}, {Type(std::move(parts))...}}; }

// A precision, or the name of a host type: with extents it makes a tensor type.
class Precision {
 public:
  explicit constexpr Precision(const char* name) : name_(name) {}
  constexpr const char* name() const { return name_; }
  operator Type() const { return {name_, {}}; }
  Type operator[](Dim dim) const { return {name_, {std::move(dim)}}; }
  template <class... Dims>
  Type operator()(Dims&&... dims) const {
    return {name_, {Dim(std::forward<Dims>(dims))...}};
  }

 private:
  const char* name_;
};

inline constexpr Precision tern{"tern"}, u4{"u4"}, i8{"i8"}, u8{"u8"}, i9{"i9"}, i16{"i16"}, u16{"u16"}, i28{"i28"},
    i32{"i32"}, u32{"u32"}, i64{"i64"}, u64{"u64"}, f16{"f16"}, f32{"f32"}, f64{"f64"};
inline constexpr Precision boolean{"bool"};  // `boolean` is a host bool, `boolean("N")` a tensor
inline constexpr Precision integer{"int"}, real{"float"}, text{"string"};  // of the host only

}  // namespace taskspec::dsl
