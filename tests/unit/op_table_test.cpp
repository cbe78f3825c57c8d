// The table of ops as a whole: every record complete and consistent, every kernel as it promises to be, and adding
// an op touches two files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <regex>
#include <set>

#include "ir/print_program.hpp"
#include "stdlib/ops.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/op_samples.hpp"

using namespace taskspec;

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
  std::regex line("OP\\((\\w+)\\)"), record("constinit const OpDef op_(\\w+)");
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

TEST_CASE("no op is called as a form of the typed program: where both are written, a reader takes it for the form") {
  for (Form form : all_forms()) {
    const std::string_view name = form->word;
    CHECK_MESSAGE(!standard_ops().find(name), name);
  }
}
