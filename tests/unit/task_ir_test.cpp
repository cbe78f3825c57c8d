// Task IR files: what is read, what is written, what is refused.
#include "interp/import/task_ir/task_ir.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "frontend/parse.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/load.hpp"
#include "ir/base/render.hpp"
#include "ir/blocks/check.hpp"
#include "ir/program/block_calls.hpp"
#include "ir/show/blocks_text.hpp"
#include "ir/types/value.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/block_graphs.hpp"
#include "tests/unit/ir_declaration.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::task_ir_test {
using namespace taskspec::tests;

namespace {

// With its place, so that errors can be looked at.
struct ReadFile {
  Sources sources;
  SourceId source;
  Result<TaskIrFile> file;
};

ReadFile read(const std::string& bytes, const std::string& name = "net") {
  ReadFile read{{}, {}, TaskIrFile{}};
  read.source = read.sources.add("net.task.txt", bytes);
  read.file = read_task_ir(bytes, read.source, name, standard_blocks());
  return read;
}

// "line:column code message" of all errors, and of warnings with a ~.
std::string said(const std::string& text) {
  const ReadFile from = read(text);
  std::string all;
  for (const Diag& diag : from.file.diags().items()) {
    const Position at = from.sources[from.source].position(diag.primary.span.begin);
    all += (all.empty() ? "" : "\n") + std::string(diag.severity == Severity::warning ? "~" : "") +
           std::to_string(at.line) + ":" + std::to_string(at.column) + " " + diag.message;
  }
  return all;
}

BlockGraph graph_of(const std::string& bytes) { return std::move(read(bytes).file).value_or_throw().graph; }

std::string written(const BlockGraph& graph, TaskIrForm form) { return write_task_ir(graph, form).value_or_throw(); }

// The declaration is one of the language, and says all of the graph.
void check_text(const BlockGraph& graph) {
  Sources sources;
  const BlocksText text = blocks_text(graph, "net.npz");
  const SourceId id = sources.add("net.task", text.text);
  const Result<Ast> ast = parse(sources, id);
  REQUIRE_MESSAGE(ast, render(sources, ast.diags()));
  CHECK_MESSAGE(same(graph, block_graph_of(std::get<ast::IrDecl>(ast->items[0].node), text.arrays)), text.text);
}

// There and back in both forms, twice: equal graphs, and the same bytes from then on.
void check_round_trip(const BlockGraph& graph) {
  for (const TaskIrForm form : {TaskIrForm::text, TaskIrForm::binary}) {
    const std::string first = written(graph, form);
    const ReadFile again = read(first, graph.name);
    REQUIRE_MESSAGE(again.file, render(again.sources, again.file.diags()));
    CHECK(again.file.diags().empty());
    CHECK((again.file->form == form));
    CHECK(same(graph, again.file->graph));
    CHECK(written(again.file->graph, form) == first);
  }
}

// A vector that goes from one storage to the other, with something in between or behind.
std::string small(const std::string& block = "", const std::string& edge = "", const std::string& more = "") {
  return "blocks { id: 3 type: SI precision: INT_8 shape { nf: 4 } output_clusters { interfaces { edge_id: 7 } }\n" +
         block +
         "}\nblocks { id: 1 type: OUTPUT precision: INT_8 shape { nf: 4 }\n"
         "  input_clusters { interfaces { edge_id: 7 } } }\n"
         "edges { id: 7 src_block_id: 3 dst_block_id: 1\n" +
         edge + "}\n" + more;
}

std::filesystem::path golden() {
  const char* given = std::getenv("TASKSPEC_GOLDEN");
  return given ? std::filesystem::path(given) : source_root() / "../shared/golden";
}

}  // namespace

TEST_CASE("every Task IR file of the golden data is read, written and read again [golden-blocks]") {
  const std::filesystem::path folder = golden() / "task-ir";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("no golden data: nothing is compared with them");
    return;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".task.txt") && !path.ends_with(".task") && !path.ends_with(".task.pb")) continue;
    CAPTURE(path);
    const ReadFile from = read(read_text(path));
    REQUIRE_MESSAGE(from.file, render(from.sources, from.file.diags()));
    const BlockGraph& graph = from.file->graph;
    CHECK(from.file.diags().empty());
    check_round_trip(graph);
    check_text(graph);
    const Diags diags = check_blocks(graph, standard_blocks(), BlockMode::rabbit);
    CHECK_MESSAGE(diags.empty(), render(from.sources, diags));
    ++files;
    if (!path.ends_with("lenet.task.txt")) continue;
    CHECK(graph.blocks.size() == 31);
    CHECK(graph.edges.size() == 30);
    CHECK(graph.groups.size() == 9);
    CHECK(graph.order().value_or_throw().size() == 31);
    const auto flat = std::ranges::find(graph.edges, 32, &BlockEdge::number);
    CHECK(flat->moves[0].text() == "reshape(\"f\", \"x\", \"y\")");
    CHECK(graph[flat->to.block].name == "b18");
    CHECK(flat->from.box == whole({5, 5, 16}));
  }
  CHECK(files >= 6);
}

