// What a session tells of its work when it ends: counts, memory, and, when it recorded, what each dispatch did. What
// profiles, traces and `.report` are made of.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/control/control_log.hpp"
#include "interp/control/trial.hpp"
#include "ir/plan/backend.hpp"
#include "ir/plan/body_form.hpp"

namespace taskspec {

// One row of a profile: all dispatches of chains with the same members.
struct ProfileRow {
  std::string chain;  // "[Scale.apply, energy]"
  std::uint64_t calls = 0, bytes = 0;
  std::int64_t ns = 0;
  // Of one dispatch: the first, which touches memory that nobody had touched, and of the later ones the shortest and
  // the one in the middle. Where there was only one, all are that.
  std::int64_t first_ns = 0, least_ns = 0, median_ns = 0;
  Work work;  // of all of them, by the records of ops; nothing where nobody knows
};

// A plan that ran, its chains as a profile names them, and how often.
struct PlanRuns {
  std::shared_ptr<const Plan> plan;  // none beyond the first thousand, and of a backend without plans
  std::vector<std::string> chains;
  std::uint64_t runs = 0;
  std::vector<NodeId> failed = {};  // of its graph, in some run
};

struct TimelineEntry {
  std::uint32_t plan = 0;  // in SessionReport::plans_run
  ChainId chain;
  std::uint32_t worker = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // from the beginning of the program, where it has a control timeline
  std::uint32_t run = 0;                  // counts the runs of all plans
};

struct SessionReport {
  std::uint64_t tasks = 0, chains = 0, dispatches = 0, dropped = 0, plans = 0;
  double making = 0;                      // seconds: plans and their kernels made, before they ran
  std::uint64_t held = 0;                 // entries of all tables of the session and its graph that are there now
  std::uint64_t arena = 0;                // bytes that one run of a plan takes at most for values between its steps
  std::uint64_t plan_peak = 0;            // bytes of values alive at once in one run of a plan
  std::uint64_t peak_without_chains = 0;  // the same if every task were its own dispatch
  std::uint64_t received = 0;  // bytes of tensors that left the session: for the host, another session, a file
  Backend::Memory memory;
  double seconds = 0;
  std::vector<BodyForm> bodies;  // of tasks over views, of a backend that tells
  std::vector<ProfileRow> profile;
  std::vector<OpRow> ops;             // when it recorded those
  std::optional<MachineRates> rates;  // when somebody asked for them
  std::vector<PlanRuns> plans_run;    // these two when the session keeps a timeline, the profile when it records
  std::vector<TimelineEntry> timeline;
  std::vector<ControlEntry> control;  // beside it, when it keeps one; what each program did, in its order
  std::int64_t end_ns = 0;            // of the program
};

}  // namespace taskspec
