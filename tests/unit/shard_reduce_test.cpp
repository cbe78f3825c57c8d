// --reduce shard: each shard adds up what its own points contribute before it sends that. Integers come to the same,
// floats nearly, with fewer bytes where several points of a shard contribute to one element.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "tests/unit/programs.hpp"

namespace taskspec::shard_reduce_test {

namespace {

// Pieces that overlap widely, so each element gets contributions of many points.
constexpr const char* program = R"(
fields Cell { sum: f64, count: int, most: int, own: f64 }
task give(reduce(+) c: Cell[_].{sum, count}, reduce(max) m: Cell[_].{most}, in k: int) {
  for i in c { c[i].sum += 0.1 * (i + k) - 1.7; c[i].count += i * k + 1 }
  for i in m { m[i].most = maximum(m[i].most, (i * k) % 37) }
}
task keep(inout c: Cell[_].{own, sum}, in w: Cell[_].{count}) {
  for i in c { c[i].own += c[i].sum * 0.01; c[i].sum *= 0.5 }
}
fn main(how: sharding, turns: int) -> (int, int, float, float) {
  let cells = region Cell[64]
  let owned = blocks(cells, 16)
  let near = halo(owned, 20)
  for t in 0..turns {
    launch give(near[i], near[i], 3) for i in 0..16 by how
    launch keep(owned[i], owned[i]) for i in 0..16 by how
  }
  return (cells.count.sum(0).scalar, cells.most.sum(0).scalar, cells.own.sum(0).scalar, cells.sum.sum(0).scalar)
}
)";

struct Came {
  std::int64_t count = 0, most = 0;
  double own = 0, sum = 0;
  std::int64_t fences = 0, elided = 0, replayed = 0, messages = 0, bytes = 0;
  std::string text;
};

Came came(const std::string& how, const std::string& on, int turns = 4) {
  const Ran ran =
      run_text(std::string(program) + "let r = run main(" + how + ", " + std::to_string(turns) + ") on mpi(" + on +
               ")\nlet v = r.value\nprint(v[0], v[1], v[2], v[3], r.report.fences, r.report.elided, "
               "r.report.replayed, r.report.messages, r.report.bytes)\n");
  CHECK_MESSAGE(ran.code == 0, ran.errors);
  Came came;
  came.text = ran.output;
  std::istringstream(ran.output) >> came.count >> came.most >> came.own >> came.sum >> came.fences >> came.elided >>
      came.replayed >> came.messages >> came.bytes;
  return came;
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

TEST_CASE("what each shard adds up first comes to the same, with fewer bytes [programs][reduce-shard][D11]") {
  for (const std::string how : {"block", "cyclic"})
    for (const int shards : {1, 2, 3, 4, 7, 16})
      for (const char* more : {"", ", traces: false", ", plans: \"all\", level: \"every\"", ", level: \"off\""}) {
        const std::string on = fmt::format("shards: {}{}", shards, more);
        CAPTURE(how);
        CAPTURE(on);
        const Came points = came(how, on), shard = came(how, on + ", reduce_by: \"shard\"");
        CHECK(shard.count == points.count);
        CHECK(shard.most == points.most);
        CHECK(is_near(shard.own, points.own));
        CHECK(is_near(shard.sum, points.sum));
        CHECK(shard.fences == points.fences);
        CHECK(shard.elided == points.elided);
        CHECK(shard.replayed == points.replayed);
        CHECK(shard.messages == points.messages);
        if (shards == 1 || shards == 16)
          CHECK(shard.text == points.text);  // each shard has one point, or one shard all of them: the same bits
        else
          CHECK(shard.bytes < (shards > 4 ? points.bytes : points.bytes * 3 / 4));
        CHECK(came(how, on + ", reduce_by: \"shard\"").text == shard.text);
      }
}

TEST_CASE(
    "contributions that shards add up first are replayed, and fused loops stay what they are [traces][reduce-shard]") {
  const Came analysed = came("cyclic", "shards: 4, traces: false, reduce_by: \"shard\"", 12),
             found = came("cyclic", "shards: 4, reduce_by: \"shard\"", 12);
  CHECK(analysed.replayed == 0);
  CHECK(found.replayed > 8);
  CHECK(found.count == analysed.count);
  CHECK(found.own == analysed.own);
  CHECK(found.sum == analysed.sum);
  CHECK(found.bytes == analysed.bytes);
}

}  // namespace taskspec::shard_reduce_test
