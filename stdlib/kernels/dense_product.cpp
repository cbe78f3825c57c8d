#include <dnnl.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "stdlib/kernels/dense.hpp"
#include "stdlib/kernels/single_threaded.hpp"

namespace taskspec {

namespace {

// A stored matrix as sgemm wants it: 'N' when its rows lie in memory one after another, 'T' when its columns do.
struct Stored {
  char form;
  std::int64_t step;  // from one row (column) to the next
};

// `along` elements of a row follow each other at `step`, rows at `across`.
std::optional<Stored> stored(std::int64_t rows, std::int64_t columns, std::int64_t across, std::int64_t step) {
  if (step == 1 && (across >= columns || rows == 1)) return Stored{'N', std::max(across, columns)};
  if (across == 1 && (step >= rows || columns == 1)) return Stored{'T', std::max(step, rows)};
  return std::nullopt;
}

// oneDNN writes the machine code for products when it first meets one of a kind, some 40 ms in a process. Small
// products of all kinds, so that this belongs to the making of kernels and not to the task that happens to come first.
void write_code(char left, char right) {
  static std::array<std::once_flag, 4> written;
  std::call_once(written[(left == 'T' ? 2 : 0) + (right == 'T' ? 1 : 0)], [&] {
    constexpr std::int64_t depth = 64, columns = 64;
    SingleThreaded guard;
    for (std::int64_t rows : {8, 64}) {
      std::vector<float> a(static_cast<std::size_t>(rows * depth)), b(depth * columns), c(a.size());
      for (float keep : {0.0f, 1.0f})
        dnnl_sgemm(left, right, rows, columns / 2, depth, 1.0f, a.data(), left == 'N' ? depth : rows, b.data(),
                   right == 'N' ? columns / 2 : depth, keep, c.data(), columns);
    }
  });
}

// Parts of a product turn the right side, or their part of it, each for itself: measured, 64 x 784 times 784 x 512
// takes 1.27 of the time in parts of 48 that it takes as a whole, and 1.05 in parts of this many.
constexpr std::int64_t turned_part = 128;

class DenseProduct final : public Kernel {
 public:
  DenseProduct(const ProductPlan& plan, Stored left, Stored right) : plan_(plan), left_(left), right_(right) {
    auto items = static_cast<std::int64_t>(plan.items.size());
    std::int64_t longer = std::max(plan.rows, plan.columns);
    std::int64_t lanes =
        lane_count(items * longer, 2.0 * static_cast<double>(items) * static_cast<double>(plan.rows) *
                                       static_cast<double>(plan.columns) * static_cast<double>(plan.depth));
    std::int64_t parts = (lanes + items - 1) / items;
    part_ = ((longer + parts - 1) / parts + 15) / 16 * 16;  // whole cache lines of the result
    if (right.form == 'T') part_ = std::max(part_, turned_part);
    parts_ = (longer + part_ - 1) / part_;
    grain_ = std::max<std::int64_t>(1, items * parts_ / lanes);
    write_code(left.form, right.form);
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    auto items = static_cast<std::int64_t>(plan_.items.size());
    args.parallel.for_each(items * parts_, grain_, [&](std::int64_t begin, std::int64_t end) {
      SingleThreaded guard;
      for (std::int64_t unit = begin; unit < end; ++unit)
        multiply(args, plan_.items[static_cast<std::size_t>(unit / parts_)], unit % parts_ * part_);
    });
    return std::nullopt;
  }

 private:
  // The part of one product that begins at row (or column, if there are more of them) `first`.
  void multiply(const KernelArgs& args, const ProductItem& item, std::int64_t first) const {
    bool by_rows = plan_.rows >= plan_.columns;
    std::int64_t row = by_rows ? first : 0, column = by_rows ? 0 : first;
    std::int64_t rows = by_rows ? std::min(part_, plan_.rows - first) : plan_.rows;
    std::int64_t columns = by_rows ? plan_.columns : std::min(part_, plan_.columns - first);
    const float* a = floats(args.in[plan_.left_input]) + item.left + row * (left_.form == 'N' ? left_.step : 1);
    const float* b = floats(args.in[plan_.right_input]) + item.right + column * (right_.form == 'N' ? 1 : right_.step);
    float* c = reinterpret_cast<float*>(args.out[0]) + item.out + row * plan_.columns + column;
    if (plan_.bias != Bias::none) {
      const float* bias = floats(args.in[plan_.bias_input]) + item.bias;
      for (std::int64_t r = 0; r < rows; ++r)
        if (plan_.bias == Bias::per_column)
          std::copy(bias + column, bias + column + columns, c + r * plan_.columns);
        else
          std::fill(c + r * plan_.columns, c + r * plan_.columns + columns, bias[row + r]);
    }
    dnnl_status_t status = dnnl_sgemm(left_.form, right_.form, rows, columns, plan_.depth, 1.0f, a, left_.step, b,
                                      right_.step, plan_.bias == Bias::none ? 0.0f : 1.0f, c, plan_.columns);
    if (status != dnnl_success) bug("sgemm refused a product");
  }

  static const float* floats(const std::byte* bytes) { return reinterpret_cast<const float*>(bytes); }

  ProductPlan plan_;
  Stored left_, right_;
  std::int64_t part_, parts_, grain_;
};

}  // namespace

std::unique_ptr<Kernel> dense_product_kernel(const ProductPlan& plan) {
  for (Precision p : {plan.left_precision, plan.right_precision, plan.out_precision})
    if (p != Precision::f32) return nullptr;
  const auto* left = std::get_if<MatrixLines>(&plan.left);
  const auto* right = std::get_if<MatrixLines>(&plan.right);
  if (!left || !right || left->inner < plan.depth || right->inner < plan.depth) return nullptr;
  if (plan.rows == 0 || plan.columns == 0 || plan.depth == 0 || plan.items.empty()) return nullptr;
  std::optional<Stored> a = stored(plan.rows, plan.depth, left->line_step, left->step);
  std::optional<Stored> b = stored(plan.depth, plan.columns, right->step, right->line_step);
  if (!a || !b) return nullptr;
  return std::make_unique<DenseProduct>(plan, *a, *b);
}

}  // namespace taskspec
