#include "ir/json/cut_program.hpp"

#include "ir/json/cut_format.hpp"
#include "ir/json/format.hpp"

namespace taskspec {

namespace {

class CutWriter {
 public:
  CutWriter(const Program& program, const CutReport& report)
      : program_(program), report_(report), spans_(out_, program.sources) {}

  std::string write() {
    note_spans();
    out_.open('{').member("format", cut_words::format).member("version", cut_words::version);
    out_.line().member("sessions", 1).member("nested", report_.nested_sessions).member("sinks", 1);
    out_.line().key("files").open('[');
    for (const std::string& path : spans_.paths()) out_.string(path);
    out_.close(']');
    each("functions", report_.functions, [this](const ReportedFunction& function) { put(function); });
    each("channels", report_.channels, [this](const ReportedChannel& channel) { put(channel); });
    each("sink", report_.sink, [this](const SinkItem& item) {
      out_.member("text", item.text);
      if (item.channel.valid()) out_.member("channel", item.channel.value);
      place(item.span);
    });
    out_.line().key("metrics");
    put(report_.total);
    each("advice", report_.advice, [this](const CutAdvice& advice) {
      out_.member("text", advice.text);
      place(advice.span);
    });
    return out_.line().close('}').take() + "\n";
  }

 private:
  void note_spans() {
    for (const ReportedFunction& function : report_.functions) {
      spans_.note(program_[function.whole].span);
      for (const CutRow& row : function.rows)
        for (const std::optional<CodeLine>* line : {&row.host, &row.graph})
          if (*line) spans_.note((*line)->span);
      for (const GraphSegment& segment : function.metrics.segments) spans_.note(segment.span);
    }
    for (const ReportedChannel& channel : report_.channels)
      for (const ReportedItem& item : channel.items) spans_.note(item.span);
    for (const SinkItem& item : report_.sink) spans_.note(item.span);
    for (const CutAdvice& advice : report_.advice) spans_.note(advice.span);
  }

  template <class Items, class Put>
  void each(std::string_view name, const Items& items, const Put& put_one) {
    out_.line().key(name).open('[');
    for (const auto& item : items) {
      out_.line().open('{');
      put_one(item);
      out_.close('}');
    }
    out_.close(']');
  }

  void place(Span span) {
    out_.key("at");
    spans_.put(span);
  }

  void put(const ReportedFunction& function) {
    const Function& whole = program_[function.whole];
    out_.member("id", function.whole.value).member("name", function.name);
    out_.member("kind", cut_words::kinds[static_cast<std::size_t>(whole.kind)]);
    if (!whole.extern_symbol.empty()) out_.member("extern", whole.extern_symbol);
    out_.key("cut").boolean(function.is_cut());
    out_.key("host").boolean(function.in_host);
    out_.key("graph").boolean(function.in_graph);
    place(whole.span);
    out_.key("rows").open('[');
    for (const CutRow& row : function.rows) {
      out_.line().open('[');
      put(row.host);
      put(row.graph);
      out_.close(']');
    }
    out_.close(']').key("metrics");
    put(function.metrics);
  }

  void put(const std::optional<CodeLine>& line) {
    if (!line) {
      out_.null();
      return;
    }
    out_.open('{').member("text", line->text).member("depth", line->depth);
    out_.member("mark", cut_words::marks[static_cast<std::size_t>(line->mark)]).key("channels").open('[');
    for (ChannelId id : line->channels) out_.number(id.value);
    out_.close(']');
    place(line->span);
    out_.close('}');
  }

  void put(const ReportedChannel& channel) {
    out_.member("id", channel.id.value).member("name", channel.name).member("function", channel.function.value);
    out_.member("to", channel.to_host ? "host" : "graph").member("loops", channel.loops);
    out_.key("waits").boolean(channel.waits).key("round_trip").boolean(channel.round_trip);
    out_.key("items").open('[');
    for (const ReportedItem& item : channel.items) {
      out_.open('{').member("kind", name_of(item.what)).member("type", item.type);
      out_.member("value", item.value).member("why", item.why);
      place(item.span);
      out_.close('}');
    }
    out_.close(']');
  }

  void put(const CutMetrics& metrics) {
    out_.open('{').key("segments").open('[');
    for (const GraphSegment& segment : metrics.segments) {
      out_.open('{').member("operations", segment.operations).member("loops", segment.loops);
      place(segment.span);
      out_.close('}');
    }
    out_.close(']').member("operations", metrics.operations()).member("largest", metrics.largest());
    put_pair("sends", metrics.sends, metrics.sends_each_turn);
    put_pair("receives", metrics.receives, metrics.receives_each_turn);
    put_pair("waits", metrics.waits, metrics.waits_each_turn);
    put_pair("round_trips", metrics.round_trips, metrics.round_trips_each_turn);
    out_.close('}');
  }
  void put_pair(std::string_view name, std::uint32_t all, std::uint32_t each_turn) {
    out_.key(name).open('{').member("all", all).member("each_turn", each_turn).close('}');
  }

  const Program& program_;
  const CutReport& report_;
  JsonText out_;
  SpanWriter spans_;
};

}  // namespace

std::string cut_json(const Program& program, const CutReport& report) { return CutWriter(program, report).write(); }

}  // namespace taskspec
