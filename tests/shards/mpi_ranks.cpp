// Run by mpirun: small and large messages, collectives and a reduction over ranks. Ends with 0 if all is right.
#include <cstdio>

#include "interp/shards/collectives/tree.hpp"
#include "interp/shards/transport/mpi.hpp"
#include "tests/unit/errors.hpp"

using namespace taskspec;

namespace {

bool is_right(Collectives& c) {
  const std::size_t shards = c.shards(), self = c.self().index();
  std::size_t ended = 0, begun = 0;
  bool is_right = true;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const std::size_t size = number % 10 == 0 ? 200'000 : number;
    c.all_gather({Purpose::value, number}, Bytes(size + self, static_cast<std::byte>(self)),
                 [&, size](const std::vector<Bytes>& all) {
                   for (std::size_t of = 0; of < shards; ++of)
                     is_right = is_right && all[of] == Bytes(size + of, static_cast<std::byte>(of));
                   ++ended;
                 });
    ++begun;
  }
  const auto points = static_cast<std::int64_t>(10 * shards);
  const Run own{static_cast<std::int64_t>(10 * self), static_cast<std::int64_t>(10 * self + 10)};
  Bytes rows;
  for (std::int64_t i = own.lo; i < own.hi; ++i) ByteWriter(rows).put(i);
  reduce_map(c, {Purpose::fence, 1}, {Precision::i64, ReduceOp::sum, points, 1}, {&own, 1}, rows,
             [&](const Bytes& sum) {
               is_right = is_right && ByteReader(sum).get<std::int64_t>() == points * (points - 1) / 2;
               ++ended;
             });
  ++begun;
  while (ended < begun)
    if (!c.poll()) c.transport().wait(1'000'000'000);
  return is_right;
}

}  // namespace

int main() {
  if (!MpiSession::is_under_mpirun()) return 2;
  if (error_of([] { MpiSession::check_threads(0); }) !=
      "E6002 this MPI library lets only one thread of a process call it")
    return 4;
  try {
    const auto session = MpiSession::start();
    Collectives collectives(session->transport());
    const bool right = is_right(collectives);
    session->finish();
    if (!right) std::fprintf(stderr, "rank %zu: wrong results\n", collectives.self().index());
    return right ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
