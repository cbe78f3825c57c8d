// A call of a fn as a program of its own, whose top level is just that call: cut in two and run beside each other.
//
//   CutCall cut(call);                       // operands are literals and given tensors
//   NodePtr result = cut.run({"host"}, at);  // null: it gives nothing
#pragma once
#include "frontend/dsl/node.hpp"
#include "interp/control/natives.hpp"
#include "ir/program.hpp"

namespace taskspec::dsl::detail {

class CutCall {
 public:
  explicit CutCall(const Node& call);

  struct On {  // a backend, as in `run ... on host(threads: 2)`
    std::string name;
    std::int64_t threads = 0;
    std::string schedule = {};
  };
  NodePtr run(const On& backend, At at);
  std::string slices_json() const;

 private:
  Program program_;
  Natives natives_;
  bool gives_;
  Value result_;
};

// A host value or the contents of a tensor as a literal of C++.
NodePtr literal_of(const Value& value, At at);

}  // namespace taskspec::dsl::detail
