// Steps of a body (ir/view_code) to flat code over registers. A loop over points becomes strips where that means the
// same as one point after the other; else the program says why it did not.
//
//   LaneProgram program = make_lanes(code, ops);
#pragma once
#include <map>
#include <optional>

#include "interp/host/view/lane_code.hpp"
#include "ir/view_code/view_code.hpp"

namespace taskspec {

// Throws Error (E1009) for an op that has no form on single elements.
LaneProgram make_lanes(const ViewCode& code, const OpTable& ops);

// What a loop does to fields, for the rule below.
struct FieldUse {
  enum class Kind : std::uint8_t { read, write, fold } kind = Kind::read;
  std::uint32_t view = 0, field = 0;
  bool aligned = false;
  std::vector<Dim> offsets = {};
  Span span = {};
};

struct NoStrip {
  Span span;
  std::string text;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> field = {};  // view and field, where what is done to it is why
};

// Points may be done by the strip where no field that is written is read at another point: then no point sees what
// another one did. Writes at several points to one field, too, would come in another order.
std::optional<NoStrip> written_elsewhere(const ViewCode& code, const std::vector<FieldUse>& uses);
// The loop with what it does to this field as folds, which may be at any points; nothing where that is another meaning.
std::optional<ViewStep> with_folds(const ViewCode& code, const ViewStep& loop, std::uint32_t view, std::uint32_t field);
// Control, and variables that go from one point to the next.
std::optional<NoStrip> not_straight(const ViewCode& code, const ViewStep& loop);

class LaneMaker {
 public:
  LaneMaker(const ViewCode& code, const OpTable& ops);
  LaneProgram make() &&;

 private:
  using Kind = LaneInstruction::Kind;
  static constexpr std::uint32_t top = UINT32_MAX;

  // ---- values ----
  Register one(ViewValue value) const { return value.value; }
  Register add_register(Precision precision, bool lanes);
  ViewValue resolved(ViewValue value) const;
  std::optional<Dim> dim_of(ViewValue value) const;
  void note_dim(ViewValue value, std::optional<Dim> dim);
  void note_number(const ViewStep& step);
  bool outside(ViewValue value) const { return home_[value.index()] != loop_; }
  void place(ViewValue value) { home_[value.index()] = loop_; }

  // ---- scalar code ----
  void block(const ViewBlock& block);
  void step(const ViewStep& step);
  LaneInstruction& emit(LaneInstruction instruction);
  void arithmetic(const ViewStep& step, LaneInstruction instruction);
  const Kernel* kernel(const ViewStep& step, std::span<const Precision> in, Precision out);
  const Kernel* fold_kernel(const OpDef& op, Precision precision);
  Register places(const ViewStep& step, std::span<const ViewValue> index, std::uint32_t& access);
  void read(const ViewStep& step);
  void write(const ViewStep& step);
  void each_int(const ViewStep& step);
  void while_loop(const ViewStep& step);
  void choice(const ViewStep& step);
  void leave(const ViewStep& step);
  void each_point(const ViewStep& step);
  void scalar_loop(const ViewStep& step);

  // ---- places ----
  std::optional<LaneAccess> aligned(std::uint32_t view, std::uint32_t field, std::span<const ViewValue> index);
  std::uint32_t add_access(LaneAccess access);
  LaneAccess access_of(const ViewStep& step) const;

  // ---- strips (strip_maker.cpp) ----
  std::optional<NoStrip> why_not(const ViewStep& loop, std::optional<ViewStep>& folding);
  void collect_uses(const ViewStep& loop, std::vector<FieldUse>& uses);
  void strip_loop(const ViewStep& loop);
  void strip_step(const ViewStep& step);
  bool hoisted(const ViewStep& step);
  void strip_arithmetic(const ViewStep& step);
  Register lanes(ViewValue value);
  Register operand(ViewValue value);
  Register strip_places(const ViewStep& step, std::span<const ViewValue> index, std::uint32_t& access);
  void strip_read(const ViewStep& step);
  void strip_write(const ViewStep& step);
  void strip_fold(const ViewStep& step);
  void strip_whole(const ViewStep& step);
  bool folds_in_place(const ViewStep& step) const;
  bool has_shape(const LaneInstruction& i) const;
  // lane_joins.cpp
  void join_arithmetic(LaneLoop& loop);
  void join_gathers(LaneLoop& loop, const std::vector<std::string>& shapes);
  void join_products(LaneLoop& loop, const std::vector<std::string>& shapes);
  void settle_memory(LaneLoop& loop);
  void defer_checks(LaneLoop& loop);
  void settle_slots(LaneLoop& loop);
  void note_passes(LaneLoop& loop) const;
  static void settle_dense(LaneLoop& loop);

  const ViewCode& code_;
  const OpTable& ops_;
  LaneProgram made_;
  std::vector<std::pair<Register, Array>> numbers_;  // constants
  std::vector<LaneInstruction>* out_ = nullptr;      // where code goes
  std::vector<std::optional<Dim>> dims_;             // by value: of ints
  std::vector<std::uint32_t> home_;                  // by value: the loop over points that makes it; top: none
  std::uint32_t loop_ = top;
  bool certain_ = false;  // what comes now runs for each point of the loop
  struct Enclosing {      // what a `leave` may end
    std::vector<std::size_t> leaves, nexts;
  };
  std::vector<Enclosing> enclosing_;
  std::vector<ViewValue> coordinates_;  // of the loop

  std::map<ViewValue, ViewValue> alias_;  // in strips: what a value or variable is now
  std::map<ViewValue, Register> lanes_;
  std::map<ViewValue, const ViewStep*> pending_;  // numbers of the host that are only needed as places so far
  std::map<std::pair<std::uint32_t, std::vector<Register>>, std::pair<Register, std::uint32_t>> places_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const ViewStep*>> folds_;  // of the loop, by field
  std::vector<LaneInstruction>* before_ = nullptr;                                         // code in front of the loop
  std::size_t most_slots_ = 0;
};

}  // namespace taskspec
