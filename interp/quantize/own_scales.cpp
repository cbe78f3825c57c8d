#include "interp/quantize/own_scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/base/text.hpp"
#include "ir/graph/op_list_builder.hpp"
#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

constexpr std::size_t longest_pair = 12;  // ops
constexpr double far_away = 1e30;         // saturates whatever the scale

// What a pair does: numbers become multiples of `step`, from `least` on, 255 of them.
struct Rounding {
  double least = 0, step = 1;
  bool is_symmetric() const { return std::abs(least / step + 128) < 0.01; }
  bool begins_at_zero() const { return std::abs(least / step) < 0.01; }
};

class PairFinder {
 public:
  PairFinder(const OpList& list, const std::vector<std::optional<Array>>& known)
      : list_(list),
        values_(list.types.size()),
        readers_(list.types.size()),
        end_of_(list.types.size()),
        is_inside_(list.types.size()) {
    for (std::size_t k = 0; k < list.inputs.size(); ++k)
      if (k < known.size()) values_[k] = known[k];
    for (std::size_t k = 0; k < list.constants.size(); ++k)
      if (list.constants[k].is_array()) values_[list.inputs.size() + k] = list.constants[k].array();
    for (const OpList::Line& line : list.lines) {
      for (ValueId in : line.in) readers_[in.index()].push_back(&line);
      compute_numbers(line);
    }
  }

  OwnScales run() {
    for (std::size_t v = 0; v < list_.types.size(); ++v)
      if (const ValueId value(v); !values_[v] && !is_inside_[v] && is_float(list_.type(value).precision))
        follow(value, value, {}, false);
    return rewritten();
  }

 private:
  using Path = std::vector<const OpList::Line*>;

  // Scales and zero points are numbers, and may be worked out of others.
  void compute_numbers(const OpList::Line& line) {
    std::vector<Array> in;
    for (ValueId value : line.in) {
      if (!values_[value.index()] || values_[value.index()]->elements() != 1) return;
      in.push_back(*values_[value.index()]);
    }
    if (in.empty()) return;
    const std::vector<Array> made = evaluate(instance(list_, line), in);
    for (std::size_t slot = 0; slot < made.size(); ++slot) values_[line.out[slot].index()] = made[slot];
  }

  // It does to each element what it does to any, with numbers that are known.
  bool is_step(const OpList::Line& line, ValueId from) const {
    if (line.out.size() != 1 || list_.type(line.out[0]).dims != list_.type(from).dims) return false;
    return std::ranges::count(line.in, from) == 1 && std::ranges::all_of(line.in, [&](ValueId in) {
             return in == from || (values_[in.index()] && values_[in.index()]->elements() == 1);
           });
  }

  void follow(ValueId source, ValueId at, const Path& path, bool was_narrow) {
    if (path.size() == longest_pair) return;
    for (const OpList::Line* line : readers_[at.index()]) {
      if (!is_step(*line, at)) continue;
      Path longer = path;
      longer.push_back(line);
      const ValueId made = line->out[0];
      const Precision precision = list_.type(made).precision;
      const bool narrow = was_narrow || precision == Precision::i8 || precision == Precision::u8;
      const bool ends = narrow && is_float(precision) && !end_of_[made.index()];
      const std::optional<Rounding> rounding = ends ? rounding_of(source, longer) : std::nullopt;
      if (rounding)
        found_behind(source, longer, *rounding);
      else
        follow(source, made, longer, narrow);
    }
  }

  // A relu in front of integers from 0 on changes nothing, and still it is no part of the pair: it stays.
  void found_behind(ValueId source, Path path, const Rounding& rounding) {
    while (path.size() > 1 && rounding.begins_at_zero()) {
      const ValueId later = path[0]->out[0];
      if (!is_float(list_.type(later).precision)) break;
      const Path rest(path.begin() + 1, path.end());
      const std::optional<Rounding> same = rounding_of(later, rest);
      if (!same || std::abs(same->step - rounding.step) > 1e-6 * rounding.step) break;
      source = later, path = rest;
    }
    found(source, path, rounding);
  }

  void found(ValueId source, const Path& path, const Rounding& rounding) {
    for (const OpList::Line* line : path) is_inside_[line->out[0].index()] = line != path.back();
    end_of_[path.back()->out[0].index()] = source;
    if (rounding.is_symmetric()) {
      scales_[source.value] = 1 / rounding.step;
      return;
    }
    ++other_zeros_;
    if (rounding.begins_at_zero()) cut_at_zero_.push_back(source);
  }

