// A graph of tensors on a chip, loaded once, then run step by step; states stay in the cores. Chips differ in what runs
// there (chip_kinds.hpp): a mapped program of blocks (hw_program.hpp), or populations of neurons (spike_run.hpp).
#pragma once
#include <algorithm>

#include "hwsim/map/mapping_file.hpp"
#include "hwsim/map/optimise.hpp"
#include "hwsim/noc/noc.hpp"
#include "hwsim/report/picture.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

// What the mapper takes, and what is of the run.
struct HwOptions : MapOptions {
  NocModel noc = NocModel::contended;
  std::int64_t frames = 0;
  bool checks_values = false;                   // against the exact engine, block by block
  bool keeps_pictures = false;                  // timelines and spikes, too
  bool partial = false;                         // ops without blocks run on the host
  bool allow_delay = false;                     // loops of populations that are too short get the delay that they lack
  std::shared_ptr<const MapFile> mapping = {};  // in place of the mapper's
  std::optional<SearchBudget> optimise = {};    // first
  int threads = 1;                              // of populations; results do not depend on it
};

class ChipRun {
 public:
  virtual ~ChipRun() = default;

  // Its borders: values of the list that are inputs, outputs, states; of a state without storage nothing can be read.
  const LoweredGraph& lowered() const { return lowered_; }
  // By input of the list, as LowerOptions has it; the first contents of states among them.
  const std::vector<std::optional<Array>>& known() const { return known_; }
  void set_known(std::vector<std::optional<Array>> known) { known_ = std::move(known); }
  bool is_state(std::size_t input) const {
    return std::ranges::any_of(lowered_.states, [&](const LoweredState& s) { return s.before.index() == input; });
  }
  std::int64_t version() const { return version_; }  // steps so far

  // One step: tensors of the open inputs, in the order of the lowered graph; gives those of its outputs. A batch of
  // samples is as many steps. Errors E5012, E4055.
  virtual std::vector<Array> step(std::span<const Array> tensors) = 0;
  virtual Array state(std::size_t number) const = 0;  // of LoweredGraph::states, as the tensor of the graph
  virtual void set_state(std::size_t number, const Array& tensor) = 0;
  virtual void begin_state(std::size_t number) = 0;                               // as the graph has it
  virtual bool is_mapped() const = 0;                                             // not: all that it gives is known
  virtual std::int64_t cycles() const = 0;                                        // of all steps so far
  virtual std::optional<ChipPicture> picture() const { return std::nullopt; }     // of all steps so far
  virtual std::span<const std::shared_ptr<ChipRun>> parts() const { return {}; }  // each a program of its own
  virtual std::span<const std::string> host_ops() const { return {}; }            // that are not on the chip
  virtual void note(const std::string&) {}                                        // for reports
  const std::string& title() const { return title_; }
  void set_title(std::string title) { title_ = std::move(title); }

 protected:
  explicit ChipRun(LoweredGraph lowered) : lowered_(std::move(lowered)) {}
  LoweredGraph lowered_;
  std::vector<std::optional<Array>> known_;
  std::int64_t version_ = 0;
  std::string title_;
};

using ChipRuns = std::vector<std::shared_ptr<ChipRun>>;

}  // namespace taskspec
