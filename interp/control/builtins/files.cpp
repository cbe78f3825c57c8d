// Files and pictures: list_files, load, read, save, show, write; and tensor, which brings host values in.
#include "ir/files/files.hpp"

#include <unistd.h>

#include "interp/control/builtins/builtins.hpp"
#include "interp/control/checkpoint.hpp"
#include "interp/control/interpreter.hpp"
#include "ir/base/text.hpp"
#include "ir/show/array.hpp"

namespace taskspec {

namespace {

using builtins::want;
using builtins::written;

// ---- load -----------------------------------------------------------------------------------------

Type load_type(RuleContext& c) {
  want(c, 0, Type::Kind::type, "a tensor type such as u8[_, _, 3], or an agent");
  want(c, 1, Type::Kind::string, "a path");
  want(c, 2, Type::Kind::string, "the name of an array or column");
  if (c.type(0).is(Type::Kind::error)) return c.type(0);
  if (!c.type(0).parts[0].is_tensor()) builtins::wrong_type(c, 0, "a tensor type such as u8[_, _, 3]");
  return c.type(0).parts[0];
}

Array narrowed(const Array& wide) {
  Array narrow = Array::make({Precision::u8, wide.extents()});
  for (std::int64_t i = 0; i < wide.elements(); ++i) narrow.set_integer(i, (wide.integer(i) + 128) / 257);
  return narrow;
}

// Precisions that no file has (tern u4 i9 i28) lie there in the integers that hold them.
bool holds(Precision found, Precision wanted) {
  return info(wanted).storage_only && is_integer(found) && info(found).bytes == info(wanted).bytes;
}

Array in_range(const Array& wide, Precision precision, const std::string& path) {
  const PrecisionInfo& range = info(precision);
  Array narrow = Array::make({precision, wide.extents()});
  for (std::int64_t i = 0; i < wide.elements(); ++i) {
    const std::int64_t value = wide.integer(i);
    if (value < range.minimum || value > range.maximum)
      throw failure(
          "E5001", {},
          "'" + path + "' holds " + std::to_string(value) + ", which does not fit " + std::string(range.name));
    narrow.set_integer(i, value);
  }
  return narrow;
}

Value run_load(HostContext& host, std::span<const Value> values) {
  const Type& wanted = values[0].type();
  const std::string path = host.input_path(values[1].string());
  FileQuery query{.name = values[2].string(), .precision = wanted.precision};
  for (const Dim& dim : wanted.dims) query.extents.push_back(dim.constant());
  ArrayType found = probe(path, query);  // before the data: a wrong file costs nothing
  auto mismatch = [&] {
    return failure("E5004", {}, "'" + path + "' holds " + found.text() + "; " + wanted.text() + " is needed");
  };
  // Pictures of 16 bits per channel may be asked for in 8.
  bool narrows = found.precision == Precision::u16 && wanted.precision == Precision::u8 && path.ends_with(".png");
  const bool is_held = holds(found.precision, wanted.precision);
  if ((found.precision != wanted.precision && !narrows && !is_held) || found.extents.size() != wanted.dims.size())
    throw mismatch();
  for (std::size_t i = 0; i < found.extents.size(); ++i)
    if (auto extent = wanted.dims[i].constant(); extent && *extent != found.extents[i]) throw mismatch();
  Array array = load_array(path, query);
  if (is_held) array = in_range(array, wanted.precision, path);
  return host.interpreter->target().constant(narrows ? narrowed(array) : std::move(array));
}

// ---- load of an agent -----------------------------------------------------------------------------

// By names in one file.
bool has_checkpoint(const Type& type) { return type.is(Type::Kind::agent) || type.is(Type::Kind::training); }

Type load_agent_type(RuleContext& c) {
  want(c, 1, Type::Kind::string, "a path");
  return Type::Kind::none;
}

Value run_load_agent(HostContext& host, std::span<const Value> values) {
  Target& target = host.interpreter->target();
  const std::string path = host.input_path(values[1].string());
  if (auto* agent = values[0].as<Agent>())
    load_slots(target, *agent, path);
  else
    dynamic_cast<HasCheckpoint&>(*values[0].object()).load(target, path);
  return {};
}

// ---- tensor ---------------------------------------------------------------------------------------

std::optional<Type> scalar_inside(const Type& type, std::size_t& rank) {
  if (type.is(Type::Kind::list)) return scalar_inside(type.parts[0], ++rank);
  if (type.is_number() || type.is(Type::Kind::boolean)) return type;
  return std::nullopt;
}

Type tensor_type(RuleContext& c) {
  if (c.type(0).is(Type::Kind::error)) return c.type(0);
  std::size_t rank = 0;
  auto scalar = scalar_inside(c.type(0), rank);
  if (!scalar) builtins::wrong_type(c, 0, "a number, a bool or nested lists of them");
  Precision precision = scalar->is(Type::Kind::real)      ? Precision::f32
                        : scalar->is(Type::Kind::integer) ? Precision::i32
                                                          : Precision::boolean;
  const Value* name = c.constant(1);
  if (!name) c.fail("E1003", "the precision must be a constant", 1);
  if (!name->string().empty()) {
    auto written = precision_of(name->string());
    if (!written) c.fail("E1001", "unknown precision " + name->string(), 1);
    if (scalar->is(Type::Kind::real) && !is_float(*written))
      c.fail("E2002", "floats do not become " + name->string() + " unseen", 1, "convert with 'as'");
    precision = *written;
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(c.unknown("n" + std::to_string(i)));
  // Constant lists have known extents.
  const Value* value = c.constant(0);
  for (std::size_t i = 0; value && i < rank; ++i) {
    dims[i] = Dim(static_cast<std::int64_t>(value->list().size()));
    value = value->list().empty() ? nullptr : &value->list()[0];
  }
  return Type::tensor(precision, std::move(dims));
}

bool any_real(const Value& value) {
  if (!value.is_list()) return value.is_real();
  for (const Value& item : value.list())
    if (any_real(item)) return true;
  return false;
}

bool any_bool(const Value& value) {
  if (!value.is_list()) return value.is_bool();
  return !value.list().empty() && any_bool(value.list()[0]);
}

Value run_tensor(HostContext& host, std::span<const Value> values) {
  return host.interpreter->target().constant(array_of(values[0], host.type->precision));
}

// ---- texts and results ----------------------------------------------------------------------------

Type read_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a path");
  return Type::Kind::string;
}

Value run_read(HostContext& host, std::span<const Value> values) {
  return Value(read_text(host.input_path(values[0].string())));
}

Value run_list_files(HostContext& host, std::span<const Value> values) {
  List names;
  for (std::string& name : list_files(host.input_path(values[0].string()))) names.push_back(Value(std::move(name)));
  return Value(std::move(names));
}

Type list_files_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "the path of a folder");
  return Type::list(Type::Kind::string);
}

