// Launches: a task for each point of a range or grid, each on its own pieces.
//
//   launch(heat, owned, ghost, 0.5).over(0, 4);                       // a partition gives each point its own piece
//   launch(star, inner, ghost).over(grid(2, 2)).by(cyclic);
//   launch([&](Tensor i) { return heat(owned[i + 1], ghost[i], s["t"][i]); }).over(0, 3);    // or as the body says
//   Map s = launch(dot, owned).over(0, 4)["s"];     s.sum()      s[2]      s.gather()
#pragma once
#include "taskspec/region.hpp"

namespace taskspec::dsl {

// Over what: grid(2, 2) runs over (0, 0), (0, 1), (1, 0), (1, 1).
struct Grid {
  std::vector<Operand> extents;
  detail::At at;
};
inline Grid grid(Operand n, Operand m, Operand k = {}, Operand l = {}) {
  Grid made{{}, n.at()};
  for (Operand* extent : {&n, &m, &k, &l})
    if (extent->given()) made.extents.push_back(std::move(*extent));
  return made;
}

// Which shard a point runs on; on one process it changes nothing.
class Sharding {
 public:
  explicit constexpr Sharding(const char* name) : name_(name) {}
  constexpr const char* name() const { return name_; }

 private:
  const char* name_;
};
inline constexpr Sharding cyclic{"cyclic"}, block{"block"};

// What a launch gives: its outputs by name, as maps over the points.
class Launched : public Map {
 public:
  using Map::Map;
  using Map::operator[];
  Map operator[](FieldName output) const;
  Launched by(Sharding sharding, At at = At::current()) const;
  Launched by(const Fn& sharding, At at = At::current()) const;  // fn(point, size, shards) -> shard
};

namespace detail {

struct LaunchArgument {
  Operand value;
  bool own = false;  // of a partition or map: each point its own
};
template <class T>
LaunchArgument launch_argument(T&& value, At at) {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_base_of_v<Handle, U>)
    return {Operand(std::forward<T>(value), at), !std::is_base_of_v<Region, U>};
  else
    return {further(std::forward<T>(value), at), false};
}

// The call that a launch makes for each of its points.
struct PointCall {
  std::size_t parameters = 0;  // how many coordinates it takes; 0: as many as there are
  std::function<Tensor(const std::vector<Tensor>&)> body;
};
PointCall point_call(Task task, std::vector<LaunchArgument> arguments, At at);
Launched launched(const PointCall& call, Operand domain, std::size_t rank, At at);
Operand grid_operand(Grid grid);

}  // namespace detail

// A launch that does not say yet over what.
class [[nodiscard]] Launch {
 public:
  using At = detail::At;
  Launch(detail::PointCall call, At at) : call_(std::move(call)), at_(at) {}
  Launched over(Range range) && { return detail::launched(call_, detail::range_operand(std::move(range)), 1, at_); }
  Launched over(Operand low, Operand high) && { return std::move(*this).over(range(std::move(low), std::move(high))); }
  Launched over(Grid grid) && {
    const std::size_t rank = grid.extents.size();
    return detail::launched(call_, detail::grid_operand(std::move(grid)), rank, at_);
  }

 private:
  detail::PointCall call_;
  At at_;
};

// The task of a launch, with the line that says it.
struct TaskAt {
  TaskAt(const Task& task, detail::At at = detail::At::current()) : task(task), at(at) {}
  Task task;
  detail::At at;
};

template <class... A>
Launch launch(TaskAt task, A&&... arguments) {
  std::vector<detail::LaunchArgument> list;
  (list.push_back(detail::launch_argument(std::forward<A>(arguments), task.at)), ...);
  return Launch(detail::point_call(std::move(task.task), std::move(list), task.at), task.at);
}

// `call` is a call of a task, written with the coordinates of the point.
template <class F>
requires(std::is_class_v<F> && !std::is_convertible_v<F, TaskAt>) Launch
    launch(F call, detail::At at = detail::At::current()) {
  auto with = [&]<std::size_t... axis>(std::index_sequence<axis...>) {
    return detail::PointCall{sizeof...(axis),
                             [call](const std::vector<Tensor>& point) { return call(point[axis]...); }};
  };
  if constexpr (std::is_invocable_v<F&, Tensor>)
    return Launch(with(std::make_index_sequence<1>()), at);
  else if constexpr (std::is_invocable_v<F&, Tensor, Tensor>)
    return Launch(with(std::make_index_sequence<2>()), at);
  else if constexpr (std::is_invocable_v<F&, Tensor, Tensor, Tensor>)
    return Launch(with(std::make_index_sequence<3>()), at);
  else
    return Launch(with(std::make_index_sequence<4>()), at);
}

// What repeats is analysed once: the loop around it runs the same launches in each turn.
void trace_(const std::function<void()>& body, detail::At at = detail::At::current());

}  // namespace taskspec::dsl
