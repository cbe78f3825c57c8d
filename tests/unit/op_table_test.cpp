// The table of ops as a whole: every record complete and consistent, every kernel as it promises to be, and adding
// an op touches two files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <regex>
#include <set>

#include "ir/show/program_text.hpp"
#include "stdlib/ops.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/op_samples.hpp"

namespace taskspec::op_table_test {

namespace {

bool same_bits(const Array& a, const Array& b) {
  return a.type() == b.type() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}
bool same_bits(const std::vector<Array>& a, const std::vector<Array>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Array& x, const Array& y) { return same_bits(x, y); });
}

Array copy_of(const Array& array) {
  Array copy = Array::make(array.type());
  std::memcpy(copy.raw(), array.raw(), array.bytes());
  return copy;
}

// Runs a kernel with one of its results in the memory of one of its inputs.
std::vector<Array> run_over(const Kernel& kernel, const OpCall& call, std::size_t input, std::size_t output) {
  std::vector<Array> tensors;
  std::vector<const std::byte*> in;
  for (const Array& tensor : call.tensors) tensors.push_back(copy_of(tensor));
  for (const Array& tensor : tensors) in.push_back(tensor.raw());
  Array scratch = Array::make({Precision::u8, {static_cast<std::int64_t>(kernel.scratch_bytes())}});
  std::vector<Array> results;
  std::vector<std::byte*> out;
  for (std::size_t k = 0; k < call.instance.out.size(); ++k) {
    const ArrayType& type = call.instance.out[k];
    results.push_back(k == output ? Array::wrap(type, tensors[input].storage()) : Array::make(type));
    out.push_back(results.back().raw());
  }
  Serial serial;
  REQUIRE(!kernel.run({in, out, scratch.raw(), serial}));
  return results;
}

// Runs an element-wise kernel in strips of a few elements.
Array run_strips(const Kernel& kernel, const OpCall& call, std::int64_t strip) {
  Array result = Array::make(call.instance.out[0]);
  std::size_t width = info(result.precision()).bytes;
  for (std::int64_t begin = 0; begin < result.elements(); begin += strip) {
    std::vector<const std::byte*> in;
    for (std::size_t k = 0; k < call.tensors.size(); ++k)
      in.push_back(call.tensors[k].raw() + begin * kernel.strip_steps()[k]);
    std::byte* out = result.raw() + static_cast<std::size_t>(begin) * width;
    REQUIRE(!kernel.run_strip(in, {&out, 1}, std::min(strip, result.elements() - begin)));
  }
  return result;
}

template <class F>
void for_each_sample(F&& f) {
  for (const OpDef* op : standard_ops().all()) {
    std::vector<Operands> samples = sample_operands(*op);
    for (std::size_t k = 0; k < samples.size(); ++k) {
      CAPTURE(op->name);
      CAPTURE(k);
      OpCall call = prepare(op->name, samples[k]);
      f(*op, call, *op->kernel(call.instance));
    }
  }
}

}  // namespace

TEST_CASE("ops stand in order of name, once, and are found [ops]") {
  std::span<const OpDef* const> all = standard_ops().all();
  CHECK(all.size() > 70);
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1]->name < all[i]->name);
  for (const OpDef* op : all) CHECK(standard_ops().find(op->name) == op);
  CHECK(standard_ops().find("") == nullptr);
  CHECK(standard_ops().find("matmull") == nullptr);
}

TEST_CASE("no two ops have one operator with as many operands [ops]") {
  std::set<std::pair<std::string_view, std::size_t>> seen;
  for (const OpDef* op : standard_ops().all()) {
    CAPTURE(op->name);
    if (!op->symbol.empty()) CHECK(seen.insert({op->symbol, op->operands.size()}).second);
  }
}

TEST_CASE("operands: named, required ones first, a variadic one last [ops]") {
  for (const OpDef* op : standard_ops().all()) {
    CAPTURE(op->name);
    std::set<std::string_view> names;
    bool optional = false;
    for (const Operand& operand : op->operands) {
      CHECK(!operand.name.empty());
      CHECK(names.insert(operand.name).second);
      bool required = operand.standard.kind == Default::Kind::none && !operand.variadic;
      CHECK_MESSAGE(!(optional && required), operand.name);
      optional = optional || !required;
      CHECK(operand.variadic <= (&operand == &op->operands.back()));
    }
  }
}

