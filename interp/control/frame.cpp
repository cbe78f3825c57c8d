#include "interp/control/frame.hpp"

#include "ir/program/alone.hpp"
#include "ir/types/solve.hpp"

namespace taskspec {

void SeldomInFrame::Delete::operator()(SeldomInFrame* it) const { delete it; }

const Dim* Frame::dimension(std::uint32_t symbol) const {
  if (!seldom_) return nullptr;
  for (const auto& [known, dim] : seldom_->dimensions)
    if (known == symbol) return &dim;
  return nullptr;
}

bool Frame::bind_dimension(std::uint32_t symbol, Dim dim) {
  if (dimension(symbol)) return false;
  seldom().dimensions.emplace_back(symbol, std::move(dim));
  return true;
}

SeldomInFrame::Dimensions Frame::dimensions() const {
  return seldom_ ? seldom_->dimensions : SeldomInFrame::Dimensions();
}

Frame::Frame(const Function& f, FunctionId self, const FunctionFacts& known) : function(f), id(self), facts(known) {
  grow();
}

void Frame::grow() {
  seldom().registers.resize(facts.registers.count);
  registers = seldom().registers.data();
}

std::uint32_t Frame::count_agent(const std::string& name) { return seldom().agents[name]++; }

AgentCounts Frame::agent_counts() const { return seldom_ ? seldom_->agents : AgentCounts(); }

void Frame::set_agent_counts(AgentCounts counts) { seldom().agents = std::move(counts); }

SeldomInFrame& Frame::seldom() {
  if (!seldom_) seldom_.reset(new SeldomInFrame);
  return *seldom_;
}

void Frame::forget_loops() {
  for (std::uint32_t loop : facts.registers.loops) registers[loop] = Value();
}

std::optional<Dim> extent_of(const Value& value) {
  if (value.is_integer()) return Dim(value.integer());
  if (auto* scalar = value.as<GraphScalar>(); scalar && scalar->type.is(Type::Kind::integer)) return scalar->dim;
  return std::nullopt;
}

namespace {

std::optional<Dim> find(const Symbol& symbol, const Frame& frame) {
  if (const Dim* known = frame.dimension(symbol->id)) return *known;
  if (symbol->host && symbol->call < frame.function.calls.size()) return extent_of(frame[CallId(symbol->call)]);
  return std::nullopt;
}

}  // namespace

Dim evaluate(const Dim& dim, const Frame& frame) {
  return dim.substitute([&](const Symbol& symbol) { return find(symbol, frame); });
}

Dim evaluate(const Dim& dim, const Frame& frame, Span span) {
  if (!dim.is_quotient()) return evaluate(dim, frame);
  try {
    return evaluate(dim, frame);
  } catch (const Error& error) {
    const Diag& first = error.diags().items().front();
    throw failure(first.code, span, first.message);
  }
}

Type evaluate(const Type& type, const Frame& frame) {
  return type.substitute([&](const Symbol& symbol) { return find(symbol, frame); });
}

namespace {

// The one dimension in an extent that nothing before it said, if no parameter has it alone: H of f32[2 * H].
Symbol unknown_in(const Dim& extent, const Frame& frame) {
  Symbol unknown;
  for (const Symbol& symbol : extent.symbols()) {
    if (find(symbol, frame)) continue;
    if (unknown || symbol->host || has_alone(frame.function, symbol)) return nullptr;
    unknown = symbol;
  }
  return unknown;
}

// True where it is bound now, and there is nothing left to compare.
bool solve(const Dim& extent, const Dim& known, const Dim& given, Frame& frame) {
  const Symbol unknown = unknown_in(extent, frame);
  std::optional<Dim> dim = unknown ? solved_for(unknown, known, given) : std::nullopt;
  return dim && frame.bind_dimension(unknown->id, *std::move(dim));
}

}  // namespace

void bind_dimensions(const Type& parameter, const Type& argument, Frame& frame, Span span, const std::string& name) {
  if (!parameter.is_tensor() && !parameter.is(Type::Kind::region) && !parameter.is(Type::Kind::partition)) {
    for (std::size_t i = 0; i < parameter.parts.size() && i < argument.parts.size(); ++i)
      bind_dimensions(parameter.parts[i], argument.parts[i], frame, span, name);
    return;
  }
  for (std::size_t i = 0; i < parameter.dims.size() && i < argument.dims.size(); ++i) {
    // A lone variable that is not bound yet takes the extent; anything else must agree.
    std::vector<Symbol> symbols = parameter.dims[i].symbols();
    if (symbols.size() == 1 && !symbols[0]->host && parameter.dims[i] == Dim(symbols[0]) &&
        frame.bind_dimension(symbols[0]->id, argument.dims[i]))
      continue;
    Dim wanted = evaluate(parameter.dims[i], frame, span);
    try {
      if (!wanted.is_constant() && solve(parameter.dims[i], wanted, argument.dims[i], frame)) continue;
    } catch (const Error& error) {
      const Diag& first = error.diags().items().front();
      throw failure(first.code, span, "'" + name + "' has shape " + argument.text() + "; " + first.message);
    }
    if (same(wanted, argument.dims[i]) == Same::no && wanted.is_constant() && argument.dims[i].is_constant())
      throw failure("E5004", span,
                    "'" + name + "' has shape " + argument.text() + "; dimension " + std::to_string(i) + " must be " +
                        wanted.text());
  }
}

}  // namespace taskspec
