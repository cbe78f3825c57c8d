#include "ir/json/types.hpp"

#include <charconv>

#include "ir/base/ascii.hpp"
#include "ir/base/diag.hpp"
#include "ir/cut_report/code_words.hpp"
#include "ir/program/program.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/types/mapping_type.hpp"

namespace taskspec {

using Kind = Type::Kind;

// ---- writing --------------------------------------------------------------------------------------

void SymbolNames::add(const Dim& dim) {
  if (dim.is_constant()) return;
  for (const Symbol& symbol : dim.symbols()) add(symbol);
}

void SymbolNames::add(const Type& type) {
  for (const Dim& dim : type.dims) add(dim);
  for (const Type& part : type.parts) add(part);
}

void SymbolNames::choose() {
  std::map<std::string_view, int> uses;
  for (const auto& [id, symbol] : symbols_) ++uses[symbol->name];
  std::size_t position = 0;
  for (const auto& [id, symbol] : symbols_) {
    bool by_name = is_name(symbol->name) && uses[symbol->name] == 1;
    written_[id] = by_name ? symbol->name : "$" + std::to_string(position);
    if (!by_name)
      renamed_[id] = std::make_shared<const SymbolInfo>(SymbolInfo{written_[id], id, symbol->host, symbol->call});
    ++position;
  }
}

std::string SymbolNames::text(const Dim& dim) const {
  if (dim.is_constant() || renamed_.empty()) return dim.text();
  return dim
      .substitute([&](const Symbol& symbol) -> std::optional<Dim> {
        auto found = renamed_.find(symbol->id);
        return found == renamed_.end() ? std::nullopt : std::optional(Dim(found->second));
      })
      .text();
}

namespace {

class TypeWriter {
 public:
  TypeWriter(const SymbolNames& names, const DefNumbers& numbers) : names_(names), numbers_(numbers) {}

  std::string text(const Type& type) const {
    const std::size_t n = type.parts.size();
    switch (type.kind) {
      case Kind::list:
        return "[" + text(type.parts[0]) + "]";
      case Kind::tuple:
        return "(" + parts(type, 0, n) + ")";
      case Kind::function: {
        std::string written = "fn(" + parts(type, 0, n - 1) + ")";
        return type.parts.back().is(Kind::none) ? written : written + " -> " + text(type.parts.back());
      }
      case Kind::type:
        return "type " + text(type.parts[0]);
      case Kind::tensor:
        return tensor(type);
      case Kind::task:
        return "task(" + parts(type, 0, type.inputs) + ") -> (" + parts(type, type.inputs, n) + ")";
      case Kind::invocation:
        return "invocation (" + parts(type, 0, n) + ")";
      case Kind::record:
        return "record {" + parts(type, 0, n) + "}";
      case Kind::agent:
        return "agent#" + std::to_string(numbers_.agent(type.agent));
      case Kind::region:
      case Kind::view:
        return data(type);
      case Kind::region_field:
        return "field " + data(type) + " " + text(type.parts[0]);
      case Kind::partition:
        return "partition " + std::to_string(type.inputs) + " " + data(type);
      case Kind::launch_map:
        return "map " + std::to_string(type.inputs) + " " + text(type.parts[0]);
      default:
        return type.text();
    }
  }

 private:
  std::string tensor(const Type& type) const {
    return type.dims.empty() ? type.text() : std::string(info(type.precision).name) + extents(type);
  }

  std::string extents(const Type& type) const {
    std::string written;
    for (std::size_t i = 0; i < type.dims.size(); ++i) written += (i ? ", " : "[") + names_.text(type.dims[i]);
    return type.dims.empty() ? "" : written + "]";
  }

  // "Cell#3[N].{state, flux}"
  std::string data(const Type& type) const {
    std::string written = type.names[0] + "#" + std::to_string(numbers_.fields(type.fields)) + extents(type);
    for (std::size_t i = 1; i < type.names.size(); ++i) written += (i > 1 ? ", " : ".{") + type.names[i];
    return type.names.size() > 1 ? written + "}" : written;
  }

  std::string parts(const Type& type, std::size_t from, std::size_t to) const {
    std::string written;
    for (std::size_t i = from; i < to; ++i) {
      if (i > from) written += ", ";
      if (type.is_place(i)) written += "inout ";
      if (i < type.names.size() && !type.names[i].empty()) written += type.names[i] + ": ";
      written += text(type.parts[i]);
    }
    return written;
  }

