#include "interp/mpi/shard_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

constexpr std::string_view bar_names[] = {"run", "fences", "check", "contents", "others"};
using Bar = ShardRecord::Bar;

// Of more shards than this only the sums are shown.
constexpr std::size_t most_shown = 64;

std::uint64_t messages_of(const ShardRecord& record) {
  std::uint64_t all = 0;
  for (const ShardRecord::Sent& sent : record.to()) all += sent.messages;
  return all;
}
std::uint64_t bytes_of(const ShardRecord& record) {
  std::uint64_t all = 0;
  for (const ShardRecord::Sent& sent : record.to()) all += sent.bytes;
  return all;
}
std::int64_t waited(const ShardRecord& record) {
  std::int64_t all = 0;
  for (const Bar bar : {Bar::fences, Bar::check, Bar::contents, Bar::others}) all += record.total(bar);
  return all;
}

std::vector<std::string> paths_of(const Sources* sources) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; sources && i < sources->size(); ++i) paths.push_back((*sources)[SourceId(i)].path());
  return paths;
}

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

ShardPicture::ShardPicture(const RankLayout& layout, Counts counts, std::vector<ShardRecord> records,
                           const Sources* sources)
    : layout_(layout), counts_(std::move(counts)), records_(std::move(records)), paths_(paths_of(sources)) {
  if (records_.empty()) return;
  for (const ShardRecord::Call& call : records_[0].calls())
    if (call.place.valid() && call.place.source.index() < paths_.size())
      places_.emplace_back(call.place.source.index(), (*sources)[call.place.source].position(call.place.begin).line);
    else
      places_.emplace_back(SIZE_MAX, 0);
}

std::string ShardPicture::text() const {
  std::string text =
      fmt::format("{} on {}\n{:>6} {:>5} {:>10} {:>12} {:>12} {:>12}\n", plural(layout_.shards, "shard"),
                  plural(layout_.ranks, "rank"), "shard", "rank", "messages", "bytes", "run ms", "waited ms");
  for (std::size_t shard = 0; shard < records_.size(); ++shard) {
    const ShardRecord& record = records_[shard];
    text +=
        fmt::format("{:>6} {:>5} {:>10} {:>12} {:>12.3f} {:>12.3f}\n", shard,
                    layout_.rank_of(ShardId(static_cast<std::uint32_t>(shard))), messages_of(record), bytes_of(record),
                    1e-6 * static_cast<double>(record.total(Bar::run)), 1e-6 * static_cast<double>(waited(record)));
  }
  return text;
}

std::string ShardPicture::csv_head() const { return "shard,rank,messages,bytes,run_ns,waited_ns\n"; }

std::string ShardPicture::csv() const {
  std::string text;
  for (std::size_t shard = 0; shard < records_.size(); ++shard)
    text += fmt::format("{},{},{},{},{},{}\n", shard, layout_.rank_of(ShardId(static_cast<std::uint32_t>(shard))),
                        messages_of(records_[shard]), bytes_of(records_[shard]), records_[shard].total(Bar::run),
                        waited(records_[shard]));
  return text;
}

std::string ShardPicture::json(bool whole) const {
  JsonText out;
  out.open('{').member("shards", number(layout_.shards)).member("ranks", number(layout_.ranks));
  out.key("counts").open('{');
  for (const auto& [name, value] : counts_) out.member(name, value);
  out.close('}');
  out.key("by_shard").open('[');
  for (std::size_t shard = 0; shard < records_.size(); ++shard) {
    const ShardRecord& record = records_[shard];
    // Of a run that failed a shard may have come further than shard 0, whose calls are listed.
    const std::size_t listed = std::min(record.calls().size(), records_[0].calls().size());
    out.line().open('{').member("rank", number(layout_.rank_of(ShardId(static_cast<std::uint32_t>(shard)))));
    out.member("messages", number(messages_of(record))).member("bytes", number(bytes_of(record)));
    out.key("spent").open('{');
    for (std::size_t bar = 0; bar < std::size(bar_names); ++bar)
      out.member(bar_names[bar], record.total(static_cast<Bar>(bar)));
    out.close('}').key("analysis").open('{');
    for (std::size_t k = 0; k < ShardRecord::work_names.size(); ++k)
      out.member(ShardRecord::work_names[k], number(record.work[k]));
    out.close('}');
    if (whole && shard < most_shown) {
      out.key("to").open('[');
      for (const ShardRecord::Sent& sent : record.to())
        out.open('[').number(number(sent.messages)).number(number(sent.bytes)).close(']');
      out.close(']').key("own").open('[');
      for (std::size_t k = 0; k < listed; ++k) out.number(number(record.calls()[k].own));
      out.close(']').key("edges").open('[');
      for (std::size_t k = 0; k < listed; ++k)
        for (const ShardRecord::Edge& edge : record.calls()[k].edges)
          out.open('[').number(number(k)).number(number(edge.from)).number(number(edge.count)).close(']');
      out.close(']').key("bars").open('[');
      for (const ShardRecord::Spent& bar : record.bars())
        out.open('[')
            .number(static_cast<std::int64_t>(bar.what))
            .number(number(bar.call))
            .number(bar.begin)
            .number(bar.end - bar.begin)
            .close(']');
      out.close(']').member("all_bars", number(record.all_bars()));
    }
    out.close('}');
  }
  out.close(']');
  if (whole && !records_.empty()) {
    out.member("all_calls", number(records_[0].all_calls())).key("calls").open('[');
    for (std::size_t k = 0; k < records_[0].calls().size(); ++k) {
      const ShardRecord::Call& call = records_[0].calls()[k];
      out.line().open('{').member("number", number(call.number)).member("what", call.what);
      if (places_[k].first < paths_.size())
        out.member("path", paths_[places_[k].first]).member("line", static_cast<std::int64_t>(places_[k].second));
      if (call.hash != Hash128()) out.member("hash", call.hash.text());
      out.member("points", call.points).key("replayed").boolean(call.is_replayed).key("orders").open('[');
      for (const ShardRecord::Order& order : call.orders)
        out.open('[').number(number(order.before)).boolean(order.is_fence).string(order.why).close(']');
      out.close(']').close('}');
    }
    out.close(']');
  }
  return out.close('}').take();
}

// A process of Chrome's format, with a thread for each shard.
std::string ShardPicture::trace(int process) const {
  std::string text =
      fmt::format(",\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"args\":{{\"name\":\"shards\"}}}}", process);
  for (std::size_t shard = 0; shard < records_.size(); ++shard)
    for (const ShardRecord::Spent& bar : records_[shard].bars())
      text += fmt::format(
          ",\n{{\"name\":\"{}{}\",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{\"call\":{"
          "}}}}}",
          bar.what == Bar::run ? "" : "wait: ", bar_names[static_cast<std::size_t>(bar.what)], process, shard,
          1e-3 * static_cast<double>(bar.begin), 1e-3 * static_cast<double>(bar.end - bar.begin), bar.call);
  return text;
}

}  // namespace taskspec
