// Values of the host program: scalars, strings, lists, tuples, ranges, arrays, and objects that later
// layers define (futures, invocations, agents, closures, reports).
//
//   Value v(std::int64_t{3});     print(v) == "3"
#pragma once
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include "ir/types/array.hpp"
#include "ir/types/type.hpp"

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

// Three words. What a loop of the host program works on (numbers, bools, ranges) is copied and let go of in place;
// everything else is shared and counted.
class Value {
 public:
  enum class Kind : std::uint8_t { none, boolean, integer, real, range, string, list, tuple, type, array, object };

  Value() noexcept : integer_(0), tag_(0) {}
  Value(const Value& other) {
    if (other.is_shared())
      share(other);
    else
      take(other);
  }
  Value(Value&& other) noexcept {
    take(other);
    other.tag_ = 0;
  }
  Value& operator=(const Value& other) {
    if (is_shared() || other.is_shared())
      assign(other);
    else
      take(other);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    if (is_shared()) let_go();
    take(other);
    other.tag_ = 0;
    return *this;
  }
  ~Value() {
    if (is_shared()) let_go();
  }
  Value(bool v) noexcept : integer_(v), tag_(tag(Kind::boolean)) {}
  Value(std::int64_t v) noexcept : integer_(v), tag_(tag(Kind::integer)) {}
  Value(double v) noexcept : real_(v), tag_(tag(Kind::real)) {}
  Value(Range v) noexcept : range_(v), tag_(tag(Kind::range)) {}
  // The same, where there is a value already.
  void set(bool v) noexcept { put(Kind::boolean), integer_ = v; }
  void set(std::int64_t v) noexcept { put(Kind::integer), integer_ = v; }
  void set(double v) noexcept { put(Kind::real), real_ = v; }
  void set(Range v) noexcept { put(Kind::range), range_ = v; }
  Value(std::string v);
  Value(const char* v);
  Value(List v);
  Value(Tuple v);
  Value(Type v);
  Value(Array v);
  Value(std::shared_ptr<Object> v);
  // A string that names a task or slot: printed without quotes inside lists and tuples.
  static Value name(std::string text);
  bool is_name() const { return tag_ == tag(Kind::string, Mark::name); }
  // A list of numbers of f32 or f16, received from a tensor: printed as what they are, 0.1 and not the
  // 0.10000000149011612 that each of them is as a float.
  static Value singles(List list);
  bool holds_singles() const { return tag_ == tag(Kind::list, Mark::singles); }
  Value with(List items) const;  // this list with other items

  Kind kind() const { return static_cast<Kind>(static_cast<std::uint8_t>(tag_)); }
  bool is_none() const { return kind() == Kind::none; }
  bool is_bool() const { return kind() == Kind::boolean; }
  bool is_integer() const { return kind() == Kind::integer; }
  bool is_real() const { return kind() == Kind::real; }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_string() const { return kind() == Kind::string; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_tuple() const { return kind() == Kind::tuple; }
  bool is_range() const { return kind() == Kind::range; }
  bool is_type() const { return kind() == Kind::type; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }
  bool is_shared() const { return kind() >= Kind::string; }  // all of these

  // Of another kind: std::bad_variant_access.
  bool boolean() const { return need(Kind::boolean), integer_ != 0; }
  std::int64_t integer() const { return need(Kind::integer), integer_; }
  double real() const { return is_integer() ? static_cast<double>(integer_) : (need(Kind::real), real_); }
  Range range() const { return need(Kind::range), range_; }
  std::uint64_t bits() const { return is_shared() ? 0 : words_[0]; }  // of a bool or number, as they are
  const std::string& string() const { return part<std::string>(Kind::string); }
  const List& list() const { return part<List>(Kind::list); }
  const Tuple& tuple() const { return part<Tuple>(Kind::tuple); }
  const Type& type() const { return part<Type>(Kind::type); }
  const Array& array() const { return part<Array>(Kind::array); }
  const std::shared_ptr<Object>& object() const { return need(Kind::object), object_; }
  // The object, if it is a T. Asked of every operand of every op: a class that nobody derives from is only compared.
  template <class T>
  T* as() const {
    Object* it = is_object() ? object_.get() : nullptr;
    if constexpr (std::is_final_v<T>) return it && typeid(*it) == typeid(T) ? static_cast<T*>(it) : nullptr;
    return dynamic_cast<T*>(it);
  }

  // The list to change in place: copied first when it is shared, so that lists are values.
  List& unique_list();
  // Nobody else holds what it shares.
  bool is_only() const { return shared_.use_count() == 1; }

 private:
  // How it prints; says nothing else about the value.
  enum class Mark : std::uint8_t { none, name, singles };
  static constexpr std::uint64_t tag(Kind kind, Mark mark = Mark::none) {
    return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(mark) << 8;
  }
  Value(Kind kind, std::shared_ptr<void> shared) noexcept : shared_(std::move(shared)), tag_(tag(kind)) {}
  void need(Kind wanted) const {
    if (kind() != wanted) other_kind();
  }
  template <class T>
  const T& part(Kind kind) const {
    need(kind);
    return *static_cast<const T*>(shared_.get());
  }
  void put(Kind kind) noexcept {
    if (is_shared()) let_go();
    tag_ = tag(kind);
  }
  // Whatever is in it, without counting. Word by word, and no word that was not written: a processor that has just
  // written one has to wait before it reads it as a part of something wider.
  void take(const Value& other) noexcept {
    words_[0] = other.words_[0];
    if (other.kind() >= Kind::range) words_[1] = other.words_[1];
    tag_ = other.tag_;
  }
  [[noreturn]] static void other_kind();
  void share(const Value& other) noexcept;
  void assign(const Value& other) noexcept;
  void let_go() noexcept;

  union {
    std::uint64_t words_[2];
    std::int64_t integer_;  // of bools, too
    double real_;
    Range range_;
    std::shared_ptr<void> shared_;    // of strings, lists, tuples, types and arrays
    std::shared_ptr<Object> object_;  // of objects
  };
  std::uint64_t tag_;  // kind and mark
};

// Equality of the language: contents, numbers across int and float, nan unequal to itself.
bool equal(const Value& a, const Value& b);
// Stricter: 1 is not 1.0 here, 0.0 not -0.0, nan is itself; arrays and objects are only identical to themselves.
bool identical(const Value& a, const Value& b);
std::uint64_t hash_of(const Value& value);  // equal for identical values

// The text that `print` writes: shortest digits, strings quoted inside containers.
// An Array prints its contents as nested lists.
std::string print(const Value& value);
std::string print(double value);
std::string in_quotes(std::string_view text);

// Nested lists of an array's elements (int, float or bool), and back. `array_of` throws E5004 for
// ragged lists, E5001 for integers that do not fit.
Value nested_lists(const Array& array);
Array array_of(const Value& nested, Precision precision);

}  // namespace taskspec
