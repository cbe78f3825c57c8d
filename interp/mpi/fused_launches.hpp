// Launches that run as one body with another one: their points follow one another in a chain, which is one dispatch.
//
//   FusedLaunches fused;
//   fused.add(executable);   // at each run of it
//   fused.count()
#pragma once
#include <memory>
#include <unordered_map>

#include "ir/plan/backend.hpp"

namespace taskspec {

// Of one run of a plan.
std::uint64_t fused_launches(const Plan& plan);

class FusedLaunches {
 public:
  void add(const Executable& executable);
  std::uint64_t count() const { return count_; }

 private:
  struct Known {
    std::weak_ptr<const Plan> plan;  // another one may come to lie where this one was
    std::uint64_t fused = 0;
  };
  std::unordered_map<const Plan*, Known> known_;
  std::uint64_t count_ = 0;
};

}  // namespace taskspec
