#include "interp/quantize/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "interp/exact/engine.hpp"
#include "interp/quantize/float_run.hpp"
#include "interp/quantize/integer_chains.hpp"
#include "interp/quantize/own_scales.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr int most_rounds = 32;  // of lowering, until all scales have weights of 8 bits

// Signal and noise of a tensor, and how its integers used their room.
struct Agreement {
  double signal = 0, noise = 0, saturated = 0, count = 0;
  std::vector<double> error;  // per channel, the sum
  double samples = 0;

  double decibels() const {
    if (noise == 0) return 200;
    return signal == 0 ? 0 : 10 * std::log10(signal / noise);
  }
};

std::int64_t largest_place(const Array& array) {
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < array.elements(); ++k)
    if (array.number(k) > array.number(best)) best = k;
  return best;
}

class Quantizer {
 public:
  Quantizer(const OwnScales& own, const QuantizeInput& input)
      : list_(own.list),
        own_(own),
        input_(input),
        floats_(list_, input.known),
        scales_(list_.types.size(), input.by_table) {
    const auto held_back =
        static_cast<std::size_t>(std::floor(static_cast<double>(input.samples.size()) * input.held_back));
    calibrated_ = std::max<std::size_t>(1, input.samples.size() - held_back);
  }

  Result<Quantized> run() {
    // The first graph is thrown away: it says which tensors become integers, and which have one scale.
    Result<LoweredGraph> survey = lowered();
    if (!survey) return survey.diags();
    scales_.forget_bounds();
    find_ranges();
    keep_own_scales();
    refuse_lost_signs();
    for (int round = 0; round < most_rounds; ++round) {
      scales_.set_ranges(ranges_);
      Result<LoweredGraph> made = lowered();
      if (!made) return made.diags();
      if (scales_.was_bounded()) continue;
      if (input_.corrects_bias) return corrected(*std::move(made));
      return reported(*std::move(made));
    }
    Diags diags;
    diags.error("E4011", {}, "no scales were found at which all weights have 8 bits");
    return diags;
  }

 private:
  Result<LoweredGraph> lowered() {
    return lower(list_, {.blocks = input_.blocks, .known = input_.known, .scales = &scales_});
  }

  // ---- calibration

  void find_ranges() {
    std::map<std::uint32_t, double> most;
    auto each = [&](auto&& f) {
      for (std::size_t k = 0; k < calibrated_; ++k) {
        floats_.run(input_.samples[k]);
        for (std::size_t v = 0; v < list_.types.size(); ++v)
          if (const ValueId value(v); scales_.is_held(value)) f(scales_.class_of(value).value, floats_.value(value));
      }
    };
    each([&](std::uint32_t of_class, const Array& array) {
      for (std::int64_t k = 0; k < array.elements(); ++k)
        if (const double size = std::abs(array.number(k)); std::isfinite(size))
          most[of_class] = std::max(most[of_class], size);
    });
    std::map<std::uint32_t, Histogram> histograms;
    for (const auto& [of_class, size] : most) histograms.emplace(of_class, Histogram(size));
    if (input_.method != RangeMethod::absmax)
      each([&](std::uint32_t of_class, const Array& array) {
        Histogram& histogram = histograms.at(of_class);
        for (std::int64_t k = 0; k < array.elements(); ++k) histogram.add(array.number(k));
      });
    for (const auto& [of_class, histogram] : histograms)
      ranges_[of_class] = histogram.range(input_.method, input_.percentile);
  }

  // Integers that begin at 0 may have been the relu of a net: that is then no op that blocks could be made of.
  void refuse_lost_signs() {
    for (const ValueId value : own_.cut_at_zero) {
      double below = 0, count = 0;
      for (std::size_t k = 0; k < calibrated_; ++k) {
        floats_.run(input_.samples[k]);
        const Array& numbers = floats_.value(value);
        for (std::int64_t n = 0; n < numbers.elements(); ++n, ++count) below += numbers.number(n) < -1e-6 ? 1 : 0;
      }
      if (below < 0.001 * count) continue;
      Diag diag("E4011", Severity::error, span_of(value),
                "the net brings this to integers from 0 on, and by that cuts what is below 0: blocks do not");
      diag.help_text = "a relu behind it, or a zero point that leaves room below 0";
      throw Error(std::move(diag));
    }
  }

  Span span_of(ValueId value) const {
    for (const OpList::Line& line : list_.lines)
      if (std::ranges::find(line.out, value) != line.out.end()) return line.span;
    return {};
  }