  std::optional<Rounding> rounding_of(ValueId source, const Path& path) const {
    if (list_.type(source).elements() == Dim(0)) return std::nullopt;
    const std::vector<double> bounds = done_to(source, path, {-far_away, far_away});
    const Rounding found{bounds[0], (bounds[1] - bounds[0]) / 255};
    if (!std::isfinite(found.step) || found.step <= 0) return std::nullopt;
    std::vector<double> given, wanted;
    for (const double steps : {0.0, 1.0, 2.0, 77.0, 127.0, 128.0, 129.0, 200.0, 254.0, 255.0})
      for (const double beside : {-0.3, 0.0, 0.3}) {
        given.push_back(found.least + (steps + beside) * found.step);
        wanted.push_back(found.least + steps * found.step);
      }
    const std::vector<double> made = done_to(source, path, given);
    for (std::size_t k = 0; k < made.size(); ++k)
      if (!(std::abs(made[k] - wanted[k]) < 1e-3 * found.step)) return std::nullopt;
    return found;
  }

  std::vector<double> done_to(ValueId source, const Path& path, const std::vector<double>& numbers) const {
    const ArrayType type = concrete(list_.type(source));
    std::vector<double> made;
    while (made.size() < numbers.size()) {
      const std::size_t first = made.size();
      Array array = Array::make(type);
      for (std::int64_t k = 0; k < array.elements(); ++k)
        array.set_number(k, numbers[std::min(numbers.size() - 1, first + static_cast<std::size_t>(k))]);
      ValueId at = source;
      for (const OpList::Line* line : path) {
        std::vector<Array> in;
        for (ValueId value : line->in) in.push_back(value == at ? array : *values_[value.index()]);
        array = evaluate(instance(list_, *line), in)[0];
        at = line->out[0];
      }
      for (std::int64_t k = 0; k < array.elements() && made.size() < numbers.size(); ++k)
        made.push_back(array.number(k));
    }
    return made;
  }

  // Readers of the end of a pair read its source; what is left without readers goes.
  OwnScales rewritten() const {
    OpListBuilder made;
    std::vector<ValueId> here;
    for (std::size_t k = 0; k < list_.inputs.size(); ++k) here.push_back(made.input(list_.inputs[k], list_.types[k]));
    for (const Value& constant : list_.constants) here.push_back(made.constant(constant, list_.types[here.size()]));
    here.resize(list_.types.size());
    auto resolved = [&](ValueId value) {
      while (end_of_[value.index()]) value = *end_of_[value.index()];
      return here[value.index()];
    };
    for (const OpList::Line& line : list_.lines) {
      std::vector<ValueId> in;
      for (ValueId value : line.in) in.push_back(resolved(value));
      const std::vector<ValueId> out =
          made.append(instance(list_, line), in, {line.function, line.call, line.span, line.site, line.task});
      for (std::size_t slot = 0; slot < out.size(); ++slot) here[line.out[slot].index()] = out[slot];
    }
    std::vector<OpListBuilder::Output> outputs;
    for (const OpList::Output& output : list_.outputs)
      outputs.push_back({output.name, resolved(output.value), output.version});
    // As outputs they are found again in the list.
    const std::size_t count = outputs.size();
    std::vector<double> scales;
    for (const auto& [value, scale] : scales_) {
      outputs.push_back({"", resolved(ValueId(value)), false});
      scales.push_back(scale);
    }
    for (const ValueId value : cut_at_zero_) outputs.push_back({"", resolved(value), false});
    OwnScales own{std::move(made).finish(list_.task, list_.name, outputs), {}, {}, {}};
    for (std::size_t k = count; k < outputs.size(); ++k) {
      const ValueId value = own.list.outputs[k].value;
      if (k - count < scales.size())
        own.scales[value.value] = scales[k - count];
      else
        own.cut_at_zero.push_back(value);
    }
    own.list.outputs.resize(count);
    if (other_zeros_ > 0)
      own.notes.push_back(
          fmt::format("{} with a zero point that is not 0: scales found anew", plural(other_zeros_, "tensor")));
    return own;
  }

  const OpList& list_;
  std::vector<std::optional<Array>> values_;  // that are known
  std::vector<std::vector<const OpList::Line*>> readers_;
  std::vector<std::optional<ValueId>> end_of_;  // by value: the source of the pair that ends there
  std::vector<bool> is_inside_;                 // by value: of a pair
  std::map<std::uint32_t, double> scales_;      // by source
  std::vector<ValueId> cut_at_zero_;
  std::size_t other_zeros_ = 0;
};

}  // namespace

OwnScales take_own_scales(const OpList& list, const std::vector<std::optional<Array>>& known) {
  if (std::ranges::any_of(list.types, &Type::has_symbols)) return {list, {}, {}, {}};  // no lowering takes it
  return PairFinder(list, known).run();
}

}  // namespace taskspec