TEST_CASE("outputs: named, those of places as the operand, never the first operand [ops]") {
  for (const OpDef* op : standard_ops().all()) {
    CAPTURE(op->name);
    for (const Operand& operand : op->operands) {
      if (operand.privilege == Privilege::in) continue;
      CHECK(operand.privilege == Privilege::inout);
      CHECK(operand.kind == OperandKind::tensor);
      CHECK(&operand != &op->operands.front());  // a method would write what stands before the dot
      CHECK(std::count(op->outputs.begin(), op->outputs.end(), operand.name) == 1);
    }
    std::set<std::string_view> names(op->outputs.begin(), op->outputs.end());
    CHECK(names.size() == op->outputs.size());
  }
}

TEST_CASE("docs are sentences, examples are programs that say what they print [ops]") {
  for (const OpDef* op : standard_ops().all()) {
    CAPTURE(op->name);
    CHECK(op->doc.ends_with('.'));
    CHECK(op->doc.find('\n') == std::string_view::npos);
    CHECK(op->example.find("// expect: ") != std::string_view::npos);
    CHECK(op->example.find("print(") != std::string_view::npos);
    CHECK(op->example.ends_with('\n'));
    CHECK(op->tolerance >= 0);
    CHECK(op->tolerance < 0.1);
  }
}

TEST_CASE("adding an op touches two files: its own and ops.def [ops]") {
  std::string list = read_file("stdlib/ops.def");
  std::regex line("OP\\((\\w+)\\)"), record("namespace taskspec::(\\w+)_op \\{[^]*\\}  // namespace taskspec");
  std::multiset<std::string> listed, defined;
  for (std::sregex_iterator it(list.begin(), list.end(), line), end; it != end; ++it) listed.insert((*it)[1]);
  for (const std::string& path : files_below("stdlib/ops", {".cpp"})) {
    std::string text = read_file(path);
    for (std::sregex_iterator it(text.begin(), text.end(), record), end; it != end; ++it) {
      defined.insert((*it)[1]);
      CHECK(path == "stdlib/ops/" + (*it)[1].str() + ".cpp");
    }
  }
  CHECK(listed == defined);
  CHECK(std::adjacent_find(listed.begin(), listed.end()) == listed.end());
  CHECK(listed.size() == standard_ops().all().size());
}

TEST_CASE("work: never negative, always some bytes [ops]") {
  for_each_sample([](const OpDef& op, const OpCall& call, const Kernel&) {
    Work work = op.work(call.instance);
    CHECK(work.operations >= 0);
    double written = 0;
    for (const ArrayType& out : call.instance.out) written += static_cast<double>(out.bytes());
    CHECK(work.bytes >= written);
  });
}

TEST_CASE("kernels: the parts may run in any order and on any thread [ops]") {
  for_each_sample([](const OpDef&, const OpCall& call, const Kernel& kernel) {
    Serial serial;
    Shuffled shuffled;
    CHECK(same_bits(run(kernel, call, serial), run(kernel, call, shuffled)));
  });
}

TEST_CASE("kernels: results may share memory with inputs where the record says so [ops]") {
  for_each_sample([](const OpDef& op, const OpCall& call, const Kernel& kernel) {
    if (call.tensors.empty() || call.tensors[0].elements() == 0) return;
    Serial serial;
    std::vector<Array> expected = run(kernel, call, serial);
    if (op.sharing == Sharing::same_bytes) {
      REQUIRE(expected[0].bytes() == call.tensors[0].bytes());
      CHECK(std::memcmp(expected[0].raw(), call.tensors[0].raw(), expected[0].bytes()) == 0);
      CHECK(same_bits(run_over(kernel, call, 0, 0), expected));
    }
    if (op.sharing == Sharing::in_place)
      for (std::size_t input = 0; input < call.tensors.size(); ++input)
        for (std::size_t output = 0; output < expected.size(); ++output)
          if (call.tensors[input].bytes() == expected[output].bytes() &&
              call.tensors[input].elements() == expected[output].elements())
            CHECK(same_bits(run_over(kernel, call, input, output), expected));
  });
}

