// Values that the first rank tells the others, over MPI: what agree(x) gives in a program that runs on several
// processes.
//
//   RankLine::set(std::make_unique<RankValues>());     // where mpirun started this process
#pragma once
#include <map>
#include <mutex>

#include "interp/control/rank_line.hpp"
#include "interp/shards/bytes.hpp"

namespace taskspec {

// Numbers, bools, strings, and lists and tuples of them, as bytes.
void put_value(Bytes& into, const Value& value);
Value get_value(ByteReader& in);

class RankValues final : public RankLine {
 public:
  RankValues();
  std::int64_t rank() const override { return static_cast<std::int64_t>(rank_); }
  Value agree(int part, std::uint64_t number, const Value& own) override;
  void end() override;

 private:
  void hear(const Bytes& bytes);
  void tell(const Bytes& bytes);

  const std::size_t rank_, ranks_;
  std::mutex mutex_;  // of all below
  std::map<std::pair<std::int32_t, std::uint64_t>, Value> come_;
  bool has_ended_ = false;  // the first rank
};

}  // namespace taskspec
