// A call of a fn as a program of its own, whose top level is just that call: cut in two and run beside each other.
//
//   CutCall cut(call, places);               // operands are literals, given tensors and names of places
//   NodePtr result = cut.run({"host"}, at);  // null: it gives nothing
#pragma once
#include <vector>

#include "frontend/dsl/node.hpp"
#include "interp/control/natives.hpp"
#include "interp/embed/extern_bodies.hpp"
#include "ir/program/program.hpp"

namespace taskspec::dsl::detail {

// A place that the call may change: a variable of its program.
struct CutPlace {
  std::string name;
  NodePtr value;  // contents: before the call, and after a run
};

class CutCall {
 public:
  CutCall(const Node& call, std::vector<CutPlace> places);

  struct On {  // a backend, as in `run ... on host(threads: 2)`
    std::string name;
    std::int64_t threads = 0;
    std::string schedule = {};
    std::vector<std::pair<std::string, Value>> options = {};  // others
  };
  NodePtr run(const On& backend, At at);
  const std::vector<CutPlace>& places() const { return places_; }
  std::string cut_json() const;

 private:
  Program program_;
  Natives natives_{&extern_bodies()};
  bool gives_;
  std::vector<CutPlace> places_;
};

// A host value or the contents of a tensor as a literal of C++.
NodePtr literal_of(const Value& value, At at);

}  // namespace taskspec::dsl::detail