TEST_CASE("kernels: strips give the same bits as one run [ops]") {
  int tried = 0;
  for_each_sample([&](const OpDef&, const OpCall& call, const Kernel& kernel) {
    if (kernel.strip_steps().empty()) return;
    REQUIRE(kernel.strip_steps().size() == call.tensors.size());
    Serial serial;
    Array expected = run(kernel, call, serial)[0];
    for (std::int64_t strip : {1, 4, 1000}) CHECK(same_bits(run_strips(kernel, call, strip), expected));
    ++tried;
  });
  CHECK(tried > 40);
}

TEST_CASE("kernels: those of pointwise ops have strips, no others [ops]") {
  std::set<std::string_view> with_strips;
  for_each_sample([&](const OpDef& op, const OpCall&, const Kernel& kernel) {
    if (!kernel.strip_steps().empty()) with_strips.insert(op.name);
  });
  for (const OpDef* op : standard_ops().all())
    CHECK_MESSAGE(with_strips.contains(op->name) == (op->fusion == Fusion::pointwise), op->name);
}

namespace {

// Of an array, along an axis.
Array rows_of(const Array& array, std::size_t axis, std::int64_t begin, std::int64_t end) {
  Extents extents = array.extents();
  extents[axis] = end - begin;
  Array block = Array::make({array.precision(), extents});
  std::int64_t inner = static_cast<std::int64_t>(info(array.precision()).bytes);
  for (std::size_t d = axis + 1; d < extents.size(); ++d) inner *= extents[d];
  const std::int64_t line = extents[axis] * inner, whole = array.extents()[axis] * inner;
  for (std::int64_t row = 0; line > 0 && row < static_cast<std::int64_t>(block.bytes()) / line; ++row)
    std::memcpy(block.raw() + row * line, array.raw() + row * whole + begin * inner, static_cast<std::size_t>(line));
  return block;
}

// Two blocks of a call: as many rows in all as divide each axis that is split.
struct Blocks {
  std::int64_t begin = 0, end = 0, rows = 0;
  Array of(const Array& array, int axis) const {
    const std::int64_t each = array.extents()[static_cast<std::size_t>(axis)] / rows;
    return rows_of(array, static_cast<std::size_t>(axis), begin * each, end * each);
  }
};
std::int64_t rows_of(const OpInstance& call, const Split& split) {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < split.in.size(); ++i)
    if (split.in[i] != Split::whole) rows = std::gcd(rows, call.in[i].extents[static_cast<std::size_t>(split.in[i])]);
  for (std::size_t k = 0; k < split.out.size(); ++k)
    if (split.out[k] != Split::whole)
      rows = std::gcd(rows, call.out[k].extents[static_cast<std::size_t>(split.out[k])]);
  return rows;
}

// A block is a call like any other: the rule of its op gives what it says.
void check_said_extents(const OpDef& op, const OpCall& block) {
  std::vector<Value> operands;
  std::size_t next = 0;
  for (const Value& attribute : block.instance.attributes)
    operands.push_back(attribute.is_none() && next < block.tensors.size() ? Value(block.tensors[next++]) : attribute);
  CHECK(prepare(op.name, operands).instance.out == block.instance.out);
}

// The results of one block of a call that is split.
std::vector<Array> run_block(const OpDef& op, const OpCall& call, const Split& split, const Blocks& block) {
  OpCall taken{block_of(call.instance, split, block.begin, block.end, block.rows), call.tensors};
  for (std::size_t i = 0; i < split.in.size(); ++i)
    if (split.in[i] != Split::whole) taken.tensors[i] = block.of(call.tensors[i], split.in[i]);
  if (split.numbered != Split::none) {
    Array& first = taken.tensors[static_cast<std::size_t>(split.numbered)];
    first = copy_of(first);
    const std::int64_t each = call.instance.out[0].elements() / block.rows;
    first.set_integer(0, first.integer(0) + block.begin * each);
  }
  if (split.once != Split::none && block.begin > 0)
    taken.tensors[static_cast<std::size_t>(split.once)] =
        Array::make(call.tensors[static_cast<std::size_t>(split.once)].type());
  for (std::size_t i = 0; i < split.in.size(); ++i) REQUIRE(taken.tensors[i].type() == taken.instance.in[i]);
  if (split.extent != Split::none && block.begin < block.end) check_said_extents(op, taken);
  Serial serial;
  return run(*op.kernel(taken.instance), taken, serial);
}

