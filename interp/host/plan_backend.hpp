// A backend whose executables are plans: chains become steps, and it is decided before any run where each value lies.
#pragma once
#include "ir/plan/backend.hpp"

namespace taskspec {

class PlanBackend : public Backend {
 public:
  bool runs_launches() const override { return true; }
  virtual std::shared_ptr<Executable> prepare(std::shared_ptr<const Plan> plan, Bodies& bodies) = 0;
  // What of a graph it has no code for, and why.
  virtual std::vector<Poison> refused(const TaskGraph& /*graph*/, Bodies& /*bodies*/) { return {}; }
  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) final;
};

}  // namespace taskspec
