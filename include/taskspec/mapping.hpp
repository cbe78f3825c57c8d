// Nets on the cores of a chip: placed, looked at, changed, run. What a text does with map(net, chip: ...).
//
//   Mapping m = map(net, {.chip = "tianjicx"});
//   MappingEstimate now = m.split("conv1", {.y = 2});       // each action gives the new estimate at once
//   m.undo();
//   Tensor r = net(x).run(hw({arg("mapping", m.value()), arg("check", "engine")}));
//   std::int64_t cycles = chip_report(r).cycles;
//
// An action that breaks a limit changes nothing and throws Error: E4048 a unit or core that is not there, E4049 what an
// action may not do, E4041 to E4043 memory, cores and limits of the chip.
#pragma once
#include <optional>

#include "taskspec/host.hpp"

namespace taskspec::dsl {

// A run on a chip; options by the names of the language: hw({arg("chip", "tiny"), arg("noc", "ideal")}).
inline Backend hw(std::vector<Operand> options = {}) {
  Backend made{.name = "hw"};
  made.options = std::move(options);
  return made;
}

struct MappingOptions {
  std::string chip = "tianjicx";           // its name, or the path of its file
  std::vector<std::int64_t> chips = {};    // side by side, and rows of them; none: as the file says
  std::optional<std::int64_t> cores = {};  // the first n
  std::string objective = "throughput";
  std::optional<std::int64_t> slabs = {};  // batches of rows
  std::int64_t depth = 1;                  // items that receive buffers have room for
  std::int64_t step_groups = 0;
  bool a2s2 = false;
};

// Of sums, without a run of the clock; clk, pJ, bytes and packets of a step.
struct MappingEstimate {
  std::int64_t latency = 0, interval = 0;
  double energy = 0;
  std::int64_t memory = 0, cores = 0, packets = 0;
  friend bool operator==(const MappingEstimate&, const MappingEstimate&) = default;
};

// Into how many parts; what is left out stays.
struct GridParts {
  std::optional<std::int64_t> y = {}, x = {}, f = {}, r = {};
};

class Mapping {
 public:
  using At = detail::At;
  explicit Mapping(Tensor value) : value_(std::move(value)) {}
  const Tensor& value() const { return value_; }  // for hw(mapping)

  MappingEstimate split(const std::string& unit, const GridParts& parts, At at = At::current());
  MappingEstimate fuse(const std::string& a, const std::string& b, At at = At::current());
  MappingEstimate replicate(const std::string& unit, std::int64_t n, At at = At::current());
  MappingEstimate share_storage(const std::string& a, const std::string& b, At at = At::current());
  MappingEstimate merge(std::int64_t core, std::int64_t other, At at = At::current());
  MappingEstimate put_in(const std::string& unit, std::int64_t core, At at = At::current());
  MappingEstimate take_out(const std::string& unit, At at = At::current());
  MappingEstimate move(std::int64_t core, std::int64_t to, At at = At::current());
  MappingEstimate pipeline_rows(const std::string& unit, std::int64_t rows, At at = At::current());
  MappingEstimate set_phase(const std::string& unit, std::int64_t phase, At at = At::current());
  MappingEstimate slabs(std::int64_t count, At at = At::current());
  MappingEstimate depth(std::int64_t items, At at = At::current());
  MappingEstimate step_groups(std::int64_t count, At at = At::current());
  MappingEstimate a2s2(bool on, At at = At::current());
  MappingEstimate optimise(const std::string& budget, At at = At::current());  // "30s", or moves: "20000"
  MappingEstimate undo(At at = At::current());
  MappingEstimate redo(At at = At::current());
  MappingEstimate load(const std::string& path, At at = At::current());
  void save(const std::string& path, At at = At::current());

  MappingEstimate estimate(At at = At::current()) const;
  std::string text(At at = At::current()) const;  // a table of the units
  std::string explain(const std::string& unit, At at = At::current()) const;

 private:
  MappingEstimate act(const char* method, std::vector<Operand> operands, At at) const;
  Tensor value_;
};

Mapping map(const Graph& net, const MappingOptions& options = {}, detail::At at = detail::At::current());

// What a run on a chip took.
struct ChipReport {
  std::int64_t cycles = 0;
  double time = 0, energy = 0;  // simulated seconds, pJ
  std::int64_t memory = 0;      // bytes of the fullest core
  std::int64_t packets = 0;
};
ChipReport chip_report(const Tensor& run, detail::At at = detail::At::current());

}  // namespace taskspec::dsl