TEST_CASE("random block graphs are written and read back equal, in both forms [golden-blocks]") {
  std::set<std::string_view> kinds;
  std::size_t cut = 0;
  for (const std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const BlockGraph graph = random_block_graph(random);
    const Diags diags = check_blocks(graph, standard_blocks());
    CHECK_MESSAGE(diags.empty(), render(Sources(), diags));
    check_round_trip(graph);
    if (seed % 10 == 0) check_text(graph);
    for (const TaskBlock& block : graph.blocks) kinds.insert(block.def->name);
    for (const BlockEdge& edge : graph.edges) cut += edge.from.box != whole(value_type(graph[edge.from.block]).extents);
  }
  CHECK(kinds.size() >= 12);
  CHECK(cut > 20);
}

TEST_CASE("text may be written in all the ways that protobuf allows [golden-blocks]") {
  const BlockGraph plain =
      graph_of(small("data { dims: 4 precision: INT_8 int32_data: 1 int32_data: -2 int32_data: 3 int32_data: 4 }"));
  CHECK(plain.blocks[0].data->integer(1) == -2);
  for (const std::string data :
       {"data { dims: [4] precision: 0 int32_data: [1, -2, 3, 4] }",
        "data: < dims: 4, precision: INT_8; int32_data: [1,-2], int32_data: 3 int32_data: [4] >",
        "data { # a list\n dims: 04 precision: INT_8 int32_data: [0x1, - 2, 03 , 4] int32_data: [] }",
        "data { int32_data: 1\nint32_data: -2\n\n\tint32_data :3 int32_data: 4}",
        "data { float_data: [1, -2.0, 3e0, 4f] }"}) {
    CAPTURE(data);
    if (data.find("float") != std::string::npos)
      CHECK(said(small(data)) == "2:21 block 3: its data: float_data[0] is 1, outside the integers of i8");
    else
      CHECK(same(plain, graph_of(small(data))));
  }
  // Containers by precision, and others that hold the same.
  CHECK(graph_of(small("data { uint32_data: [1, 2, 3, 127] }")).blocks[0].data->integer(3) == 127);
  // 0 and -1 are no extent, clusters may say their shapes, ids may be anything, strings go on.
  CHECK(same(graph_of(small()), graph_of("test_config {}\n" + small("", "", "# the end"))));
  std::string absent = small();
  absent.replace(absent.find("shape { nf: 4 }"), 15, "shape { nf: 4 nx: -1 ny: 0 nr: -1 n_branch: 0 }");
  absent.replace(absent.find("interfaces {"), 12,
                 "shape { nf: 4 nx: -1 } interfaces { position { nf: 0 } size { nf: -1 nx: 0 }");
  CHECK(same(graph_of(small()), graph_of(absent)));
  const BlockGraph tested = graph_of(small(
      "", "", "test_config { test_case_name: 'a' \"\\x62\\n\\143\" test_mode: PRIM_OUTPUT random_seed: -5000000000 }"));
  CHECK(*tested.test->name == "ab\nc");
  CHECK(*tested.test->mode == 1);
  CHECK(*tested.test->random_seed == -5000000000);
}

TEST_CASE("boxes are derived where the file leaves them out [golden-blocks]") {
  const std::string joined =
      "blocks { id: 0 type: SI precision: INT_8 shape { nf: 4 } output_clusters { interfaces { edge_id: 0 size { nf: 3 "
      "} } } }\n"
      "blocks { id: 9 type: SI precision: INT_8 shape { nf: 2 } output_clusters { interfaces { edge_id: 4 } } }\n"
      "blocks { id: 5 type: SI precision: INT_8 shape { nf: 5 }\n"
      "  input_clusters { interfaces { edge_id: 4 position { nf: 3 } } interfaces { edge_id: 0 size { nf: 3 } } } }\n"
      "edges { id: 0 src_block_id: 0 dst_block_id: 5 } edges { id: 4 src_block_id: 9 dst_block_id: 5 }";
  const BlockGraph graph = graph_of(joined);
  CHECK(graph.edges[0].from.box == Box{{0}, {3}});
  CHECK(graph.edges[1].to.box == Box{{3}, {2}});
  CHECK(check_blocks(graph, standard_blocks()).empty());
  check_round_trip(graph);
}

