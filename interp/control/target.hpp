// What tensor operations of a program do. The interpreter executes control flow and host values itself and
// hands everything else to a target: one records nodes, one computes at once, one writes a straight list.
// The parts of a program cut in two (ir/cut/cut_program.hpp) have one each.
#pragma once
#include "interp/control/frame.hpp"
#include "interp/control/launch.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

class Interpreter;

// A call of a task with everything bound: values of all parameters of the function (agent parameters and
// slots included), in order.
struct TaskCall {
  FunctionId function;
  Span span;  // of the call
  std::vector<Value> arguments;
  Agent* agent = nullptr;
  ScopeId scope = ScopeId(0);
  const Frame* bound = nullptr;  // its extents and parameters, where a frame was made already
};

struct TaskResult {
  Value invocation;
  std::vector<std::pair<std::uint32_t, Value>> versions;  // parameter -> the new version of its place
};

// A launch over regions and numbers as it was made before. One at the same place in the text with the same sharding,
// on the same pieces and with numbers of these precisions differs from it in nothing but those.
struct ExpectedLaunch {
  const Launch& what;
  const Value& sharding;
  Span span;
  std::span<const Precision> numbers;
  std::span<std::uint64_t> pieces;  // by use: the serial of the ProjectedPiece last found to be it; 0: none yet
  // What its arguments are, in their order: found by who looks at the first one that is it, and kept.
  struct Argument {
    enum class Kind : std::uint8_t { piece, number, number_that_differs } kind{};
    Precision precision{};       // of a number
    std::uint32_t position = 0;  // among pieces, or among numbers
  };
  std::vector<Argument> arguments = {};
};

// As many of them as run at once: whole turns of a loop, which come again and again. One that has come is taken by
// putting down its numbers, behind those of the ones before it.
struct LaunchBatch {
  std::vector<ExpectedLaunch> launches;
  std::size_t turn = 1;  // so many are a turn: those behind them are the same
  std::size_t taken = 0;
  std::size_t due = 0;            // so many taken are told at once: all of them, or fewer
  std::uint64_t* next = nullptr;  // where the next number goes, as bits: there is room for all
};

class Target {
 public:
  virtual ~Target() = default;

  // True for what this target takes as a tensor.
  virtual bool is_tensor(const Value& value) const = 0;
  virtual Type type_of(const Value& tensor) const = 0;
  // Adds all outputs of a call to `made`; `operands` in declared order, its own from here on; `type` what the op's rule
  // said.
  virtual void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) = 0;
  virtual TaskResult task(Interpreter& interpreter, const TaskCall& call) = 0;
  // Host values that are only known when the tensors are: whether there are such among these, and arithmetic on them.
  virtual bool holds_open(std::span<const Value> values) const;
  virtual Value number(const Frame& frame, const Call& call, std::span<const Value> operands);
  // Between these calls the first value of a slot of an agent outside of graphs is computed.
  virtual void begin_slot() {}
  virtual void end_slot() {}
  // A version that a place variable starts with.
  virtual Value place(const std::string& name, const Value& initial) = 0;
  // The truth of a one-element tensor that decides control flow in a task or graph body.
  virtual bool decide(const Value& tensor, Span span) = 0;
  virtual Array receive(const Value& tensor, Span span) = 0;
  // An array from outside (a file, a nested session, the host program) as a tensor of this target.
  virtual Value constant(Array array) = 0;

  // ---- regions: only where `has_regions` ----
  virtual bool has_regions() const { return false; }
  virtual RegionForest& regions();
  // Nothing is allocated before somebody uses a field; more than the machine has is E5008. Pieces keep it, too.
  virtual std::shared_ptr<RegionHandle> make_region(Region region, Span span);
  // An Invocation whose outputs are LaunchMaps; of a single call tensors. E3101 and E1403 where its points, or the
  // arguments of one, are in one another's way.
  virtual Value launch(Interpreter& interpreter, const LaunchCall& call);
  // Launches that are expected, since they repeat themselves; null: none is. Where the next one is that but for its
  // numbers it may be taken by these alone. The target is told when as many have been as it says: it runs a batch that
  // is whole.
  virtual LaunchBatch* launch_batch() { return nullptr; }
  virtual void launches_taken() {}
  // All points of the space: a number in all of them, or the elements of a tensor in their order.
  virtual void fill(const Space& space, std::uint32_t field, const Value& contents, const DataSite& site);
  // Fields of a region or piece, or those of all pieces of a partition, are brought from files or to files, after all
  // that was recorded before. It is done when this returns; throws what kept it.
  struct FileCall {
    Space space;
    PartitionId partition;  // where there is one: each piece has its file, in the order of the colours
    FieldMask fields;
    bool writes = false;  // the files
    std::shared_ptr<const LaunchFiles> files;
  };
  virtual void transfer(const FileCall& call, Span span);
  // A field as it is now, as a tensor: of a rectangle its extents, else its points in order.
  virtual Value field_value(const Space& space, std::uint32_t field, const DataSite& site);
  // Those elements of it, in the order of the points, that this one of several who run the program answers for: all of
  // them together have each element once.
  struct HeldElements {
    Value tensor;
    std::shared_ptr<const Intervals> held = {};  // null: all of them
  };
  virtual HeldElements held_elements(const Space& space, std::uint32_t field, const DataSite& site);
  // What its elements come to, in the fixed order of the region's blocks; of rank 0, or with axes of one element.
  virtual Value field_total(const Space& space, std::uint32_t field, ReduceOp op, bool keeps_axes,
                            const DataSite& site);
  virtual Value map_member(const LaunchMap& map, MapMember member, const DataSite& site);
  virtual Value map_element(const LaunchMap& map, const Point& point, const DataSite& site);

  // What runs in between is one that repeats itself, by its place in the text; whether that is used, it decides itself.
  virtual void begin_trace(Span) {}
  virtual void end_trace(Span) {}

  virtual void run_pending() {}  // its program is about to wait for something else: what can run runs now
  // Whether so much waits that it should run before such a wait. Depends on what was recorded, and on nothing else.
  virtual bool due() const { return false; }
  virtual void run_prints() {}   // what prints and was recorded so far prints now
  virtual void run_effects() {}  // what has effects and was recorded so far runs now

  // True if its tensors are futures of a session or graph; else it works on contents, away from the host program.
  virtual bool records() const { return false; }
  // In the frame of a graph: makes one structured node of this call (if, for, while, call of a fn) if it
  // must be one. False: the interpreter executes it.
  virtual bool structured(Interpreter&, Frame&, CallId) { return false; }
  virtual ScopeId open_scope(ScopeId outer, std::string_view, FunctionId, Span /*site*/) { return outer; }
  virtual void close_scope(ScopeId) {}  // the call returned; one that fails leaves it open
  // Outputs of a graph or fn call go by its name from now on.
  virtual Value renamed(const Value& tensor, ScopeId, const std::string& /*output*/, bool /*structured*/) {
    return tensor;
  }
  virtual std::string scope_path(ScopeId) const { return ""; }
  virtual std::shared_ptr<const void> home() const { return nullptr; }  // what agents made here call home
  virtual InstanceId instance(const Agent&) { return {}; }
  virtual void layers(const Agent&) {}  // has its slots now, so those that it holds are known
};

}  // namespace taskspec