Type write_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a path");
  want(c, 1, Type::Kind::string, "a text");
  return Type::Kind::none;
}

Value run_write(HostContext& host, std::span<const Value> values) {
  if (host.is_seen()) write_text(values[0].string(), values[1].string());
  return written(host);
}

bool is_tensors(const Type& type) { return type.is(Type::Kind::list) && type.parts[0].is_tensor(); }

Type save_type(RuleContext& c) {
  std::size_t rank = 0;
  const Type& type = c.type(0);
  const bool several = type.is(Type::Kind::agent) || is_tensors(type);
  if (!several && !type.is_tensor() && !type.is(Type::Kind::error) && !scalar_inside(type, rank))
    builtins::wrong_type(c, 0, "a tensor, a list of tensors, nested lists of numbers, an agent or a training");
  want(c, 1, Type::Kind::string, "a path");
  want(c, 2, Type::Kind::string, "the name of the array inside an .npz");
  const Value* name = c.constant(2);
  if (several && !(name && name->string().empty()))
    c.fail("E1003", "'name' is that of one array; those of an agent or a list have names", 2);
  return Type::Kind::none;
}

Array contents(HostContext& host, const Value& value) {
  Target& target = host.interpreter->target();
  if (target.is_tensor(value)) return target.receive(value, host.span);
  return array_of(value, any_real(value) ? Precision::f64 : any_bool(value) ? Precision::boolean : Precision::i64);
}