TEST_CASE("what is wrong in a text is said with its line and column, all at once [golden-blocks]") {
  CHECK(said("blocks { id: x }") == "1:14 expected an integer, not 'x'");
  CHECK(said("blocks { id: 3000000000 }") == "1:14 3000000000 is outside int32");
  CHECK(said("blocks { id: 99999999999999999999999 }") == "1:14 this is outside int32");
  CHECK(said("blocks { id 3 }") == "1:13 expected ':' behind 'id'");
  CHECK(said("blocks { id: 1 id: 2 }") == "1:16 'id' is given twice");
  CHECK(said("blocks {\n  type: CC3\n}") == "2:9 'CC3' is no TaskBlockType");
  CHECK(said("blocks { type: 77 }") == "1:16 77 is no TaskBlockType");
  CHECK(said("blocks { id: 1").starts_with("1:15 expected '}'"));
  CHECK(said("blocks { id: 1 >").starts_with("1:16 expected the name of a field"));
  CHECK(said("blocks: 3") == "1:9 expected a message in { }");
  CHECK(said("test_config { test_case_name: \"abc\n\" }") == "1:31 this string has no end");
  CHECK(said(std::string(150, '{')).starts_with("1:1 expected the name of a field"));
  std::string nested;
  for (int i = 0; i < 200; ++i) nested += "x { ";
  CHECK(said(nested).find("messages are nested deeper than 100") != std::string::npos);
  // Each fault of the graph.
  CHECK(said(small("", "", "edges { id: 7 src_block_id: 3 dst_block_id: 1 }")) == "7:13 two edges have the id 7");
  CHECK(said(small("", "", "edges { id: 8 src_block_id: 3 dst_block_id: 40 }")) ==
        "7:1 no output of block 3 names edge 8\n7:45 edge 8 leads to block 40, which is not there");
  CHECK(said(small("id: 4")).find("'id' is given twice") != std::string::npos);
  CHECK(said(small("", "", "blocks { id: 3 type: SI precision: INT_8 shape { nf: 1 } }")) ==
        "7:14 two blocks have the id 3");
  CHECK(said(small("", "",
                   "blocks { id: 5 type: TASK_NULL precision: INT_8 shape { nf: 1 } }\n"
                   "blocks { id: 6 precision: INT_8 shape { nf: 1 } }\nblocks { id: 8 type: SI precision: INT_8 }\n"
                   "groups { group_id: 0 block_ids: [3, 5, 44] }")) ==
        "7:22 block 5 is TASK_NULL, which stands for what a converter has not finished\n8:1 block 6 has no type\n"
        "9:1 block 8 has no shape\n10:40 group 0 has block 44, which is not there");
  CHECK(said(small("data { dims: 4 int32_data: 1 int32_data: 300 int32_data: 1 int32_data: 1 }")) ==
        "2:42 block 3: its data: int32_data[1] is 300, outside -128..127 of i8");
  CHECK(said(small("data { dims: 5 int32_data: [1, 2, 3, 4, 5] }")) ==
        "2:14 block 3: its data have the dims [5], its block holds [4]");
  CHECK(said(small("data { int32_data: 1 }")) == "2:1 block 3: its data are 1 number, its block holds [4]");
  CHECK(said(small("attributes { type: CMP } attributes { type: CMP float_value: 0.5 } attributes { int_value: 3 }")) ==
        "2:1 block 3: CMP has no value\n2:62 block 3: CMP is an integer, not 0.5\n2:68 block 3: an attribute has no "
        "type");
  CHECK(said(small("", "rearrange_info { type: SHIFT matrix { float_data: [0.5] } }"))
            .find("the numbers of SHIFT are integers") != std::string::npos);
  CHECK(said("blocks { id: 3 type: SI precision: INT_8 shape { nf: -2 nx: 3 } }").find("extents are 1 or more") !=
        std::string::npos);
  CHECK(said("") == "1:1 the file is empty");
  CHECK(said("# nothing\n") == "1:1 a Task IR file has blocks, and here are none");
}

