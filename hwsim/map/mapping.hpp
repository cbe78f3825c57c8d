// A mapping as a value that one can look at and change. Each action gives the new estimate at once; one that breaks a
// limit changes nothing and says which. What is computed never changes.
//
//   ChipMapping m = ChipMapping::make(net, {.chip = chip}).value_or_throw();
//   m.split("conv1", {.y = 2});  m.move(3, 17);  m.undo();
//   m.estimate().interval;  m.text();  m.explain("conv1");  m.program()
//
// Errors of actions: E4048 a unit or core that is not there, E4049 what an action may not do, E4041 and E4043 memory
// and limits of the chip, E5012 groups that start each step together and would wait for one another.
#pragma once
#include "hwsim/map/estimate.hpp"
#include "hwsim/map/mapper.hpp"

namespace taskspec {

// A new grid; what is left out stays as it is.
struct GridChange {
  std::optional<std::int64_t> y = {}, x = {}, f = {}, r = {};
};

class ChipMapping {
 public:
  // As the mapper has it. Errors as map_net.
  static Result<ChipMapping> make(ChipNet net, const MapOptions& options);
  // These decisions, which need not be the mapper's.
  static Result<ChipMapping> with(ChipNet net, const MapOptions& options, const MapDecisions& decisions);
  // Of a net of which `cuts` made the one that the decisions are of.
  static Result<ChipMapping> with(ChipNet given, FittedNet fitted, const MapOptions& options,
                                  const MapDecisions& decisions);

  // Of its own: two of them change side by side, on threads too.
  ChipMapping copy() const;

  const ChipNet& net() const { return estimator_->net(); }  // with the sums cut
  const ChipNet& given() const { return *given_; }          // and as it was
  const SumCuts& cuts() const { return cuts_; }
  const UnitNet& units() const { return estimator_->units(); }
  const MapOptions& options() const { return options_; }
  const Chip& chip() const { return estimator_->chip(); }
  const MapDecisions& decisions() const { return estimator_->decisions(); }
  const MapEstimate& estimate() const { return estimator_->estimate(); }
  const MapEstimator& estimator() const { return *estimator_; }
  MapEstimate from_scratch() const;  // that of these decisions, out of the whole program

  using Done = Result<MapEstimate>;
  Done split(std::string_view unit, const GridChange& change);
  Done fuse(std::string_view a, std::string_view b);             // b onto the cores of a, in a phase of its own
  Done replicate(std::string_view unit, std::int64_t n);         // n cores with all of its weights, rows shared out
  Done share_storage(std::string_view a, std::string_view b);    // what is equal lies once on a core
  Done merge(std::int64_t core, std::int64_t other);             // what the other one does is done by the first
  Done put_in(std::string_view unit, std::int64_t core);         // a unit of one piece
  Done take_out(std::string_view unit);                          // onto cores of its own
  Done move(std::int64_t core, std::int64_t to);                 // they change places, if both are in use
  Done pipeline_rows(std::string_view unit, std::int64_t rows);  // soma behind the rows of its axon
  Done set_phase(std::string_view unit, std::int64_t phase);     // who has it there gets that of the unit
  Done set_slabs(std::int64_t slabs);                            // batches of rows; to and from 1 it is mapped anew
  Done set_depth(std::int64_t depth);                            // items that receive buffers have room for
  Done set_step_groups(std::int64_t count);                      // that groups of cores are dealt into; 0: none
  Done set_fetches_ahead(bool fetches_ahead);                    // mode A2S2, with a depth of 2
  Done take(const MapDecisions& decisions);                      // all of it, as an action
  Done take(FittedNet fitted, const MapDecisions& decisions);    // with other sums cut
  Done undo();
  Done redo();
  // How many actions can be undone; of all behind so many one is left, from `first` to `last`.
  std::size_t history() const { return before_.size(); }
  void forget_since(std::size_t history, const MapDecisions& first, const MapDecisions& last);

  Result<ChipProgram> program() const;
  std::string text() const;                              // a table of the units, and the estimate
  Result<std::string> explain(std::string_view unit);    // tries candidates, and takes them back
  std::string stage_text(std::string_view stage) const;  // split, phases, place or memory
  std::string name_of(std::size_t unit) const { return units().units[unit].name; }

 private:
  // As it was before an action. Another net, with other sums cut, has an estimator of its own.
  struct Past {
    std::shared_ptr<MapEstimator> estimator;
    SumCuts cuts;
    MapDecisions decisions;
  };

  ChipMapping(ChipNet given, FittedNet fitted, const MapOptions& options);
  std::shared_ptr<MapEstimator> estimator_of(ChipNet net) const;
  Past past() const { return {estimator_, cuts_, decisions()}; }
  void go_to(const Past& past);
  Done act(MapDecisions next);
  Diags waits_of(const MapEstimator& estimator) const;
  Done act(std::shared_ptr<MapEstimator> estimator, SumCuts cuts, MapDecisions next);
  std::optional<std::size_t> find(std::string_view unit, Diags& diags) const;
  std::vector<std::int32_t> free_cores(const MapDecisions& of, std::int32_t near) const;  // nearest first
  bool give_cores(MapDecisions& of, std::size_t unit, Diags& diags) const;                // as many as it has pieces
  void join_groups(MapDecisions& of, std::int32_t group, std::int32_t other) const;
  Done cut(std::size_t unit, const PieceGrid& grid);
  Done cut_along_r(std::size_t unit, std::int64_t parts);
  std::optional<MapDecisions> carried_to(const UnitNet& after, Diags& diags) const;  // units by their names
  MapDecisions with_grid(std::size_t unit, const PieceGrid& grid, Diags& diags) const;

  MapOptions options_;
  std::shared_ptr<const ChipNet> given_;
  std::shared_ptr<MapEstimator> estimator_;
  SumCuts cuts_;
  std::vector<Past> before_, behind_;  // for undo and redo

  friend class MapSearch;
  friend class MapExplainer;
};

}  // namespace taskspec