// By their positions: 0, 1, ...
void save_list(HostContext& host, const List& tensors, const std::string& path) {
  std::vector<NamedArray> arrays;
  for (const Value& tensor : tensors) arrays.push_back({std::to_string(arrays.size()), contents(host, tensor)});
  if (host.is_seen()) save_arrays(path, arrays);
}

// Contents are asked for by every replica, which is a call; one of them writes.
Value run_save(HostContext& host, std::span<const Value> values) {
  Target& target = host.interpreter->target();
  const std::string& path = values[1].string();
  const bool tensors = values[0].is_list() && !values[0].list().empty() && target.is_tensor(values[0].list()[0]);
  if (auto* agent = values[0].as<Agent>()) {
    std::vector<NamedArray> slots = slot_contents(target, tensor_slots(*agent), host.span);
    if (host.is_seen()) save_checkpoint(path, std::move(slots));
  } else if (tensors) {
    save_list(host, values[0].list(), path);
  } else {
    const Array array = contents(host, values[0]);
    if (host.is_seen()) save_array(array, path, values[2].string());
  }
  return written(host);
}

// ---- save of a training ---------------------------------------------------------------------------

bool is_training(const Type& type) { return type.is(Type::Kind::training); }

Type save_training_type(RuleContext& c) {
  want(c, 1, Type::Kind::string, "a path");
  return Type::Kind::none;
}

Value run_save_training(HostContext& host, std::span<const Value> values) {
  auto& kept = dynamic_cast<HasCheckpoint&>(*values[0].object());
  std::vector<NamedArray> arrays = kept.contents(host.interpreter->target(), host.span);
  if (host.is_seen()) save_checkpoint(values[1].string(), std::move(arrays));
  return written(host);
}

Type show_type(RuleContext& c) {
  std::size_t rank = 0;
  const Type& type = c.type(0);
  if (!type.is_tensor() && !type.is(Type::Kind::error) && !scalar_inside(type, rank))
    builtins::wrong_type(c, 0, "a tensor or nested lists of numbers");
  want(c, 1, Type::Kind::string, "a path");
  want(c, 2, Type::Kind::string, "a kind of drawing");
  const Value* kind = c.constant(2);
  if (!kind) c.fail("E1003", "the kind of drawing must be a constant", 2);
  if (!show_kind_of(kind->string())) {
    std::vector<std::string> kinds;
    for (const ShowKindName& known : show_kinds)
      if (!known.name.empty()) kinds.emplace_back(known.name);
    c.fail("E1001", "unknown kind of drawing '" + kind->string() + "'", 2, "there are " + joined(kinds, ", "));
  }
  return Type::Kind::none;
}

Value run_show(HostContext& host, std::span<const Value> values) {
  const std::string& path = values[1].string();
  ShowKind kind = *show_kind_of(values[2].string());
  Array array = contents(host, values[0]);
  if (!host.is_seen()) return written(host);
  if (path.empty())
    host.output(show_text(array, {host.screen.columns, host.screen.colour, kind}));
  else if (path.ends_with(".svg"))
    write_text(path, show_svg(array, kind));
  else if (path.ends_with(".png"))
    save_array(show_pixels(array, kind), path);
  else
    throw failure("E7003", {}, "'" + path + "' names no form of a drawing; end it in .svg or .png");
  return written(host);
}

constexpr Operand load_operands[] = {
    {"T", OperandKind::type}, {"path", OperandKind::string}, {"name", OperandKind::string, ""}};
constexpr Operand load_agent_operands[] = {{"a", OperandKind::value}, {"path", OperandKind::string}};
constexpr Operand tensor_operands[] = {{"v", OperandKind::value}, {"p", OperandKind::string, ""}};
constexpr Operand path_operand[] = {{"path", OperandKind::string}};
constexpr Operand write_operands[] = {{"path", OperandKind::string}, {"text", OperandKind::string}};
constexpr Operand save_training_operands[] = {{"training", OperandKind::value}, {"path", OperandKind::string}};
constexpr Operand save_operands[] = {
    {"x", OperandKind::value}, {"path", OperandKind::string}, {"name", OperandKind::string, ""}};
