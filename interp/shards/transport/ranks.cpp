#include "interp/shards/transport/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "interp/shards/transport/content_line.hpp"
#include "interp/shards/transport/mailbox.hpp"
#include "interp/shards/transport/sleeper_fence.hpp"
#include "ir/base/at_end.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

// A tag says what it carries: messages of shards, what ranks say to one another, or that a rank is at its end. Above
// that stands the number of the network, from 1: 0 is what ranks say outside of networks.
enum class Carries : int { message, words, end };
constexpr int kind_bits = 2;
int tag_of(std::uint32_t network, Carries what) {
  return static_cast<int>(network << kind_bits) | static_cast<int>(what);
}
Carries carried_by(int tag) { return static_cast<Carries>(tag & ((1 << kind_bits) - 1)); }

// What MPI refuses cannot be mended here.
template <class F>
auto in_words_of_mpi(F&& f) {
  try {
    return f();
  } catch (const std::runtime_error& error) {
    throw failure("E6002", {}, error.what());
  }
}

// MPI has nothing to sleep on. So: look for a while, where every shard has a core; then give way to others; then sleep,
// longer the longer nothing has come.
void pause(std::chrono::nanoseconds waited, bool has_a_core) {
  using namespace std::chrono_literals;
  if (waited >= 200us)
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 16, 50us, 1ms));
  else if (!has_a_core || waited >= 20us)
    std::this_thread::yield();
}

}  // namespace

class RankNetwork::End final : public Transport {
 public:
  End(RankNetwork& network, ShardId self)
      : network_(network), self_(self), lines_(std::make_unique<std::atomic<ContentLine*>[]>(shards())) {}
  ~End() override {
    for (std::size_t from = 0; from < shards(); ++from) delete lines_[from].load();
  }

  ShardId self() const override { return self_; }
  std::size_t shards() const override { return network_.layout_.shards; }

  void send(ShardMessage message) override {
    const ShardId to = message.to;
    if (const auto& end = network_.ends_[to.index()]) return end->put(std::move(message));
    Bytes bytes;
    put_message(bytes, message);
    const std::lock_guard lock(network_.line_mutex());
    in_words_of_mpi([&] {
      network_.line_->port->send(static_cast<int>(network_.layout_.rank_of(to)),
                                 tag_of(network_.number_, Carries::message), std::move(bytes));
    });
  }

  std::optional<ShardMessage> receive() override {
    std::optional<ShardMessage> first = mailbox_.take();
    if (!first) first = take_from_lines();
    if (first || !network_.line_) return first;
    // Who finds another one looking need not look as well.
    if (const std::unique_lock line(network_.line_mutex(), std::try_to_lock); line) network_.look_locked();
    return mailbox_.take();
  }

  void wait(std::int64_t nanoseconds) override {
    if (mailbox_.has_taken()) return;
    const Mailbox::Time begin = std::chrono::steady_clock::now(), end = after(begin, nanoseconds);
    const auto has_come = [this] { return has_come_by_line(); };
    if (!network_.line_ && may_look()) mailbox_.look_until(after(begin, std::min(nanoseconds, longest_look)), has_come);
    if (has_come()) return mailbox_.waited();
    listens_.store(true, std::memory_order_relaxed);
    const AtEnd as_before([this] { listens_.store(false, std::memory_order_relaxed); });
    if (has_others_here_) sleepers_fence();
    for (Mailbox::Time now = begin; !mailbox_.is_over() && !has_come_by_line() && now < end;
         now = std::chrono::steady_clock::now())
      if (network_.line_ && network_.try_to_lead(*this))
        lead(begin, end);
      else
        mailbox_.sleep_until(end);
    if (network_.line_) network_.leave(*this);
    mailbox_.waited();
  }

  void wake() override { mailbox_.wake(); }
  std::optional<ShardId> lost() const override { return mailbox_.lost(); }

  LineTo line_to(ShardId to) override {
    End* const end = network_.ends_[to.index()].get();
    if (end == this) return {};
    if (!end) return {network_.line_to_rank(to)};
    std::atomic<ContentLine*>& line = end->lines_[self_.index()];
    if (!line.load(std::memory_order_relaxed)) line.store(new ContentLine, std::memory_order_release);
    return {line.load(std::memory_order_relaxed), &end->listens_, true};
  }
  ContentLine* line_from(ShardId from) override {
    if (network_.ends_[from.index()]) return lines_[from.index()].load(std::memory_order_acquire);
    return network_.line_from_rank(from);
  }
  std::uint32_t network() const override { return network_.number_; }
  void wake_reader(ShardId to) override { network_.ends_[to.index()]->mailbox_.wake(); }
  bool may_look() const override { return network_.has_cores_for_all_; }

