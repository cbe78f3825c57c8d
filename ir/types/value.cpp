#include "ir/types/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <variant>

#include "ir/base/diag.hpp"

namespace taskspec {

void Value::other_kind() { throw std::bad_variant_access(); }

void Value::share(const Value& other) noexcept {
  if (other.is_object())
    new (&object_) std::shared_ptr<Object>(other.object_);
  else
    new (&shared_) std::shared_ptr<void>(other.shared_);
  tag_ = other.tag_;
}

void Value::let_go() noexcept {
  if (is_object())
    object_.~shared_ptr();
  else
    shared_.~shared_ptr();
  tag_ = 0;
}

// What it held goes last: that may be what holds `other`.
void Value::assign(const Value& other) noexcept {
  Value copy(other);
  const Value before(std::move(*this));
  *this = std::move(copy);
}

Value::Value(std::string v) : Value(Kind::string, std::make_shared<std::string>(std::move(v))) {}
Value::Value(const char* v) : Value(std::string(v)) {}
Value::Value(List v) : Value(Kind::list, std::make_shared<List>(std::move(v))) {}
Value::Value(Tuple v) : Value(Kind::tuple, std::make_shared<Tuple>(std::move(v))) {}
Value::Value(Type v) : Value(Kind::type, std::make_shared<Type>(std::move(v))) {}
Value::Value(Array v) : Value(Kind::array, std::make_shared<Array>(std::move(v))) {}
Value::Value(std::shared_ptr<Object> v) : object_(std::move(v)), tag_(tag(Kind::object)) {}

Value Value::name(std::string text) {
  Value value(std::move(text));
  value.tag_ = tag(Kind::string, Mark::name);
  return value;
}

Value Value::singles(List list) {
  Value value(std::move(list));
  value.tag_ = tag(Kind::list, Mark::singles);
  return value;
}

Value Value::with(List items) const {
  Value value(std::move(items));
  value.tag_ |= tag_ & tag(Kind::none, static_cast<Mark>(0xFF));
  return value;
}

List& Value::unique_list() {
  need(Kind::list);
  if (shared_.use_count() > 1) shared_ = std::make_shared<List>(list());
  return *static_cast<List*>(shared_.get());
}

// ---- equality

namespace {

bool equal_items(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}

bool equal_arrays(const Array& a, const Array& b) {
  if (a.extents() != b.extents()) return false;
  bool by_number = is_float(a.precision()) || is_float(b.precision());
  // The same bits mean the same in both, but for the first.
  const bool one_wide = (a.precision() == Precision::u64) != (b.precision() == Precision::u64);
  for (std::int64_t i = 0, n = a.elements(); i < n; ++i)
    if (by_number ? a.number(i) != b.number(i) : a.integer(i) != b.integer(i) || (one_wide && a.integer(i) < 0))
      return false;
  return true;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() == b.integer();
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) return a.string() == b.string();
  if (a.is_list()) return equal_items(a.list(), b.list());
  if (a.is_tuple()) return equal_items(a.tuple().items, b.tuple().items);
  if (a.is_bool()) return a.boolean() == b.boolean();
  if (a.is_range()) return a.range() == b.range();
  if (a.is_type()) return a.type() == b.type();
  if (a.is_array()) return equal_arrays(a.array(), b.array());
  if (a.is_object()) return a.object() == b.object();
  return true;  // none and none
}

bool identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_real()) return std::bit_cast<std::uint64_t>(a.real()) == std::bit_cast<std::uint64_t>(b.real());
  if (a.is_list()) return std::ranges::equal(a.list(), b.list(), identical);
  if (a.is_tuple()) return std::ranges::equal(a.tuple().items, b.tuple().items, identical);
  if (a.is_array()) return a.array().type() == b.array().type() && a.array().raw() == b.array().raw();
  return equal(a, b);
}

