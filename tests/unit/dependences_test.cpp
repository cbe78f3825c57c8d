// Theorem 1 on whole programs: what any number of shards find together (--dump-dep) orders the points of a program as
// the users of one host do, and nothing else; and whoever waits for a point of another shard comes later by the clock
// that goes with the messages of fences.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "interp/backends/backends.hpp"
#include "interp/control/record.hpp"
#include "interp/control/replica.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/host/plan_backend.hpp"
#include "ir/region/users.hpp"
#include "tests/guard/paths.hpp"
#include "tests/shards/point_graph.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::dependences_test {
using nlohmann::json;

namespace {

// What is done to regions in one session of the host: operations are counted, and each of their points has whom it must
// wait for. Told of everything before it is recorded.
class OneHost final : public LaunchDivider {
 public:
  std::vector<Value> launched(RecordTarget& target, RecordTarget::Launched launch) override {
    using Work = Launch::Work;
    const Launch& what = launch.what;
    if (what.work != Work::reduce && what.work != Work::gather && what.work != Work::element) {
      const RegionForest& forest = target.recorder().graph.regions;
      for (std::int64_t i = 0; i < what.domain.size(); ++i) {
        std::vector<FieldUsers::Edge> before;
        const auto user = static_cast<FieldUsers::User>(found.tasks.size());
        for (const LaunchUse& use : what.uses)
          users_.add(forest, user, {use.at(what.domain.point(i)), use.fields, use.privilege, use.op}, before);
        const LaunchPoint task{operations, i};
        for (const FieldUsers::Edge& edge : before) found.edges.emplace(found.tasks[edge.user], task);
        found.tasks.push_back(task);
      }
      ++operations;
    }
    return target.recorded(std::move(launch));
  }
  LaunchBatch* batch() override { return nullptr; }
  void taken() override {}
  void receiving(const Tensor&, Span) override {}
  std::shared_ptr<const Intervals> held(const Space&, std::uint32_t) override { return nullptr; }
  void begin_trace(Span) override {}
  void end_trace(Span) override {}

  Exact found;
  std::uint64_t operations = 0;

 private:
  FieldUsers users_;
};

OneHost* judge = nullptr;  // of the test that runs

// The host, whose sessions are looked at.
class Watched final : public Backend, public ReplicatedBackend {
 public:
  void join(const std::shared_ptr<Replica>&, RecordTarget& target, const Interpreter&, Span) override {
    target.set_divider(judge);
  }
  void finish() override {}
  void fail(const Diags&) override {}

  std::string name() const override { return "watched"; }
  bool runs_launches() const override { return true; }
  Location allocate(const ArrayType& type) override { return host_->allocate(type); }
  Location allocate_zeros(const ArrayType& type) override { return host_->allocate_zeros(type); }
  void write(Location location, const Array& array) override { host_->write(location, array); }
  Array read(Location location) const override { return host_->read(location); }
  Location copy(Location location) override { return host_->copy(location); }
  void free(Location location) override { host_->free(location); }
  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) override {
    return host_->prepare(std::move(graph), chains, options, bodies);
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override {
    return host_->execute(executable, inputs, options);
  }
  Memory memory() const override { return host_->memory(); }
  double hz() const override { return host_->hz(); }
  void interrupt() override { host_->interrupt(); }

 private:
  const std::unique_ptr<PlanBackend> host_ = make_host_backend({.threads = 1});
};

Type watched_type(RuleContext&) { return backend_type("watched"); }
std::unique_ptr<Backend> open_watched(std::span<const Value>) { return std::make_unique<Watched>(); }
constexpr BackendRecord watched_record{.open = open_watched};
extern const Builtin builtin_watched;
constinit const Builtin builtin_watched = BuiltinFields{.name = "watched",
                                                        .operands = {},
                                                        .doc = "The host, looked at.",
                                                        .example = "-",
                                                        .type = watched_type,
                                                        .run = choose<builtin_watched>,
                                                        .runs_in = RunsIn::either,
                                                        .backend = &watched_record};

Exact on_one_host(const std::string& program) {
  const Toolbox& standard = standard_toolbox();
  std::vector<const Builtin*> table(standard.builtins.all().begin(), standard.builtins.all().end());
  table.push_back(&builtin_watched);
  std::ranges::sort(table, {}, [](const Builtin* builtin) { return builtin->name; });
  OneHost here;
  judge = &here;
  const Ran ran = run_text(program + " on watched\n", {}, {standard.ops, BuiltinTable(table)});
  judge = nullptr;
  INFO(ran.errors);
  CHECK(ran.code == 0);
  return here.found;
}

json on_shards(const std::string& program, std::size_t shards, bool traces) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "d.json").string();
  const Ran ran = run_text(program + " on mpi(shards: " + std::to_string(shards) +
                           ", traces: " + (traces ? "true" : "false") + ", dump_dep: \"" + file + "\")\n");
  INFO(ran.errors);
  REQUIRE(ran.code == 0);
  return json::parse(std::ifstream(file));
}

