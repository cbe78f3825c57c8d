// What a NIR file leaves open, and what somebody said of it.
#pragma once
#include <string>
#include <vector>

#include "interp/import/importer.hpp"

namespace taskspec::nir {

// A tool whose choices are imitated.
enum class Like { nobody, norse, snntorch, lava, nengo, sinabs };

struct Choices {
  double dt = 1e-4;
  std::string integrator = "euler";  // or exact
  std::string reset = "file";        // or zero, subtract
  std::int64_t feedback = 1;         // steps that an edge backwards takes
  bool f64 = false;
  Like like = Like::nobody;
  std::string like_name;
  bool watched = false;  // the graph gives the spikes and voltages of all populations, too
};

// E1003 for one that is not known or cannot be.
Choices choices_of(const ImportOptions& options);

}  // namespace taskspec::nir
