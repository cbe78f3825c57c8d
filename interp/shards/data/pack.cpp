#include "interp/shards/data/pack.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "interp/host/fold.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

template <class List>
auto of_peer(const List& list, ShardId peer) {
  const auto found =
      std::lower_bound(list.begin(), list.end(), peer, [](const auto& a, ShardId b) { return a.peer < b; });
  return found == list.end() || found->peer != peer ? nullptr : &*found;
}

// Of what several fields send, one mark for all of them.
std::uint32_t joined(std::uint32_t mark, std::uint32_t other) {
  return (mark * 31 + other) & ((std::uint32_t{1} << 24) - 1);
}

// Contents for one peer, as messages: a new one begins with what would not fit any more, and what is longer than a
// message fills several. The receiver is told by the lengths where they end.
class Outgoing {
 public:
  Outgoing(DataPort& port, ShardId to, std::size_t bytes) : port_(port), to_(to), left_(bytes) {}

  // Of one source, a run or the contributions of a point: what follows stays in one message, if it may.
  void begin(std::size_t bytes) {
    if (!payload_.empty() && payload_.size() + bytes > longest_message) send();
  }
  void add(const std::byte* from, std::size_t bytes) {
    while (bytes > 0) {
      if (payload_.empty()) payload_.reserve(std::min(left_, longest_message));
      const std::size_t now = std::min(bytes, longest_message - payload_.size());
      payload_.insert(payload_.end(), from, from + now);
      from += now, bytes -= now, left_ -= now;
      if (payload_.size() == longest_message || left_ == 0) send();
    }
  }
  void mark(std::uint32_t mark) { mark_ = mark; }

 private:
  void send() { port_.send(to_, std::exchange(payload_, {}), mark_); }
  DataPort& port_;
  const ShardId to_;
  std::size_t left_;  // still to be added
  std::uint32_t mark_ = 0;
  Bytes payload_;
};

// Of few bytes, mostly one number, and then without a call.
void copy_run(std::byte* into, const std::byte* from, std::size_t bytes) {
  if (bytes == 8)
    std::memcpy(into, from, 8);
  else
    std::memcpy(into, from, bytes);
}

[[noreturn]] void wrong_length(ShardId from, std::size_t come, std::size_t wanted) {
  throw ContentsDiffer{"shard " + std::to_string(from.value) + " sends " + std::to_string(come) +
                       " bytes of contents, and " + std::to_string(wanted) + " are waited for"};
}

// Runs of a piece, and where they begin in its own memory. Elements that follow one another in the root do so there.
template <class Visit>
void each_run_of_buffer(const Intervals& runs, const IndexSpace& piece, const Rect& root, Visit visit) {
  const PieceMemory memory = PieceMemory::own(piece);
  for (const Run& run : runs.runs()) visit(run, memory.place(root, root.point(run.lo)));
}

std::size_t width(Precision precision) { return info(precision).bytes; }

// What has come of one shard: slices of fields, by point, behind one another.
class Come {
 public:
  Come(ShardId from, std::size_t fields) : from_(from), at_(fields) {}

  ShardId from() const { return from_; }
  // Where the slices of each field begin is known from how long they are.
  void begin(FoldMovements fields, std::span<const Precision> precisions) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      at_[i] = bytes_;
      if (!fields[i]) continue;
      for (const FoldMovement::Step& step : fields[i]->steps)
        if (step.from == from_) bytes_ += static_cast<std::size_t>(step.runs.size()) * width(precisions[i]);
      const auto& senders = fields[i]->receive_from;
      const auto found = std::lower_bound(senders.begin(), senders.end(), from_);
      if (found != senders.end() && *found == from_)
        mark_ = joined(mark_, fields[i]->marks[static_cast<std::size_t>(found - senders.begin())]);
    }
  }
  const std::byte* next(DataPort& port, std::size_t field, std::size_t bytes, FunctionRef<void()> meanwhile) {
    if (!is_here_) {
      payload_ = port.wait(from_, meanwhile, mark_);
      while (!payload_.empty() && payload_.size() < bytes_) {
        const Bytes more = port.wait(from_, meanwhile, mark_);
        if (more.empty()) break;
        payload_.insert(payload_.end(), more.begin(), more.end());
      }
      is_here_ = true;
      if (payload_.size() != bytes_) wrong_length(from_, payload_.size(), bytes_);
    }
    const std::byte* at = payload_.data() + at_[field];
    at_[field] += bytes;
    if (reinterpret_cast<std::uintptr_t>(at) % alignof(double) == 0) return at;
    aligned_.assign(at, at + bytes);  // behind elements of another size
    return aligned_.data();
  }

 private:
  ShardId from_;
  std::vector<std::size_t> at_;  // by field
  std::size_t bytes_ = 0;
  std::uint32_t mark_ = 0;
  bool is_here_ = false;
  Bytes payload_, aligned_;
};

