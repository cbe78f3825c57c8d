// Kernels by what they are made for: equal calls of an op share one. A kernel may be dear to make
// (repacked weights, primitives of a library), and thousands of nodes often differ in nothing.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/base/key.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

class KernelCache {
 public:
  std::shared_ptr<const Kernel> get(const OpInstance& instance);

 private:
  struct Entry {
    const OpDef* op;
    std::vector<Value> attributes;
    std::shared_ptr<const Kernel> kernel;
  };
  std::map<std::string, std::vector<Entry>> entries_;  // by op and types
};

// `text` grows by something that only equal types have.
void put_type(std::string& text, const ArrayType& type);

}  // namespace taskspec