  void put(ShardMessage message) { mailbox_.put(std::move(message)); }
  void lose(ShardId shard) { mailbox_.lose(shard); }
  void offer_lead() { mailbox_.call(); }  // nobody looks at MPI any more: this one may

 private:
  void lead(Mailbox::Time begin, Mailbox::Time end) {
    while (!mailbox_.is_over() && !has_come_by_line()) {
      {
        const std::lock_guard line(network_.line_mutex());
        network_.look_locked();
      }
      const Mailbox::Time now = std::chrono::steady_clock::now();
      if (mailbox_.is_over() || now >= end) break;
      pause(now - begin, network_.has_cores_for_all_);
    }
    network_.stop_leading(*this);
  }

  bool has_come_by_line() {
    for (std::size_t from = 0; from < shards(); ++from)
      if (const ContentLine* line = line_from(ShardId(from)); line && line->has_come()) return true;
    return false;
  }
  std::optional<ShardMessage> take_from_lines() {
    for (std::size_t from = 0; from < shards(); ++from) {
      ContentLine* const line = line_from(ShardId(from));
      const ContentLine::Head* const head = line ? line->next() : nullptr;
      if (!head) continue;
      ShardMessage message = contents_message(self_, head->number, head->mark);
      message.from = ShardId(from);
      message.time = head->time;
      message.payload.assign(line->contents(), line->contents() + head->bytes);
      line->take();
      return message;
    }
    return std::nullopt;
  }

  RankNetwork& network_;
  const ShardId self_;
  const bool has_others_here_ = network_.layout_.here().size() > 1;  // else nobody writes to its lines and wakes it
  Mailbox mailbox_;
  const std::unique_ptr<std::atomic<ContentLine*>[]> lines_;  // to this shard, by sender, who makes it; null: not yet
  alignas(128) std::atomic<bool> listens_ = false;            // it is about to sleep, or does
};

RankNetwork::RankNetwork(const RankLayout& layout, MpiLine* line)
    : layout_(layout), has_cores_for_all_(layout.shards <= std::thread::hardware_concurrency()), line_(line) {
  ends_.resize(layout.shards);
  for (const ShardId shard : layout.here()) ends_[shard.index()] = std::make_unique<End>(*this, shard);
  if (!line_) return;
  const std::lock_guard lock(line_->mutex);
  number_ = ++line_->networks;
  ++line_->open_networks;
  line_->here.emplace(number_, this);
  for (auto& [tag, bytes] : std::exchange(line_->early, {})) line_->take(tag, std::move(bytes));
  for (const std::size_t rank : line_->gone) miss(rank);
}

RankNetwork::~RankNetwork() {
  if (!line_) return;
  const std::lock_guard lock(line_->mutex);
  line_->here.erase(number_);
}

// One shard for each rank sends and takes; a process with several networks at once sends its contents as messages.
ContentLine* RankNetwork::line_to_rank(ShardId shard) const {
  if (!line_ || layout_.shards != layout_.ranks || line_->open_networks.load(std::memory_order_relaxed) != 1)
    return nullptr;
  return line_->port->line_to(static_cast<int>(shard.index()));
}

// What is the first there may be of another network: of one that is over it is thrown away, else it waits for that one.
ContentLine* RankNetwork::line_from_rank(ShardId shard) const {
  ContentLine* const line =
      line_ && layout_.shards == layout_.ranks ? line_->port->line_from(static_cast<int>(shard.index())) : nullptr;
  if (!line) return nullptr;
  for (const ContentLine::Head* head; (head = line->next()) && head->network != number_; line->take()) {
    const std::lock_guard lock(line_->mutex);
    if (!line_->is_over(head->network)) return nullptr;
  }
  return line;
}

bool MpiLine::is_over(std::uint32_t network) const {
  if (network > networks) return false;
  const auto at = here.find(network);
  return at == here.end() || at->second->is_finished_;
}

Transport& RankNetwork::at(ShardId shard) { return *ends_[shard.index()]; }

void RankNetwork::miss(std::size_t rank) {
  RankLayout there = layout_;
  there.rank = rank;
  for (const ShardId shard : there.here()) lose(shard);
}

void RankNetwork::lose(ShardId shard) {
  for (const std::unique_ptr<End>& end : ends_)
    if (end && end->self() != shard) end->lose(shard);
}

void RankNetwork::send_to_rank(std::size_t rank, Bytes bytes) {
  const std::lock_guard lock(line_mutex());
  if (rank == layout_.rank) {
    if (heard_) heard_(std::move(bytes));
    return;
  }
  in_words_of_mpi(
      [&] { line_->port->send(static_cast<int>(rank), tag_of(number_, Carries::words), std::move(bytes)); });
}