  // Of a net that was quantised before. Tensors that must have one scale may have had two.
  void keep_own_scales() {
    std::map<std::uint32_t, double> kept;
    std::set<std::uint32_t> differ;
    for (const auto& [value, scale] : own_.scales) {
      const std::uint32_t of_class = scales_.class_of(ValueId(value)).value;
      const auto [place, is_first] = kept.try_emplace(of_class, scale);
      if (!is_first && std::abs(place->second - scale) > 1e-6 * scale) differ.insert(of_class);
    }
    for (const auto& [of_class, scale] : kept)
      if (!differ.contains(of_class) && ranges_.contains(of_class)) ranges_[of_class] = 127 / scale;
    notes_ = own_.notes;
    if (!differ.empty())
      notes_.push_back(
          fmt::format("{} of tensors that need one scale and had several: found anew", plural(differ.size(), "group")));
  }

  // ---- comparison

  using Agreements = std::vector<Agreement>;  // by LoweredGraph::held, then outputs

  static void compare(Agreement& sum, const LoweredPort& port, const Array& wanted, const Array& integers) {
    const Array got = from_block(port, integers);
    for (std::int64_t k = 0; k < got.elements(); ++k) {
      const double x = wanted.number(k), d = x - got.number(k);
      sum.signal += x * x, sum.noise += d * d;
    }
    for (std::int64_t k = 0; k < integers.elements(); ++k) {
      const std::int64_t n = integers.integer(k);
      sum.saturated += n == 127 || n == -128 ? 1 : 0;
    }
    sum.count += static_cast<double>(got.elements());
    // Channels are the last axis of a block.
    const auto channels = static_cast<std::size_t>(port.extents.back());
    if (sum.error.size() != channels) sum.error.assign(channels, 0);
    const std::vector<double> in_order = in_block_order(port, wanted);
    for (std::int64_t k = 0; k < integers.elements(); ++k)
      sum.error[static_cast<std::size_t>(k) % channels] +=
          static_cast<double>(integers.integer(k)) / port.scale - in_order[static_cast<std::size_t>(k)];
    sum.samples += static_cast<double>(integers.elements()) / static_cast<double>(channels);
  }

  struct Accuracy {
    double floats = 0, blocks = 0;
  };

  Agreements agreements(const LoweredGraph& made, const std::shared_ptr<const BlockGraph>& graph, std::size_t begin,
                        std::size_t end, Accuracy& right) {
    ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
    Agreements sums(made.held.size() + made.outputs.size());
    const std::vector<BlockId> order = graph->inputs();
    for (std::size_t k = begin; k < end; ++k) {
      floats_.run(input_.samples[k]);
      std::vector<Array> in(order.size());
      for (std::size_t i = 0; i < made.inputs.size(); ++i) {
        const auto at = std::ranges::find(order, made.inputs[i].block) - order.begin();
        in[static_cast<std::size_t>(at)] = to_block(made.inputs[i], input_.samples[k][i]);
      }
      engine.reset();
      const std::vector<Array> out = engine.run(in);
      for (std::size_t h = 0; h < made.held.size(); ++h)
        if (made.held[h].is_whole)
          compare(sums[h], made.held[h].port, floats_.value(made.held[h].value), engine.value(made.held[h].block));
      for (std::size_t o = 0; o < made.outputs.size(); ++o)
        compare(sums[made.held.size() + o], made.outputs[o], floats_.value(made.outputs[o].value), out[o]);
      if (k < input_.labels.size()) {
        right.floats += largest_place(floats_.value(made.outputs[0].value)) == input_.labels[k] ? 1 : 0;
        right.blocks += largest_place(from_block(made.outputs[0], out[0])) == input_.labels[k] ? 1 : 0;
      }
    }
    return sums;
  }

  double noise_of_outputs(const LoweredGraph& made, const Agreements& sums) const {
    double noise = 0;
    for (std::size_t o = 0; o < made.outputs.size(); ++o) {
      const Agreement& sum = sums[made.held.size() + o];
      noise += sum.noise / std::max(sum.signal, 1e-300);
    }
    return noise;
  }

  // What layers are too large by on average goes into their biases, where that helps the outputs.
  Result<Quantized> corrected(LoweredGraph made) {
    Accuracy ignored;
    const std::size_t seen = std::min<std::size_t>(calibrated_, 64);
    const Agreements before = agreements(made, std::make_shared<const BlockGraph>(made.graph), 0, seen, ignored);
    for (std::size_t h = 0; h < made.held.size(); ++h) {
      if (before[h].samples == 0) continue;
      std::vector<double>& error = scales_.errors[made.held[h].value.value];
      for (const double sum : before[h].error) error.push_back(sum / before[h].samples);
    }
    Result<LoweredGraph> better = lowered();
    if (better) {
      const Agreements after = agreements(*better, std::make_shared<const BlockGraph>(better->graph), 0, seen, ignored);
      if (noise_of_outputs(*better, after) < noise_of_outputs(made, before)) return reported(*std::move(better));
    }
    scales_.errors.clear();
    return reported(std::move(made));
  }

