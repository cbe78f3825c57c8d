#include "stdlib/kernels/product.hpp"

#include <algorithm>

#include "stdlib/kernels/tile.hpp"

namespace taskspec {

std::int64_t lane_count(std::int64_t units, double operations) {
  constexpr double worth_a_lane = 4e6;  // some 50 us: far above the cost of handing work over
  constexpr std::int64_t most = 16;
  auto wanted = static_cast<std::int64_t>(std::min(operations / worth_a_lane, 1e6));
  return std::clamp<std::int64_t>(std::min({wanted, units, most}), 1, most);
}

namespace {

// A block of C and the strips it is made of fit into a core's private cache together.
constexpr std::int64_t block_rows = 96, block_columns = 256, block_depth = 256;

template <class Acc>
struct alignas(64) BlockMemory {
  Acc left[block_rows * block_depth];
  Acc right[block_depth * tile_columns];
  Acc out[block_rows * block_columns];
};

template <class Acc>
using Packer = void (*)(const Lines&, const std::byte*, std::int64_t offset, const PackRange&, Acc*);

template <class Acc>
using Storer = void (*)(const Acc* block, std::int64_t rows, std::int64_t columns, std::byte* out, std::int64_t offset,
                        std::int64_t step, const std::byte* bias, std::int64_t bias_offset, Bias by);

template <class Acc, class T>
void pack_as(const Lines& lines, const std::byte* base, std::int64_t offset, const PackRange& range, Acc* out) {
  const T* start = reinterpret_cast<const T*>(base) + offset;
  std::visit([&](const auto& form) { pack(form, start, range, out); }, lines);
}

template <class Acc, class T>
void store_as(const Acc* block, std::int64_t rows, std::int64_t columns, std::byte* out, std::int64_t offset,
              std::int64_t step, const std::byte* bias, std::int64_t bias_offset, Bias by) {
  T* to = reinterpret_cast<T*>(out) + offset;
  const T* add = reinterpret_cast<const T*>(bias) + (bias ? bias_offset : 0);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Acc* from = block + r * block_columns;
    T* row = to + r * step;
    switch (by) {
      case Bias::none:
        for (std::int64_t c = 0; c < columns; ++c) row[c] = convert<T>(from[c]);
        break;
      case Bias::per_row:
        for (std::int64_t c = 0; c < columns; ++c) row[c] = convert<T>(from[c] + convert<Acc>(add[r]));
        break;
      case Bias::per_column:
        for (std::int64_t c = 0; c < columns; ++c) row[c] = convert<T>(from[c] + convert<Acc>(add[c]));
        break;
    }
  }
}

template <class Acc>
Packer<Acc> packer(Precision precision) {
  return with_storage(precision, [](auto element) -> Packer<Acc> {
    using T = decltype(element);
    // Floats and integers never meet in one product, nor do accumulators narrower than their operands.
    constexpr bool same_kind = std::is_integral_v<T> == std::is_integral_v<Acc>;
    if constexpr (same_kind && sizeof(T) <= sizeof(Acc))
      return pack_as<Acc, T>;
    else
      return nullptr;
  });
}

template <class Acc>
Storer<Acc> storer(Precision precision) {
  return with_storage(precision, [](auto element) -> Storer<Acc> {
    using T = decltype(element);
    constexpr bool same_kind = std::is_integral_v<T> == std::is_integral_v<Acc>;
    if constexpr (same_kind && sizeof(T) <= sizeof(Acc))
      return store_as<Acc, T>;
    else
      return nullptr;
  });
}

template <class Acc>
class ProductKernel final : public Kernel {
 public:
  explicit ProductKernel(ProductPlan plan)
      : plan_(std::move(plan)),
        tile_width_(plan_.rows == 1 ? 1 : tile_rows),
        row_blocks_((plan_.rows + block_rows - 1) / block_rows),
        column_blocks_((plan_.columns + block_columns - 1) / block_columns),
        units_(static_cast<std::int64_t>(plan_.items.size()) * row_blocks_ * column_blocks_),
        lanes_(lane_count(units_, 2.0 * static_cast<double>(plan_.items.size()) * static_cast<double>(plan_.rows) *
                                      static_cast<double>(plan_.columns) * static_cast<double>(plan_.depth))),
        tile_(tile_function<Acc>(tile_width_)),
        pack_left_(packer<Acc>(plan_.left_precision)),
        pack_right_(packer<Acc>(plan_.right_precision)),
        store_(storer<Acc>(plan_.out_precision)) {
    if (!pack_left_ || !pack_right_ || !store_) bug("a product of precisions that the type rule refuses");
  }

  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(lanes_) * sizeof(BlockMemory<Acc>); }

