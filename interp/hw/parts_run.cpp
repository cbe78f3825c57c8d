#include "interp/hw/parts_run.hpp"

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

// Its borders are tensors as they come: only parts have blocks.
LoweredPort open_port(const std::string& name, ValueId value) {
  LoweredPort port;
  port.name = name;
  port.value = value;
  return port;
}

}  // namespace

Result<std::unique_ptr<ChipRun>> PartsRun::make(const OpList& list, const ListStates& states,
                                                const LowerOptions& options, const MakeRun& make_run) {
  const auto lowered_part = [&](const OpList& part, const std::vector<std::optional<Array>>& known) {
    LowerOptions of_part = options;
    of_part.known = known;
    return lower(part, of_part);
  };
  const auto faults_of = [&](const OpList& part, const std::vector<std::optional<Array>>& known) {
    const Result<LoweredGraph> lowered = lowered_part(part, known);
    return lowered ? Diags() : lowered.diags();
  };
  Result<ListParts> parts = cut_list(list, options.known, states, faults_of);
  if (!parts) return parts.diags();
  std::unique_ptr<PartsRun> made(new PartsRun());
  made->parts_ = *std::move(parts);
  for (const ListPart& part : made->parts_.parts) {
    if (part.is_host) continue;
    Result<LoweredGraph> lowered = lowered_part(part.list, part.known);
    if (!lowered) return lowered.diags();
    Result<std::unique_ptr<ChipRun>> run = make_run(*std::move(lowered));
    if (!run) return run.diags();
    for (std::size_t s = 0; s < (*run)->lowered().states.size(); ++s) {
      LoweredState state = (*run)->lowered().states[s];
      state.before = part.inputs[state.before.index()];
      const auto found = std::ranges::find(part.states, state.before, &std::pair<ValueId, ValueId>::first);
      if (found == part.states.end()) bug("a state of a part that is none of the whole");
      state.after = found->second;
      made->lowered_.states.push_back(std::move(state));
      made->states_.emplace_back(made->on_chip_.size(), s);
    }
    made->on_chip_.push_back(*std::move(run));
  }
  if (!made->on_chip_.empty()) made->on_chip_.front()->note("on the host: " + joined(made->parts_.host_ops, ", "));
  for (std::size_t k = 0; k < list.inputs.size(); ++k)
    if (!made->parts_.values[k] && !made->is_state(k))
      made->lowered_.inputs.push_back(open_port(list.inputs[k].name, ValueId(k)));
  for (const OpList::Output& output : list.outputs) {
    const std::optional<Array>& value = made->parts_.values[output.value.index()];
    if (std::ranges::find(made->lowered_.states, output.value, &LoweredState::after) != made->lowered_.states.end())
      continue;
    if (value)
      made->lowered_.known.emplace_back(output.value, *value);
    else
      made->lowered_.outputs.push_back(open_port(output.name, output.value));
  }
  return std::unique_ptr<ChipRun>(std::move(made));
}

std::vector<Array> PartsRun::step(std::span<const Array> tensors) {
  std::vector<std::optional<Array>> values = parts_.values;
  for (std::size_t k = 0; k < tensors.size(); ++k) values[lowered_.inputs[k].value.index()] = tensors[k];
  std::size_t next = 0;
  for (const ListPart& part : parts_.parts) {
    std::vector<Array> in, made;
    if (part.is_host) {
      for (const ValueId value : part.inputs) in.push_back(*values[value.index()]);
      made = run_on_host(part, in);
      for (std::size_t k = 0; k < made.size(); ++k) values[part.outputs[k].index()] = std::move(made[k]);
      continue;
    }
    ChipRun& run = *on_chip_[next++];
    for (const LoweredPort& port : run.lowered().inputs) in.push_back(*values[part.inputs[port.value.index()].index()]);
    made = run.step(in);
    for (std::size_t k = 0; k < part.outputs.size(); ++k) {
      const ValueId own = part.list.outputs[k].value;
      const auto port = std::ranges::find(run.lowered().outputs, own, &LoweredPort::value);
      values[part.outputs[k].index()] = made[static_cast<std::size_t>(port - run.lowered().outputs.begin())];
    }
  }
  ++version_;
  std::vector<Array> outputs;
  for (const LoweredPort& port : lowered_.outputs) outputs.push_back(*values[port.value.index()]);
  return outputs;
}

}  // namespace taskspec