std::vector<Come> senders_of(FoldMovements fields, std::span<const Precision> precisions) {
  std::vector<ShardId> all;
  for (const FoldMovement* field : fields)
    if (field) all.insert(all.end(), field->receive_from.begin(), field->receive_from.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Come> senders;
  for (const ShardId from : all) senders.emplace_back(from, fields.size()).begin(fields, precisions);
  return senders;
}

}  // namespace

std::vector<Packing::Peer> Packing::peers(Movements fields, std::vector<Movement::Part> Movement::*parts,
                                          std::span<const std::size_t> widths) {
  std::vector<Peer> peers;
  for (std::size_t field = 0; field < fields.size(); ++field) {
    if (!fields[field]) continue;
    for (const Movement::Part& part : fields[field]->*parts) {
      const auto at = std::ranges::lower_bound(peers, part.peer, {}, &Peer::shard);
      const bool is_known = at != peers.end() && at->shard == part.peer;
      Peer& peer = is_known ? *at : *peers.insert(at, Peer{part.peer, 0, 0, {}});
      peer.mark = joined(peer.mark, part.mark);
      peer.bytes += static_cast<std::size_t>(part.runs.size()) * widths[field];
      peer.parts.push_back({field, widths[field], &part.runs});
    }
  }
  return peers;
}

Packing::Packing(Movements fields, std::span<const std::size_t> widths)
    : send_(peers(fields, &Movement::send, widths)), receive_(peers(fields, &Movement::receive, widths)) {}

template <class Byte, class Visit>
void Packing::each_run(const Peer& peer, std::span<Byte* const> bases, const PackedPlaces* packed, Visit&& visit) {
  for (const Part& part : peer.parts)
    for (const Run& run : part.runs->runs())
      visit(bases[part.field] + static_cast<std::size_t>(place_in(packed, run.lo)) * part.width,
            static_cast<std::size_t>(run.size()) * part.width);
}

template <class Each>
void Packing::send_to(DataPort& port, const Contents& contents, Each&& each) {
  if (std::byte* room = port.room(contents.shard, contents.bytes)) {
    each([&](const std::byte* from, std::size_t bytes) {
      copy_run(room, from, bytes);
      room += bytes;
    });
    port.send_room(contents.shard, contents.bytes, contents.mark);
    return;
  }
  Outgoing out(port, contents.shard, contents.bytes);
  out.mark(contents.mark);
  each([&](const std::byte* from, std::size_t bytes) {
    out.begin(bytes);
    out.add(from, bytes);
  });
}

template <class Each>
void Packing::receive_from(DataPort& port, const Contents& contents, Each&& each, FunctionRef<void()> meanwhile) {
  if (const std::byte* from = port.come(contents.shard, contents.bytes, contents.mark)) {
    each([&](std::byte* into, std::size_t bytes) {
      copy_run(into, from, bytes);
      from += bytes;
    });
    port.took(contents.shard);
    return;
  }
  Bytes payload;
  std::size_t at = 0, come = 0;
  each([&](std::byte* into, std::size_t count) {
    while (count > 0) {
      if (at == payload.size()) {
        payload = port.wait(contents.shard, meanwhile, contents.mark);
        come += payload.size();
        at = 0;
        if (payload.empty() || come > contents.bytes) wrong_length(contents.shard, come, contents.bytes);
      }
      const std::size_t now = std::min(count, payload.size() - at);
      std::copy_n(payload.data() + at, now, into);
      at += now, into += now, count -= now;
    }
  });
  if (at < payload.size()) wrong_length(contents.shard, come, contents.bytes);
}

void Packing::send(DataPort& port, std::span<const std::byte* const> bases, const PackedPlaces* packed) const {
  for (const Peer& peer : send_) send_to(port, peer, [&](auto&& visit) { each_run(peer, bases, packed, visit); });
}

void Packing::receive(DataPort& port, std::span<std::byte* const> bases, const PackedPlaces* packed,
                      FunctionRef<void()> meanwhile) const {
  for (const Peer& peer : receive_)
    receive_from(
        port, peer, [&](auto&& visit) { each_run(peer, bases, packed, visit); }, meanwhile);
}

BoundPacking::BoundPacking(const Packing& packing, DataPort& port, std::span<std::byte* const> bases,
                           const PackedPlaces* packed)
    : port_(port), send_(peers(packing.send_, bases, packed)), receive_(peers(packing.receive_, bases, packed)) {}

std::vector<BoundPacking::Peer> BoundPacking::peers(std::span<const Packing::Peer> of,
                                                    std::span<std::byte* const> bases, const PackedPlaces* packed) {
  std::vector<Peer> peers;
  for (const Packing::Peer& peer : of) {
    Peer& bound = peers.emplace_back(Peer{peer, {}});
    Packing::each_run(peer, bases, packed,
                      [&](std::byte* at, std::size_t bytes) { bound.parts.emplace_back(at, bytes); });
  }
  return peers;
}

void BoundPacking::send() {
  for (const Peer& peer : send_)
    Packing::send_to(port_, peer.contents, [&](auto&& visit) {
      for (const std::span<std::byte> part : peer.parts) visit(part.data(), part.size());
    });
}

