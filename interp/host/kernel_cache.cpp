#include "interp/host/kernel_cache.hpp"

#include <algorithm>
#include <bit>

namespace taskspec {

namespace {

// Stricter than equality of the language: 1 is not 1.0 here, and 0.0 not -0.0.
bool identical(const Value& a, const Value& b) {
  if (a.data().index() != b.data().index()) return false;
  if (a.is_real()) return std::bit_cast<std::uint64_t>(a.real()) == std::bit_cast<std::uint64_t>(b.real());
  if (a.is_list()) return std::ranges::equal(a.list(), b.list(), identical);
  if (a.is_tuple()) return std::ranges::equal(a.tuple().items, b.tuple().items, identical);
  if (a.is_array()) return a.array().type() == b.array().type() && a.array().raw() == b.array().raw();
  return equal(a, b);
}

}  // namespace

void put_number(std::string& text, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) text += static_cast<char>(number | 0x80);
  text += static_cast<char>(number);
}

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
