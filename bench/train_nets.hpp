// The networks that `bench train` trains: their texts, and what stands beside them. `train_torch` has the same ones by
// the same names.
#pragma once
#include <span>

namespace taskspec::bench {

struct TrainNet {
  const char* name;
  const char* size;
  // Up to `for k in 0..block { step }`: the net, `m` in training in `parts`, and its data x and t.
  const char* text;
  int block;             // steps that are measured together, so that a sample takes some tens of milliseconds
  double multiply_adds;  // of a step: of the results, of the weights, and of what is no input of the net
  double wanted;         // ours over theirs; 0: none
};

std::span<const TrainNet> train_nets();

}  // namespace taskspec::bench
