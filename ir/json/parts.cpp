#include <array>

#include "ir/json/format.hpp"

namespace taskspec {

std::string_view stop_name(Stop stop) {
  static constexpr std::array<std::string_view, 6> names{"source", "sink", "order", "input", "result", "control"};
  return names[static_cast<std::size_t>(stop)];
}

// ---- spans ----------------------------------------------------------------------------------------

void SpanWriter::note(Span span) {
  if (known(span) && numbers_.emplace(span.source.value, static_cast<std::int64_t>(files_.size())).second)
    files_.push_back(span.source);
}

std::vector<std::string> SpanWriter::paths() const {
  std::vector<std::string> paths;
  for (SourceId id : files_) paths.push_back(sources_[id].path());
  return paths;
}

void SpanWriter::put(Span span) {
  if (!known(span)) {
    out_.null();
    return;
  }
  Position at = sources_[span.source].position(span.begin);
  out_.open('[')
      .number(numbers_.at(span.source.value))
      .number(at.line)
      .number(at.column)
      .number(span.end - span.begin)
      .close(']');
}

// ---- plan -----------------------------------------------------------------------------------------

namespace {

void number(JsonText& out, const char* key, std::uint64_t value) { out.member(key, static_cast<std::int64_t>(value)); }

void put_step(JsonText& out, const Plan& plan, std::size_t step) {
  out.line().open('{');
  number(out, "id", step);
  out.key("nodes").open('[');
  for (std::uint32_t task = plan.step_starts[step]; task < plan.step_starts[step + 1]; ++task)
    out.number(plan.tasks[task].node.value);
  out.close(']').key("then").open('[');
  for (std::uint32_t i = plan.successor_starts[step]; i < plan.successor_starts[step + 1]; ++i)
    out.number(plan.successors[i]);
  out.close(']').close('}');
}

void put_buffer(JsonText& out, const Plan& plan, std::size_t id) {
  static constexpr std::array<std::string_view, 5> homes{"input", "constant", "result", "arena", "scratch"};
  const Buffer& buffer = plan.buffers[id];
  bool placed = buffer.home == Buffer::Home::arena || buffer.home == Buffer::Home::scratch;
  out.line().open('{');
  number(out, "id", id);
  out.member("type", buffer.type->text());
  number(out, "bytes", buffer.type->bytes());
  out.member("home", homes[static_cast<std::size_t>(buffer.home)]);
  number(out, placed ? "offset" : "index", placed ? buffer.offset : buffer.index);
  out.key("life").open('[');
  for (StepId step : {buffer.first, buffer.last}) {
    if (step.valid())
      out.number(step.value);
    else
      out.null();
  }
  out.close(']');
  if (buffer.shares != UINT32_MAX) number(out, "shares", buffer.shares);
  out.close('}');
}

}  // namespace

void put_plan(JsonText& out, const Plan& plan) {
  out.line().key("plan").open('{').line().key("steps").open('[');
  for (std::size_t step = 0; step < plan.steps(); ++step) put_step(out, plan, step);
  out.close(']').line().key("buffers").open('[');
  for (std::size_t id = 0; id < plan.buffers.size(); ++id) put_buffer(out, plan, id);
  out.close(']').line().key("results").open('[');
  for (BufferId buffer : plan.results) out.number(buffer.value);
  out.close(']');
  number(out, "arena", plan.arena_bytes);
  number(out, "scratch", plan.scratch_bytes);
  number(out, "peak", plan.peak_bytes);
  number(out, "peak_without_chains", plan.peak_without_chains);
  out.key("transfers").open('[').close(']').key("placement").open('[').close(']').close('}');  // one backend, one
                                                                                               // memory
}

}  // namespace taskspec
