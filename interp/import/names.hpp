// Names of a model as names of the language: any text becomes an identifier that means nothing else there.
//
//   Names names;
//   names.make("conv1.weight") == "conv1_weight";  names.make("conv1/weight") == "conv1_weight_1"
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace taskspec {

// Letters, digits and _ as they are, others as one _; not empty, not beginning with a digit or _ (names that do are
// private), no keyword and no name of an op or builtin, which must go on meaning that.
std::string identifier(std::string_view text);

// Each name once.
class Names {
 public:
  std::string make(std::string_view wanted);
  bool take(const std::string& name) { return taken_.insert(name).second; }

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace taskspec
