#include "hwsim/map/messages.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Packets and heads of a message: 8 bytes each where places allow it, else a byte each. A head stands for packets that
// go to equally spaced places.
void count_packets(ChipMessage& message, const std::vector<bool>& filled, std::int64_t payload, std::int64_t most) {
  auto is_free = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (i >= static_cast<std::int64_t>(filled.size()) || filled[static_cast<std::size_t>(i)]) return false;
    return true;
  };
  std::int64_t stride = 0, length = 0, last = 0, in_head = 0;
  for (const ChipMessage::Run& run : message.runs) {
    const std::int64_t end = run.to + run.bytes, whole = divided_up(run.bytes, payload) * payload;
    const bool is_whole = run.to % payload == 0 && (run.bytes % payload == 0 || is_free(end, run.to + whole));
    const std::int64_t packets = is_whole ? divided_up(run.bytes, payload) : run.bytes;
    if (!is_whole) message.singles += packets;
    const bool goes_on =
        message.heads > 0 && packets == length && in_head + packets <= most && (stride == 0 || run.to - last == stride);
    if (goes_on) {
      stride = run.to - last;
      in_head += packets;
    } else {
      message.heads += divided_up(packets, most);
      stride = 0;
      in_head = packets;
    }
    length = packets;
    last = run.to;
    message.packets += packets;
  }
}

}  // namespace

void MessageMaker::makes(BlockId block, MadeValues::Maker maker) {
  made_[block.index()].makers.push_back(std::move(maker));
}

const MessageMaker::Source& MessageMaker::source(BlockId block) {
  if (sources_.empty()) sources_.resize(graph_.blocks.size());
  Source& source = sources_[block.index()];
  if (!source.maker.empty()) return source;
  const ArrayType type = value_type(graph_[block]);
  source.per_row =
      type.extents.size() == 3 ? type.extents[1] * type.extents[2] : std::max<std::int64_t>(1, type.elements());
  source.maker.assign(static_cast<std::size_t>(type.elements()), -1);
  source.bit.resize(source.maker.size());
  const std::vector<MadeValues::Maker>& makers = made_[block.index()].makers;
  for (std::size_t m = 0; m < makers.size(); ++m) {
    const std::vector<std::int32_t> places = places_in(type.extents, makers[m].box);
    for (std::size_t i = 0; i < places.size(); ++i) {
      source.maker[static_cast<std::size_t>(places[i])] = static_cast<std::int32_t>(m);
      source.bit[static_cast<std::size_t>(places[i])] = makers[m].layout.bit_of(static_cast<std::int64_t>(i));
    }
  }
  return source;
}

bool MessageMaker::same_bits(const MessageTarget& target, BlockId from, std::int64_t bits, Diags& diags) const {
  if (bits == target.layout.bits) return true;
  diags
      .error("E4044", target.span,
             fmt::format("{}: '{}' changes its precision on the way", target.name, graph_[from].name))
      .help("a soma between them changes precisions: packets carry bytes as they are");
  return false;
}

// A source as it is: parts of boxes, pixel by pixel.
bool MessageMaker::runs_of_boxes(const MessageTarget& target, RunsByMaker& runs, Diags& diags) {
  const NetSource& from = target.cluster->sources[0];
  if (from.delay != target.delay) return true;
  const std::vector<MadeValues::Maker>& makers = made_[from.block.index()].makers;
  const std::size_t rank = target.box.size.size();
  for (std::size_t m = 0; m < makers.size(); ++m) {
    const MadeValues::Maker& maker = makers[m];
    Box common = target.box;
    bool is_empty = false;
    for (std::size_t i = 0; i < rank && !is_empty; ++i) {
      std::int64_t begin = std::max(target.box.position[i], maker.box.position[i]);
      std::int64_t end =
          std::min(target.box.position[i] + target.box.size[i], maker.box.position[i] + maker.box.size[i]);
      if (i == 0 && rank == 3) {
        begin = std::max(begin, target.source_begin);
        end = std::min(end, target.source_end);
      }
      common.position[i] = begin;
      common.size[i] = end - begin;
      is_empty = begin >= end;
    }
    if (is_empty) continue;
    if (!same_bits(target, from.block, maker.layout.bits, diags)) return false;
    std::vector<BitRun>& list = runs[{from.block, static_cast<std::int32_t>(m)}];
    const bool side_by_side = maker.layout.strides.back() == maker.layout.bits && maker.layout.grouped == SIZE_MAX &&
                              target.layout.strides.back() == target.layout.bits && target.layout.grouped == SIZE_MAX;
    const std::int64_t length = side_by_side && rank > 0 ? common.size.back() : 1, bits = length * target.layout.bits;
    Extents index(rank), at(rank), to_at(rank);
    for (bool goes_on = true; goes_on;) {
      for (std::size_t i = 0; i < rank; ++i) {
        at[i] = common.position[i] + index[i] - maker.box.position[i];
        to_at[i] = common.position[i] + index[i] - target.box.position[i];
      }
      const std::int64_t bit = maker.layout.bit_of(at), to = target.layout.bit_of(to_at);
      if (!list.empty() && list.back().from + list.back().bits == bit && list.back().to + list.back().bits == to)
        list.back().bits += bits;
      else
        list.push_back({bit, to, bits});
      goes_on = false;
      for (std::size_t i = side_by_side ? rank - 1 : rank; i-- > 0;) {
        if (++index[i] < common.size[i]) {
          goes_on = true;
          break;
        }
        index[i] = 0;
      }
    }
  }
  return true;
}

