#include <fmt/format.h>

#include <set>

#include "interp/host/view/lane_maker.hpp"

namespace taskspec {

namespace {

using Use = FieldUse::Kind;

std::string name_of(const ViewCode& code, const FieldUse& use) {
  const ViewCode::View& view = code.views[use.view];
  return fmt::format("{}[..].{}", view.name, view.fields[use.field].name);
}

bool same_place(const FieldUse& a, const FieldUse& b) { return a.aligned && b.aligned && a.offsets == b.offsets; }

}  // namespace

std::optional<NoStrip> written_elsewhere(const ViewCode& code, const std::vector<FieldUse>& uses) {
  for (const FieldUse& write : uses) {
    if (write.kind == Use::read) continue;
    for (const FieldUse& other : uses) {
      if (&other == &write || other.view != write.view || other.field != write.field) continue;
      if (same_place(write, other) || (write.kind == Use::fold && other.kind == Use::fold)) continue;
      const std::string name = name_of(code, write);
      const std::pair field(write.view, write.field);
      if (other.kind == Use::read)
        return NoStrip{other.span, fmt::format("{} is written, and read at another point", name), field};
      return NoStrip{other.span, fmt::format("{} is written at several points in one turn", name), field};
    }
  }
  return std::nullopt;
}

namespace {

void collect_written(const ViewBlock& block, std::set<ViewValue>& written) {
  for (const ViewStep& step : block) {
    for (ViewValue value : step.outs) written.insert(value);
    for (const ViewBlock& inner : step.blocks) collect_written(inner, written);
  }
}

// Steps outside of `loop` that read one of these.
const ViewStep* reader_outside(const ViewBlock& block, const ViewStep& loop, const std::set<ViewValue>& values) {
  for (const ViewStep& step : block) {
    if (&step == &loop) continue;
    for (ViewValue value : step.in)
      if (values.contains(value)) return &step;
    for (const ViewBlock& inner : step.blocks)
      if (const ViewStep* found = reader_outside(inner, loop, values)) return found;
  }
  return nullptr;
}

std::string_view control_word(ViewStep::Kind kind) {
  using Kind = ViewStep::Kind;
  switch (kind) {
    case Kind::each_point:
      return "a loop over a view in a loop over a view";
    case Kind::each_int:
      return "a 'for' in the body of the loop";
    case Kind::while_:
      return "a 'while' in the body of the loop";
    case Kind::if_:
      return "an 'if', '&&' or '||' in the body of the loop";
    case Kind::once:
    case Kind::leave:
    case Kind::next:
      return "the body of the loop may be left early";
    default:
      return {};
  }
}

}  // namespace

std::optional<NoStrip> not_straight(const ViewCode& code, const ViewStep& loop) {
  std::set<ViewValue> mine, variables, written;  // what the loop makes; the variables of that; those so far
  collect_written(loop.blocks[0], mine);
  for (ViewValue value : mine)
    if (code[value].variable) variables.insert(value);
  for (const ViewStep& step : loop.blocks[0]) {
    if (const std::string_view word = control_word(step.kind); !word.empty())
      return NoStrip{step.span, std::string(word)};
    // One that the loop does not write is the same for all points.
    for (ViewValue value : step.in)
      if (variables.contains(value) && !written.contains(value))
        return NoStrip{step.span, fmt::format("variable '{}' goes from one point to the next", code[value].name)};
    for (ViewValue value : step.outs) written.insert(value);
  }
  for (const ViewCode::Output& output : code.outputs)
    if (variables.contains(output.value))
      return NoStrip{loop.span, fmt::format("variable '{}' goes from one point to the next", code[output.value].name)};
  if (const ViewStep* reader = reader_outside(code.body, loop, variables))
    return NoStrip{reader->span, "a variable that the loop writes is read behind it"};
  return std::nullopt;
}

}  // namespace taskspec
