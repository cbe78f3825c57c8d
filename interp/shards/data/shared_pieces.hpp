// Shards as members that share tables of pieces out (ir/region/piece_sharing.hpp): what they say to one another goes
// through Collectives. A question may come at any time, also about a table that this shard is about to make; it is
// answered where messages are taken.
//
//   auto pieces = std::make_shared<SharedPieces>(collectives, waits);
//   forest.share(pieces);
#pragma once
#include <functional>
#include <map>
#include <unordered_map>

#include "interp/shards/collectives/collectives.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/region/piece_sharing.hpp"

namespace taskspec {

class SharedPieces final : public PieceSharing {
 public:
  // How this shard waits; both throw what the run failed with.
  struct Waits {
    std::function<void(FunctionRef<bool()> done)> for_all;  // until it is done, and answers everything meanwhile
    std::function<void()> for_answers;                      // a little: until some message has come
  };
  struct Counts {
    std::uint64_t asked = 0, answered = 0;  // questions
  };
  SharedPieces(Collectives& collectives, Waits waits);
  ~SharedPieces() override;

  std::size_t members() const override { return shards_; }
  std::size_t self() const override { return self_; }
  std::vector<Numbers> exchange(std::vector<Numbers> own) override;
  Numbers sum(Numbers own) override;
  std::uint64_t serve(Answer answer) override;
  std::vector<Numbers> ask(std::uint64_t table, std::vector<Question> questions) override;
  void withdraw(std::uint64_t table) noexcept override;

  // All shards have come to where this one stands: nobody asks for what was withdrawn here before.
  void all_have_come();
  // Nobody is there any more: questions to others are E1009.
  void close() { collectives_ = nullptr; }

  const Counts& counts() const { return counts_; }
  std::size_t tables() const { return tables_.size(); }

 private:
  struct Table {
    Answer answer;
    bool is_withdrawn = false;
  };
  void take(ShardMessage message);
  void answer(const ShardMessage& question, const Answer& table);

  Collectives* collectives_;
  const Waits waits_;
  const std::size_t shards_, self_;
  std::uint64_t collective_ = 0, table_ = 0, asked_ = 0;
  std::unordered_map<std::uint64_t, Table> tables_;
  std::multimap<std::uint64_t, ShardMessage> early_;    // questions about tables that are not there yet
  std::unordered_map<std::uint64_t, Numbers> answers_;  // by number of the question
  Counts counts_;
};

}  // namespace taskspec
