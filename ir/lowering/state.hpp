// A graph that is being lowered: its blocks so far, and what each value of the op list has become. Only the builder and
// the loop over the list see it.
#pragma once
#include <algorithm>
#include <cmath>
#include <set>

#include "ir/lowering/block_builder.hpp"

namespace taskspec {

// An op that has no blocks; the loop over the list collects them.
struct Refused {
  Code code;
  std::string message, help;
};
struct MissingValue {};  // made by an op that was refused

// What is done to integers on their way to 8 bits. All of it is monotone, so one compare does it in any order.
struct SomaStage {
  int shift = 0;  // bits
  bool rectifies = false, narrows = false;
  bool pools = false;
  WindowSide y, x;
  bool is_nothing() const { return shift == 0 && !rectifies && !narrows && !pools; }
};

// Sums of 32 bits, as blocks make them.
struct Sums {
  BlockGather gather;
  BlockLayout layout;
  double scale = 1;
  ValueRange range;
  std::string name;
};

// How exact a sum shall be: the scale that its result gets; 0: nobody cuts it.
struct PendingSum {
  std::function<Sums(double wanted, ValueId value)> make;
  // Of products: factors and summands of outputs, which a batch norm behind it changes.
  std::function<void(const std::vector<double>& factor, const std::vector<double>& shift)> fold = {};
  std::string name = {};  // of its line
  Span span = {};
  // A residual add: what it becomes, behind relu and pools, has the scale of this one.
  std::optional<ValueId> scaled_as = {};
};

struct LoweredValue {
  enum class Kind : std::uint8_t { missing, fixed, input, made };
  Kind kind = Kind::missing;
  ValueId id;
  Array contents;                         // fixed
  std::shared_ptr<const PendingSum> sum;  // made, not summed yet
  BlockGather gather;                     // made: what blocks hold, before the stage
  BlockLayout layout;
  Precision precision = Precision::i32;
  double scale = 1;
  ValueRange range;
  SomaStage stage;
  ValueId base;  // whose integers the gather holds
  std::string name;
};

class BlockBuilder::State {
 public:
  State(const OpList& list, const LowerOptions& options);

  const OpList& list;
  const LowerOptions& options;
  LoweredGraph made;
  std::vector<LoweredValue> values;
  std::vector<std::size_t> readers;  // by value: lines and outputs

  Scales* scales() const { return options.scales; }
  const ArrayType& type(ValueId value) const { return types_[value.index()]; }
  LoweredValue& value(ValueId id) { return values[id.index()]; }

  // ---- blocks
  BlockId add(std::string_view type, std::string_view name, Precision precision, const BlockShape& shape);
  TaskBlock& block(BlockId id) { return made.graph.blocks[id.index()]; }
  void set(BlockId id, std::string_view attribute, std::int64_t value);
  void set_shift(BlockId id, int bits);
  void set_windows(BlockId id, const WindowSide& y, const WindowSide& x, bool dilated);
  void connect(BlockId from, BlockId to, std::string_view cluster);
  void fill(BlockId to, const BlockGather& gather, Precision precision);  // its first cluster
  BlockId data(std::string_view type, std::string_view name, const BlockShape& shape, Precision precision,
               const std::vector<std::int64_t>& contents);

  // ---- values
  // Its integers are there, in this layout if one is wished and it is not made yet.
  LoweredValue& ready(ValueId id, const BlockLayout* wish = nullptr);
  LoweredValue& ready_as_output(ValueId id);
  // A storage of them. `value` is ready.
  BlockId stored(const LoweredValue& value, const BlockLayout& layout, std::string_view type);
  BlockId stored(const BlockGather& gather, Precision precision, std::string_view type, std::string_view name);
  BlockGather arranged(const LoweredValue& value, const BlockLayout& layout) const;
  // On the road of integers: held in 8 bits, which its range must allow; in 32 bits.
  LoweredValue narrowed(ValueId id, std::string_view what);
  LoweredValue widened(const LoweredValue& value);
  void keep(LoweredValue value);  // is made
  Sums summed(const PendingSum& sum, double wanted, ValueId value);
  Sums summed_by(BlockId axon, const ArrayType& type, const BlockLayout& layout, double scale, ValueRange range);
  void note_layer(ValueId value, const std::string& name, double scale, double sum_scale, int cut);
  LoweredPort port_of(const LoweredValue& value, const std::string& name) const;

  std::vector<double> contents_of(const Array& array) const;
  std::string name_for(std::string_view base);
  Span span;              // of the line at hand
  std::string line_name;  // what its blocks are called after
  Span site() const { return span; }

 private:
  void place_input(LoweredValue& value, const BlockLayout* wish);
  void settle(LoweredValue& value);  // sums, then the stage
  void settle_integers(LoweredValue& value);
  void settle_scaled(LoweredValue& value);
  BlockId compare(const LoweredValue& value, Precision to, int shift);
  BlockId table(const LoweredValue& value, int bits, int shift, Precision to, const std::vector<std::int64_t>& entries);
  void became(LoweredValue& value, BlockId block, Precision precision, ValueRange range);

  std::vector<ArrayType> types_;
  std::map<std::string, int> names_;
  std::set<std::string> taken_;
  std::map<std::string, BlockId> stores_;
  std::map<std::uint32_t, LoweredValue> narrow_;
};

// ---- layouts --------------------------------------------------------------------------------------

BlockLayout plain_layout(const Extents& tensor);
bool covers(const Extents& tensor, const BlockLayout& layout);  // the axes left out have extent 1
Extents block_extents(const Extents& tensor, const BlockLayout& layout);
BlockShape shape_of(const Extents& block, bool as_r = false);
// By place of the block: the position in the tensor.
std::vector<std::int64_t> tensor_places(const Extents& tensor, const BlockLayout& layout);

ValueRange cut_to(ValueRange range, Precision precision);
// The n of 4^n, if the ratio is one.
std::optional<int> power_of_four(double ratio);
std::int64_t rounded(double value);

}  // namespace taskspec
