// What the builtins that make blocks of nets share.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "interp/control/block_task.hpp"
#include "interp/control/objects.hpp"
#include "interp/quantize/samples.hpp"
#include "ir/records/rule_context.hpp"

namespace taskspec {

class HostContext;

}  // namespace taskspec

namespace taskspec::block_builtins {

// A graph, a task or a composite: tensors in, tensors out. Fails the rule otherwise.
void want_net(RuleContext& c);
// Tensors, tuples and lists of them.
void want_samples(RuleContext& c, std::size_t operand);

// On the side of the host there is nothing to call.
bool is_beside_graph(const HostContext& host);
std::vector<GraphInput> written_inputs(const Type& net);
Samples samples_of_operand(HostContext& host, const Value& data, const std::vector<GraphInput>& inputs);
OpList list_of(HostContext& host, const Value& net, const std::vector<GraphInput>& inputs);

std::shared_ptr<BlockTask> as_task(OpList net, LoweredGraph lowered);
Value as_value(std::shared_ptr<BlockTask> task);
Value record_of(std::vector<std::pair<std::string, Value>> fields, std::string table = {});

}  // namespace taskspec::block_builtins