constexpr Operand show_operands[] = {
    {"x", OperandKind::value}, {"path", OperandKind::string, ""}, {"kind", OperandKind::string, ""}};

}  // namespace

constinit const Builtin builtin_load =
    BuiltinFields{.name = "load",
                  .operands = load_operands,
                  .doc =
                      "The tensor in a file, by its suffix: .npy; .npz (`name:` says which array, needless where there "
                      "is one); .png .jpg "
                      "(u8[height, width, channels]); .csv (f64[rows, columns], a header line is left out; with "
                      "`name:` that column alone, "
                      "f64[rows]); .idx and -ubyte, as MNIST has them, also packed as .gz; .bin (records of elements "
                      "and nothing else, "
                      "little-endian: u8[_, 3073] reads CIFAR-10). "
                      "The type must agree with the file; extents written _ come from it. E7001 not found, E7003 "
                      "broken, E5004 other type.",
                  .example =
                      "save([[1.0, 2.0]], \"load_example.csv\")\nprint(load(f64[_, _], \"load_example.csv\").array)\n"
                      "// expect: [[1, 2]]",
                  .type = load_type,
                  .effect = Effect::host,
                  .run = run_load,
                  .serves = Serves::loads,
                  .takes = [](const Type& first) { return first.is(Type::Kind::type); }};

constinit const Builtin builtin_load_agent = BuiltinFields{
    .name = "load",
    .operands = load_agent_operands,
    .doc =
        "Fills the slots of an agent, those of its layers too, from the arrays of an .npz: the checkpoint that "
        "`save(agent, path)` wrote, or one from elsewhere with arrays of the same names. Of a training "
        "(`save(train(...), path)`) it takes the moments, metrics and where it was as well, and the next step is the "
        "one that would have come; an agent takes the slots of one. All of them change, or none: "
        "what is missing in the file, what is there beside them and what has another shape or precision is said at "
        "once (E7003), and so is a checkpoint whose hash tells that it was changed. Tasks called before read the slots "
        "as they were. E7001 not found.",
    .example =
        "agent Scale {\n  weight k: f32[2] = constant(2.0)\n  task apply(in x: f32[2]) -> (y: f32[2]) { y = x * k "
        "}\n}\n"
        "save(tensor([3.0, 4.0]), \"load_agent_example.npz\", name: \"k\")\nlet s = Scale()\n"
        "load(s, \"load_agent_example.npz\")\nprint(s.apply([1.0, 1.0] as f32[2]).y.array)\n// expect: [3, 4]",
    .type = load_agent_type,
    .effect = Effect::host,
    .run = run_load_agent,
    .runs_in = RunsIn::asked,
    .takes = has_checkpoint};

