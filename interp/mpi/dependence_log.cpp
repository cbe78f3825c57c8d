#include "interp/mpi/dependence_log.hpp"

#include "ir/json/text.hpp"

namespace taskspec {

void DependenceLog::issued(const Operation& op, std::string name, std::string place) {
  Entry& entry = entries_[op.number];
  entry.kind = op.kind;
  entry.points = op.domain.size();
  entry.name = std::move(name);
  entry.place = std::move(place);
}

void DependenceLog::found(const Operation& op, const FineResult& result, std::uint64_t time) {
  Entry& entry = entries_[op.number];
  entry.time = time;
  entry.own = result.own;
  entry.edges = result.edges;
}

void DependenceLog::replayed(const Operation& op, const TemplateCall& call) {
  Entry& entry = entries_[op.number];
  entry.time = 0;
  entry.own.assign(call.own.begin(), call.own.end());
  entry.edges.clear();
  for (const TemplateEdge& edge : call.edges) entry.edges.push_back({call.from(edge), {op.number, edge.to}, edge.why});
}

Bytes DependenceLog::packed() const {
  Bytes bytes;
  ByteWriter out(bytes);
  out.put<std::uint64_t>(entries_.size());
  for (const auto& [call, entry] : entries_) {
    out.put(call).put(entry.kind).text(entry.name).text(entry.place).put(entry.points).put(entry.time);
    out.put<std::uint64_t>(entry.own.size());
    for (const std::int64_t point : entry.own) out.put(point);
    out.put<std::uint64_t>(entry.edges.size());
    for (const PointEdge& edge : entry.edges)
      out.put(edge.from.op).put(edge.from.point).put(edge.to.point).put(edge.why);
  }
  return bytes;
}

DependenceLog DependenceLog::unpacked(const Bytes& bytes) {
  DependenceLog log;
  ByteReader in(bytes);
  for (auto entries = in.get<std::uint64_t>(); entries > 0 && in.ok(); --entries) {
    const auto call = in.get<std::uint64_t>();
    Entry& entry = log.entries_[call];
    entry.kind = in.get<CallKind>();
    entry.name = in.text();
    entry.place = in.text();
    entry.points = in.get<std::int64_t>();
    entry.time = in.get<std::uint64_t>();
    for (auto own = in.get<std::uint64_t>(); own > 0 && in.ok(); --own) entry.own.push_back(in.get<std::int64_t>());
    for (auto edges = in.get<std::uint64_t>(); edges > 0 && in.ok(); --edges) {
      PointEdge edge;
      edge.from.op = in.get<std::uint64_t>();
      edge.from.point = in.get<std::int64_t>();
      edge.to = {call, in.get<std::int64_t>()};
      edge.why = in.get<Hazard>();
      entry.edges.push_back(edge);
    }
  }
  return log;
}

namespace {

const char* word(Hazard why) { return why == Hazard::raw ? "RAW" : why == Hazard::waw ? "WAW" : "WAR"; }

void put_point(JsonText& out, const LaunchPoint& point) {
  out.open('[').number(static_cast<std::int64_t>(point.op)).number(point.point).close(']');
}

}  // namespace

// A point has the shard that found it as its own; a read by all shards is one of the first, and each tells what its own
// points left behind.
std::string dependences_json(std::span<const Bytes> of_shards) {
  std::vector<DependenceLog> logs;
  for (const Bytes& bytes : of_shards) logs.push_back(DependenceLog::unpacked(bytes));
  JsonText out;
  out.open('{').member("format", "taskspec dependences").member("version", 1);
  out.member("shards", static_cast<std::int64_t>(logs.size()));
  out.line().key("operations").open('[');
  if (logs.empty()) logs.emplace_back();
  for (const auto& [call, first] : logs.front().entries_) {
    out.line().open('{').member("call", static_cast<std::int64_t>(call)).member("kind", text(first.kind));
    out.member("name", first.name).member("place", first.place).member("points", first.points);
    out.key("owners").open('[');  // [point, shard]
    for (std::size_t shard = 0; shard < logs.size(); ++shard)
      for (const std::int64_t point : logs[shard].entries_[call].own)
        out.open('[').number(point).number(static_cast<std::int64_t>(shard)).close(']');
    out.close(']').key("times").open('[');  // of the fine stage, by shard; 0: replayed without one
    for (DependenceLog& log : logs) out.number(static_cast<std::int64_t>(log.entries_[call].time));
    out.close(']').close('}');
  }
  out.line().close(']').line().key("edges").open('[');
  for (std::size_t shard = 0; shard < logs.size(); ++shard)
    for (const auto& [call, entry] : logs[shard].entries_)
      for (const PointEdge& edge : entry.edges) {
        out.line().open('{').key("from");
        put_point(out, edge.from);
        put_point(out.key("to"), edge.to);
        out.member("why", word(edge.why)).member("shard", static_cast<std::int64_t>(shard)).close('}');
      }
  out.line().close(']').close('}');
  return out.take() + "\n";
}

}  // namespace taskspec
