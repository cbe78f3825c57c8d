#include "interp/host/kernel_cache.hpp"

#include <algorithm>

namespace taskspec {

void put_type(std::string& text, const ArrayType& type) {
  text += static_cast<char>(type.precision);
  put_number(text, type.extents.size());
  for (std::int64_t extent : type.extents) put_number(text, static_cast<std::uint64_t>(extent));
}

std::shared_ptr<const Kernel> KernelCache::get(const OpInstance& instance) {
  std::string key(instance.op->name);
  put_number(key, instance.in.size());
  for (const ArrayType& type : instance.in) put_type(key, type);
  for (const ArrayType& type : instance.out) put_type(key, type);
  std::vector<Entry>& same_types = entries_[key];
  for (const Entry& entry : same_types)
    if (entry.op == instance.op && std::ranges::equal(entry.attributes, instance.attributes, identical))
      return entry.kernel;
  same_types.push_back({instance.op, instance.attributes, instance.op->kernel(instance)});
  return same_types.back().kernel;
}

}  // namespace taskspec
