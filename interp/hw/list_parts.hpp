// A list of ops in parts: what becomes blocks, for a chip, and what stays on the host, in turn.
//
//   y = argmax(relu(w @ x))          part 0, chip: matmul, relu          part 1, host: argmax
//
// Lines whose inputs are known before the graph runs belong to no part: they are worked out here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/base/result.hpp"
#include "ir/graph/op_list.hpp"

namespace taskspec {

// Inputs that are states, which change from step to step, each with what becomes of it.
using ListStates = std::vector<std::pair<ValueId, ValueId>>;

struct ListPart {
  bool is_host = false;
  OpList list;
  std::vector<ValueId> inputs, outputs;     // of the whole list, as the part's list has them
  std::vector<std::size_t> lines;           // of the whole list
  std::vector<std::optional<Array>> known;  // by input of the part
  // States that stay in the cores: all that read and make them is in this part. As inputs and values of the whole list.
  ListStates states;
};

struct ListParts {
  std::vector<ListPart> parts;               // each behind those whose values it reads
  std::vector<std::optional<Array>> values;  // by value of the whole list: what is known
  std::vector<std::string> host_ops;         // "argmax", each once
};

// `faults_of`: why a list for the chip does not become blocks; empty: it does. A state stays in the cores if one part
// for the chip reads and makes it; others come and go as tensors. A list of which nothing is left for the chip is not
// cut: then its own faults come back.
Result<ListParts> cut_list(const OpList& list, const std::vector<std::optional<Array>>& known, const ListStates& states,
                           FunctionRef<Diags(const OpList&, const std::vector<std::optional<Array>>&)> faults_of);

// Of a part on the host. Throws Error.
std::vector<Array> run_on_host(const ListPart& part, std::span<const Array> inputs);

}  // namespace taskspec