struct Dumped {
  explicit Dumped(const json& dump) {
    std::map<std::uint64_t, std::uint64_t> place;  // of an operation, by its call
    std::map<LaunchPoint, std::size_t> owner;
    for (const json& op : dump.at("operations")) {
      const std::uint64_t at = place.size();
      place.emplace(op.at("call").get<std::uint64_t>(), at);
      for (const json& own : op.at("owners")) {
        const LaunchPoint task{at, own[0].get<std::int64_t>()};
        CHECK(owner.emplace(task, own[1].get<std::size_t>()).second);
        tasks.push_back(task);
      }
      times.push_back(op.at("times").get<std::vector<std::uint64_t>>());
      replayed += times.back()[0] == 0;
    }
    std::ranges::sort(tasks);
    for (const json& edge : dump.at("edges")) {
      const LaunchPoint from{place.at(edge.at("from")[0].get<std::uint64_t>()), edge.at("from")[1].get<std::int64_t>()};
      const LaunchPoint to{place.at(edge.at("to")[0].get<std::uint64_t>()), edge.at("to")[1].get<std::int64_t>()};
      const auto waits = edge.at("shard").get<std::size_t>();
      edges.emplace(from, to);
      REQUIRE(owner.contains(from));
      if (owner.at(from) == waits) continue;
      ++across;
      const std::uint64_t before = times[from.op][owner.at(from)], after = times[to.op][waits];
      out_of_time += before != 0 && after != 0 && before >= after;
    }
  }
  std::vector<LaunchPoint> tasks;
  Edges edges;
  std::vector<std::vector<std::uint64_t>> times;  // by operation, by shard
  std::size_t across = 0, out_of_time = 0, replayed = 0;
};

// How many pairs of points are ordered by one of the two alone.
std::size_t differences(const Exact& exact, const Edges& edges) {
  const Closure wanted = exact.closure(exact.edges), found = exact.closure(edges);
  std::size_t count = 0;
  for (std::size_t later = 0; later < exact.tasks.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      count += wanted.has(later, earlier) != found.has(later, earlier);
  return count;
}

std::string language_test(const std::string& name, const std::string& end, const std::string& call) {
  std::ostringstream text;
  text << std::ifstream(source_root() / "tests/lang" / name).rdbuf();
  const std::string whole = text.str();
  REQUIRE(whole.find(end) != std::string::npos);
  return whole.substr(0, whole.find(end)) + "\nrun " + call;
}

const std::vector<std::pair<std::string, std::string>>& programs() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"circuit", language_test("regions_circuit.task", "// The same by plain loops", "circuit(4, 5, 50, 200)")},
      {"stencil", language_test("regions_stencil.task", "\nprint(main())", "main(64, 4, 6)")},
      {"stencil 2d", language_test("regions_stencil_2d.task", "\nprint(main())", "main()")},
      {"conjugate gradients", language_test("regions_cg.task", "\nfor s in", "cg(32, 4, 0.0)")},
  };
  return all;
}

}  // namespace

TEST_CASE("shards together find the graph of one host, and later points come later by the clock [theorem1][D14]") {
  for (const auto& [name, program] : programs()) {
    CAPTURE(name);
    const Exact exact = on_one_host(program);
    REQUIRE(exact.edges.size() > 20);
    for (const std::size_t shards : {1, 2, 3, 4, 8})
      for (const bool traces : {false, true}) {
        CAPTURE(shards);
        CAPTURE(traces);
        const Dumped dump(on_shards(program, shards, traces));
        CHECK(dump.tasks == exact.tasks);
        CHECK(differences(exact, dump.edges) == 0);
        CHECK(dump.out_of_time == 0);
        CHECK((dump.across > 0) == (shards > 1));
        if (!traces) CHECK(dump.replayed == 0);
      }
  }
}

TEST_CASE("an edge that nobody found, one too many, and a clock that goes wrong are seen [theorem1][D14]") {
  const auto& [name, program] = programs().front();
  const Exact exact = on_one_host(program);
  const json right = on_shards(program, 3, false);
  const auto across = [&] {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::size_t> owner;
    for (const json& op : right.at("operations"))
      for (const json& own : op.at("owners"))
        owner[{op.at("call").get<std::uint64_t>(), own[0].get<std::int64_t>()}] = own[1].get<std::size_t>();
    for (std::size_t i = 0; i < right.at("edges").size(); ++i) {
      const json& edge = right.at("edges")[i];
      if (owner.at({edge.at("from")[0].get<std::uint64_t>(), edge.at("from")[1].get<std::int64_t>()}) !=
          edge.at("shard").get<std::size_t>())
        return i;
    }
    FAIL("no edge between shards");
    return std::size_t{0};
  }();
  json missing = right;
  for (std::size_t i = missing["edges"].size(); i-- > 0;)
    if (missing["edges"][i]["to"] == right["edges"][across]["to"]) missing["edges"].erase(i);
  CHECK(differences(exact, Dumped(missing).edges) > 0);

  json more = right;  // the second point of a launch after its first
  for (const json& op : right.at("operations"))
    if (op.at("points") == 4) {
      more["edges"].push_back({{"from", {op.at("call"), 0}}, {"to", {op.at("call"), 1}}, {"why", "RAW"}, {"shard", 0}});
      break;
    }
  CHECK(differences(exact, Dumped(more).edges) > 0);

  json late = right;  // the fine stage of whom it waits for
  for (json& op : late["operations"])
    if (op["call"] == right["edges"][across]["from"][0])
      for (json& time : op["times"]) time = 1'000'000'000;
  CHECK(Dumped(late).out_of_time > 0);
}

TEST_CASE("dependences that cannot be written end the run on all shards [theorem1]") {
  const Ran ran = run_text(programs()[1].second + " on mpi(shards: 3, dump_dep: \"/no/such/folder/d.json\")\n");
  CHECK(ran.code == 3);
  CHECK_MESSAGE(ran.errors.find("E7004") != std::string::npos, ran.errors);
}

}  // namespace taskspec::dependences_test