std::uint64_t hash_of(const Value& value) {
  auto hash = static_cast<std::uint64_t>(value.kind());
  auto mix = [&hash](std::uint64_t part) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  auto mix_all = [&](const List& items) {
    for (const Value& item : items) mix(hash_of(item));
  };
  if (value.is_bool()) mix(value.boolean());
  if (value.is_integer()) mix(static_cast<std::uint64_t>(value.integer()));
  if (value.is_real()) mix(std::bit_cast<std::uint64_t>(value.real()));
  if (value.is_string()) mix(std::hash<std::string>()(value.string()));
  if (value.is_list()) mix_all(value.list());
  if (value.is_tuple()) mix_all(value.tuple().items);
  if (value.is_range())
    mix(static_cast<std::uint64_t>(value.range().begin)), mix(static_cast<std::uint64_t>(value.range().end));
  if (value.is_type()) mix(std::hash<std::string>()(value.type().text()));
  if (value.is_array()) mix(reinterpret_cast<std::uintptr_t>(value.array().raw()));
  if (value.is_object()) mix(reinterpret_cast<std::uintptr_t>(value.object().get()));
  return hash;
}

// ---- printing

namespace {

// Everything is appended to one string: a list of a million items must not be copied once per level.
class ValuePrinter {
 public:
  std::string text;

  void value(const Value& v, bool inside, bool single = false) {
    if (v.is_none())
      text += "none";
    else if (v.is_bool())
      text += v.boolean() ? "true" : "false";
    else if (v.is_integer())
      integer(v.integer());
    else if (v.is_real())
      single ? this->single(v.real()) : real(v.real());
    else if (v.is_string())
      text += inside && !v.is_name() ? in_quotes(v.string()) : v.string();
    else if (v.is_list())
      items(v.list(), '[', ']', v.holds_singles());
    else if (v.is_tuple())
      items(v.tuple().items, '(', ')');
    else if (v.is_range())
      text += fmt::format("{}..{}", v.range().begin, v.range().end);
    else if (v.is_type())
      text += v.type().text();
    else if (v.is_object())
      text += v.object()->text();
    else
      elements(v.array(), 0, 0);
  }

 private:
  void integer(std::int64_t number) { text += fmt::format("{}", number); }
  // libfmt's shortest form is the language's: plain from 1e-4 up to 1e16. The sign of a nan says nothing.
  void real(double number) { text += fmt::format("{}", number != number ? std::abs(number) : number); }

  // The shortest digits that read back as the same f32; of a float that is put among such numbers later all it needs.
  void single(double number) {
    const auto narrow = static_cast<float>(number);
    if (number != number || static_cast<double>(narrow) != number) return real(number);
    text += fmt::format("{}", narrow);
  }

  void items(const List& list, char open, char close, bool singles = false) {
    text += open;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) text += ", ";
      value(list[i], true, singles);
    }
    text += close;
  }

  // The elements below `axis`, the first of them at `position`; returns the position after them.
  std::int64_t elements(const Array& array, std::size_t axis, std::int64_t position) {
    if (axis == array.extents().size()) {
      if (array.precision() == Precision::boolean)
        text += array.integer(position) != 0 ? "true" : "false";
      else if (!is_float(array.precision()))
        text += array.integer_text(position);
      else if (array.precision() == Precision::f64)
        real(array.number(position));
      else
        single(array.number(position));
      return position + 1;
    }
    text += '[';
    for (std::int64_t i = 0; i < array.extents()[axis]; ++i) {
      if (i > 0) text += ", ";
      position = elements(array, axis + 1, position);
    }
    text += ']';
    return position;
  }
};

}  // namespace

std::string print(const Value& value) {
  ValuePrinter printer;
  printer.value(value, false);
  return std::move(printer.text);
}

std::string print(double value) { return print(Value(value)); }

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\0':
        out += "\\0";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          out += fmt::format("\\u{{{:x}}}", c);
        else
          out += c;
    }
  }
  return out + '"';
}

// ---- nested lists and arrays

