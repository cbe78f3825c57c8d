// Runs a lane program, for one point of a launch: once, or again and again on the same views.
#pragma once
#include "interp/host/root_tree.hpp"
#include "interp/host/view/lane_code.hpp"
#include "interp/host/view/lane_moves.hpp"
#include "interp/host/view/view_points.hpp"
#include "ir/view_code/view_code.hpp"

namespace taskspec {

class ScalarRun;

class LaneMachine {
 public:
  // `scratch`: that of the program; `state`: state_bytes() beside it, so that a point allocates nothing.
  LaneMachine(const LaneProgram& program, const ViewCode& code, const ViewRun& run, TaskContext& context,
              std::byte* scratch, std::byte* state);
  LaneMachine(const LaneMachine&) = delete;
  // Throws LaneFault. `anew`: others have had the scratch. `compiled`: does what its code does.
  void run(bool anew = true, ScalarRun* compiled = nullptr);
  static std::size_t state_bytes(const LaneProgram& program);

 private:
  friend ScalarRun;  // which stands in for `scalar`, and asks for what it has no code for

  // Consecutive points of a strip: elements [first, first + count).
  struct Segment {
    std::int64_t first = 0, count = 0;
    RowRun at;
  };
  struct Turn {  // the strip, or the point, that code runs for
    const LaneLoop* loop = nullptr;
    std::int64_t count = 1;
    std::span<const Segment> segments = {};
    bool sparse = false;  // of short segments: `places` has all points
  };
  enum class Left : std::uint8_t { no, loop };
  struct Bounds {  // of places that are values yet: less `shift` they are places, in [lo, hi) they are there
    std::int64_t lo = 0, hi = INT64_MAX, shift = 0;
  };
  struct AccessState {
    std::array<std::int64_t, highest_rank> offsets{};
    bool follows = false;       // lies as far from the point of the loop in memory, too: in roots of equal rows
    bool inside = false;        // of all points of the loop
    bool stays = false;         // all this is so whenever the loop is entered
    std::byte* from = nullptr;  // where it follows: of the point of the loop that has root index 0
    PieceMemory memory;
    ViewCursor cursor;
    Bounds bounds;  // of an `index` that is deferred
  };

  // ---- code ----
  void code(std::span<const LaneInstruction> code, const Turn& turn) {
    for (const LaneInstruction& i : code) instruction(i, turn);
  }
  Left scalar(std::span<const LaneInstruction> code, std::span<const ScalarStep> steps, const Turn& turn);
  bool index_one(const ScalarStep& i);  // false: the instruction does it
  template <std::size_t bytes>
  std::byte* at_place(const ScalarStep& i) const;
  void instruction(const LaneInstruction& i, const Turn& turn);
  void kernel(const LaneInstruction& i, const Turn& turn);
  void number(const LaneInstruction& i, const Turn& turn);
  void convert(const LaneInstruction& i, const Turn& turn);
  void copy(const LaneInstruction& i, const Turn& turn);
  void extent(const LaneInstruction& i);
  void coordinate(const LaneInstruction& i, const Turn& turn);
  void load(const LaneInstruction& i, const Turn& turn);
  void load_by_number(const LaneInstruction& i, const Turn& turn);
  void whole(const LaneInstruction& i, const Turn& turn);
  void make_tensor(const LaneInstruction& i);
  void tensor_op(const LaneInstruction& i);
  Array tensor(ViewValue value, std::size_t rank) const;
  void put_tensor(std::size_t output) const;
  void total(const LaneInstruction& i, const Turn& turn);
  void load_or_else(const LaneInstruction& i, const Turn& turn);
  void index(const LaneInstruction& i, const Turn& turn);
  void gather(const LaneInstruction& i, const Turn& turn);
  void gather_kernel(const LaneInstruction& i, std::byte* out, std::int64_t count);
  void store(const LaneInstruction& i, const Turn& turn);
  void scatter(const LaneInstruction& i, const Turn& turn);
  void folds(const LaneInstruction& i, const Turn& turn);
  Value host_value(Register r, std::int64_t element) const;

  // ---- loops ----
  void loop(const LaneLoop& loop);
  void enter(const LaneLoop& loop);
  void enter(std::uint32_t access, const ViewMemory& over);
  void strips(const LaneLoop& loop);
  void plain_strips(const LaneLoop& loop);
  void dense_strips(const LaneLoop& loop, Run run);
  void fetch_ahead(const LaneLoop& loop, std::int64_t linear) const;
  void finish_totals(const LaneLoop& loop);
  void check_numbers(const LaneLoop& loop) const;
  void check_extent(const LaneLoop& loop, std::size_t axis, std::int64_t extent) const;
  void check_bounds(const LaneLoop& loop, const RowRun& run);
  bool is_inside(const AccessState& access, const ViewMemory& over, const ViewMemory& of) const;
  bool lies_in_rect(std::uint32_t access, const RowRun& run) const;
  bool scalar_run(const LaneLoop& loop, const RowRun& run);
  void strip(const LaneLoop& loop, std::span<const Segment> segments, std::int64_t count);

  // ---- places ----
  const ViewMemory& view(std::uint32_t v) const { return run_.views[v]; }
  std::byte* base(const LaneAccess& access) const { return view(access.view).fields[access.field].base; }
  Point moved(std::uint32_t access, const Point& start) const;
  // Asked for each strip: without calls.
  std::int64_t place(std::uint32_t access, const Point& start) const {
    const AccessState& state = access_[access];
    if (!state.memory.is_box()) return number(access, moved(access, start));
    const Rect& box = *state.memory.box;
    std::int64_t linear = 0;
    for (std::size_t axis = 0; axis < start.rank; ++axis)
      linear = linear * (box.hi[axis] - box.lo[axis]) + start.at[axis] + state.offsets[axis] - box.lo[axis];
    return linear;
  }
  std::int64_t number(std::uint32_t access, const Point& point) const;
  std::byte* element(std::uint32_t a, const RowRun& at) const {
    const LaneAccess& access = program_.accesses[a];
    return access_[a].follows ? access_[a].from + at.linear * access.width
                              : base(access) + place(a, at.start) * access.width;
  }
  std::int64_t* places() const { return reinterpret_cast<std::int64_t*>(scratch_ + program_.places_at); }
  std::byte* own_slot(Register r) const { return scratch_ + program_.registers[r].at; }
  Bounds bounds(Register places) const {
    const std::uint32_t access = program_.registers[places].unchecked;
    return access == LaneRegister::checked ? Bounds() : access_[access].bounds;
  }
  void refuse(Register places, std::int64_t element) const;
  [[noreturn]] void no_point(const LaneAccess& access, const Point& point) const;
  void look_for_interrupt() const;

  const LaneProgram& program_;
  const ViewCode& code_;
  const ViewRun& run_;
  TaskContext& context_;
  std::byte* scratch_;
  std::span<std::byte*> at_;  // by register
  std::span<AccessState> access_;
  std::vector<RootTree> totals_;  // of the loop
  std::vector<Array> tensors_;    // by register, where there are some
  std::vector<Segment> waiting_;
  struct Moving {  // a LaneMove of the loop
    Register at = 0;
    std::byte* from = nullptr;  // of the point of the loop that has root index 0
    std::int64_t width = 0;
  };
  std::span<Moving> moving_;  // of the loop that has the most of them
  std::vector<ScatterFold> folds_;
  std::uint32_t jumps_ = 0;
};

struct LaneFault {
  Fault fault;
};
LaneFault fault_of(const Error& error, Span span);

}  // namespace taskspec
