// Graphs of C++ tasks for tests of backends: each task mixes the words of its inputs into its outputs, counts
// its runs, and may wait or fail.
//
//   MixGraph g;
//   Ref a = g.add({g.input(4)}, {2})[0];  g.result(a);
//   g.expected({{1, 2, 3, 4}})  ->  the words of every result, computed here without any backend
#pragma once
#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "interp/host/host_backend.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec {

using Words = std::vector<std::uint64_t>;

// C++ functions of graphs of tests, by symbol.
class TestNatives {
 public:
  static TestNatives& all() {
    static TestNatives natives;
    return natives;
  }
  std::string add(NativeTask task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(task);
    return "native " + std::to_string(tasks_.size() - 1);
  }
  NativeTask find(const std::string& symbol) {
    std::lock_guard lock(mutex_);
    return tasks_.at(std::stoul(symbol.substr(7)));
  }

 private:
  std::mutex mutex_;
  std::deque<NativeTask> tasks_;
};

// Bodies for graphs that have none but C++ functions.
class NoBodies final : public Bodies {
 public:
  NativeTask native(const std::string& symbol) override { return TestNatives::all().find(symbol); }
  Result<OpList> list(const TaskGraph&, NodeId) override { return failure("E3005", {}, "there are no bodies").diags(); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override {
    throw failure("E5005", {}, "this test has no bodies");
  }
};

struct MixTask {
  std::uint64_t id = 0;
  std::vector<std::size_t> in, out;  // words
  std::atomic<int> runs{0};
  int wait = 0;  // rounds
  bool fails = false;

  std::vector<Words> mix(const std::vector<Words>& inputs) const {
    std::uint64_t hash = id * 0x9E3779B97F4A7C15u;
    for (const Words& words : inputs)
      for (std::uint64_t word : words) hash = (hash ^ word) * 0xBF58476D1CE4E5B9u, hash ^= hash >> 29;
    std::vector<Words> outputs;
    for (std::size_t k = 0; k < out.size(); ++k) {
      outputs.emplace_back(out[k]);
      for (std::uint64_t& word : outputs.back()) word = hash = (hash + k + 1) * 0x94D049BB133111EBu;
    }
    return outputs;
  }

  static void run(void* context, std::span<const std::byte* const> in, std::span<std::byte* const> out) {
    auto& task = *static_cast<MixTask*>(context);
    task.runs.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < task.wait; ++i) std::this_thread::yield();
    if (task.fails) throw std::runtime_error("task " + std::to_string(task.id) + " fails");
    std::vector<Words> inputs;  // a copy first: an output may lie in the bytes of an input
    for (std::size_t k = 0; k < in.size(); ++k) {
      auto* words = reinterpret_cast<const std::uint64_t*>(in[k]);
      inputs.emplace_back(words, words + task.in[k]);
    }
    std::vector<Words> outputs = task.mix(inputs);
    for (std::size_t k = 0; k < out.size(); ++k)
      std::copy(outputs[k].begin(), outputs[k].end(), reinterpret_cast<std::uint64_t*>(out[k]));
  }
};

inline Type word_type(std::size_t words) {
  return Type::tensor(Precision::i64, {Dim(static_cast<std::int64_t>(words))});
}

inline Array words_array(const Words& words) {
  Array array = Array::make({Precision::i64, {static_cast<std::int64_t>(words.size())}});
  std::copy(words.begin(), words.end(), reinterpret_cast<std::uint64_t*>(array.raw()));
  return array;
}

inline Words array_words(const Array& array) {
  auto* words = reinterpret_cast<const std::uint64_t*>(array.raw());
  return Words(words, words + array.elements());
}

inline Definition native_definition(std::string name, decltype(NativeTask::run) function, void* context) {
  Definition definition;
  definition.kind = Definition::Kind::native;
  definition.name = std::move(name);
  definition.symbol = TestNatives::all().add({function, context});
  return definition;
}

class MixGraph {
 public:
  std::shared_ptr<TaskGraph> graph = std::make_shared<TaskGraph>();
  std::deque<MixTask> tasks;  // by node

