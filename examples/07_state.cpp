// 07_state.task in C++: an agent with a slot remembers; its task leaves a new version of the slot
#include <taskspec/taskspec.hpp>

using namespace taskspec;

struct Counter : Agent {
  using Agent::Agent;
  Tensor step = param("step", integer);
  Var total = state("total", i64[1], zero());
  Task add = task("add").in("x", i64["N"]).out("sum", i64[1]).body([this](Tensor x) {
    total += x.sum(0) * step;
    return total;
  });
};

int main() {
  Counter twice(2);
  Counter other(1);  // slots of its own
  print(twice);
  for (int i = 0; i < 4; ++i) twice.add(iota(i + 1));
  other.add(iota(3));
  print(twice.add(iota(0))["sum"].scalar<int>(), other.add(iota(0))["sum"].scalar<int>());
}
