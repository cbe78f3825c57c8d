#include "frontend/check/extents.hpp"

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/program/host_symbols.hpp"

namespace taskspec::checking {

namespace {

// Beyond these an int becomes a symbol of its own: polynomials stay small, recursion shallow.
constexpr std::size_t max_symbols = 6;
constexpr std::size_t max_degree_text = 120;
constexpr int max_depth = 40;

bool is_small(const Dim& dim) {
  return dim.is_constant() || (dim.symbols().size() <= max_symbols && dim.text().size() <= max_degree_text);
}

class Extents {
 public:
  explicit Extents(Body& body) : body_(body) {}

  Dim of(CallId id, const std::string& name, int depth) {
    if (const std::optional<Value> value = body_.known(id); value && value->is_integer()) return Dim(value->integer());
    if (auto found = body_.extents.find(id.value); found != body_.extents.end()) return found->second;
    std::optional<Dim> dim = computed(id, depth);
    if (!dim) dim = Dim(body_.world.symbol(name.empty() ? "_" : name, true, id, body_.id));
    body_.extents.add(id.value, *dim);
    return *dim;
  }

 private:
  // Nothing where the int is no polynomial of others.
  std::optional<Dim> computed(CallId id, int depth) {
    const Call& call = body_[id];
    if (call.form == Form::dimension) return Dim(call.symbol);
    if (call.form == Form::global) return global_extent(body_, call.module, call.variable);
    if (call.form == Form::item) return item_of_shape(call);
    if (call.form != Form::op || depth > max_depth) return std::nullopt;
    if (!call.op->extent) return std::nullopt;
    const OpDef& op = *call.op;
    const std::vector<CallId> in = call.in;
    std::vector<Dim> operands;
    for (std::size_t i = 0; i < in.size(); ++i) operands.push_back(of(in[i], text(id, i), depth + 1));
    return combined(op, operands);
  }

  // Nothing where it gets long or overflows: an error of a written extent. Here a symbol does as well, and an int that
  // overflows fails where it is worked out, if it ever is. So does one that drops a rest.
  std::optional<Dim> combined(const OpDef& op, const std::vector<Dim>& operands) {
    try {
      Dim result = op.extent(operands);
      if (is_small(result) && leaves_no_rest(result)) return result;
    } catch (const Error& error) {
      const Code code = error.diags().items().front().code;
      const bool is_known = code == Code("E0005") || code == Code("E5001") || code == Code("E5002");
      if (!is_known && !(code == Code("E5004"))) throw;
    }
    return std::nullopt;
  }

  // A polynomial, or one that the signature has, plus such: where H / 2 is an int, so is H / 2 - 1.
  bool leaves_no_rest(const Dim& quotient) const {
    if (!quotient.is_quotient()) return true;
    bool found = false;
    for_each_quotient(body_.function(), [&](const Dim& known) { found = found || differ_by_whole(quotient, known); });
    return found;
  }

  // `known` stands in the signature. A call looks at it when it starts: then it has read nothing of its file.
  bool differ_by_whole(const Dim& quotient, const Dim& known) const {
    const auto& sources = body_.info().symbols;
    for (const Symbol& symbol : known.symbols())
      if (auto source = sources.find(symbol->id);
          symbol->host && (source == sources.end() || source->second.module.valid()))
        return false;
    const Dim over = quotient.numerator() * known.denominator() - known.numerator() * quotient.denominator();
    const Dim under = quotient.denominator() * known.denominator();
    if (over.is_constant() && under.is_constant()) return *over.constant() % *under.constant() == 0;
    return !(over / under).is_quotient();
  }

  std::optional<Dim> item_of_shape(const Call& call) {
    const Call& list = body_[call.in[0]];
    if (list.form != Form::field || list.name != "shape") return std::nullopt;
    const std::optional<Value> index = body_.known(call.in[1]);
    const Type tensor = body_.type(list.in[0]);
    if (!index || !index->is_integer() || !tensor.is_tensor()) return std::nullopt;
    if (index->integer() < 0 || index->integer() >= static_cast<std::int64_t>(tensor.rank())) return std::nullopt;
    Dim dim = tensor.dims[static_cast<std::size_t>(index->integer())];
    return is_reachable(body_, dim) ? std::optional(dim) : std::nullopt;
  }

  std::string text(CallId id, std::size_t operand) {
    const Call& call = body_[id];
    return operand < call.in_spans.size() ? body_.text(call.in_spans[operand]) : "_";
  }

  Body& body_;
};

}  // namespace

Dim extent_of(Body& body, CallId call, const std::string& name) { return Extents(body).of(call, name, 0); }

bool is_reachable(Body& body, const Dim& dim) {
  for (const Symbol& symbol : dim.symbols())
    if (body.world.owner(symbol) != body.id || (symbol->host && symbol->call == UINT32_MAX)) return false;
  return true;
}

namespace {

std::optional<Dim> extent_among(Body& body, const Dim& dim, const std::vector<Term>& tensors) {
  for (const Term& tensor : tensors) {
    const Type type = tensor.valid() ? body.type(tensor) : Type();
    for (std::size_t axis = 0; axis < type.rank(); ++axis)
      if (type.dims[axis] == dim) return extent_of(body, extent_operand(body, tensor, axis).id, dim.text());
  }
  return std::nullopt;
}

}  // namespace

Dim reachable(Body& body, const Dim& dim, const std::vector<Term>& tensors) {
  if (is_reachable(body, dim)) return dim;
  if (std::optional<Dim> whole = extent_among(body, dim, tensors)) return *whole;
  return dim.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
    if (is_reachable(body, Dim(symbol))) return std::nullopt;
    return extent_among(body, Dim(symbol), tensors);
  });
}