TEST_CASE("fields that nobody knows are skipped, and told once with path and name [golden-blocks]") {
  const std::string odd =
      small("colour: \"red\" shade { deep { x: [1, 2] } y: -1.5e3 } [a.b.c] { z: < > }", "weight: 1;");
  CHECK(said(odd) ==
        "~6:1 no field 'weight' is known in edges[0]: it is skipped\n"
        "~2:54 no field '[a.b.c]' is known in blocks[0]: it is skipped\n"
        "~2:1 no field 'colour' is known in blocks[0]: it is skipped\n"
        "~2:15 no field 'shade' is known in blocks[0]: it is skipped");
  CHECK(same(graph_of(odd), graph_of(small())));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "x: 1 ";
  const ReadFile from = read(small(many));
  CHECK(from.file.diags().size() == 1);
  CHECK(from.file.diags().items().front().notes[0] == "999 more fields of this name in such messages");
}

TEST_CASE("a file that is loaded has its places in the messages [golden-blocks]") {
  TemporaryFolder folder;
  const auto said_of = [&](const std::string& text) -> std::string {
    folder.put("x.task.txt", text);
    try {
      return "fine, " + std::to_string(load_task_ir(folder / "x.task.txt", "x", standard_blocks()).notes.size());
    } catch (const Error& error) {
      return error.diags().items().front().message.substr(std::string(folder / "").size());
    }
  };
  CHECK(said_of(small()) == "fine, 0");
  CHECK(said_of(small("colour: 3")) == "fine, 1");
  CHECK(said_of("blocks {\n  id: x }") == "x.task.txt:2:7: expected an integer, not 'x'");
  std::string other = small();
  other.replace(other.rfind("nf: 4"), 5, "nf: 5");
  CHECK(said_of(other) == "x.task.txt:5:1: 'b3' gives [4], and 'b1' takes [5]");
  CHECK_THROWS_AS(load_task_ir(folder / "no.task", "x", standard_blocks()), Error);
}

TEST_CASE("binary files: unpacked lists, unknown fields, numbers outside of enumerations [golden-blocks]") {
  using namespace std::string_literals;
  auto message = [](char tag, const std::string& body) {
    return std::string(1, tag) + static_cast<char>(body.size()) + body;
  };
  // A storage block [nf: 2] with id 0, type SI, INT_8, and its data as single numbers.
  const std::string head = "\x08\0\x10\0\x18\0"s + message(0x22, "\x18\2"s);
  const BlockGraph unpacked = graph_of(message(0x0a, head + message(0x3a, "\x08\2\x10\0\x20\5\x20\x7f"s)));
  const BlockGraph packed = graph_of(message(0x0a, head + message(0x3a, "\x0a\1\2\x10\0\x22\2\5\x7f"s)));
  CHECK(same(unpacked, packed));
  CHECK(packed.blocks[0].data->integer(1) == 127);
  CHECK(written(packed, TaskIrForm::binary).find("\x22\2\5\x7f"s) != std::string::npos);
  const ReadFile odd = read(message(0x0a, head + "\xf8\x01\x07"s));
  CHECK(odd.file.diags().items().front().message == "no field '31' is known in blocks[0]: it is skipped");
  CHECK(same(odd.file->graph, graph_of(message(0x0a, head))));
  CHECK(said(message(0x0a, "\x08\0\x10\x4d\x18\0"s + message(0x22, "\x18\2"s))) ==
        "1:1 blocks[0].type is 77, no TaskBlockType");
  CHECK(said("\x0a\x7f\x08"s) == "1:1 this Task IR file is cut short or damaged, or nested deeper than 100");
  CHECK(said("\x01\x02\x03"s) == "1:1 this is no Task IR file: neither text nor the bytes of a graph");
  // Text that begins as bytes do: with a line end.
  CHECK(same(graph_of("\n" + small()), graph_of(small())));
}

TEST_CASE("what Task IR files cannot say is refused, all of it [golden-blocks]") {
  BlockGraphMaker make("g");
  const BlockId a = make.block("a", "SI", Precision::i8, {.f = 2}), b = make.block("b", "SI", Precision::i64, {.f = 2});
  make.edge(a, b).delay = 1;
  make.graph.edges[0].trigger = true;
  make.graph.groups.push_back({.number = 0, .blocks = {a}, .approx = 0.5, .metric = "max"});
  const Diags diags = write_task_ir(make.graph, TaskIrForm::text).diags();
  std::string all;
  for (const Diag& diag : diags.items()) all += diag.code.text() + " " + diag.message + "\n";
  CHECK(all ==
        "E4008 block 'b': Task IR files have no precision i64\nE4008 edge a -> b: Task IR files have no delays\n"
        "E4008 edge a -> b: Task IR files have no triggers\nE4008 group 0: Task IR files have no approximate groups\n");
}

