// Random taskGraphs with places, tasks of several outputs, results and receives, for property tests.
//
//   RandomGraph g = random_graph(random, {.tasks = 20, .places = 2});
#pragma once
#include <memory>
#include <random>

#include "tests/unit/random_cases.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec {

struct RandomShape {
  std::int64_t tasks = 20;
  std::int64_t places = 2;
  std::int64_t structured_percent = 5;
  std::int64_t results = 2;
  std::int64_t receives = 1;
  std::int64_t far_percent = 20;  // references to any earlier task instead of a recent one
};

struct RandomGraph {
  std::shared_ptr<TaskGraph> graph;
  std::vector<Ref> received;
  std::vector<std::vector<Requirement>> requirements;  // per task, as given
};

class RandomGraphMaker {
 public:
  RandomGraphMaker(std::mt19937_64& random, const RandomShape& shape)
      : random_(random), shape_(shape), sketch_("random") {}

  RandomGraph run() {
    for (int i = 0; i < 3; ++i) inputs_.push_back(sketch_.input("in" + std::to_string(i)));
    inputs_.push_back(Ref::constant(sketch_.graph->add_constant(f32({4}), Value())));
    for (std::int64_t p = 0; p < shape_.places; ++p)
      places_.push_back(sketch_.graph->add_place("p" + std::to_string(p), inputs_[static_cast<std::size_t>(p) % 4]));
    for (std::int64_t i = 0; i < shape_.tasks; ++i) add_task();
    for (std::int64_t i = 0; i < shape_.results; ++i)
      sketch_.graph->add_result({"r" + std::to_string(i), f32({4}), some_ref()});
    for (std::int64_t i = 0; i < shape_.receives; ++i)
      if (Ref ref = some_ref(); ref.is_future()) result_.received.push_back(ref);
    result_.graph = sketch_.graph;
    return std::move(result_);
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  bool chance(std::int64_t percent) { return pick(1, 100) <= percent; }

  Ref some_ref() {
    auto size = static_cast<std::int64_t>(sketch_.graph->size());
    if (size == 0 || chance(10)) return inputs_[static_cast<std::size_t>(pick(0, 3))];
    std::int64_t recent = chance(shape_.far_percent) ? size : std::min<std::int64_t>(size, 3);
    NodeId node(static_cast<std::size_t>(size - pick(1, recent)));
    auto outputs = static_cast<std::int64_t>(sketch_.graph->out(node).size());
    return outputs == 0 ? inputs_[0] : Ref::future(node, static_cast<std::size_t>(pick(0, outputs - 1)));
  }

  void add_task() {
    std::vector<Ref> in;
    std::vector<Requirement> requirements;
    std::int64_t count = chance(70) ? 1 : pick(0, 3);
    for (std::int64_t i = 0; i < count; ++i) in.push_back(some_ref());
    if (count > 0 && chance(15)) in.push_back(in[0]);  // the same future twice
    std::int64_t outputs = chance(75) ? 1 : pick(0, 3);
    if (shape_.places > 0 && chance(30)) touch(in, outputs, requirements);
    if (shape_.places > 1 && chance(8)) touch(in, outputs, requirements);
    // A definition of its own, so that a task is known by its name when the graph is built in another order.
    auto kind = chance(shape_.structured_percent) ? Definition::Kind::loop : Definition::Kind::native;
    DefinitionId definition = sketch_.define("t" + std::to_string(sketch_.graph->size()), {}, {}, kind);
    sketch_.add(definition, std::move(in), std::vector(static_cast<std::size_t>(outputs), f32({4})), requirements);
    result_.requirements.push_back(std::move(requirements));
  }

  void touch(std::vector<Ref>& in, std::int64_t& outputs, std::vector<Requirement>& requirements) {
    Requirement requirement{places_[static_cast<std::size_t>(pick(0, shape_.places - 1))],
                            chance(50) ? Privilege::out : Privilege::in};
    for (const Requirement& other : requirements)
      if (other.place == requirement.place) return;
    if (requirement.writes() && chance(80)) requirement.privilege = Privilege::inout;
    if (requirement.reads()) {
      requirement.slot_in = static_cast<std::uint16_t>(in.size());
      in.push_back(sketch_.graph->current(requirement.place));
    }
    if (requirement.writes()) requirement.slot_out = static_cast<std::uint16_t>(outputs++);
    requirements.push_back(requirement);
  }

  std::mt19937_64& random_;
  RandomShape shape_;
  Sketch sketch_;
  std::vector<Ref> inputs_;
  std::vector<PlaceId> places_;
  RandomGraph result_;
};

inline RandomGraph random_graph(std::mt19937_64& random, const RandomShape& shape = {}) {
  return RandomGraphMaker(random, shape).run();
}

// A graph of 1 to 40 tasks.
inline RandomGraph random_graph_of_any_size(std::mt19937_64& random) {
  RandomShape shape;
  shape.tasks = between(random, 1, 40);
  shape.places = between(random, 0, 3);
  shape.structured_percent = between(random, 0, 1) * 5;
  shape.results = between(random, 0, 3);
  shape.receives = between(random, 0, 2);
  shape.far_percent = between(random, 0, 60);
  return random_graph(random, shape);
}

}  // namespace taskspec
