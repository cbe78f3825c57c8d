// Values of the host program: scalars, strings, lists, tuples, ranges, arrays, and objects that later
// layers define (futures, invocations, agents, closures, reports).
//
//   Value v(std::int64_t{3});     print(v) == "3"
#pragma once
#include <memory>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

#include "ir/array.hpp"
#include "ir/type.hpp"

namespace taskspec {

class Value;
using List = std::vector<Value>;

struct Tuple {
  List items;
};

struct Range {
  std::int64_t begin = 0, end = 0;  // empty when end <= begin
  std::int64_t size() const {       // at most the largest int
    std::int64_t distance = 0;
    if (end <= begin) return 0;
    return __builtin_sub_overflow(end, begin, &distance) ? INT64_MAX : distance;
  }
  friend bool operator==(Range, Range) = default;
};

// What a layer above ir adds: a future, an invocation, an agent, a function value, a report.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string text() const = 0;  // what print writes
};

class Value {
 public:
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::shared_ptr<const std::string>,
                            std::shared_ptr<List>, std::shared_ptr<const Tuple>, Range, std::shared_ptr<const Type>,
                            Array, std::shared_ptr<Object>>;

  Value() = default;
  // In the source, as those of Type: what a variant is made and destroyed with is long.
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(bool v) noexcept;
  Value(std::int64_t v) noexcept;
  Value(double v) noexcept;
  Value(std::string v);
  Value(const char* v);
  Value(List v);
  Value(Tuple v);
  Value(Range v) noexcept;
  Value(Type v);
  Value(Array v);
  Value(std::shared_ptr<Object> v);
  // A string that names a task or slot: printed without quotes inside lists and tuples.
  static Value name(std::string text);
  bool is_name() const { return mark_ == Mark::name; }
  // A list of numbers of f32 or f16, received from a tensor: printed as what they are, 0.1 and not the
  // 0.10000000149011612 that each of them is as a float.
  static Value singles(List list);
  bool holds_singles() const { return mark_ == Mark::singles; }
  Value with(List items) const;  // this list with other items

  bool is_none() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_real() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_string() const { return std::holds_alternative<std::shared_ptr<const std::string>>(data_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<List>>(data_); }
  bool is_tuple() const { return std::holds_alternative<std::shared_ptr<const Tuple>>(data_); }
  bool is_range() const { return std::holds_alternative<Range>(data_); }
  bool is_type() const { return std::holds_alternative<std::shared_ptr<const Type>>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_object() const { return std::holds_alternative<std::shared_ptr<Object>>(data_); }

  bool boolean() const { return std::get<bool>(data_); }
  std::int64_t integer() const { return std::get<std::int64_t>(data_); }
  double real() const { return is_integer() ? static_cast<double>(integer()) : std::get<double>(data_); }
  const std::string& string() const { return *std::get<std::shared_ptr<const std::string>>(data_); }
  const List& list() const { return *std::get<std::shared_ptr<List>>(data_); }
  const Tuple& tuple() const { return *std::get<std::shared_ptr<const Tuple>>(data_); }
  Range range() const { return std::get<Range>(data_); }
  const Type& type() const { return *std::get<std::shared_ptr<const Type>>(data_); }
  const Array& array() const { return std::get<Array>(data_); }
  Array& array() { return std::get<Array>(data_); }
  const std::shared_ptr<Object>& object() const { return std::get<std::shared_ptr<Object>>(data_); }
  // The object, if it is a T. Asked of every operand of every op: a class that nobody derives from is only compared.
  template <class T>
  T* as() const {
    Object* it = is_object() ? object().get() : nullptr;
    if constexpr (std::is_final_v<T>) return it && typeid(*it) == typeid(T) ? static_cast<T*>(it) : nullptr;
    return dynamic_cast<T*>(it);
  }

  // The list to change in place: copied first when it is shared, so that lists are values.
  List& unique_list();
  const Data& data() const { return data_; }

 private:
  // How it prints; says nothing else about the value.
  enum class Mark : std::uint8_t { none, name, singles };
  Data data_;
  Mark mark_ = Mark::none;
};

// Equality of the language: contents, numbers across int and float, nan unequal to itself.
bool equal(const Value& a, const Value& b);
// Stricter: 1 is not 1.0 here, 0.0 not -0.0, nan is itself; arrays and objects are only identical to themselves.
bool identical(const Value& a, const Value& b);
std::uint64_t hash_of(const Value& value);  // equal for identical values

// The text that `print` writes (language.md section 9): shortest digits, strings quoted inside containers.
// An Array prints its contents as nested lists.
std::string print(const Value& value);
std::string print(double value);
std::string quoted(std::string_view text);

// Nested lists of an array's elements (int, float or bool), and back. `array_of` throws E5004 for
// ragged lists, E5001 for integers that do not fit.
Value nested_lists(const Array& array);
Array array_of(const Value& nested, Precision precision);

}  // namespace taskspec
