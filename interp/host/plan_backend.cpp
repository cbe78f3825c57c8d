#include "interp/host/plan_backend.hpp"

#include "ir/verify/verify.hpp"

namespace taskspec {

Prepared PlanBackend::prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains,
                              const PrepareOptions& options, Bodies& bodies) {
  if (std::vector<Poison> refused = this->refused(*graph, bodies); !refused.empty()) return refused;
  std::shared_ptr<const Plan> plan = make_plan(std::move(graph), chains, {.donated = options.donated});
  constexpr std::size_t largest_verified = 10'000;  // tasks; the verifier uses sets
  if (plan->tasks.size() <= largest_verified) verified([&] { return verify_plan(*plan); });
  return prepare(std::move(plan), bodies);
}

}  // namespace taskspec
