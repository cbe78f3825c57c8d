// Contents have come that are not those which are waited for. Most likely the shards have made different calls, which
// whoever compares calls finds out; else it is a mistake of ours.
#pragma once
#include <string>

namespace taskspec {

struct ContentsDiffer {
  std::string what;
};

}  // namespace taskspec