  const SymbolNames& names_;
  const DefNumbers& numbers_;
};

}  // namespace

std::string type_text(const Type& type, const SymbolNames& names, const DefNumbers& numbers) {
  return TypeWriter(names, numbers).text(type);
}

// ---- reading --------------------------------------------------------------------------------------

namespace {

struct NoType {};

class TypeParser {
 public:
  TypeParser(std::string_view text, const TypeNames& names) : rest_(text), names_(names) {}

  Type whole_type() {
    Type result = type();
    if (!rest_.empty()) throw NoType();
    return result;
  }
  Dim whole_dim() {
    Dim result = dim();
    if (!rest_.empty()) throw NoType();
    return result;
  }

 private:
  static constexpr int deepest = 200;
  static constexpr std::size_t most_axes = 4;  // of regions
  static constexpr std::size_t most_terms =
      256;  // a polynomial that takes longer than an instant was not written by us

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) throw NoType();
  }
  std::string_view take_while(auto matches) {
    std::size_t count = 0;
    while (count < rest_.size() && matches(rest_[count])) ++count;
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view word() { return take_while(is_word); }
  std::int64_t number() {
    std::string_view digits = take_while(is_digit);
    std::int64_t value = 0;
    if (digits.empty() || std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
      throw NoType();
    return value;
  }

  Type type() {
    if (++depth_ > deepest) throw NoType();
    Type result = bracketed();
    --depth_;
    return result;
  }

  Type bracketed() {
    if (take("[")) {
      Type result = Type::list(type());
      expect("]");
      return result;
    }
    Type result(Kind::tuple);
    if (take("(")) return parts(result, ")"), result;
    if (take("?")) return Kind::error;
    return named(word());
  }

  Type named(std::string_view name) {
    if (name != "agent" && rest_.starts_with("#")) return with_extents(data(name));
    if (name == "field") return expect(" "), region_field();
    if (name == "partition") return expect(" "), partition();
    if (name == "map") return expect(" "), launch_map();
    if (name == "bool" && take("[]")) return Type::tensor(Precision::boolean, {});
    if (name == "bool" && !rest_.starts_with("[")) return Kind::boolean;
    if (auto precision = precision_of(name)) return Type::tensor(*precision, dims());
    if (name == "fn") return function();
    if (name == "task") return task();
    if (name == "type") return expect(" "), Type::of(type());
    if (name == "agent") return agent();
    Type result(name == "record" ? Kind::record : Kind::invocation);
    if (name == "record") return expect(" {"), parts(result, "}"), result;
    if (name == "invocation") return expect(" ("), parts(result, ")"), result;
    if (name == "backend") return backend();
    if (name == "blocks") return Kind::blocks;
    if (name == mapping_word) return mapping_type();
    for (Kind kind : {Kind::none, Kind::integer, Kind::real, Kind::string, Kind::range})
      if (name == Type(kind).text()) return kind;
    throw NoType();
  }

  // "inout a: T, U)": named and unnamed parts up to the closing bracket.
  void parts(Type& into, std::string_view close, bool places = false) {
    if (take(close)) return;
    bool named = !into.names.empty();
    do {
      if (places && take("inout ")) into.places.push_back(static_cast<std::uint32_t>(into.parts.size()));
      std::string_view before = rest_;
      std::string_view name = take_while([](char c) { return is_word(c) || c == '.'; });
      bool has_name = !name.empty() && take(": ");
      if (!has_name) rest_ = before;
      into.parts.push_back(type());
      into.names.resize(into.parts.size() - 1);
      into.names.emplace_back(has_name ? name : std::string_view());
      named = named || has_name;
    } while (take(", "));
    expect(close);
    if (!named) into.names.clear();
  }

  Type backend() {
    if (!take(" ")) return Kind::backend;  // of files that do not say which one
    return backend_type(take_while(is_word));
  }

  Type function() {
    Type result(Kind::function);
    expect("(");
    parts(result, ")");
    result.names.clear();
    result.parts.push_back(take(" -> ") ? type() : Type());
    return result;
  }

  Type task() {
    Type result(Kind::task);
    expect("(");
    parts(result, ")", true);
    result.inputs = static_cast<std::uint32_t>(result.parts.size());
    expect(" -> (");
    parts(result, ")");
    return result;
  }

  Type agent() {
    expect("#");
    Type result(Kind::agent);
    std::optional<AgentId> id = names_.agent(static_cast<std::size_t>(number()));
    if (!id) throw NoType();
    result.agent = *id;
    return result;
  }

  // "#3[N].{state, flux}" of Cell: a region, or with fields a view.
  Type data(std::string_view name) {
    expect("#");
    const auto number = static_cast<std::size_t>(this->number());
    const std::optional<TypeNames::Table> table = names_.fields ? names_.fields(number) : std::nullopt;
    if (!table || table->fields->name != name) throw NoType();
    Type result(Kind::region);
    result.fields = table->id;
    result.names.emplace_back(name);
    result.dims = dims();
    if (result.dims.size() > most_axes) throw NoType();
    if (!take(".{")) return result;
    result.kind = Kind::view;
    do field(result, *table->fields, word());
    while (take(", "));
    expect("}");
    return result;
  }

  static void field(Type& view, const FieldsTable& table, std::string_view name) {
    for (std::size_t i = 0; i < table.fields.size(); ++i) {
      if (table.fields[i].name != name) continue;
      if (!view.places.empty() && view.places.back() >= i) throw NoType();
      view.places.push_back(static_cast<std::uint32_t>(i));
      view.names.emplace_back(name);
      return;
    }
    throw NoType();
  }

  Type data() {
    const std::string_view name = word();
    return data(name);
  }

  Type region_field() {
    Type result = data();
    if (result.places.size() != 1) throw NoType();
    result.kind = Kind::region_field;
    expect(" ");
    result.parts.push_back(type());
    if (!result.parts[0].is_tensor()) throw NoType();
    return result;
  }

  std::uint32_t axes() {
    const std::int64_t count = number();
    if (count < 1 || count > static_cast<std::int64_t>(most_axes)) throw NoType();
    expect(" ");
    return static_cast<std::uint32_t>(count);
  }

  static Type with_extents(Type data) {
    if (data.dims.empty()) throw NoType();
    return data;
  }

  Type partition() {
    const std::uint32_t rank = axes();
    Type result = with_extents(data());
    if (!result.is(Kind::region)) throw NoType();
    result.kind = Kind::partition;
    result.inputs = rank;
    return result;
  }

  Type launch_map() {
    Type result(Kind::launch_map);
    result.inputs = axes();
    result.parts.push_back(type());
    if (!result.parts[0].is_tensor() && !result.parts[0].is(Kind::integer)) throw NoType();
    return result;
  }

  std::vector<Dim> dims() {
    std::vector<Dim> dims;
    if (!take("[")) return dims;
    do dims.push_back(dim());
    while (take(", "));
    expect("]");
    return dims;
  }

  Dim dim() {
    Dim sum = term(take("-"));
    std::size_t terms = 1;
    while (true) {
      if (take(" + "))
        sum = sum + term(false);
      else if (take(" - "))
        sum = sum + term(true);
      else
        return sum;
      if (++terms > most_terms) throw NoType();
    }
  }

  Dim term(bool negative) {
    Dim product = Dim(negative ? -1 : 1) * factor();
    for (std::size_t factors = 1; factors < most_terms; ++factors)
      if (take("*"))
        product = product * factor();
      else if (take("/"))
        product = product / factor();
      else
        break;
    return product;
  }

  Dim factor() {
    if (!rest_.empty() && is_digit(rest_[0])) return number();
    if (take("(")) {
      if (++depth_ > deepest) throw NoType();
      Dim sum = dim();
      --depth_;
      expect(")");
      return sum;
    }
    std::string_view name = take_while([](char c) { return is_word(c) || c == '$'; });
    std::optional<Symbol> symbol = name.empty() ? std::nullopt : names_.symbol(name);
    if (!symbol) throw NoType();
    return Dim(*symbol);
  }

  std::string_view rest_;
  const TypeNames& names_;
  int depth_ = 0;
};

}  // namespace

std::optional<Type> parse_type(std::string_view text, const TypeNames& names) {
  try {
    return TypeParser(text, names).whole_type();
  } catch (const NoType&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // an extent that overflows
  }
}

std::optional<Dim> parse_dim(std::string_view text, const TypeNames& names) {
  try {
    return TypeParser(text, names).whole_dim();
  } catch (const NoType&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace taskspec
