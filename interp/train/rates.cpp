#include "interp/train/rates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/record.hpp"
#include "ir/base/random.hpp"
#include "ir/graph/op_list_builder.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t side = 512;       // of the matrices of a product: long enough for all workers
constexpr std::int64_t many = 1 << 22;   // elements that no cache holds
constexpr std::int64_t few = 1 << 14;    // and such that one does
constexpr double cache_bytes = 1 << 20;  // what the cache of one core holds, about
constexpr int rounds = 6;                // the best one counts; the first one makes the plan

Type floats(std::vector<Dim> dims) { return Type::tensor(Precision::f32, std::move(dims)); }

// Tasks that do one op, and the best that was seen of each.
class Samples {
 public:
  Samples(const Program& program, Trial& trial) : trial_(trial), target_(program, trial.recorder()) {}

  struct Best {  // of one op
    double seconds = 1;
    Work work;
    double operations_per_second() const { return std::max(work.operations, 1.0) / seconds; }
    double bytes_per_second() const { return work.bytes / seconds; }
  };

  // `times`: in one pass, each on what the one before made.
  Best of(const OpDef& op, const Type& type, int times) {
    const std::string name = fmt::format("sample {}", samples_++);
    OpListBuilder made;
    std::vector<Value> inputs;
    std::vector<OpListBuilder::Operand> operands;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      operands.emplace_back(made.input({"x", Privilege::in, {}}, type));
      inputs.push_back(target_.constant(made_up(concrete(type), i)));
    }
    ValueId value;
    for (int k = 0; k < times; ++k) operands[0] = value = made.emit(op, operands, {})[0];
    const auto list = std::make_shared<OpList>(std::move(made).finish({}, name, {{"y", value, false}}));
    Best best;
    OpRow before;
    for (int round = 0; round < rounds; ++round) {
      const Value wanted =
          target_.listed({.list = list, .name = name, .suffix = {}, .inputs = inputs, .writes = {}, .span = {}})
              .outputs[0];
      trial_.run();
      const OpRow now = row_of(name);
      const double calls = static_cast<double>(now.calls - before.calls);
      const double seconds = static_cast<double>(now.ns - before.ns) * 1e-9 / calls;
      best.work = {(now.work.operations - before.work.operations) / calls,
                   (now.work.bytes - before.work.bytes) / calls};
      if (round > 0) best.seconds = std::min(best.seconds, std::max(seconds, 1e-9));
      before = now;
    }
    return best;
  }

 private:
  OpRow row_of(const std::string& task) const {
    for (const OpRow& row : trial_.rows())
      if (row.task == task) return row;
    bug("a backend that runs a task and does not say what it took");
  }

  Trial& trial_;
  RecordTarget target_;
  int samples_ = 0;
};

// The element-wise op of one float tensor that has the most to do for an element: what arithmetic costs where it is no
// sum of products, beside which the way of the bytes is nothing.
const OpDef& heaviest_elementwise(const OpTable& ops, const Type& type) {
  const OpDef* heaviest = nullptr;
  double most = 0;
  for (const OpDef* op : ops.all()) {
    if (op->fusion != Fusion::pointwise || op->operands.size() != 1 || op->operands[0].variadic) continue;
    try {
      const Type made = infer(*op, {type}, {Value()});
      if (made != type) continue;
    } catch (const Error&) {
      continue;  // it takes no floats
    }
    const double work = op->work({op, {concrete(type)}, {Value()}, {concrete(type)}}).operations;
    if (work > most) heaviest = op, most = work;
  }
  if (!heaviest) bug("no op works on the elements of one float tensor");
  return *heaviest;
}

}  // namespace

MachineRates measure_rates(const Program& program, const OpTable& ops, Trial& trial) {
  constexpr int pass = 8;  // ops in one: what they hand on stays in the cache
  const OpDef& add = *ops.find_operator("+", 2);
  const Type in_cache = floats({few});
  Samples samples(program, trial);
  return {.products = samples.of(*ops.find_operator("@", 2), floats({side, side}), 1).operations_per_second(),
          .elements = samples.of(heaviest_elementwise(ops, in_cache), in_cache, pass).operations_per_second(),
          .cache = samples.of(add, in_cache, pass).bytes_per_second(),
          .memory = samples.of(add, floats({many}), 1).bytes_per_second(),
          .call = samples.of(add, floats({1}), pass).seconds};
}

double estimated_ms(const OpRow& row, const MachineRates& rates) {
  const double calls = static_cast<double>(std::max<std::uint64_t>(row.calls, 1));
  const double operations = row.work.operations / calls, bytes = row.work.bytes / calls;
  const double arithmetic = operations / (row.product ? rates.products : rates.elements);
  const double movement = bytes / (row.fused || bytes < cache_bytes ? rates.cache : rates.memory);
  return 1e3 * (rates.call + std::max(arithmetic, movement));
}

Array made_up(const ArrayType& type, std::uint64_t seed) {
  Array array = Array::make(type);
  if (!is_float(type.precision)) return array;
  PhiloxBlock words{};
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    if (i % 4 == 0) words = philox({static_cast<std::uint32_t>(i / 4), 0, 0, 0}, philox_key(seed));
    array.set_number(i, 0.01 * static_cast<double>(uniform_f32(words[static_cast<std::size_t>(i % 4)])));
  }
  return array;
}

}  // namespace taskspec