void RankNetwork::on_rank_message(std::function<void(Bytes)> heard) {
  const std::lock_guard lock(line_mutex());
  heard_ = std::move(heard);
}

void RankNetwork::look() {
  const std::lock_guard lock(line_mutex());
  look_locked();
}

void RankNetwork::wake_all() {
  for (const std::unique_ptr<End>& end : ends_)
    if (end) end->wake();
}

bool RankNetwork::look_locked() { return line_ && line_->look(); }

bool MpiLine::look() {
  return in_words_of_mpi([&] { return port->look([this](int tag, Bytes bytes) { take(tag, std::move(bytes)); }); });
}

void MpiLine::say_beside(std::size_t rank, Bytes bytes) {
  in_words_of_mpi([&] { port->send(static_cast<int>(rank), tag_of(0, Carries::words), std::move(bytes)); });
}

void MpiLine::say_end(std::uint32_t network) {
  const MpiPort::Facts facts = port->facts();
  for (int rank = 0; rank < facts.ranks; ++rank) {
    if (rank == facts.rank) continue;
    Bytes who;
    ByteWriter(who).put(static_cast<std::uint64_t>(facts.rank));
    in_words_of_mpi([&] { port->send(rank, tag_of(network, Carries::end), std::move(who)); });
  }
}

void MpiLine::take(int tag, Bytes bytes) {
  const auto network = static_cast<std::uint32_t>(tag) >> kind_bits;
  if (network == 0 && carried_by(tag) == Carries::end) {
    const auto rank = ByteReader(bytes).get<std::uint64_t>();
    gone.insert(rank);
    for (const auto& [number, open] : here) open->miss(rank);
  } else if (network == 0) {
    beside.push_back(std::move(bytes));
  } else if (network > networks) {
    early.push_back({tag, std::move(bytes)});
  } else if (const auto at = here.find(network); at != here.end()) {
    at->second->take(tag, std::move(bytes));
  }  // else the last words of one that is over
}

void RankNetwork::take(int tag, Bytes bytes) {
  if (carried_by(tag) == Carries::words) {
    if (heard_) heard_(std::move(bytes));
    return;
  }
  if (carried_by(tag) == Carries::end) {
    ended_.insert(ByteReader(bytes).get<std::uint64_t>());
    return;
  }
  ShardMessage message;
  if (!get_message(bytes, message) || message.to.index() >= ends_.size() || !ends_[message.to.index()])
    bug("what came from a rank is no message for a shard that is here");
  ends_[message.to.index()]->put(std::move(message));
}

bool RankNetwork::try_to_lead(End& end) {
  const std::lock_guard lock(lead_mutex_);
  if (!std::exchange(is_led_, true)) return true;
  if (std::find(waiting_.begin(), waiting_.end(), &end) == waiting_.end()) waiting_.push_back(&end);
  return false;
}

void RankNetwork::stop_leading(End& end) {
  const std::lock_guard lock(lead_mutex_);
  is_led_ = false;
  std::erase(waiting_, &end);
  if (!waiting_.empty()) waiting_.front()->offer_lead();
}

// It waits no longer. If it was just asked to lead, another one is.
void RankNetwork::leave(End& end) {
  const std::lock_guard lock(lead_mutex_);
  std::erase(waiting_, &end);
  if (!is_led_ && !waiting_.empty()) waiting_.front()->offer_lead();
}

// Messages of our own, and no barrier of MPI: barriers end in one order, and networks need not.
bool RankNetwork::have_all_ended() const {
  for (std::size_t rank = 0; rank < layout_.ranks; ++rank)
    if (rank != layout_.rank && !ended_.contains(rank) && !line_->gone.contains(rank)) return false;
  return true;
}

void RankNetwork::finish() {
  if (!line_) return;
  const auto begin = std::chrono::steady_clock::now();
  for (bool has_said = false;;) {
    {
      const std::lock_guard lock(line_mutex());
      look_locked();
      if (line_->port->have_all_left()) {
        if (!std::exchange(has_said, true)) {
          line_->say_end(number_);
        } else if (have_all_ended()) {
          --line_->open_networks;
          is_finished_ = true;
          return;
        }
      }
    }
    pause(std::chrono::steady_clock::now() - begin, layout_.ranks <= std::thread::hardware_concurrency());
  }
}

void RankNetwork::abort(int status) {
  if (line_) line_->port->abort(status);
  std::_Exit(status);
}

}  // namespace taskspec