  std::optional<Fault> run(const KernelArgs& args) const override {
    auto* memory = reinterpret_cast<BlockMemory<Acc>*>(args.scratch);
    args.parallel.for_each(lanes_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t lane = begin; lane < end; ++lane)
        for (std::int64_t unit = units_ * lane / lanes_; unit < units_ * (lane + 1) / lanes_; ++unit)
          multiply(args, unit, memory[lane]);
    });
    return std::nullopt;
  }

 private:
  // One block of one result.
  void multiply(const KernelArgs& args, std::int64_t unit, BlockMemory<Acc>& memory) const {
    const ProductItem& item = plan_.items[static_cast<std::size_t>(unit / (row_blocks_ * column_blocks_))];
    std::int64_t row = unit / column_blocks_ % row_blocks_ * block_rows;
    std::int64_t column = unit % column_blocks_ * block_columns;
    std::int64_t rows = std::min(block_rows, plan_.rows - row);
    std::int64_t columns = std::min(block_columns, plan_.columns - column);
    std::fill(memory.out, memory.out + (rows + tile_width_ - 1) / tile_width_ * tile_width_ * block_columns, Acc{});
    for (std::int64_t first = 0; first < plan_.depth; first += block_depth) {
      std::int64_t depth = std::min(block_depth, plan_.depth - first);
      for (std::int64_t r = 0; r < rows; r += tile_width_)
        pack_left_(plan_.left, args.in[plan_.left_input], item.left,
                   {row + r, std::min(tile_width_, rows - r), first, depth, tile_width_}, memory.left + r * depth);
      for (std::int64_t c = 0; c < columns; c += tile_columns) {
        pack_right_(plan_.right, args.in[plan_.right_input], item.right,
                    {column + c, std::min<std::int64_t>(tile_columns, columns - c), first, depth, tile_columns},
                    memory.right);
        for (std::int64_t r = 0; r < rows; r += tile_width_)
          tile_(memory.left + r * depth, memory.right, depth, memory.out + r * block_columns + c, block_columns);
      }
    }
    std::int64_t bias = item.bias + (plan_.bias == Bias::per_row ? row : column);
    store_(memory.out, rows, columns, args.out[0], item.out + row * plan_.columns + column, plan_.columns,
           plan_.bias == Bias::none ? nullptr : args.in[plan_.bias_input], bias, plan_.bias);
  }

  ProductPlan plan_;
  std::int64_t tile_width_, row_blocks_, column_blocks_, units_, lanes_;
  TileFunction<Acc> tile_;
  Packer<Acc> pack_left_, pack_right_;
  Storer<Acc> store_;
};

// The transposed product, which leaves the same numbers in memory when one side of the result is 1.
void turn(ProductPlan& plan) {
  std::swap(plan.rows, plan.columns);
  std::swap(plan.left, plan.right);
  std::swap(plan.left_precision, plan.right_precision);
  std::swap(plan.left_input, plan.right_input);
  for (ProductItem& item : plan.items) std::swap(item.left, item.right);
  if (plan.bias != Bias::none) plan.bias = plan.bias == Bias::per_row ? Bias::per_column : Bias::per_row;
}

}  // namespace

std::unique_ptr<Kernel> product_kernel(ProductPlan plan) {
  if (plan.columns == 1) turn(plan);  // a tile has many columns and can have a single row
  switch (plan.out_precision) {
    case Precision::f64:
      return std::make_unique<ProductKernel<double>>(std::move(plan));
    case Precision::f32:
    case Precision::f16:
      return std::make_unique<ProductKernel<float>>(std::move(plan));
    case Precision::i64:
    case Precision::u64:
      return std::make_unique<ProductKernel<std::uint64_t>>(std::move(plan));
    default:
      return std::make_unique<ProductKernel<std::uint32_t>>(std::move(plan));
  }
}

}  // namespace taskspec