TEST_CASE("blocks and edges without a number get free ones [golden-blocks]") {
  BlockGraphMaker make("net");
  const BlockId a = make.block("first", "SI", Precision::i8, {.f = 2}),
                b = make.block("b0", "SI", Precision::i8, {.f = 2});
  make.graph.blocks[b.index()].number = 0;
  make.edge(a, b);
  const BlockGraph read_again = graph_of(written(make.graph, TaskIrForm::text));
  CHECK(read_again.blocks[0].name == "b1");
  CHECK(read_again.blocks[1].name == "b0");
  CHECK(read_again.edges[0].number == 0);
}

TEST_CASE("a block graph as a declaration of the language [golden-blocks]") {
  BlockGraphMaker make("front");
  const BlockId img = make.block("img", "SI", Precision::i8, {.y = 6, .x = 6, .f = 1});
  const BlockId pad = make.block("pad", "SIC2D", Precision::i8, {.y = 6, .x = 6, .r = 1});
  const BlockId w = make.block("w", "SW2D", Precision::i8, {.f = 2, .r = 1, .ky = 3, .kx = 3});
  const BlockId conv = make.block("conv", "CC2D", Precision::i32, {.y = 4, .x = 4, .f = 2, .r = 1, .ky = 3, .kx = 3},
                                  {{"stride_x", 1}, {"pad_up", 0}});
  const BlockId out = make.block("last", "OUTPUT", Precision::i32, {.y = 4, .x = 4, .f = 1});
  make.graph.blocks[w.index()].data = make.data(w);
  make.graph.blocks[conv.index()].bias = BiasKind::constant;
  make.graph.blocks[conv.index()].number = 3;
  make.graph.blocks[conv.index()].is_virtual = false;
  make.graph.blocks[conv.index()].socket = 1;
  make.edge(img, pad, "input", {{"reflect", {1}}, {"shift", {0, -1, 1}}});
  make.edge(pad, conv).number = 5;
  make.edge(w, conv, "weight");
  make.edge(conv, out).from.box = Box{{0, 0, 1}, {4, 4, 1}};
  BlockEdge& back = make.edge(img, img);
  back.delay = 2;
  back.initial = Array::make({Precision::i8, {6, 6, 1}});
  for (std::int64_t i = 0; i < 36; ++i) back.initial->set_integer(i, -3);
  make.graph.groups = {{.number = 0, .blocks = {pad, conv}, .approx = {}, .metric = {}},
                       {.number = 4, .blocks = {conv}, .approx = 0.5, .metric = "max"}};
  make.graph.test = BlockTestConfig{.random_seed = 7, .name = "a \"b\"", .mode = 2};
  const BlocksText text = blocks_text(make.graph, "front.npz");
  CHECK(text.text == R"(ir front {
  img : SI i8 [y: 6, x: 6, f: 1]
  pad : SIC2D i8 [y: 6, x: 6, r: 1] (group: 0)
  w : SW2D i8 [f: 2, r: 1, ky: 3, kx: 3] = file("front.npz", name: "w")
  conv : CC2D i32 [y: 4, x: 4, f: 2, r: 1, ky: 3, kx: 3] (stride_x: 1, pad_up: 0, bias: "constant", number: 3, virtual: false, socket: 1, group: [0, 4], approx: 0.5, metric: "max")
  last : OUTPUT i32 [y: 4, x: 4, f: 1]
  img -> pad | reflect(axis: "x") | shift(left: 1, wrap: true)
  pad -> conv.input | number(5)
  w -> conv.weight
  conv[0..4, 0..4, 1..2] -> last
  img -> img | delay(2, initial: -3)
  test : TEST of [mode: "CASE_OUTPUT", seed: 7, name: "a \"b\""]
}
)");
  check_text(make.graph);
  CHECK(text.arrays.size() == 1);
  CHECK(text.arrays[0].name == "w");
}

