// The exact engine: runs a block graph on the host, bit for bit as a chip would (`chip`), or as the reference program
// does
// (`rabbit`). Made ready once: order, one gather per edge, packed weights, proofs that no sum overflows; then run
// often, without taking memory. Each run is one time step: neurons and delayed edges go on from the step before.
//
//   Result<ExactEngine> engine = ExactEngine::make(graph, {.mode = BlockMode::chip});
//   std::vector<Array> out = engine->run({image});        // outputs in order of the graph's OUTPUT blocks
//   engine->report().text();                              // per block: multiply-adds, bytes, ranges, cuts, who was
//   ordered
//
// The graph is well formed (ir/blocks/check.hpp); the engine knows blocks by their records alone.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "interp/exact/report.hpp"
#include "ir/base/result.hpp"
#include "ir/blocks/numerics.hpp"

namespace taskspec {

struct ExactOptions {
  BlockMode mode = BlockMode::chip;
  bool statistics = false;     // ranges and zeros of all values: a pass over them in each step
  bool force_ordered = false;  // no fast kernels, for comparisons
};

class ExactEngine {
 public:
  // Error E4010: a block that this mode has no arithmetic for; E3002: a cycle.
  static Result<ExactEngine> make(std::shared_ptr<const BlockGraph> graph, const ExactOptions& options);
  ExactEngine(ExactEngine&&) noexcept;
  ExactEngine& operator=(ExactEngine&&) noexcept;
  ~ExactEngine();

  // One time step. Inputs in order of BlockGraph::inputs(), of the types of those blocks (our bug if not).
  std::vector<Array> run(std::span<const Array> inputs);
  // The same into arrays that are there, of the types of output_types(): takes no memory.
  void run(std::span<const Array> inputs, std::span<Array> outputs);
  void reset();  // states, delays and counters as in the beginning; the report too

  std::vector<ArrayType> input_types() const;
  std::vector<ArrayType> output_types() const;  // in rabbit mode they may be wider than the blocks say
  Array value(BlockId block) const;             // after the last step; a copy
  ExactReport report() const;                   // of all steps since the last reset

 private:
  struct Parts;
  explicit ExactEngine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace taskspec
