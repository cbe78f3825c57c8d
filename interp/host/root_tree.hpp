// The order in which the elements of a field are folded into one value, the same for every cut of the region: blocks of
// 64 elements of the root in index order; in a block eight lanes, index mod 8, then the tree of the lanes; then the
// tree of the blocks that have an element. A tree of n leaves has its left child on the first 2^(ceil(log2 n) - 1).
//
//   RootTree tree(ReduceOp::sum, Precision::f64);
//   tree.add(first_root_index, elements, count);      // ascending
//   tree.finish(Precision::f64, out);
//
// Floats are folded in f64, integers modulo 2^64.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/records/reduce_op.hpp"

namespace taskspec {

class RootTree {
 public:
  static std::optional<ReduceOp> op_of(std::string_view name);  // "sum", "prod", "min", "max"

  RootTree(ReduceOp op, Precision precision);  // of the elements
  void add(std::int64_t linear, const std::byte* elements, std::int64_t count);
  bool empty() const { return block_ < 0; }
  bool needs_elements() const { return op_ == ReduceOp::min || op_ == ReduceOp::max; }
  void finish(Precision precision, std::byte* out) { put(value(), precision, out); }

  // Values of subtrees, in the precision in which they are folded; its bits, whichever that is.
  using Wide = std::uint64_t;
  Wide value();  // of all that was added, as a subtree of its own
  Wide merged(Wide left, Wide right);
  void put(Wide value, Precision precision, std::byte* out) const;

  static constexpr std::int64_t block_size = 64;

 private:
  template <class T>
  struct Lanes {
    std::array<T, 8> lane{};
    std::array<T, 64> waiting{};  // values of whole subtrees, larger ones first
  };
  template <class T, class Merge>
  void fold(Lanes<T>& state, std::int64_t linear, const T* x, std::int64_t count, T start, Merge merge);
  template <class T, class Merge>
  void close_block(Lanes<T>& state, T start, Merge merge);
  template <class F>
  void with_merge(F&& run);

  ReduceOp op_;
  Precision precision_;
  bool real_;
  std::int64_t block_ = -1;   // being filled; -1: none yet
  std::uint64_t blocks_ = 0;  // closed
  std::size_t trees_ = 0;     // in `waiting`
  Lanes<double> reals_;
  Lanes<std::int64_t> integers_;
};

}  // namespace taskspec