Dim unknown_extent(Body& body, const std::string& name) {
  return Dim(body.world.symbol(name, true, CallId(), body.id));
}

std::string chosen_by_callers(const Body& body, const Dim& a, const Dim& b) {
  std::vector<std::string> names;
  for (const Dim* dim : {&a, &b})
    for (const Symbol& symbol : dim->symbols()) {
      if (symbol->host || !body.world.owner(symbol).valid()) continue;
      if (symbol->name == "_") return "give both extents one name to say that they are equal: f32[N]";
      if (std::ranges::find(names, symbol->name) == names.end()) names.push_back(symbol->name);
    }
  if (names.empty()) return "";
  std::string text = "each caller chooses " + joined(names, " and ") + " by its arguments";
  return text + (names.size() > 1 ? "; one name for both says that they are equal" : "");
}

bool is_any(const World& world, const Dim& dim) {
  std::vector<Symbol> symbols = dim.symbols();
  return symbols.size() == 1 && !world.owner(symbols[0]).valid();
}

bool holds_any(const World& world, const Type& type) {
  return std::ranges::any_of(type.dims, [&](const Dim& dim) { return is_any(world, dim); }) ||
         std::ranges::any_of(type.parts, [&](const Type& part) { return holds_any(world, part); });
}

Type item_type(Body& body, const Type& item) {
  const bool holds_items = item.is(Type::Kind::tuple) || item.is(Type::Kind::invocation);
  if (!item.is_tensor() && !holds_items) return item;
  Type type = item;
  for (Dim& dim : type.dims)
    if (is_any(body.world, dim)) dim = unknown_extent(body, dim.text());
  for (Type& part : type.parts) part = item_type(body, part);
  return type;
}

Dim global_extent(Body& body, ModuleId module, VariableId variable) {
  World& world = body.world;
  const FunctionId top_level = world.program.modules[module.index()].top_level;
  const FileScope& file = world.file(module);
  auto let = file.values.find(variable.value);
  if (let != file.values.end())
    if (const std::optional<Value> value = file.top_level->known(let->second); value && value->is_integer())
      return Dim(value->integer());
  // A file sees the value itself: its prologue runs before anything is set.
  if (let != file.values.end() && file.top_level.get() == &body)
    return extent_of(body, let->second, world.program[top_level].variables[variable.index()].name);
  const std::uint64_t key = (static_cast<std::uint64_t>(module.value) << 32) | variable.value;
  auto known = body.globals.find(key);
  CallId call = known == body.globals.end() ? CallId() : known->second;
  if (!call.valid()) {
    const Variable& declared = world.program[top_level].variables[variable.index()];
    Call read;
    read.form = Form::global;
    read.type = Type::Kind::integer;
    read.span = declared.span;
    read.module = module;
    read.variable = variable;
    call = body.emit_in_prologue(std::move(read));
    body.globals.put(key, call);
    body.extents.add(call.value, Dim(world.symbol(declared.name, true, call, body.id)));
  }
  return body.extents.at(call.value);
}

Type type_from_file(Body& body, ModuleId module, const Type& type) {
  World& world = body.world;
  FunctionId top_level = world.program.modules[module.index()].top_level;
  return type.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
    if (world.owner(symbol) != top_level || top_level == body.id) return std::nullopt;
    if (auto known = body.imported.find(symbol->id); known != body.imported.end()) return known->second;
    auto let = world.file(module).lets.find(symbol->call);
    Dim mine = let != world.file(module).lets.end() ? global_extent(body, module, let->second)
                                                    : unknown_extent(body, symbol->name);
    return body.imported.add(symbol->id, mine).first->second;
  });
}

Term shape_of(Body& body, const Term& tensor, Span span) {
  List known;
  const std::vector<Dim> dims = body.type(tensor).dims;
  for (const Dim& dim : dims)
    if (auto constant = dim.constant()) known.push_back(Value(*constant));
  Type type = Type::list(Type::Kind::integer);
  if (known.size() == body.type(tensor).rank()) return body.constant(Value(std::move(known)), type, span);
  Term shape = body.make(Form::field, type, span, {tensor});
  body[shape.id].name = "shape";
  return shape;
}

Term extent_operand(Body& body, const Term& tensor, std::size_t axis) {
  const std::vector<Dim> dims = body.type(tensor).dims;
  if (axis >= dims.size()) return body.constant(Value(std::int64_t{0}), Type::Kind::integer, tensor.span);
  if (auto known = dims[axis].constant()) return body.constant(Value(*known), Type::Kind::integer, tensor.span);
  Term shape = shape_of(body, tensor, tensor.span);
  Term index = body.constant(Value(static_cast<std::int64_t>(axis)), Type::Kind::integer, tensor.span);
  return body.make(Form::item, Type::Kind::integer, tensor.span, {shape, index});
}

}  // namespace taskspec::checking