TEST_CASE("what delayed edges begin with is text that a program can be checked with [golden-blocks]") {
  BlockGraphMaker make("late");
  const BlockId x = make.block("x", "SI", Precision::i8, {.y = 1, .x = 2, .f = 3}),
                y = make.block("y", "SI", Precision::i8, {.y = 1, .x = 2, .f = 3}),
                z = make.block("z", "SO", Precision::i8, {.y = 1, .x = 2, .f = 3});
  BlockEdge& late = make.edge(x, y);
  late.delay = 2;
  late.initial = Array::make({Precision::i8, {1, 2, 3}});
  const std::int64_t numbers[] = {1, -2, 3, 4, 5, -128};
  for (std::int64_t i = 0; i < 6; ++i) late.initial->set_integer(i, numbers[i]);
  make.edge(y, z);
  check_text(make.graph);
  const std::string text = blocks_text(make.graph, "late.npz").text;
  CHECK(text.find("x -> y | delay(2, initial: [[[1, -2, 3], [4, 5, -128]]])\n") != std::string::npos);
  const Toolbox tools = standard_toolbox();
  Sources sources;
  const Result<Program> program = check_text("late.task", text, {}, tools, sources);
  REQUIRE_MESSAGE(program, render(sources, program.diags()));
  CHECK_MESSAGE(same(make.graph, *blocks_of(*program, program->agents[0].members[0])), text);
}

TEST_CASE("text with many numbers is read number by number [golden-blocks]") {  // how fast: taskspec bench exact
  constexpr int numbers = 200'000;
  std::string text =
      "blocks { id: 0 type: SB precision: INT_8 shape { nf: 200000 } data { dims: 200000 precision: INT_8\n";
  for (int i = 0; i < numbers; ++i) text += "    int32_data: " + std::to_string(i % 256 - 128) + "\n";
  text += "} }";
  const BlockGraph graph = graph_of(text);
  int wrong = 0;
  for (int i = 0; i < numbers; ++i) wrong += graph.blocks[0].data->integer(i) != i % 256 - 128;
  CHECK(wrong == 0);
}

TEST_CASE("switches, triggers and sparse storage are said in text, and refused in files [switch][trigger][sparse]") {
  BlockGraphMaker make("g");
  const BlockId x = make.block("x", "SI", Precision::i8, {.f = 2}, {{"sparse", 2}, {"occupancy", 100}});
  const BlockId t = make.block("t", "SS", Precision::i8, {.y = 1, .x = 2});
  const BlockId s = make.block("s", "SWITCH", Precision::i8, {.f = 2}, {{"outputs", 2}, {"ports", 1}});
  const BlockId p =
      make.block("p", "PREDICATE", Precision::i8, {.y = 1, .x = 2, .f = 2}, {{"compare", 5}, {"cmp", -3}});
  const BlockId a = make.block("a", "SI", Precision::i8, {.f = 2}),
                z = make.block("z", "OUTPUT", Precision::i8, {.f = 2});
  make.edge(x, s, "input");
  make.edge(t, s, "token");
  make.edge(x, p);
  make.edge(p, t);
  make.edge(s, a).from.cluster = 1;
  make.edge(a, z);
  make.edge(p, a).trigger = true;
  make.graph.edges.back().to.box = whole({2});
  make.graph.groups.push_back({.number = 1, .blocks = {a}, .approx = {}, .metric = {}});
  const BlocksText text = blocks_text(make.graph, "g.npz");
  CHECK(text.text.find("x : SI i8 [f: 2] (sparse: \"coo\", occupancy: 100)\n") != std::string::npos);
  CHECK(text.text.find("s : SWITCH i8 [f: 2] (outputs: 2, ports: \"or\")\n") != std::string::npos);
  CHECK(text.text.find("p : PREDICATE i8 [y: 1, x: 2, f: 2] (compare: \"ne\", cmp: -3)\n") != std::string::npos);
  CHECK(text.text.find("s.output2 -> a\n") != std::string::npos);
  CHECK(text.text.find("p -> a | trigger()\n") != std::string::npos);
  check_text(make.graph);
  std::string all;
  const Diags diags = write_task_ir(make.graph, TaskIrForm::text).diags();
  for (const Diag& diag : diags.items()) all += diag.code.text() + " " + diag.message + "\n";
  for (const char* refused :
       {"block 't': SS is no block", "block 's': SWITCH is no block", "no attribute sparse", "no attribute occupancy",
        "no attribute outputs", "edge p -> a: Task IR files have no triggers"})
    CHECK_MESSAGE(all.find(refused) != std::string::npos, all);
}

}  // namespace taskspec::task_ir_test
