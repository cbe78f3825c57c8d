// What is wrong with a model: all of it is told at once.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec::nir {

class Problems {
 public:
  void add(std::string text) { all_.push_back(std::move(text)); }
  bool any() const { return !all_.empty(); }
  // Twenty, and how many more.
  void raise(const std::string& path) const {
    if (all_.empty()) return;
    constexpr std::size_t shown = 20;
    Diag diag("E7003", Severity::error, {},
              "'" + path + "' cannot be imported: " +
                  (all_.size() == 1 ? all_.front() : std::to_string(all_.size()) + " things are wrong"));
    for (std::size_t i = 0; all_.size() > 1 && i < std::min(shown, all_.size()); ++i) diag.note(all_[i]);
    if (all_.size() > shown) diag.note("and " + std::to_string(all_.size() - shown) + " more");
    throw Error(std::move(diag));
  }

 private:
  std::vector<std::string> all_;
};

}  // namespace taskspec::nir
