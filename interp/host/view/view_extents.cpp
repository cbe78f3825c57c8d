#include "interp/host/view/view_extents.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/host/row.hpp"
#include "ir/types/solve.hpp"

namespace taskspec {

namespace {

// `_`: whatever there is.
bool says_nothing(const Dim& dim) {
  const std::vector<Symbol> symbols = dim.symbols();
  return symbols.size() == 1 && symbols[0]->name == "_";
}

std::string view_type(const Program& program, const Type& type) {
  std::string text = program[type.fields].name;
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) text += (axis == 0 ? "[" : ", ") + type.dims[axis].text();
  return text + "]";
}

}  // namespace

ViewExtents::ViewExtents(const Program& program, const Function& task, std::span<const ArrayType> inputs) {
  std::vector<std::pair<Extent, std::int64_t>> given;
  std::size_t view = 0, input = 0;
  for (const Parameter& parameter : task.parameters) {
    const bool is_view = parameter.type.is(Type::Kind::view);
    const std::vector<Dim>& dims = parameter.type.dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      Extent extent{view, axis, dims.size(), dims[axis], none, parameter.name, {}, parameter.span};
      if (says_nothing(extent.dim)) continue;
      extent.type = is_view ? view_type(program, parameter.type) : parameter.type.text();
      if (is_view)
        add(std::move(extent));
      else if (parameter.type.is_tensor() && axis < inputs[input].extents.size())
        given.emplace_back(std::move(extent), inputs[input].extents[axis]);
    }
    ++(is_view ? view : input);
  }
  for (const auto& [extent, value] : given)
    for (const Symbol& symbol : extent.dim.symbols())
      if (index_of(symbol) == none) symbols_.push_back(symbol->id);
  known_.assign(symbols_.size(), -1);
  settle_inputs(given);
  put_in_order();
}

std::size_t ViewExtents::index_of(const Symbol& symbol) const {
  const auto found = std::ranges::find(symbols_, symbol->id);
  return found == symbols_.end() ? none : static_cast<std::size_t>(found - symbols_.begin());
}

void ViewExtents::add(Extent extent) {
  const std::vector<Symbol> symbols = extent.dim.symbols();
  for (const Symbol& symbol : symbols)
    if (index_of(symbol) == none) symbols_.push_back(symbol->id);
  if (symbols.size() == 1 && extent.dim == Dim(symbols[0])) extent.alone = index_of(symbols[0]);
  extents_.push_back(std::move(extent));
}

// The checker saw to it that one after the other can be read off.
void ViewExtents::put_in_order() {
  std::vector<bool> known(symbols_.size());
  for (std::size_t k = 0; k < known.size(); ++k) known[k] = known_[k] >= 0;
  std::vector<Extent> ordered;
  while (!extents_.empty()) {
    const auto unknown = [&](const Extent& extent) {
      return std::ranges::count_if(extent.dim.symbols(),
                                   [&](const Symbol& symbol) { return !known[index_of(symbol)]; });
    };
    const auto next = std::ranges::min_element(extents_, {}, unknown);
    for (const Symbol& symbol : next->dim.symbols()) known[index_of(symbol)] = true;
    ordered.push_back(std::move(*next));
    extents_.erase(next);
  }
  extents_ = std::move(ordered);
}

void ViewExtents::settle_inputs(std::span<const std::pair<Extent, std::int64_t>> inputs) {
  try {
    for (const auto& [extent, value] : inputs) settle(extent, value, known_);
    for (const auto& [extent, value] : inputs) settle(extent, value, known_);  // once more: all are known
  } catch (Error& error) {
    wrong_.emplace(std::move(error));
  }
}

void ViewExtents::settle(const Extent& extent, std::int64_t given, Values values) const {
  const auto refuse = [&](const std::string& why) {
    const std::string along = extent.rank == 1 ? "" : fmt::format(" along axis {}", extent.axis);
    return failure("E5004", extent.span,
                   fmt::format("'{}' has {} points{}; {} {}", extent.name, given, along, extent.type, why));
  };
  const auto require = [&](std::int64_t wanted) {
    if (wanted != given) throw refuse(fmt::format("must have {}", wanted));
  };
  if (extent.alone != none) {
    if (values[extent.alone] < 0) values[extent.alone] = given;
    return require(values[extent.alone]);
  }
  if (extent.dim.is_constant()) return require(*extent.dim.constant());
  Symbol unknown;
  for (const Symbol& symbol : extent.dim.symbols())
    if (values[index_of(symbol)] < 0) {
      if (unknown) return;
      unknown = symbol;
    }
  std::optional<std::int64_t> wanted;
  try {
    const Dim said = extent.dim.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
      const std::int64_t value = values[index_of(symbol)];
      return value < 0 ? std::nullopt : std::optional(Dim(value));
    });
    if (!unknown)
      wanted = *said.constant();
    else if (const std::optional<Dim> solved = solved_for(unknown, said, Dim(given)))
      values[index_of(unknown)] = *solved->constant();
  } catch (const Error& error) {
    throw refuse("does not fit: " + error.diags().items().front().message);
  }
  if (wanted) require(*wanted);
}

void ViewExtents::check(const IndexSpace* const* pieces) const {
  if (wrong_) throw *wrong_;
  if (extents_.empty()) return;
  Row<std::int64_t> values(known_.size());
  std::ranges::copy(known_, values.data());
  for (const Extent& extent : extents_) {
    const IndexSpace& points = *pieces[extent.view];
    if (extent.rank > 1 && !points.is_rect())
      throw failure("E5004", extent.span,
                    fmt::format("'{}' has {} points that are no rectangle, and {} wants one; write _ for its extents",
                                extent.name, points.size(), extent.type));
    settle(extent, extent.rank == 1 ? points.size() : points.rect().extent(extent.axis),
           std::span(values.data(), known_.size()));
  }
}

}  // namespace taskspec