constinit const Builtin builtin_tensor = BuiltinFields{
    .name = "tensor",
    .operands = tensor_operands,
    .doc =
        "A tensor of a host value: floats become f32, ints i32, bools bool unless p names a precision. Lists must be "
        "rectangular (E5004), ints must fit (E5001).",
    .example = "print(tensor([[1, 2], [3, 4]]).sum(1).array)\n// expect: [[3], [7]]",
    .type = tensor_type,
    .run = run_tensor,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_read = BuiltinFields{
    .name = "read",
    .operands = path_operand,
    .doc = "The text of a file; E7001 if there is none, E7003 if it is not text.",
    .example = "write(\"read_example.txt\", \"hello\")\nprint(read(\"read_example.txt\"))\n// expect: hello",
    .type = read_type,
    .effect = Effect::host,
    .run = run_read};

constinit const Builtin builtin_list_files =
    BuiltinFields{.name = "list_files",
                  .operands = path_operand,
                  .doc =
                      "The names of what lies in a folder, sorted; those of folders end in /, hidden ones (.name) are "
                      "left out. E7001 if there is no such folder, E7003 if it is none or cannot be read.",
                  .example =
                      "write(\"list_files_example.txt\", \"\")\nprint(list_files(\".\"))\n"
                      "// expect: ...\"list_files_example.txt\"...",
                  .type = list_files_type,
                  .effect = Effect::host,
                  .run = run_list_files};

constinit const Builtin builtin_write = BuiltinFields{
    .name = "write",
    .operands = write_operands,
    .doc = "Writes a text file, whole or not at all; E7004 if it cannot be written.",
    .example = "write(\"write_example.txt\", \"a\\n\")\nprint(len(read(\"write_example.txt\")))\n// expect: 2",
    .type = write_type,
    .effect = Effect::host,
    .run = run_write};

constinit const Builtin builtin_save_training = BuiltinFields{
    .name = "save",
    .operands = save_training_operands,
    .doc =
        "Writes a training into an .npz: the slots of its agent as `save(agent, path)` does, moments of the optimizer "
        "(training/adam_m/c1.w), metrics, and how many updates and epochs there were. `load(training, path)` goes on "
        "from there as if it had never stopped. E5007 between backward and update, E7004 if it cannot be written.",
    .example =
        "agent Line() {\n  weight w: f32[1, 1] = constant(0.5)\n"
        "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n}\n"
        "let one = [[1.0]] as f32[1, 1]\n"
        "let m = train(Line(), loss: \"mse_avg\", optimizer: adam())\nm.step(one, one)\n"
        "save(m, \"save_training_example.npz\")\n"
        "let more = train(Line(), loss: \"mse_avg\", optimizer: adam())\n"
        "load(more, \"save_training_example.npz\")\nprint(more.steps.array)\n// expect: 1",
    .type = save_training_type,
    .effect = Effect::host,
    .run = run_save_training,
    .method = true,
    .runs_in = RunsIn::asked,
    .takes = is_training};

constinit const Builtin builtin_save = BuiltinFields{
    .name = "save",
    .operands = save_operands,
    .doc =
        "Writes a tensor or nested lists by suffix (.npy .npz .png .jpg .csv .idx .bin), whole or not at all; pictures "
        "are u8[height, width] or u8[height, width, 1, 3 or 4], `name` is that of the array inside an .npz. A list of "
        "tensors goes into an .npz as the arrays 0, 1, ..., and an agent as its slots by their paths (w, c1.w, "
        "blocks[2].w), with `taskspec.checkpoint`, which holds version and hash as text: the checkpoint that "
        "`load(agent, path)` reads, and numpy too. E7003 if there is no such format, E7004 if it cannot hold it or "
        "cannot be written.",
    .example =
        "save(tensor([1, 2]), \"save_example.npy\")\nprint(load(i32[_], \"save_example.npy\").array)\n// expect: [1, "
        "2]",
    .type = save_type,
    .effect = Effect::host,
    .run = run_save,
    .method = true,
    .takes = [](const Type& first) { return !is_training(first); }};

constinit const Builtin builtin_show =
    BuiltinFields{.name = "show",
                  .operands = show_operands,
                  .doc =
                      "Draws a tensor in the terminal, or into the file `path` (.svg .png): [H, W], [H, W, 1|3|4] and "
                      "[1|3, H, W] as a "
                      "picture, a vector as bars or, beyond 32 elements, as a line, all others as a line of "
                      "statistics. `kind` says it "
                      "otherwise: \"picture\" \"bars\" \"line\" \"histogram\". As wide as the terminal, 80 columns "
                      "where there is none; in "
                      "colour on a terminal unless NO_COLOR is set. E5004 for a shape that cannot be drawn so.",
                  .example =
                      "show([1, 2])\n"
                      "// expect: i64[2]: min 1, max 2, mean 1.5\n// expect: 2 ┤    ████\n// expect:   ┤    ████\n// "
                      "expect:   ┤    ████\n"
                      "// expect:   ┤    ████\n// expect:   ┤████████\n// expect:   ┤████████\n// expect:   "
                      "┤████████\n// expect: 0 ┤████████",
                  .type = show_type,
                  .effect = Effect::host,
                  .run = run_show,
                  .method = true};

}  // namespace taskspec