// What a record says that a call is made of, computed at once.
class MadeOfCalls final : public CallBuilder {
 public:
  explicit MadeOfCalls(const OpCall& call) : call_(call), arrays_(call.tensors.begin(), call.tensors.end()) {}
  const OpInstance& call() const override { return call_.instance; }
  Var input(std::size_t i) override { return static_cast<Var>(i); }
  Var emit(const OpDef& op, const std::vector<std::variant<Var, Value>>& operands) override {
    std::vector<Value> values;
    for (const auto& operand : operands) {
      if (const Var* var = std::get_if<Var>(&operand))
        values.emplace_back(arrays_[*var]);
      else
        values.push_back(std::get<Value>(operand));
    }
    arrays_.push_back(call_op(op.name, values));
    return static_cast<Var>(arrays_.size() - 1);
  }
  const ArrayType& type(Var v) override { return arrays_[v].type(); }
  const Array& operator[](Var v) const { return arrays_[v]; }

 private:
  const OpCall& call_;
  std::deque<Array> arrays_;
};

void check_close(const Array& a, const Array& b, double tolerance) {
  REQUIRE(a.type() == b.type());
  double worst = 0, largest = 1;
  for (std::int64_t e = 0; e < a.elements(); ++e) {
    if (a.number(e) == b.number(e)) continue;
    worst = std::max(worst, std::abs(a.number(e) - b.number(e)));
    largest = std::max(largest, std::abs(a.number(e)));
  }
  CHECK(worst <= tolerance * largest);
}

}  // namespace

TEST_CASE("blocks of a call that is split give what the whole gives [ops]") {
  std::set<std::string_view> tried;
  for_each_sample([&](const OpDef& op, const OpCall& call, const Kernel& kernel) {
    if (!op.sharding.splits) return;
    Serial serial;
    const std::vector<Array> whole = run(kernel, call, serial);
    for (const Split& split : op.sharding.splits(call.instance)) {
      REQUIRE(split.in.size() == call.tensors.size());
      REQUIRE(split.out.size() == whole.size());
      tried.insert(op.name);
      if (split.made_of) {
        MadeOfCalls made(call);
        const std::vector<CallBuilder::Var> outputs = split.made_of(made);
        REQUIRE(outputs.size() == whole.size());
        for (std::size_t k = 0; k < whole.size(); ++k)
          check_close(whole[k], made[outputs[k]], std::max(op.tolerance, 1e-12));
        continue;
      }
      const std::int64_t rows = rows_of(call.instance, split);
      REQUIRE(rows > 0);
      const Blocks one{0, rows / 2, rows}, other{rows / 2, rows, rows};
      const std::vector<Array> first = run_block(op, call, split, one), second = run_block(op, call, split, other);
      for (std::size_t k = 0; k < whole.size(); ++k) {
        const double tolerance = std::max(op.tolerance, split.sums ? 1e-12 : 0);
        if (split.sums) {
          check_close(whole[k], call_op("add", {first[k], second[k]}), tolerance);
          continue;
        }
        REQUIRE(split.out[k] != Split::whole);
        check_close(one.of(whole[k], split.out[k]), first[k], tolerance);
        check_close(other.of(whole[k], split.out[k]), second[k], tolerance);
      }
    }
  });
  for (const OpDef* op : standard_ops().all())
    CHECK_MESSAGE(tried.contains(op->name) == (op->sharding.splits != nullptr), op->name);
}

TEST_CASE("no op is called as a form of the typed program: where both are written, a reader takes it for the form") {
  for (Form form : all_forms()) {
    const std::string_view name = form->word;
    CHECK_MESSAGE(!standard_ops().find(name), name);
  }
}

}  // namespace taskspec::op_table_test
