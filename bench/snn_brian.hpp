// Brian2, a simulator of spiking networks that writes a C++ program for each of them (Debian: python3-brian), on the
// networks of snn_nets.hpp.
//
//   Brian brian("random");          // writes and compiles its program, which takes a minute
//   if (brian.there()) brian.run();
#pragma once
#include <cstdint>
#include <string>

#include "bench/bench.hpp"
#include "bench/python.hpp"

namespace taskspec::bench {

struct BrianRun {
  std::uint64_t spikes = 0, events = 0;
  double wall = 0;  // of the steps alone
  double cpu = 0;   // of its whole process
};

class Brian {
 public:
  // "random": 200 steps of 10,000 x 100; "cuba": 10,000 steps of 4000 neurons that feed 80 each.
  explicit Brian(const std::string& which);
  bool there() const { return python_.there(); }
  const std::string& version() const { return python_.first(); }
  BrianRun run();  // all 0 when it is gone

 private:
  Python python_;
};

}  // namespace taskspec::bench
