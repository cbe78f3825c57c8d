#include <fmt/format.h>

#include <cstring>

#include "ir/base/text.hpp"
#include "ir/json/read.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

using Kind = Type::Kind;

namespace {

Type written_type(const Item& item, const TypeNames& names) {
  if (std::optional<Type> type = parse_type(item.text(), names)) return *type;
  item.fail(fmt::format("'{}' is no type", item.text().substr(0, 60)));
}

void set_element(Array& array, std::int64_t position, const Item& item) {
  if (array.precision() == Precision::boolean) {
    array.set_integer(position, item.boolean());
  } else if (is_float(array.precision())) {
    array.set_number(position, item.real());
  } else {
    const PrecisionInfo& range = info(array.precision());
    std::int64_t value = item.integer();
    if (value < range.minimum || value > range.maximum) item.fail(fmt::format("{} does not fit {}", value, range.name));
    array.set_integer(position, value);
  }
}

}  // namespace

// Memory is taken only when the file has as many elements as the type says.
Array read_array(const Item& item, const Item& written) {
  Type type =
      written_type(written, {[](std::string_view) { return std::nullopt; }, [](std::size_t) { return std::nullopt; }});
  if (type.is(Kind::boolean)) type = Type::tensor(Precision::boolean, {});
  if (!type.is_tensor()) written.expected("the type of a tensor");
  for (const Dim& dim : type.dims)
    if (*dim.constant() < 0) written.expected("extents from 0 on");
  ArrayType wanted = concrete(type);
  std::int64_t elements = wanted.elements();
  std::string bytes;
  if (auto base64 = item.find("base64")) {
    if (!from_base64(base64->text(), bytes)) base64->expected("base64");
    if (elements > static_cast<std::int64_t>(bytes.size()) || wanted.bytes() != bytes.size())
      base64->fail(fmt::format("{} for {}", plural(bytes.size(), "byte"), wanted.text()));
    Array array = Array::make(wanted);
    std::memcpy(array.raw(), bytes.data(), bytes.size());
    return array;
  }
  Item data = item["data"];
  if (static_cast<std::int64_t>(data.size()) != elements)
    data.fail(fmt::format("{} for {}", plural(data.size(), "element"), wanted.text()));
  Array array = Array::make(wanted);
  for (std::int64_t i = 0; i < elements; ++i) set_element(array, i, data[static_cast<std::size_t>(i)]);
  return array;
}

namespace {

Value read_tuple(const Item& list, const Type& type, const TypeNames& names) {
  bool typed = type.is(Kind::tuple) && type.parts.size() == list.size();
  Tuple tuple;
  for (std::size_t i = 0; i < list.size(); ++i)
    tuple.items.push_back(read_value(list[i], typed ? type.parts[i] : Type(), names));
  return Value(std::move(tuple));
}

Value read_tagged(const Item& item, const Type& type, const TypeNames& names) {
  if (auto value = item.find("int")) return Value(value->integer());
  if (auto value = item.find("float")) return Value(value->real());
  if (auto value = item.find("name")) return Value::name(value->text());
  if (auto list = item.find("tuple")) return read_tuple(*list, type, names);
  if (item.has("array")) return Value(read_array(item, item["array"]));
  if (auto ends = item.find("range")) {
    if (ends->size() != 2) ends->expected("two integers");
    return Value(Range{(*ends)[0].integer(), (*ends)[1].integer()});
  }
  if (auto written = item.find("type")) return Value(written_type(*written, names));
  item.expected("a value");
}

}  // namespace

Value read_value(const Item& item, const Type& type, const TypeNames& names) {
  if (item.is_null()) return {};
  if (item.is_boolean()) return Value(item.boolean());
  if (item.is_object()) return read_tagged(item, type, names);
  if (type.is(Kind::real)) return Value(item.real());
  if (item.is_text()) return Value(item.text());
  if (!item.is_list()) return Value(item.integer());
  Type element = type.is(Kind::list) ? type.parts[0] : Type();
  List items;
  for (std::size_t i = 0; i < item.size(); ++i) items.push_back(read_value(item[i], element, names));
  return Value(std::move(items));
}

}  // namespace taskspec