namespace {

Value element(const Array& array, std::int64_t position) {
  if (array.precision() == Precision::boolean) return array.integer(position) != 0;
  if (is_float(array.precision())) return array.number(position);
  return array.host_integer(position);
}

Value lists_below(const Array& array, std::size_t axis, std::int64_t& position) {
  if (axis == array.extents().size()) return element(array, position++);
  List list;
  list.reserve(static_cast<std::size_t>(array.extents()[axis]));
  for (std::int64_t i = 0; i < array.extents()[axis]; ++i) list.push_back(lists_below(array, axis + 1, position));
  const bool singles = is_float(array.precision()) && array.precision() != Precision::f64;
  return singles ? Value::singles(std::move(list)) : Value(std::move(list));
}

// Lists take far more than the elements that they hold, and a shape with a zero in it holds none and may still ask for
// any number of empty lists.
void check_list_memory(const ArrayType& type) {
  constexpr double most_empty = 1 << 20, of_one_list = 3 * sizeof(List);  // with what counts its users
  double values = 1, bytes = sizeof(Value);
  for (std::int64_t extent : type.extents) {
    if (extent == 0 && values > most_empty)
      throw failure("E5008", {},
                    fmt::format("{} holds nothing, but as lists it would be {} empty ones; at most {} are made",
                                type.text(), values, most_empty));
    bytes += values * of_one_list;
    values *= static_cast<double>(extent);
    bytes += values * sizeof(Value);
  }
  if (bytes <= static_cast<double>(memory_limit())) return;
  throw failure(
      "E5008", {},
      fmt::format("{} needs {:.0f} bytes as lists; this machine allows {}", type.text(), bytes, memory_limit()));
}

std::string described(const Value& v) { return v.is_list() ? fmt::format("a list of {}", v.list().size()) : print(v); }

// Every branch must have the shape of the first one. `path` leads to where we are, for the message.
void check_rectangular(const Value& v, const Extents& extents, std::vector<std::size_t>& path) {
  std::size_t axis = path.size();
  bool leaf = axis == extents.size();
  bool fits = leaf ? !v.is_list() : v.is_list() && static_cast<std::int64_t>(v.list().size()) == extents[axis];
  if (!fits) {
    std::string first, here, expected = leaf ? "a single value" : fmt::format("a list of {}", extents[axis]);
    for (std::size_t i : path) first += "[0]", here += fmt::format("[{}]", i);
    throw failure("E5004", {},
                  fmt::format("the lists of a tensor must be rectangular: item {} is {}, item {} is {}", here,
                              described(v), first, expected));
  }
  for (std::size_t i = 0; !leaf && i < v.list().size(); ++i) {
    path.push_back(i);
    check_rectangular(v.list()[i], extents, path);
    path.pop_back();
  }
}

bool is_exactly(double real, std::int64_t integer) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  return real >= -limit && real < limit && static_cast<std::int64_t>(real) == integer;
}

// Stores the leaves of a rectangular list one after the other.
class Filler {
 public:
  Filler(Array& array) : array_(array) {}

  void fill(const Value& v) {
    if (v.is_list()) {
      for (const Value& item : v.list()) fill(item);
      return;
    }
    if (v.is_bool())
      array_.set_integer(position_, v.boolean());
    else if (v.is_integer())
      store_integer(v, v.integer());
    else if (v.is_real())
      store_real(v, v.real());
    else
      throw failure("E1004", {},
                    "a tensor holds numbers and bools, not " + (v.is_string() ? in_quotes(v.string()) : print(v)));
    ++position_;
  }

 private:
  [[noreturn]] void misfit(const Value& v) {
    const PrecisionInfo& p = info(array_.precision());
    std::string range = p.is_float ? "exactly" : fmt::format("({}..{})", p.minimum, p.maximum);
    throw failure("E5001", {}, fmt::format("{} does not fit {} {}", print(v), p.name, range));
  }

  void store_integer(const Value& v, std::int64_t number) {
    const PrecisionInfo& p = info(array_.precision());
    if (!p.is_float && (number < p.minimum || number > p.maximum)) misfit(v);
    array_.set_integer(position_, number);
    if (p.is_float && !is_exactly(array_.number(position_), number)) misfit(v);
  }

  void store_real(const Value& v, double number) {
    if (is_float(array_.precision())) return array_.set_number(position_, number);
    std::int64_t whole = std::abs(number) < 9e18 ? static_cast<std::int64_t>(number) : 0;
    if (static_cast<double>(whole) != number) misfit(v);
    store_integer(v, whole);
  }

  Array& array_;
  std::int64_t position_ = 0;
};

}  // namespace

Value nested_lists(const Array& array) {
  check_list_memory(array.type());
  std::int64_t position = 0;
  return lists_below(array, 0, position);
}

Array array_of(const Value& nested, Precision precision) {
  ArrayType type{precision, {}};
  for (const Value* v = &nested; v->is_list(); v = &v->list().front()) {
    type.extents.push_back(static_cast<std::int64_t>(v->list().size()));
    if (v->list().empty()) break;
  }
  std::vector<std::size_t> path;
  check_rectangular(nested, type.extents, path);
  Array array = Array::make(std::move(type));
  Filler(array).fill(nested);
  return array;
}

}  // namespace taskspec