  Result<Quantized> reported(LoweredGraph made) {
    Quantized result;
    result.graph = std::make_shared<const BlockGraph>(made.graph);
    std::size_t begin = calibrated_;
    result.holds_back = begin < input_.samples.size();
    if (!result.holds_back) begin = 0;
    Accuracy right;
    const Agreements sums = agreements(made, result.graph, begin, input_.samples.size(), right);
    result.calibrated = calibrated_;
    result.compared = input_.samples.size() - begin;
    for (std::size_t i = 0; i < made.inputs.size(); ++i) add_input_row(result, made.inputs[i], i, begin);
    for (std::size_t h = 0; h < made.held.size(); ++h) {
      if (!made.held[h].is_whole) continue;
      const auto layer =
          std::ranges::find_if(made.layers, [&](const LoweredLayer& l) { return l.value == made.held[h].value; });
      result.layers.push_back({(*result.graph)[made.held[h].block].name, made.held[h].port.scale,
                               layer == made.layers.end() ? -2 : layer->cut, 127 / made.held[h].port.scale,
                               sums[h].saturated / std::max(1.0, sums[h].count), sums[h].decibels()});
    }
    for (std::size_t o = 0; o < made.outputs.size(); ++o) {
      const Agreement& sum = sums[made.held.size() + o];
      result.layers.push_back({made.outputs[o].name, made.outputs[o].scale, -2, 0, 0, sum.decibels()});
    }
    if (!input_.labels.empty()) {
      const auto count = static_cast<double>(result.compared);
      result.float_accuracy = right.floats / count, result.block_accuracy = right.blocks / count;
    }
    result.lowered = std::move(made);
    result.lowered.notes.insert(result.lowered.notes.begin(), notes_.begin(), notes_.end());
    result.list = list_;
    return result;
  }

  void add_input_row(Quantized& result, const LoweredPort& port, std::size_t input, std::size_t begin) const {
    Agreement sum;
    for (std::size_t k = begin; k < input_.samples.size(); ++k)
      compare(sum, port, input_.samples[k][input], to_block(port, input_.samples[k][input]));
    result.layers.push_back(
        {port.name, port.scale, -2, 127 / port.scale, sum.saturated / std::max(1.0, sum.count), sum.decibels()});
  }

  const OpList& list_;
  const OwnScales& own_;
  const QuantizeInput& input_;
  FloatRun floats_;
  ScalePlan scales_;
  std::map<std::uint32_t, double> ranges_;
  std::size_t calibrated_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

Result<Quantized> quantize(const OpList& list, const QuantizeInput& input) {
  Diags diags;
  if (input.samples.empty()) {
    diags.error("E4011", {}, "quantisation needs samples, and there are none").help("give some tens of typical inputs");
    return diags;
  }
  try {
    const OwnScales own = take_own_scales(as_real_numbers(list, input.known), input.known);
    return Quantizer(own, input).run();
  } catch (const Error& error) {
    return error.diags();
  }
}

std::string Quantized::text() const {
  std::size_t width = 5;
  for (const QuantizedLayer& layer : layers) width = std::max(width, layer.name.size());
  std::string all = fmt::format("{:<{}}  {:>10}  {:>6}  {:>8}  {:>9}  {:>8}\n", "layer", width, "S", "cut", "range",
                                "saturated", "SNR");
  for (const QuantizedLayer& layer : layers) {
    const std::string cut = layer.cut >= 0 ? fmt::format("4^{}", layer.cut) : layer.cut == -1 ? "table" : "none";
    const bool is_wide = layer.range == 0;  // an output of 32 bits
    all += fmt::format("{:<{}}  {:>10.4g}  {:>6}  {:>8}  {:>9}  {:>5.1f} dB\n", layer.name, width, layer.scale, cut,
                       is_wide ? "" : fmt::format("{:.4g}", layer.range),
                       is_wide ? "" : fmt::format("{:.2f} %", 100 * layer.saturated), layer.snr);
  }
  all += plural(calibrated, "sample");
  all += holds_back ? fmt::format(" for the ranges, {} others for the comparison\n", compared)
                    : std::string(" for the ranges, and the same for the comparison\n");
  for (const std::string& note : lowered.notes) all += note + "\n";
  if (float_accuracy)
    all += fmt::format("right: {:.2f} % with floats, {:.2f} % with blocks\n", 100 * *float_accuracy,
                       100 * *block_accuracy);
  return all;
}

}  // namespace taskspec
