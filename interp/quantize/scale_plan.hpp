// Scales of a net: tensors that must have the same one are a class (both sides and the sum of a residual add, what a
// pool reads and makes, the parts of a concatenation); the range of a class, which calibration finds, decides its
// scale.
#pragma once
#include <map>
#include <numeric>

#include "ir/lowering/scales.hpp"

namespace taskspec {

enum class RangeMethod : std::uint8_t {
  absmax,      // the largest number that came
  percentile,  // the largest but those beyond 99.99 %
  mse          // where rounding and saturation together cost least
};

// How often numbers of which size came.
class Histogram {
 public:
  static constexpr std::size_t bins = 2048;
  explicit Histogram(double most = 0) : most_(most), counts_(bins) {}
  double most() const { return most_; }
  void add(double number);
  void add(const Histogram& other);  // of the same `most`
  // The number that the scale reaches with its last step.
  double range(RangeMethod method, double percentile) const;

 private:
  double most_;
  std::vector<std::int64_t> counts_;
};

class ScalePlan final : public Scales {
 public:
  ScalePlan(std::size_t values, bool by_table);
  double of(ValueId value) override;
  void same(ValueId a, ValueId b) override;
  void held(ValueId value) override { held_[value.index()] = true; }
  void at_most(ValueId value, double scale) override;
  void prefers(ValueId value, ValueId from, double factor) override { preferred_.push_back({value, from, factor}); }
  std::vector<double> error_of(ValueId value) override;
  bool cuts_by_table() const override { return by_table_; }

  bool is_held(ValueId value) const { return held_[value.index()]; }
  ValueId class_of(ValueId value) const;
  // Gives each class its scale: 127 / range, not above the bounds that were asked for.
  void set_ranges(const std::map<std::uint32_t, double>& by_class);
  void forget_bounds() { bounds_.clear(); }      // of scales that were none yet
  bool was_bounded() const { return bounded_; }  // since then
  std::map<std::uint32_t, std::vector<double>> errors;

 private:
  struct Preference {
    ValueId value, from;
    double factor;
  };
  double limited(std::uint32_t of_class, double scale) const;

  std::vector<std::uint32_t> parent_;
  std::vector<bool> held_;
  std::map<std::uint32_t, double> scales_, bounds_;
  std::vector<Preference> preferred_;
  bool by_table_ = false, bounded_ = false;
};

}  // namespace taskspec
