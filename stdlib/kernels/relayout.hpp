// Layouts of oneDNN: plain ones, as arrays lie, and those that its primitives choose. Included by the dense_*.cpp files
// only.
#pragma once
#include <algorithm>
#include <dnnl.hpp>

namespace taskspec {

using dnnl::memory;
inline constexpr auto dnnl_f32 = memory::data_type::f32;

inline memory::desc plain(const memory::dims& dims) {
  memory::dims steps(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) steps[i - 1] = steps[i] * dims[i];
  return {dims, dnnl_f32, steps};
}

inline dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Brings an array from one layout into another; nothing to do when they are the same.
class Relayout {
 public:
  Relayout() = default;
  Relayout(const dnnl::engine& engine, memory::desc from, memory::desc to) : from_(from), to_(to) {
    if (from == to) return;
    dnnl::reorder::primitive_desc desc(engine, from, engine, to, own_scratchpad());
    scratchpad_ = desc.scratchpad_desc();
    reorder_ = dnnl::reorder(desc);
    needed_ = true;
  }

  bool needed() const { return needed_; }
  std::size_t bytes() const { return needed_ ? std::max(from_.get_size(), to_.get_size()) : 0; }
  std::size_t scratchpad_bytes() const { return needed_ ? scratchpad_.get_size() : 0; }

  void run(const dnnl::engine& engine, dnnl::stream& stream, const void* from, void* to, void* scratchpad) const {
    reorder_.execute(stream, {{DNNL_ARG_FROM, memory(from_, engine, const_cast<void*>(from))},
                              {DNNL_ARG_TO, memory(to_, engine, to)},
                              {DNNL_ARG_SCRATCHPAD, memory(scratchpad_, engine, scratchpad)}});
  }

 private:
  memory::desc from_, to_, scratchpad_;
  dnnl::reorder reorder_;
  bool needed_ = false;
};

}  // namespace taskspec
