#include "bench/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bench/exact_graphs.hpp"
#include "bench/exact_limits.hpp"
#include "bench/exact_onnxruntime.hpp"
#include "bench/task_ir_text.hpp"
#include "interp/exact/engine.hpp"
#include "stdlib/kernels/dense_bytes.hpp"
#include "stdlib/kernels/integer_dots.hpp"

namespace taskspec::bench {

void plain_convolution(const std::int8_t* image, const std::int8_t* weights, const std::int32_t* bias,
                       std::int32_t* out) {
  constexpr std::int64_t n = 56, c = 64, k = 3;
  for (std::int64_t y = 0; y < n; ++y)
    for (std::int64_t x = 0; x < n; ++x)
      for (std::int64_t f = 0; f < c; ++f) {
        std::int64_t sum = bias[f];
        for (std::int64_t r = 0; r < c; ++r)
          for (std::int64_t ky = 0; ky < k; ++ky)
            for (std::int64_t kx = 0; kx < k; ++kx) {
              const std::int64_t row = y + ky - 1, column = x + kx - 1;
              if (row < 0 || row >= n || column < 0 || column >= n) continue;
              sum += std::int64_t{image[(row * n + column) * c + r]} * weights[((f * c + r) * k + ky) * k + kx];
              sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
            }
        out[(y * n + x) * c + f] = static_cast<std::int32_t>(sum);
      }
}

namespace {

constexpr DenseBytesShape layer{.rows = 56, .columns = 56, .channels = 64, .outputs = 64, .kernel = 3, .pad = 1};
constexpr std::int64_t look_ups = 1 << 15;  // that a core's caches hold
constexpr double layer_work = 56.0 * 56 * 64 * 64 * 9, lenet_work = 416'520;

struct ExactSubject {
  std::string name;
  std::function<Sample()> sample;
  double work = 0;  // multiply-adds or look-ups
  Repeats times = {};
};

// Of one call, as the mean of `turns` that follow one another: what takes microseconds is measured with its own data in
// the caches, not with those of the subject before it.
template <class F>
std::function<Sample()> sample_of(F run, int turns = 1) {
  return [=] {
    const Sample all = measure([&] {
      for (int i = 0; i < turns; ++i) run();
    });
    return Sample{all.wall / turns, all.cpu / turns};
  };
}

// The engine on one graph, ready to be run.
class Ready {
 public:
  Ready(const std::shared_ptr<const BlockGraph>& graph, const ExactOptions& options)
      : engine_(ExactEngine::make(graph, options).value_or_throw()) {
    std::uint64_t seed = 5;
    for (const ArrayType& type : engine_.input_types()) {
      Array input = random_bytes(type.extents, seed++);
      if (type.precision == Precision::i32) {
        Array wide = Array::make(type);
        for (std::int64_t i = 0; i < input.elements(); ++i) wide.set_integer(i, input.integer(i) * 300);
        input = wide;
      }
      inputs_.push_back(input);
    }
    for (const ArrayType& type : engine_.output_types()) outputs_.push_back(Array::make(type));
  }
  void run() { engine_.run(inputs_, outputs_); }
  std::vector<Array>& inputs() { return inputs_; }
  const Array& output() const { return outputs_[0]; }
  bool was_ordered() const { return engine_.report().total().ordered_steps > 0; }

 private:
  ExactEngine engine_;
  std::vector<Array> inputs_, outputs_;
};

// The inner loop alone, on data in the first cache: what the engine could reach at most.
class InnerLoop {
 public:
  explicit InnerLoop(const DotSet& set) : set_(set), input_(16'384), weights_(16'384), start_(64), out_(64 * 64) {
    for (std::int32_t p = 0; p < 48; ++p) pixels_.push_back(p * 64);
    for (std::int64_t g = 0; g < depth / set.group; ++g) groups_.push_back(static_cast<std::int32_t>(g * set.group));
    task_ = {.input = input_.data(),
             .pixels = pixels_.data(),
             .pixel_count = 48,
             .groups = groups_.data(),
             .group_count = depth / set.group,
             .weights = weights_.data(),
             .start = start_.data(),
             .out = out_.data(),
             .outputs = set.block()};
  }
  void run() {
    for (int i = 0; i < 200; ++i) set_.run(task_);
  }
  double work() const { return 200.0 * 48 * static_cast<double>(depth * set_.block()); }

