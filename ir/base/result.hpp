// What a phase returns: a value and no errors, or errors and no value. Warnings may come with either.
//
//   Result<Ast> ast = parse(source);
//   if (!ast) return ast.diags();
#pragma once
#include <optional>
#include <utility>

#include "ir/base/diag.hpp"

namespace taskspec {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(T value, Diags warnings) : value_(std::move(value)), diags_(std::move(warnings)) {}
  Result(Diags errors) : diags_(std::move(errors)) {
    if (!diags_.has_errors()) bug("a phase returned neither a value nor an error");
  }

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Diags& diags() const { return diags_; }

  // The value, or the diagnostics thrown as Error: for the C++ API and for tests.
  T value_or_throw() && {
    if (!value_) throw Error(std::move(diags_));
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
  Diags diags_;
};

}  // namespace taskspec
