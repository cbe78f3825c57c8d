// How the bodies of tasks over views ran, for reports.
#pragma once
#include <string>
#include <vector>

namespace taskspec {

struct BodyForm {
  std::string task;
  std::string form;               // "strip", "scalar" (code for each point), "extern"
  std::string why_no_strip = {};  // of scalar code: "line 4: c[..].x is written, and read at another point"
  friend bool operator==(const BodyForm&, const BodyForm&) = default;
};

// What a backend is, too, that runs such bodies.
class TellsBodies {
 public:
  virtual ~TellsBodies() = default;
  // Of all bodies that it made, in that order; one that was made for several types may be there several times.
  virtual std::vector<BodyForm> bodies() const = 0;
};

}  // namespace taskspec