 private:
  static constexpr std::int64_t depth = 256;
  const DotSet& set_;
  std::vector<std::byte> input_, weights_;
  std::vector<std::int32_t> pixels_, groups_, start_, out_;
  DotTask task_;
};

void measure_in_turns(std::vector<ExactSubject>& subjects, int repeats) {
  for (ExactSubject& subject : subjects) subject.sample();
  for (int i = 0; i < repeats; ++i)
    for (ExactSubject& subject : subjects) subject.times.add(subject.sample());
}

double rate(const ExactSubject& subject) { return subject.work / subject.times.min_cpu() / 1e9; }

std::vector<std::string> row(const ExactSubject& subject, double peer, const std::string& bar) {
  return {subject.name,
          fmt::format("{:.3f}", subject.times.min_wall() * 1e3),
          fmt::format("{:.3f}", subject.times.median_wall() * 1e3),
          fmt::format("{:.2f}", rate(subject)),
          fmt::format("{:.2f}", rate(subject) / peer),
          bar};
}

std::string verdict(bool held, const std::string& bar) { return bar + (held ? ": held" : ": MISSED"); }

}  // namespace

int exact(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  const DotSet& set = best_dot_set(true);
  fmt::print("exact integers, one thread; inner loops: {}; rates by CPU time, at the minimum of {} turns\n", set.name,
             repeats);
  const Array weights = random_bytes({64, 64, 3, 3}, 1), bias = Array::make({Precision::i32, {64}});
  const std::shared_ptr<const BlockGraph> graph = convolution_graph(weights, bias);
  Ready fast(graph, {}), ordered(graph, {.force_ordered = true}), lenet(lenet_graph(), {});
  Ready bytes(table_graph(Precision::i8, 8, look_ups), {}), sums(table_graph(Precision::i32, 12, look_ups), {});
  std::vector<std::int32_t> plain_out(56 * 56 * 64), twin_out(plain_out.size());
  const std::int8_t* image = fast.inputs()[0].data<std::int8_t>().data();
  const std::unique_ptr<DenseBytes> twin = dense_bytes(layer, weights.data<std::int8_t>().data());
  InnerLoop inner(set);
  OnnxruntimeLenet peer;
  constexpr int turns = 100;
  std::vector<ExactSubject> subjects(8);
  subjects[0] = {"plain loop", sample_of([&] {
                   plain_convolution(image, weights.data<std::int8_t>().data(), bias.data<std::int32_t>().data(),
                                     plain_out.data());
                 }),
                 layer_work};
  subjects[1] = {"conv 56x56x64 -> 64, 3x3", sample_of([&] { fast.run(); }, 4), layer_work};
  subjects[2] = {"the same in order", sample_of([&] { ordered.run(); }), layer_work};
  subjects[3] = {"oneDNN, s8 s8 s32",
                 sample_of(
                     [&] {
                       if (twin) twin->run(image, twin_out.data());
                     },
                     4),
                 twin ? layer_work : 0};
  subjects[4] = {"inner loop alone", sample_of([&] { inner.run(); }), inner.work()};
  subjects[5] = {"LeNet, 32 x 32", sample_of([&] { lenet.run(); }, turns), lenet_work};
  subjects[6] = {"CLUT i8, 256 entries", sample_of([&] { bytes.run(); }, turns), look_ups};
  subjects[7] = {"CLUT i32, 4096 entries", sample_of([&] { sums.run(); }, turns), look_ups};
  if (peer.there()) subjects.push_back({"LeNet, onnxruntime", [&] { return peer.pass(turns); }, lenet_work});
  measure_in_turns(subjects, repeats);
  const auto same = [&](const std::vector<std::int32_t>& other) {
    const auto ours = fast.output().data<std::int32_t>();
    return std::equal(ours.begin(), ours.end(), other.begin());
  };
  fmt::print("sums equal: plain loop {}, in order {}, oneDNN {}; proofs held: conv {}, LeNet {}\n", same(plain_out),
             std::equal(ordered.output().data<std::int32_t>().begin(), ordered.output().data<std::int32_t>().end(),
                        plain_out.begin()),
             twin ? fmt::format("{}", same(twin_out)) : "not built", !fast.was_ordered(), !lenet.was_ordered());
  fmt::print("peer of LeNet: {}\n",
             peer.there() ? "onnxruntime " + peer.version() + ", bytes, one thread, in a Node process"
                          : "skipped: no Node finds onnxruntime-node (npm install --ignore-scripts onnxruntime-node)");
  const double plain = rate(subjects[0]), limit = rate(subjects[4]), vnni = vnni_rate() / 1e9;
  Table table({"what", "min ms", "median ms", "G/s", "ratio to", "peer and bar"});
  table.add(row(subjects[0], plain, "itself"));
  table.add(row(subjects[1], 20, verdict(rate(subjects[1]) >= 20, "20 G multiply-adds/s; bar 1")));
  table.add(row(subjects[1], twin ? rate(subjects[3]) : 1, "oneDNN"));
  table.add(row(subjects[1], limit, "inner loop alone"));
  table.add(row(subjects[2], plain, verdict(rate(subjects[2]) >= 5 * plain, "plain loop; bar 5")));
  table.add(row(subjects[3], limit, "inner loop alone"));
  const std::string registers = fmt::format("VNNI in registers, {:.0f} G/s here", vnni);
  if (vnni > 0) table.add(row(subjects[4], vnni, registers));
  table.add(row(subjects[5], 20, verdict(rate(subjects[5]) >= 20, "20 G multiply-adds/s; bar 1")));
  if (vnni > 0) table.add(row(subjects[5], vnni, registers));
  if (peer.there()) {
    table.add(row(subjects[5], rate(subjects[8]), "onnxruntime"));
    table.add(row(subjects[8], rate(subjects[8]), "itself"));
  }
  for (std::size_t i : {6U, 7U})
    table.add(row(subjects[i], 1, verdict(rate(subjects[i]) >= 1, "1 G look-ups/s; bar 1")));
  fmt::print("{}", table.text());
  task_ir_text(repeats);
  return 0;
}

}  // namespace taskspec::bench
