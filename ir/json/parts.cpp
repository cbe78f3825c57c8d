#include <array>

#include "ir/graph/launch.hpp"
#include "ir/json/body.hpp"
#include "ir/json/format.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

namespace {

void put_numbers(JsonText& out, const char* key, const std::array<std::int64_t, highest_rank>& numbers,
                 std::size_t count) {
  out.key(key).open('[');
  for (std::size_t i = 0; i < count; ++i) out.number(numbers[i]);
  out.close(']');
}

void put_rect(JsonText& out, const char* key, const Rect& rect) {
  out.key(key).open('{');
  put_numbers(out, "lo", rect.lo, rect.rank);
  put_numbers(out, "hi", rect.hi, rect.rank);
  out.close('}');
}

// Which piece, or a whole region.
void put_space(JsonText& out, const Space& space) {
  out.member("region", static_cast<std::int64_t>(space.root.value));
  if (!space.partition.valid()) return;
  out.member("partition", static_cast<std::int64_t>(space.partition.value));
  put_numbers(out, "colour", space.colour.at, space.colour.rank);
}

void put_projection(JsonText& out, const Projection& projection) {
  out.key("projection").open('{');
  switch (projection.kind) {
    case Projection::Kind::identity:
      out.member("kind", "identity");
      break;
    case Projection::Kind::affine:
      out.member("kind", "affine").key("factors").open('[');
      for (std::size_t axis = 0; axis < projection.out; ++axis) {
        out.open('[');
        for (std::size_t i = 0; i < projection.in; ++i) out.number(projection.factors[axis][i]);
        out.close(']');
      }
      out.close(']');
      put_numbers(out, "offsets", projection.offsets, projection.out);
      break;
    case Projection::Kind::function:
      out.member("kind", "function").member("hash", std::to_string(projection.hash));
      break;
  }
  out.close('}');
}

// Not those that other shards keep.
bool knows_pieces(const Partition& partition) {
  return each_point(partition.colours, [&](const Point& colour) { return partition.form->knows(colour); });
}

// The runs of each piece over the points of the root in their order.
void put_pieces(JsonText& out, const RegionForest& forest, const Partition& partition) {
  const Rect& root = forest.root(partition.parent);
  out.key("pieces").open('[');
  each_point(partition.colours, [&](const Point& colour) {
    out.open('[');
    partition.form->piece(forest, colour).runs(root, [&](Run run) {
      out.open('[').number(run.lo).number(run.hi).close(']');
    });
    out.close(']');
    return true;
  });
  out.close(']');
}

// The operator and what it was given, or the pieces where it is not known any more.
void put_origin(JsonText& out, const RegionForest& forest, const Partition& partition) {
  const PieceOrigin origin = partition.form->origin();
  out.key("made").open('{').member("op", origin.op);
  if (!origin.of.empty()) {
    out.key("of").open('[');
    for (const PartitionId operand : origin.of) out.number(operand.value);
    out.close(']');
  }
  if (origin.space) {
    out.key("with").open('{');
    put_space(out, *origin.space);
    out.close('}');
  }
  if (!origin.counts.empty()) {
    out.key("counts").open('[');
    for (const std::int64_t count : origin.counts) out.number(count);
    out.close(']');
  }
  if (origin.distance) out.member("distance", *origin.distance);
  if (!origin.shape.empty()) out.member("shape", origin.shape);
  if (origin.wraps) out.key("wrap").boolean(true);
  if (!origin.fields.empty()) {
    out.key("fields").open('[');
    for (const PieceOrigin::Field& field : origin.fields)
      out.open('{')
          .member("region", static_cast<std::int64_t>(field.region.value))
          .member("view", forest[field.region].fields[field.field].name)
          .close('}');
    out.close(']');
  }
  if (origin.op == "pieces" && knows_pieces(partition)) put_pieces(out, forest, partition);
  out.close('}');
}

constexpr std::string_view work_word(Launch::Work work) {
  constexpr std::string_view words[] = {"task",   "native",  "fill", "read",  "total",    "reduce",
                                        "gather", "element", "join", "files", "exchange", "share"};
  return words[static_cast<std::size_t>(work)];
}

// What the text calls the partition is not in the file: a reader of it must be able to write the same again.
void put_use(JsonText& out, const TaskGraph& graph, const LaunchUse& use) {
  out.open('{').member("name", graph.regions[use.space.root].name);
  if (use.partition.valid()) {
    out.member("region", static_cast<std::int64_t>(use.space.root.value));
    out.member("partition", static_cast<std::int64_t>(use.partition.value));
    put_projection(out, use.projection);
  } else {
    put_space(out, use.space);
  }
  out.key("fields").open('[');
  const Region& region = graph.regions[use.space.root];
  use.fields.each([&](std::uint32_t field) { out.string(region.fields[field].name); });
  out.close(']').member("priv", privilege_name(use.privilege));
  if (use.privilege == Privilege::reduce) out.member("reduce", reduce_words[static_cast<std::size_t>(use.op)]);
  out.close('}');
}

}  // namespace

void put_regions(JsonText& out, const TaskGraph& graph) {
  const RegionForest& forest = graph.regions;
  out.line().key("regions").open('[');
  for (std::size_t i = 0; i < forest.regions(); ++i) {
    const Region& region = forest[RegionId(i)];
    out.line().open('{').member("id", static_cast<std::int64_t>(i)).member("fields", region.fields_name);
    out.member("name", region.name);
    put_rect(out, "points", region.extents);
    out.key("types").open('[');
    for (const RegionField& field : region.fields)
      out.open('{').member("name", field.name).member("type", info(field.precision).name).close('}');
    out.close(']').key("partitions").open('[');
    for (std::size_t k = 0; k < forest.partitions(); ++k) {
      const Partition& partition = forest[PartitionId(k)];
      if (partition.parent.root != RegionId(i)) continue;
      out.open('{').member("id", static_cast<std::int64_t>(k)).key("of").open('{');
      put_space(out, partition.parent);
      out.close('}');
      put_origin(out, forest, partition);
      put_rect(out, "colours", partition.colours);
      using Known = Partition::Known;  // what nobody asked for is not worked out for a file
      auto put_known = [&](const char* key, Known known) {
        if (known == Known::yes || (known == Known::no && !partition.form->is_open()))
          out.key(key).boolean(known == Known::yes);
      };
      put_known("disjoint", partition.is_disjoint);
      put_known("complete", partition.is_complete);
      out.close('}');
    }
    out.close(']').close('}');
  }
  if (forest.regions() > 0) out.line();
  out.close(']');
}

void put_launch(JsonText& out, const TaskGraph& graph, const Launch& launch) {
  out.key("launch").open('{').member("work", work_word(launch.work));
  put_rect(out, "domain", launch.domain);
  if (launch.single) out.key("single").boolean(true);
  out.key("uses").open('[');
  for (const LaunchUse& use : launch.uses) put_use(out, graph, use);
  out.close(']');
  if (launch.work == Launch::Work::reduce || launch.work == Launch::Work::total)
    out.member("op", reduce_words[static_cast<std::size_t>(launch.op)]);
  if (launch.work == Launch::Work::element) out.member("position", launch.position);
  const bool differs = std::ranges::any_of(launch.numbers, [](const auto& number) { return number.has_value(); });
  if (differs) out.key("numbers").open('[');
  for (std::size_t k = 0; k < launch.numbers.size(); ++k) {
    if (!launch.numbers[k]) continue;
    out.open('{').member("argument", static_cast<std::int64_t>(k));
    put_projection(out, *launch.numbers[k]);
    out.close('}');
  }
  if (differs) out.close(']');
  out.close('}');
}

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