void BoundPacking::receive(FunctionRef<void()> meanwhile) {
  for (const Peer& peer : receive_)
    Packing::receive_from(
        port_, peer.contents,
        [&](auto&& visit) {
          for (const std::span<std::byte> part : peer.parts) visit(part.data(), part.size());
        },
        meanwhile);
}

namespace {

// What the slices come to together, in their order, over the runs that they have in common.
Bytes added_up(const FoldMovement::Outgoing& of, Precision precision, ReduceOp op, const Rect& root,
               FunctionRef<OwnBuffer(std::int64_t point)> own) {
  const Fold fold = fold_of(precision, op);
  const auto count = static_cast<std::size_t>(of.together.size());
  Bytes sums(count * width(precision));
  fold.clear(sums.data(), count);
  for (const FoldMovement::Slice& slice : of.slices) {
    const OwnBuffer buffer = own(slice.point);
    each_run_of_buffer(slice.runs, *buffer.piece, root, [&](Run run, std::int64_t place) {
      fold.into(sums.data() + static_cast<std::size_t>(of.together.rank_of(run.lo)) * width(precision),
                buffer.base + static_cast<std::size_t>(place) * width(precision), static_cast<std::size_t>(run.size()));
    });
  }
  return sums;
}

}  // namespace

void send_contributions(DataPort& port, FoldMovements fields, std::span<const Precision> precisions, ReduceOp op,
                        const Rect& root, OwnBuffers own) {
  std::vector<ShardId> peers;
  for (const FoldMovement* field : fields)
    if (field)
      for (const FoldMovement::Outgoing& out : field->send) peers.push_back(out.peer);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  for (const ShardId peer : peers) {
    std::uint32_t mark = 0;
    std::size_t bytes = 0;
    const auto each_field = [&](auto&& visit) {
      for (std::size_t i = 0; i < fields.size(); ++i)
        if (const FoldMovement::Outgoing* of = fields[i] ? of_peer(fields[i]->send, peer) : nullptr) visit(i, *of);
    };
    each_field([&](std::size_t i, const FoldMovement::Outgoing& of) {
      mark = joined(mark, of.mark);
      if (!of.together.empty()) bytes += static_cast<std::size_t>(of.together.size()) * width(precisions[i]);
      if (of.together.empty())
        for (const FoldMovement::Slice& slice : of.slices)
          bytes += static_cast<std::size_t>(slice.runs.size()) * width(precisions[i]);
    });
    Outgoing out(port, peer, bytes);
    out.mark(mark);
    each_field([&](std::size_t i, const FoldMovement::Outgoing& of) {
      if (!of.together.empty()) {
        const Bytes sums = added_up(of, precisions[i], op, root, [&](std::int64_t point) { return own(i, point); });
        out.begin(sums.size());
        return out.add(sums.data(), sums.size());
      }
      for (const FoldMovement::Slice& slice : of.slices) {
        out.begin(static_cast<std::size_t>(slice.runs.size()) * width(precisions[i]));
        const OwnBuffer buffer = own(i, slice.point);
        each_run_of_buffer(slice.runs, *buffer.piece, root, [&](Run run, std::int64_t place) {
          out.add(buffer.base + static_cast<std::size_t>(place) * width(precisions[i]),
                  static_cast<std::size_t>(run.size()) * width(precisions[i]));
        });
      }
    });
  }
}

void fold_contributions(DataPort& port, FoldMovements fields, std::span<std::byte* const> bases,
                        const PackedPlaces* packed, std::span<const Precision> precisions, ReduceOp op,
                        const Rect& root, OwnBuffers own, FunctionRef<void()> meanwhile) {
  std::vector<Come> senders = senders_of(fields, precisions);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i]) continue;
    const Fold fold = fold_of(precisions[i], op);
    const std::size_t bytes = width(precisions[i]);
    auto into = [&](Run run, const std::byte* from) {
      fold.into(bases[i] + static_cast<std::size_t>(place_in(packed, run.lo)) * bytes, from,
                static_cast<std::size_t>(run.size()));
    };
    for (const FoldMovement::Step& step : fields[i]->steps) {
      if (step.from == port.self()) {
        const OwnBuffer buffer = own(i, step.point);
        each_run_of_buffer(step.runs, *buffer.piece, root, [&](Run run, std::int64_t place) {
          into(run, buffer.base + static_cast<std::size_t>(place) * bytes);
        });
        continue;
      }
      const auto sender =
          std::find_if(senders.begin(), senders.end(), [&](const Come& come) { return come.from() == step.from; });
      const std::byte* at = sender->next(port, i, static_cast<std::size_t>(step.runs.size()) * bytes, meanwhile);
      for (const Run& run : step.runs.runs()) {
        into(run, at);
        at += static_cast<std::size_t>(run.size()) * bytes;
      }
    }
  }
}

}  // namespace taskspec
