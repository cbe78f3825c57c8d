// Files of regions: attach, detach.
#include <algorithm>

#include "interp/control/builtins/region_operands.hpp"
#include "interp/control/field_files.hpp"
#include "interp/control/record.hpp"
#include "interp/control/replica.hpp"
#include "ir/base/text.hpp"
#include "ir/region/conflict_error.hpp"
#include "ir/region/made_here.hpp"

namespace taskspec {

namespace {

using builtins::target_of;
using Kind = Type::Kind;
using Attachment = RegionHandle::Attachment;

bool has_one_file(const Type& first) { return !first.is(Kind::partition); }
bool has_files(const Type& first) { return first.is(Kind::partition); }

// ---- types ----

Type file_type(RuleContext& c) {
  const Type& data = c.type(0);
  if (!data.is(Kind::region) && !data.is(Kind::region_field) && !data.is(Kind::error))
    builtins::wrong_type(c, 0, "a region, a field of one, or a partition");
  if (!c.type(1).is(Kind::none)) builtins::want(c, 1, Kind::string, "a path");
  return Kind::none;
}

Type files_type(RuleContext& c) {
  const Type& p = builtins::want_partition(c, 0);
  if (c.type(1).is(Kind::none) || p.is(Kind::error)) return Kind::none;
  const Type& names = c.type(1);
  const Type name = names.is(Kind::list) ? names.parts[0] : names;
  if (!names.is(Kind::error) && !name.is(Kind::error) && !(names.is(Kind::list) && name.is(Kind::string)))
    c.fail("E1004",
           "files of pieces are named by a function that gives a string, or by a list; this is " + names.text(), 1);
  return Kind::none;
}

// ---- what there is ----

// A region, a piece or a field of one, with the handle that knows its files.
struct Data {
  std::shared_ptr<RegionHandle> region;
  Attachment what;  // without files
};

FieldMask all_fields(const Region& region) {
  FieldMask fields;
  for (std::uint32_t f = 0; f < region.fields.size(); ++f) fields.add(f);
  return fields;
}

Data data_of(HostContext& host, const Value& value) {
  Target& target = target_of(host);
  if (value.as<PartitionValue>()) {
    const PartitionValue& p = partition_in(target, value, host.span);
    const RegionId root = target.regions()[p.id].parent.root;
    return {p.region, {{root}, p.id, all_fields(target.regions()[root]), {}}};
  }
  if (value.as<FieldValue>()) {
    const FieldValue& field = field_in(target, value, host.span);
    return {field.region, {field.space, {}, FieldMask::of({field.field}), {}}};
  }
  const SpaceValue& space = space_in(target, value, host.span);
  return {space.region, {space.space, {}, all_fields(target.regions()[space.space.root]), {}}};
}

bool same_points(const Attachment& a, const Attachment& b) { return a.space == b.space && a.partition == b.partition; }

bool within(const FieldMask& inner, const FieldMask& outer) {
  bool all = true;
  inner.each([&](std::uint32_t field) { all &= outer.has(field); });
  return all;
}

// Of each piece the name of its file, in the order of the colours: the checker makes this list of a function.
std::vector<std::string> names_of(HostContext& host, PartitionId partition, const Value& list) {
  const auto pieces = static_cast<std::size_t>(target_of(host).regions()[partition].colours.size());
  std::vector<std::string> names;
  for (const Value& name : list.list()) names.push_back(name.string());
  if (names.size() != pieces)
    throw failure("E5004", host.span,
                  "there are " + plural(pieces, "piece") + ", and " + plural(names.size(), "file") + " for them");
  return names;
}

// Before any of them is read: what cannot be read leaves all as it was.
void check_files(const RegionForest& forest, const Attachment& what, const FieldFiles& files,
                 const std::string& partition) {
  std::string of;
  try {
    if (!what.partition.valid()) return files.check(0, forest.points(what.space));
    std::size_t position = 0;
    each_point(forest[what.partition].colours, [&](const Point& colour) {
      of = "it is the file of " + partition + "[" + colour.index() + "]";
      files.check(position++, forest.points({what.space.root, what.partition, colour}));
      return true;
    });
  } catch (const Error& error) {
    Diag diag = error.diags().items().front();
    if (!of.empty()) diag.help_text += (diag.help_text.empty() ? "" : "; ") + of;
    throw Error(std::move(diag));
  }
}

// What a file has is not what the region has: both are shown.
Error with_region(const Error& error, const Region& region, Span span) {
  Diag diag = error.diags().items().front();
  if (!diag.primary.span.valid()) diag.primary.span = span;
  label_made(diag, region);
  return Error(std::move(diag));
}

// The first operand of this call as it stands in the text: `p` of attach(p, files: names). Of C++ there is no text.
std::string first_operand(const HostContext& host, const std::string& otherwise) {
  constexpr std::size_t longest = 40;
  const std::string_view text = host.program.sources.text(host.span);
  const std::size_t begin = text.find('(') + 1;  // 0: there is none
  std::size_t end = begin;
  for (int open = 0; begin > 0 && end < text.size() && (open > 0 || (text[end] != ',' && text[end] != ')')); ++end)
    open += text[end] == '(' || text[end] == '[' ? 1 : text[end] == ')' || text[end] == ']' ? -1 : 0;
  const std::string_view operand = text.substr(begin, end - begin);
  return begin == 0 || operand.empty() || operand.size() > longest ? otherwise : std::string(operand);
}

// Two pieces have points in common: they are called as the text calls their partition.
Error overlapping(const HostContext& host, const RegionForest& forest, const Attachment& what, bool writes,
                  const ConflictError& error) {
  const LaunchUse use{.space = what.space,
                      .partition = what.partition,
                      .projection = Projection::identity(forest[what.partition].colours.rank),
                      .fields = what.fields,
                      .privilege = writes ? Privilege::in : Privilege::out,
                      .name = first_operand(host, forest[what.space.root].name)};
  return Error(diagnostic(forest, {&use, 1}, error.conflict, host.span));
}

std::shared_ptr<const FieldFiles> files_of(const HostContext& host, const RegionForest& forest, const Attachment& what,
                                           bool writes, bool checks) {
  const Region& region = forest[what.space.root];
  try {
    auto files = std::make_shared<const FieldFiles>(region, what.fields, what.paths, what.names, writes,
                                                    host.hdf5_layouts, host.span);
    if (checks) check_files(forest, what, *files, first_operand(host, "piece "));
    return files;
  } catch (const Error& error) {
    throw with_region(error, region, host.span);
  }
}

// By shards, who have parts of files, too. Where it is not, as outside of runs on shards and in a `run .. on host`
// inside of one, each replica does all of it, and one of them writes.
bool is_divided(Target& target) {
  auto* recording = dynamic_cast<RecordTarget*>(&target);
  return recording && recording->recorder().data_handles;  // shards alone ask for these
}

void transfer(HostContext& host, const Attachment& what, bool writes) {
  Target& target = target_of(host);
  if (what.paths.empty()) return;
  const bool divided = is_divided(target);
  const bool checks = !writes && !(divided && !what.partition.valid());  // one file is the first shard's to look at
  auto files = files_of(host, target.regions(), what, writes, checks);
  Replica* const replica = divided ? nullptr : host.replica.get();
  if (!replica || !writes || host.is_seen()) try {
      target.transfer({what.space, what.partition, what.fields, writes, std::move(files)}, host.span);
    } catch (const ConflictError& error) {
      throw overlapping(host, target.regions(), what, writes, error);
    }
  if (!replica) return;
  if (replica->meet) replica->meet();  // nobody reads what is not written yet, nor writes what others still read
  if (writes) replica->agree(host.part, host.agreed++, {});
}

// ---- colours ----

Type colours_type(RuleContext& c) {
  const Type& p = builtins::want_partition(c, 0);
  if (p.is(Kind::error)) return p;
  return Type::list(p.inputs > 1 ? Type::tuple(std::vector<Type>(p.inputs, Kind::integer)) : Type(Kind::integer));
}

Value run_colours(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const Rect colours = target.regions()[partition_in(target, values[0], host.span).id].colours;
  builtins::want_memory_for(static_cast<std::uint64_t>(colours.size()));
  List list;
  each_point(colours, [&](const Point& point) {
    Tuple tuple;
    for (std::size_t axis = 0; axis < point.rank; ++axis) tuple.items.push_back(Value(point[axis]));
    list.push_back(point.rank == 1 ? tuple.items[0] : Value(std::move(tuple)));
    return true;
  });
  return Value(std::move(list));
}

// ---- attach ----

void attach(HostContext& host, Data data) {
  for (const std::string& name : data.what.names) data.what.paths.push_back(host.input_path(name));
  transfer(host, data.what, false);
  std::vector<Attachment>& known = data.region->attachments;
  std::erase_if(known,
                [&](const Attachment& a) { return same_points(a, data.what) && a.fields.meets(data.what.fields); });
  known.push_back(std::move(data.what));
}

Value run_attach(HostContext& host, std::span<const Value> values) {
  Data data = data_of(host, values[0]);
  data.what.names = {values[1].string()};
  attach(host, std::move(data));
  return {};
}

Value run_attach_pieces(HostContext& host, std::span<const Value> values) {
  Data data = data_of(host, values[0]);
  data.what.names = names_of(host, data.what.partition, values[1]);
  attach(host, std::move(data));
  return {};
}

// ---- detach ----

// To the files that are attached, each of which is let go when it is written; or to those that are said.
void detach(HostContext& host, Data data, bool said) {
  std::vector<Attachment>& known = data.region->attachments;
  auto is_meant = [&](const Attachment& a) { return same_points(a, data.what) && within(a.fields, data.what.fields); };
  if (said) {
    transfer(host, data.what, true);
    std::erase_if(known, is_meant);
    return;
  }
  auto next = std::ranges::find_if(known, is_meant);
  if (next == known.end()) {
    const Region& region = target_of(host).regions()[data.what.space.root];
    Diag diag("E5017", Severity::error, host.span, "no file is attached to this part of " + region.text());
    diag.help(data.what.partition.valid() ? "say where: detach(p, files: c => format(\"piece_{}.npy\", c))"
                                          : "say where: detach(r, file: \"r.h5\")");
    throw Error(std::move(diag));
  }
  for (; next != known.end(); next = std::ranges::find_if(known, is_meant)) {
    transfer(host, *next, true);
    known.erase(next);
  }
}

Value run_detach(HostContext& host, std::span<const Value> values) {
  Data data = data_of(host, values[0]);
  const bool said = !values[1].is_none();
  if (said) data.what.paths = data.what.names = {values[1].string()};
  detach(host, std::move(data), said);
  return {};
}

Value run_detach_pieces(HostContext& host, std::span<const Value> values) {
  Data data = data_of(host, values[0]);
  const bool said = !values[1].is_none();
  if (said) data.what.paths = data.what.names = names_of(host, data.what.partition, values[1]);
  detach(host, std::move(data), said);
  return {};
}

constexpr Operand colours_operands[] = {{"p", OperandKind::data}};
constexpr Operand attach_operands[] = {{"r", OperandKind::data}, {"file", OperandKind::string}};
constexpr Operand attach_pieces_operands[] = {{"p", OperandKind::data}, {"files", OperandKind::value}};
constexpr Operand detach_operands[] = {{"r", OperandKind::data}, {"file", OperandKind::string, Default::absent()}};
constexpr Operand detach_pieces_operands[] = {{"p", OperandKind::data},
                                              {"files", OperandKind::value, Default::absent()}};

}  // namespace

constinit const Builtin builtin_colours = BuiltinFields{
    .name = "colours",
    .operands = colours_operands,
    .doc =
        "What the pieces of a partition go by, in order: numbers, or tuples where they go by several. It is what a "
        "function that names a file for each piece is given.",
    .example =
        "fields Cell { state: f64 }\nprint(colours(blocks(region Cell[4, 4], 2, 2)))\n"
        "// expect: [(0, 0), (0, 1), (1, 0), (1, 1)]",
    .type = colours_type,
    .run = run_colours,
    .runs_in = RunsIn::asked};

constinit const Builtin builtin_attach = BuiltinFields{
    .name = "attach",
    .operands = attach_operands,
    .doc =
        "Reads the fields of a region or piece from a file, and keeps the file for `detach`: the elements of each "
        "field "
        "in the order of the points, in the shape of the region (of points that are no rectangle: a row of them). HDF5 "
        "(.h5, .hdf5) has a dataset for each field, by its name; an .npy holds one field: that of a region with one, "
        "or "
        "`attach(r.f, file: path)`. E7001 not found, E7003 broken, or of another shape or type than the region: "
        "nothing "
        "is read then.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[3]\n"
        "save([1.0, 2.0, 3.0], \"attach_example.npy\")\nattach(cells, file: \"attach_example.npy\")\n"
        "print(cells.state.array)\n// expect: [1, 2, 3]",
    .type = file_type,
    .effect = Effect::host,
    .run = run_attach,
    .runs_in = RunsIn::asked,
    .takes = has_one_file};

constinit const Builtin builtin_attach_pieces = BuiltinFields{
    .name = "attach",
    .operands = attach_pieces_operands,
    .doc =
        "Reads each piece of a partition from a file of its own, all of them at once, and keeps the files for "
        "`detach`: "
        "`files` gives the name for a colour, a number, or a tuple where pieces go by several, or is the list of "
        "the names. A file is as for a piece by itself. Pieces must have no point in common (E3101). E7001, E7003.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[4]\nlet p = blocks(cells, 2)\n"
        "save([1.0, 2.0], \"attach_0.npy\")\nsave([3.0, 4.0], \"attach_1.npy\")\n"
        "attach(p, files: c => format(\"attach_{}.npy\", c))\nprint(cells.state.array)\n// expect: [1, 2, 3, 4]",
    .type = files_type,
    .effect = Effect::host,
    .run = run_attach_pieces,
    .runs_in = RunsIn::asked,
    .takes = has_files};

constinit const Builtin builtin_detach = BuiltinFields{
    .name = "detach",
    .operands = detach_operands,
    .doc =
        "Writes the fields of a region, piece or field to the file that is attached to it, whole or not at all, and "
        "lets the file go; the region lives on. What else an HDF5 file holds stays in it. With `file` it writes there "
        "instead. E7004 where it cannot be written: the old file is unchanged. E5017 where none is attached.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[3]\nfill(cells.state, 0.5)\n"
        "detach(cells, file: \"detach_example.npy\")\nprint(load(f64[_], \"detach_example.npy\").array)\n"
        "// expect: [0.5, 0.5, 0.5]",
    .type = file_type,
    .effect = Effect::host,
    .run = run_detach,
    .runs_in = RunsIn::asked,
    .takes = has_one_file};

constinit const Builtin builtin_detach_pieces = BuiltinFields{
    .name = "detach",
    .operands = detach_pieces_operands,
    .doc =
        "Writes each piece of a partition to the file that is attached to it, all of them at once, each whole or not "
        "at "
        "all, and lets the files go. With `files` it writes to those instead. E7004; E5017 where none are attached; "
        "E3101 where two pieces would go to one file.",
    .example =
        "fields Cell { state: f64 }\nlet p = blocks(region Cell[4], 2)\nfill(p[1].state, 0.5)\n"
        "detach(p, files: c => format(\"detach_{}.npy\", c))\nprint(load(f64[_], \"detach_1.npy\").array)\n"
        "// expect: [0.5, 0.5]",
    .type = files_type,
    .effect = Effect::host,
    .run = run_detach_pieces,
    .runs_in = RunsIn::asked,
    .takes = has_files};

}  // namespace taskspec
