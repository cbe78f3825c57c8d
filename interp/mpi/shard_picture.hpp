// A run on shards to be looked at: the tab Shards of a report. Its contents are those of all shards, gathered when the
// run ends; of one that failed they go as far as each of them came, and nothing was counted together.
//
//   pictures.push_back(std::make_shared<ShardPicture>(layout, counts, records, sources));
#pragma once
#include "interp/control/run_picture.hpp"
#include "interp/mpi/shard_record.hpp"
#include "interp/shards/transport/rank_layout.hpp"

namespace taskspec {

class ShardPicture final : public RunPicture {
 public:
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;
  ShardPicture(const RankLayout& layout, Counts counts, std::vector<ShardRecord> records, const Sources* sources);

  const Counts& counts() const { return counts_; }  // as the fields of the report
  Tab tab() const override { return Tab::shards; }
  std::string text() const override;
  std::string json(bool whole) const override;
  std::string csv_head() const override;
  std::string csv() const override;
  std::string trace(int process) const override;

 private:
  const RankLayout layout_;
  const Counts counts_;
  const std::vector<ShardRecord> records_;                     // by shard
  const std::vector<std::string> paths_;                       // of the sources, by number
  std::vector<std::pair<std::size_t, std::uint32_t>> places_;  // by call: source and line; SIZE_MAX: none
};

}  // namespace taskspec