  Ref input(std::size_t words) {
    return Ref::input(
        graph->add_input({"x" + std::to_string(graph->inputs().size()), word_type(words), Privilege::in}));
  }
  Ref constant(const Words& words) {
    return Ref::constant(graph->add_constant(word_type(words.size()), words_array(words)));
  }
  PlaceId place(Ref initial) { return graph->add_place("p" + std::to_string(places_++), initial); }
  void result(Ref ref) { graph->add_result({"r" + std::to_string(graph->results().size()), graph->type(ref), ref}); }

  // Adds a task that reads `in` and the places, and writes those that `writes` says; gives its own outputs.
  std::vector<Ref> add(std::vector<Ref> in, std::vector<std::size_t> out, const std::vector<PlaceId>& places = {},
                       const std::vector<bool>& writes = {}) {
    MixTask& task = tasks.emplace_back();
    task.id = tasks.size();
    std::size_t own = out.size();
    Definition definition = native_definition("mix", &MixTask::run, &task);
    std::vector<Requirement> requirements;
    for (std::size_t i = 0; i < in.size(); ++i) definition.inputs.push_back("x" + std::to_string(i));
    for (std::size_t i = 0; i < own; ++i) definition.outputs.push_back("y" + std::to_string(i));
    for (std::size_t i = 0; i < places.size(); ++i) {
      Ref version = graph->current(places[i]);
      const Privilege privilege = writes[i] ? Privilege::inout : Privilege::in;
      Requirement requirement{places[i], privilege, static_cast<std::uint16_t>(in.size()),
                              static_cast<std::uint16_t>(out.size())};
      std::string name = "p" + std::to_string(i);
      definition.inputs.push_back(name);
      in.push_back(version);
      if (writes[i]) {
        definition.outputs.push_back(name);
        out.push_back(words_of(version));
      }
      requirements.push_back(requirement);
    }
    for (Ref ref : in) task.in.push_back(words_of(ref));
    task.out = out;
    std::vector<TypeId> types;
    for (std::size_t words : out) types.push_back(graph->intern(word_type(words)));
    NodeId node = graph->add(graph->define(std::move(definition)), {.in = in, .out = types}, requirements);
    std::vector<Ref> refs;
    for (std::size_t k = 0; k < own; ++k) refs.push_back(Ref::future(node, k));
    return refs;
  }

  std::vector<Words> expected(const std::vector<Words>& inputs) const {
    std::vector<std::vector<Words>> made;
    auto value = [&](Ref ref) {
      if (ref.kind == Ref::Kind::input) return inputs[ref.id];
      if (ref.kind == Ref::Kind::constant) return array_words(graph->constant(ref.id).array());
      return made[ref.id][ref.slot];
    };
    for (std::size_t n = 0; n < tasks.size(); ++n) {
      std::vector<Words> in;
      for (Ref ref : graph->in(NodeId(n))) in.push_back(value(ref));
      made.push_back(tasks[n].mix(in));
    }
    std::vector<Words> results;
    for (const GraphResult& result : graph->results()) results.push_back(value(result.ref));
    return results;
  }

  void forget_runs() {
    for (MixTask& task : tasks) task.runs = 0;
  }

 private:
  std::size_t words_of(Ref ref) const { return static_cast<std::size_t>(concrete(graph->type(ref)).elements()); }
  std::size_t places_ = 0;
};

// After a run: those that are results now belong to them.
inline void free_inputs(Backend& backend, std::span<const Location> inputs, const Outcome& outcome) {
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    if (std::ranges::find(outcome.taken, i) == outcome.taken.end()) backend.free(inputs[i]);
}

// Runs a plan once on inputs that are made for it and freed after it; results are read and freed.
struct RunOnce {
  Outcome outcome;
  std::vector<Words> words;  // empty for a poisoned result

  RunOnce(Backend& backend, Executable& executable, const std::vector<Words>& inputs, const RunOptions& options = {}) {
    std::vector<Location> locations;
    for (const Words& input : inputs) {
      Array array = words_array(input);
      locations.push_back(backend.allocate(array.type()));
      backend.write(locations.back(), array);
    }
    outcome = backend.execute(executable, locations, options);
    for (const auto& result : outcome.results) {
      words.emplace_back();
      if (auto* location = std::get_if<Location>(&result)) {
        words.back() = array_words(backend.read(*location));
        backend.free(*location);
      }
    }
    free_inputs(backend, locations, outcome);
  }
};

}  // namespace taskspec
