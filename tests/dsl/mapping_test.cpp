// Nets on chips from C++: each action gives what the same line gives at the prompt; values are those of the host.
#include "taskspec/mapping.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "taskspec/taskspec.hpp"
#include "taskspec/workspace.hpp"

namespace taskspec::mapping_test {

namespace {

constexpr const char* net_text = R"(
graph net(x: i8[1, 64]) -> (y: i32[1, 64]) {
  let w = (iota(4096) % 7 - 3).reshape(64, 64) as i8[64, 64]
  let h = (x @ w).shift_right(6) as i8[1, 64]
  let v = (iota(8192) % 5 - 2).reshape(64, 128) as i8[64, 128]
  let g = (h @ v).shift_right(6) as i8[1, 128]
  y = g @ ((iota(8192) % 3 - 1).reshape(128, 64) as i8[128, 64])
}
)";

Graph layers() {
  return graph("net").in("x", i8(1, 64)).out("y", i32(1, 64)).body([](Tensor x) {
    Tensor w = (iota(4096) % 7 - 3).reshape(64, 64).as(i8(64, 64));
    Tensor h = matmul(x, w).shift_right(6).as(i8(1, 64));
    Tensor v = (iota(8192) % 5 - 2).reshape(64, 128).as(i8(64, 128));
    Tensor g = matmul(h, v).shift_right(6).as(i8(1, 128));
    return matmul(g, (iota(8192) % 3 - 1).reshape(128, 64).as(i8(128, 64)));
  });
}

std::vector<std::int8_t> samples() {
  std::vector<std::int8_t> x;
  for (int i = 0; i < 64; ++i) x.push_back(static_cast<std::int8_t>(i % 9 - 4));
  return x;
}

}  // namespace

TEST_CASE("a mapping is changed in C++ as it is at the prompt [chip-map]") {
  std::string printed;
  Workspace prompt({.output = [&](std::string_view text) { printed += text; }});
  REQUIRE(prompt.enter(net_text).status == Workspace::Status::ok);
  REQUIRE(prompt.enter("let m = map(net, chip: \"tianjicx\", objective: \"cores\")").status == Workspace::Status::ok);
  const Graph net = layers();
  Mapping m = map(net, {.objective = "cores"});
  auto same = [&](const std::string& line, const MappingEstimate& made) {
    CAPTURE(line);
    const Workspace::Answer answer = prompt.enter("m." + line);
    REQUIRE_MESSAGE(answer.status == Workspace::Status::ok, answer.diagnostics);
    printed.clear();
    prompt.enter("print(m.text())");
    CHECK(printed == m.text() + "\n");
    CHECK(made == m.estimate());
    CHECK(answer.value.find("interval " + std::to_string(made.interval) + " clk") != std::string::npos);
  };
  same("put_in(\"matmul\", 4)", m.put_in("matmul", 4));
  same("take_out(\"matmul_3\")", m.take_out("matmul_3"));
  same("step_groups(1)", m.step_groups(1));
  same("step_groups(0)", m.step_groups(0));
  same("split(\"matmul_2\", f: 2)", m.split("matmul_2", {.f = 2}));
  same("move(4, 17)", m.move(4, 17));
  same("fuse(\"matmul\", \"matmul_3\")", m.fuse("matmul", "matmul_3"));
  same("undo()", m.undo());
  same("redo()", m.redo());
  same("pipeline_rows(\"matmul\", 2)", m.pipeline_rows("matmul", 2));
  same("replicate(\"matmul\", 1)", m.replicate("matmul", 1));
  same("depth(2)", m.depth(2));
  same("a2s2(true)", m.a2s2(true));
  same("a2s2(false)", m.a2s2(false));
  CHECK(m.explain("matmul_2").find("matmul_2: CVM") == 0);

  const Tensor x = tensor(samples(), {1, 64});
  const std::vector<std::int32_t> wanted = net(x).run(host())["y"].array<std::int32_t>();
  const Tensor run = net(x).run(hw({arg("mapping", m.value()), arg("check", "engine")}));
  CHECK(run["y"].array<std::int32_t>() == wanted);
  CHECK(chip_report(run).cycles > 0);
  CHECK(chip_report(run).energy > 0);
  CHECK(chip_report(net(x).run(hw({arg("chip", "tiny")}))).memory > 0);

  const std::string path = (std::filesystem::temp_directory_path() / "mapping_of_cpp.json").string();
  m.save(path);
  const std::string before = m.text();
  same("undo()", m.undo());
  same("undo()", m.undo());
  m.load(path);
  CHECK(m.text() == before);
  std::filesystem::remove(path);
}

TEST_CASE("what a mapping refuses is thrown with the line of C++ [chip-map]") {
  Mapping m = map(layers(), {.objective = "cores"});
  const MappingEstimate before = m.estimate();
  auto code_of = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.diagnostics().at(0).code;
    }
    return std::string();
  };
  CHECK(code_of([&] { m.split("matmull", {.f = 2}); }) == "E4048");
  CHECK(code_of([&] { m.split("matmul", {.f = 9}); }) == "E4049");
  CHECK(code_of([&] { m.depth(3); }) == "E4049");
  CHECK(code_of([&] { m.a2s2(true); }) == "E4049");
  CHECK(code_of([&] { m.slabs(9); }) == "E4049");
  CHECK(code_of([&] { map(layers(), {.cores = 9999}).estimate(); }) == "E4043");
  CHECK(code_of([&] { map(layers(), {.cores = 0}).estimate(); }) == "E5003");
  CHECK(m.estimate() == before);
}

}  // namespace taskspec::mapping_test
