#include "interp/shards/data/shared_pieces.hpp"

#include <algorithm>
#include <utility>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

using Numbers = PieceSharing::Numbers;

enum Part : std::uint8_t { question, answered };  // of a message that belongs to no collective

Bytes packed(const Numbers& numbers) {
  const ByteView bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

Numbers unpacked(ByteView bytes) {
  if (bytes.size() % sizeof(std::int64_t) != 0) bug("numbers about pieces cannot be read");
  Numbers numbers(bytes.size() / sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

std::uint64_t table_of(const ShardMessage& question) { return ByteReader(question.payload).get<std::uint64_t>(); }

}  // namespace

SharedPieces::SharedPieces(Collectives& collectives, Waits waits)
    : collectives_(&collectives),
      waits_(std::move(waits)),
      shards_(collectives.shards()),
      self_(collectives.self().index()) {
  collectives.on_pieces([this](ShardMessage message) { take(std::move(message)); });
}

SharedPieces::~SharedPieces() = default;

std::vector<Numbers> SharedPieces::exchange(std::vector<Numbers> own) {
  std::vector<Bytes> bytes;
  for (const Numbers& numbers : own) bytes.push_back(packed(numbers));
  // What ends a wait outlives it where it is left by a failure.
  const auto heard = std::make_shared<std::optional<std::vector<Bytes>>>();
  collectives_->exchange({Purpose::pieces, ++collective_, 0}, std::move(bytes),
                         [heard](std::vector<Bytes> all) { *heard = std::move(all); });
  waits_.for_all([&] { return heard->has_value(); });
  std::vector<Numbers> all;
  for (const Bytes& one : **heard) all.push_back(unpacked(one));
  return all;
}

Numbers SharedPieces::sum(Numbers own) {
  const std::uint64_t number = ++collective_;
  auto add = [](Bytes& into, ByteView other) {
    Numbers sum = unpacked(into);
    const Numbers more = unpacked(other);
    sum.resize(std::max(sum.size(), more.size()));  // who makes another call than the others may tell more or less
    for (std::size_t i = 0; i < more.size(); ++i)
      sum[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[i]) + static_cast<std::uint64_t>(more[i]));
    into = packed(sum);
  };
  const auto total = std::make_shared<std::optional<Bytes>>(), heard = std::make_shared<std::optional<Bytes>>();
  collectives_->reduce({Purpose::pieces, number, 1}, ShardId(0), packed(own), add,
                       [total](Bytes got) { *total = std::move(got); });
  waits_.for_all([&] { return total->has_value(); });
  collectives_->broadcast({Purpose::pieces, number, 2}, ShardId(0), **std::move(total),
                          [heard](Bytes got) { *heard = std::move(got); });
  waits_.for_all([&] { return heard->has_value(); });
  return unpacked(**heard);
}

std::uint64_t SharedPieces::serve(Answer answer) {
  const std::uint64_t number = ++table_;
  const Answer& said = tables_.emplace(number, Table{std::move(answer)}).first->second.answer;
  const auto [first, behind] = early_.equal_range(number);
  for (auto at = first; at != behind; ++at) this->answer(at->second, said);
  early_.erase(first, behind);
  return number;
}

void SharedPieces::take(ShardMessage message) {
  if (message.part == Part::answered) {
    answers_[message.number] = unpacked(message.payload);
    return;
  }
  const std::uint64_t table = table_of(message);
  if (const auto known = tables_.find(table); known != tables_.end())
    answer(message, known->second.answer);
  else
    early_.emplace(table, std::move(message));
}

void SharedPieces::answer(const ShardMessage& asked, const Answer& table) {
  ++counts_.answered;
  ShardMessage message{.to = asked.from,
                       .purpose = Purpose::pieces,
                       .step = no_collective,
                       .part = Part::answered,
                       .number = asked.number};
  message.payload = packed(table(unpacked(ByteView(asked.payload).subspan(sizeof(std::uint64_t)))));
  collectives_->send(std::move(message));
}

std::vector<Numbers> SharedPieces::ask(std::uint64_t table, std::vector<Question> questions) {
  if (!collectives_)
    throw failure("E1009", {}, "which points these pieces have is kept by other shards, and their run is over");
  const std::uint64_t first = asked_;
  asked_ += questions.size();
  for (std::size_t k = 0; k < questions.size(); ++k) {
    ++counts_.asked;
    if (questions[k].member == self_) {
      answers_[first + k] = tables_.at(table).answer(questions[k].text);
      continue;
    }
    ShardMessage message{.to = ShardId(questions[k].member),
                         .purpose = Purpose::pieces,
                         .step = no_collective,
                         .part = Part::question,
                         .number = first + k};
    ByteWriter(message.payload).put(table).raw(packed(questions[k].text));
    collectives_->send(std::move(message));
  }
  std::vector<Numbers> said(questions.size());
  for (std::size_t k = 0; k < said.size(); ++k) {
    while (!answers_.contains(first + k))
      if (!collectives_->poll_pieces()) waits_.for_answers();
    said[k] = std::move(answers_.extract(first + k).mapped());
  }
  return said;
}

void SharedPieces::withdraw(std::uint64_t table) noexcept {
  if (const auto known = tables_.find(table); known != tables_.end()) known->second.is_withdrawn = true;
}

void SharedPieces::all_have_come() {
  std::erase_if(tables_, [](const auto& table) { return table.second.is_withdrawn; });
}

}  // namespace taskspec
