#include "interp/control/tape_gradients.hpp"

#include <algorithm>
#include <array>

#include "interp/control/immediate.hpp"
#include "ir/gradient/reverse.hpp"

namespace taskspec {

namespace {

// Several readers of an output of the task gave a gradient each: their sum.
std::vector<Array> added_up(const EmbeddedTask& task, std::span<const Array> parts) {
  const OpDef& add = *task.ops->find_operator("+", 2);
  std::vector<Array> sums;
  for (std::size_t count : task.upstream) {
    if (count == 0) continue;
    Array sum = parts[0];
    for (const Array& part : parts.subspan(1, count - 1))
      sum = compute({&add, {sum.type(), sum.type()}, {{}, {}}, {sum.type()}}, std::array{sum, part})[0];
    sums.push_back(std::move(sum));
    parts = parts.subspan(count);
  }
  return sums;
}

[[noreturn]] void refuse(const Tape& tape, const EmbeddedTask& task, const Reverse::End& end) {
  const OpList::Line& line = tape.list.lines[end.line];
  Diag diag("E5013", Severity::error, line.span,
            "'" + std::string(line.op->name) + "' has no gradient: " + std::string(line.op->gradient.why_none));
  diag.note("every way from '" + task.inputs[end.input] + "' through " + task.graph->path(task.node) +
            " goes through it");
  throw Error(std::move(diag));
}

}  // namespace

std::vector<Array> gradients_of(const Tape& tape, const EmbeddedTask& task, std::span<const Array> parts) {
  ReverseOptions options{.upstream = {}, .wanted = task.wanted};
  for (std::size_t count : task.upstream) options.upstream.push_back(count > 0);
  const Reverse made = reverse(tape.list, options, *task.ops);
  const std::vector<Array> sums = added_up(task, parts);
  std::vector<Array> inputs;
  for (std::size_t output : made.upstream)
    inputs.push_back(sums[static_cast<std::size_t>(
        std::count(options.upstream.begin(), options.upstream.begin() + static_cast<std::ptrdiff_t>(output), true))]);
  for (ValueId value : made.reads) inputs.push_back(tape.values[value.index()]);
  const std::vector<Array> found = run_list(made.list, std::move(inputs));
  std::vector<Array> gradients;
  for (std::size_t i = 0; i < task.wanted.size(); ++i) {
    if (!task.wanted[i]) continue;
    const auto known = std::ranges::find(made.inputs, i);
    const auto end = std::ranges::find(made.ends, i, &Reverse::End::input);
    if (known == made.inputs.end() && end != made.ends.end()) refuse(tape, task, *end);
    gradients.push_back(known != made.inputs.end() ? found[static_cast<std::size_t>(known - made.inputs.begin())]
                                                   : Array::make(concrete(tape.list.types[i])));
  }
  return gradients;
}

}  // namespace taskspec
