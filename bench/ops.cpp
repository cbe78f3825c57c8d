#include "bench/ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/ops_cases.hpp"
#include "bench/ops_limits.hpp"
#include "bench/ops_torch.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/records/scalar.hpp"
#include "stdlib/ops.hpp"

namespace taskspec::bench {

namespace {

// ---- one call ---------------------------------------------------------------------------------------

Type type_of(const Value& value) {
  if (value.is_array()) return value.array().type().type();
  if (value.is_type()) return value.type();
  if (value.is_integer()) return Type::Kind::integer;
  if (value.is_real()) return Type::Kind::real;
  if (value.is_bool()) return Type::Kind::boolean;
  if (value.is_string()) return Type::Kind::string;
  const List* items = value.is_list() ? &value.list() : value.is_tuple() ? &value.tuple().items : nullptr;
  if (!items) return Type::Kind::none;
  std::vector<Type> parts;
  for (const Value& item : *items) parts.push_back(type_of(item));
  return Type::tuple(std::move(parts));
}

// A call of an op made ready as a session does it, and run on the calling thread.
class Call {
 public:
  Call(const OpDef& op, std::vector<Value> operands) {
    for (std::size_t k = operands.size(); k < op.operands.size() && !op.operands[k].variadic; ++k)
      operands.push_back(op.operands[k].standard.value());
    std::vector<Type> types;
    std::vector<Value> known;
    for (const Value& value : operands) {
      types.push_back(type_of(value));
      known.push_back(value.is_array() || value.is_list() ? Value() : value);
    }
    instance_.op = &op;
    const Type ruled = infer(op, types, known);
    for (const Type& type : output_types(ruled)) instance_.out.push_back(concrete(type));
    for (std::size_t k = 0; k < operands.size(); ++k) add(op, operands, k, known[k]);
    for (const Array& input : inputs_) instance_.in.push_back(input.type());
    kernel_ = op.kernel(instance_);
    scratch_ = Array::make({Precision::u8, {static_cast<std::int64_t>(kernel_->scratch_bytes())}});
    for (const Array& input : inputs_) in_.push_back(input.raw());
    for (const ArrayType& type : instance_.out) {
      results_.push_back(Array::make(type));
      out_.push_back(results_.back().raw());
    }
  }

  void run() {
    if (auto fault = kernel_->run({in_, out_, scratch_.raw(), serial_})) bug("a benchmark fails: " + fault->message);
  }
  const OpInstance& instance() const { return instance_; }
  Work work() const { return instance_.op->work(instance_); }

 private:
  void add(const OpDef& op, const std::vector<Value>& operands, std::size_t k, const Value& known) {
    const Value& value = operands[k];
    const bool at_run = k < op.operands.size() && op.operands[k].at_run;
    const bool number =
        at_run || (k < op.operands.size() && op.operands[k].kind == OperandKind::tensor && value.is_number());
    if (value.is_array()) inputs_.push_back(value.array());
    if (value.is_list())
      for (const Value& item : value.list()) inputs_.push_back(item.array());
    if (number) inputs_.push_back(scalar_array(value, at_run ? Precision::i64 : operands[0].array().precision()));
    instance_.attributes.push_back(number ? Value() : known);
  }

  OpInstance instance_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Array> inputs_, results_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
  Array scratch_;
  Serial serial_;
};

// ---- measuring --------------------------------------------------------------------------------------

struct OpRow {
  std::string op, size;
  Work work;
  Repeats ours, torch;
};

struct Limits {
  double bytes = 0, operations = 0;  // per second, the best seen in this run