bool MessageMaker::runs_of_elements(const MessageTarget& target, const std::vector<std::int32_t>& places,
                                    RunsByMaker& by_maker, Diags& diags) {
  const NetCluster& cluster = *target.cluster;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
    if (place.source < 0) continue;
    if (!target.sources.empty() && std::ranges::find(target.sources, place.source) == target.sources.end()) continue;
    const NetSource& from = cluster.sources[static_cast<std::size_t>(place.source)];
    if (from.delay != target.delay || made_[from.block.index()].makers.empty()) continue;
    const Source& made = source(from.block);
    if (!target.sources.empty()) {
      const std::int64_t row = place.place / made.per_row;
      if (row < target.source_begin || row >= target.source_end) continue;
    }
    const std::int32_t maker = made.maker[static_cast<std::size_t>(place.place)];
    const std::int64_t bit = made.bit[static_cast<std::size_t>(place.place)];
    const std::int64_t bits = made_[from.block.index()].makers[static_cast<std::size_t>(maker)].layout.bits;
    if (!same_bits(target, from.block, bits, diags)) return false;
    const std::int64_t to = target.layout.bit_of(static_cast<std::int64_t>(i));
    std::vector<BitRun>& runs = by_maker[{from.block, maker}];
    if (!runs.empty() && runs.back().from + runs.back().bits == bit && runs.back().to + runs.back().bits == to)
      runs.back().bits += bits;
    else
      runs.push_back({bit, to, bits});
  }
  return true;
}

void MessageMaker::bring(const MessageTarget& target, std::vector<ChipMessage>& messages, Diags& diags) {
  RunsByMaker by_maker;
  const NetCluster& cluster = *target.cluster;
  std::vector<std::int32_t> places;
  const bool is_array = cluster.is_array(graph_);
  if (!is_array || target.layout.bits < 8) places = places_in(cluster.type.extents, target.box);
  if (!(is_array ? runs_of_boxes(target, by_maker, diags) : runs_of_elements(target, places, by_maker, diags))) return;
  auto refuse = [&](const std::string& why) {
    diags.error("E4044", target.span, target.name + ": " + why)
        .help(fmt::format("parts that begin and end at multiples of {} values, which are whole bytes",
                          8 / std::max<std::int64_t>(1, target.layout.bits)));
  };
  std::vector<bool> filled(static_cast<std::size_t>(target.layout.bytes));
  for (const auto& [key, runs] : by_maker)
    for (const BitRun& run : runs)
      for (std::int64_t byte = run.to / 8; byte < divided_up(run.to + run.bits, 8); ++byte)
        filled[static_cast<std::size_t>(byte)] = true;
  std::vector<std::int64_t> starts;  // of elements smaller than bytes
  std::vector<std::uint8_t> words;
  if (target.layout.bits < 8) words = bytes_with_elements(target.layout);
  if (target.layout.bits < 8)
    for (std::size_t i = 0; i < places.size(); ++i)
      starts.push_back(target.layout.bit_of(static_cast<std::int64_t>(i)));
  for (const auto& [key, runs] : by_maker) {
    const MadeValues::Maker& maker = made_[key.first.index()].makers[static_cast<std::size_t>(key.second)];
    ChipMessage message{.from_core = maker.core,
                        .to_core = target.core,
                        .from_phase = maker.phase,
                        .from_buffer = maker.buffer,
                        .to_buffer = target.buffer,
                        .delay = target.delay,
                        .runs = {}};
    for (const BitRun& run : runs) {
      if (run.from % 8 != 0 || run.to % 8 != 0)
        return refuse(fmt::format("values of '{}' are parts of bytes, which no packet can put together anew",
                                  graph_[key.first].name));
      const std::int64_t end = run.to + run.bits;
      if (end % 8 != 0 && target.layout.bits < 8 &&
          (words[static_cast<std::size_t>(end / 64)] >> end / 8 % 8 & 1) != 0 &&
          std::ranges::any_of(starts, [&](std::int64_t bit) { return bit >= end && bit < (end + 7) / 8 * 8; }))
        return refuse(fmt::format("values of '{}' share a byte with others", graph_[key.first].name));
      message.runs.push_back({run.from / 8, run.to / 8, divided_up(run.bits, 8)});
    }
    count_packets(message, filled, payload_, limits_.head_packets.value_or(INT64_MAX));
    messages.push_back(std::move(message));
  }
}

}  // namespace taskspec
