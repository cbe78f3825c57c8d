// A step of training whose batch is cut into parts: what works row by row runs part by part, what must see the whole
// batch runs once, in between.
//
//   step      forward: x -> y, h          backward: d_y, h, x -> d_w, d_b
//   parts     x -> x1 x2 x3
//             forward: x1 -> y1, h1       forward: x2 -> y2, h2       forward: x3 -> y3, h3
//             y1 y2 y3 -> y
//             backward: d_y1, h1, x1 -> part of d_w, of d_b     and so on
//             parts of d_w -> d_w, parts of d_b -> d_b          sums along one tree
//
// Which calls work row by row the records of their ops say (ir/records/sharding.hpp): along which axes a call splits,
// which splits give parts of a sum. A value is known part by part, along the axis where its rows are then, or as a
// whole. A call that no split serves reads the whole: parts are joined for it, or, where its record says what it is
// made of, only sums are (a mean; statistics of the batch). So the step says what it said, however it mixes rows.
//
// Sums go along a tree over all parts, whose shape depends on their number alone: the same bits wherever they run.
#pragma once
#include "ir/gradient/batch_parts.hpp"
#include "ir/gradient/training_step.hpp"

namespace taskspec {

struct PartsOptions {
  BatchParts batch;
  // By input of the graph: its first axis has the rows of the batch, so it is cut. By input, and by result whose
  // gradient is given: it comes in parts, which go by StepRef::slot from 1.
  std::vector<bool> cut, given_in_parts, upstream_in_parts;
  std::vector<bool> wanted_in_parts;  // by input: its gradient is given on in parts
};

// Results and gradients are there as before; those that are known part by part along their first axis in both ways.
TrainingStep in_parts(const TrainingStep& step, const PartsOptions& options, const OpTable& ops);

}  // namespace taskspec