  void measure() {
    bytes = std::max(bytes, copy_rate());
    operations = std::max(operations, multiply_add_rate());
  }
  double seconds(const Work& work) const { return std::max(work.bytes / bytes, work.operations / operations); }
  bool by_bytes(const Work& work) const { return work.bytes / bytes >= work.operations / operations; }
};

std::string size_text(const OpInstance& call) {
  std::string text;
  const bool makes = std::ranges::all_of(call.in, [](const ArrayType& type) { return type.extents.empty(); });
  for (const ArrayType& type : makes ? call.out : call.in) {
    std::string one = std::string(info(type.precision).name);
    for (std::size_t d = 0; d < type.extents.size(); ++d) one += (d ? "x" : " ") + std::to_string(type.extents[d]);
    if (text.empty() || !text.ends_with(one)) text += (text.empty() ? "" : ", ") + one;
  }
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

// Ours, PyTorch's and the machine's in turns; each sample takes at least some milliseconds.
OpRow measure(const OpDef& op, OpCase chosen, int repeats, Torch& torch, Limits& limits) {
  Call call(op, std::move(chosen.operands));
  OpRow row{std::string(op.name), size_text(call.instance()), call.work(), {}, {}};
  torch.set_inputs(call.instance().in);
  call.run();
  const double once = bench::measure([&] { call.run(); }).wall;
  const int count = std::clamp(static_cast<int>(0.004 / std::max(once, 1e-9)), 1, 1000);
  torch.seconds(chosen.torch, 1);
  for (int r = 0; r < repeats; ++r) {
    Sample sample = bench::measure([&] {
      for (int k = 0; k < count; ++k) call.run();
    });
    row.ours.add({sample.wall / count, sample.cpu / count});
    if (std::optional<double> seconds = torch.seconds(chosen.torch, count)) row.torch.add({*seconds, 0});
    if (r % 4 == 0) limits.measure();
  }
  return row;
}

// ---- the table --------------------------------------------------------------------------------------

struct Ratios {
  double limit = 0, torch = 0;  // what the limit or PyTorch needs, over what we need; 0: there is none
  double worst() const { return torch > 0 ? std::min(limit, torch) : limit; }
};

Ratios ratios_of(const OpRow& row, const Limits& limits) {
  const double ours = row.ours.min_wall();
  return {limits.seconds(row.work) / ours, row.torch.min_wall() / ours};
}

std::vector<std::string> cells(const OpRow& row, const Limits& limits) {
  const bool by_bytes = limits.by_bytes(row.work);
  auto rate = [&](double seconds) {
    return fmt::format("{:.1f}", (by_bytes ? row.work.bytes : row.work.operations) / seconds * 1e-9);
  };
  const Ratios ratios = ratios_of(row, limits);
  const bool peer = ratios.torch > 0;
  return {row.op,
          row.size,
          by_bytes ? "GB/s" : "GFLOP/s",
          rate(row.ours.min_wall()),
          rate(row.ours.median_wall()),
          fmt::format("{:.1f}", (by_bytes ? limits.bytes : limits.operations) * 1e-9),
          fmt::format("{:.2f}", ratios.limit),
          peer ? rate(row.torch.min_wall()) : "",
          peer ? rate(row.torch.median_wall()) : "",
          peer ? fmt::format("{:.2f}", ratios.torch) : "",
          ratios.worst() < 0.5 ? "<" : ""};
}

}  // namespace

int ops(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  Torch torch;
  Limits limits;
  std::vector<OpRow> rows;
  std::string missing;
  for (const OpDef* op : standard_ops().all()) {
    std::optional<OpCase> chosen = op_case(*op);
    if (chosen)
      rows.push_back(measure(*op, std::move(*chosen), repeats, torch, limits));
    else
      missing += " " + std::string(op->name);
  }
  fmt::print("every op on one thread: best and median of {} in turns with its peers\n", repeats);
  fmt::print(
      "limit: a copy of 16 MB, or multiply-adds in registers, whichever an op's bytes and operations need longer "
      "for\n");
  fmt::print("peer: {}\n\n",
             torch.there() ? "PyTorch " + torch.version() + ", one thread" : "PyTorch is not installed");
  Table table({"op", "size", "unit", "ours", "median", "limit", "ratio", "torch", "median", "ratio", ""});
  int below = 0;
  for (const OpRow& row : rows) {
    table.add(cells(row, limits));
    if (ratios_of(row, limits).worst() < 0.5) ++below;
  }
  fmt::print("{}\n{} of {} ops are below half of the better one of limit and peer ('<')\n", table.text(), below,
             rows.size());
  if (missing.empty()) return 0;
  fmt::print("without a case:{}\n", missing);
  return 1;
}

}  // namespace taskspec::bench
