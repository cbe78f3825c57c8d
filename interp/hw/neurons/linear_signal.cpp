#include "interp/hw/neurons/linear_signal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

std::int64_t count_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

auto place_of(const SignalTerm& t) { return std::tuple(t.source, t.element, t.delay); }

// Terms of one element, equal ones as one.
void add_element(LinearSignal& signal, std::vector<SignalTerm>& terms, double constant) {
  std::sort(terms.begin(), terms.end(),
            [](const SignalTerm& a, const SignalTerm& b) { return place_of(a) < place_of(b); });
  for (const SignalTerm& term : terms) {
    if (signal.terms.size() > signal.offsets.back() && place_of(signal.terms.back()) == place_of(term))
      signal.terms.back().weight += term.weight;
    else
      signal.terms.push_back(term);
  }
  signal.offsets.push_back(static_cast<std::uint32_t>(signal.terms.size()));
  signal.constants.push_back(constant);
  terms.clear();
}

// What an op makes of a tensor in place of the signal.
Array made_of(const OpInstance& call, std::size_t operand, const std::vector<Array>& contents,
              const std::vector<double>& numbers) {
  std::vector<Array> in = contents;
  in[operand] = Array::make(call.in[operand]);
  for (std::size_t i = 0; i < numbers.size(); ++i) in[operand].set_number(static_cast<std::int64_t>(i), numbers[i]);
  return evaluate(call, in)[0];
}

std::vector<double> numbers_of(const Array& array) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < array.elements(); ++i) numbers.push_back(array.number(i));
  return numbers;
}

// A factor that was found beside a number of some size, in the precision of the op: whole ones are meant so.
double meant(double factor, double beside) {
  const double whole = std::floor(factor + 0.5);
  return std::abs(factor - whole) < 1e-6 * (1 + std::abs(beside)) ? whole : factor;
}

// A function of single numbers: what it makes of 0, 1 and 2 tells.
std::optional<LinearSignal> applied_by_element(const OpInstance& call, std::size_t operand, const LinearSignal& signal,
                                               const std::vector<Array>& contents) {
  auto at = [&](double x) {
    return numbers_of(
        made_of(call, operand, contents, std::vector<double>(static_cast<std::size_t>(signal.elements()), x)));
  };
  const std::vector<double> none = at(0), one = at(1), two = at(2);
  LinearSignal made;
  made.extents = call.out[0].extents;
  std::vector<SignalTerm> terms;
  bool is_shift = true;
  for (std::size_t i = 0; i < none.size(); ++i) {
    const double factor = meant(one[i] - none[i], none[i]);
    if (std::abs(two[i] - none[i] - 2 * factor) > 1e-5 * (1 + std::abs(factor) + std::abs(none[i])))
      return std::nullopt;
    is_shift = is_shift && factor == 1;
    for (SignalTerm term : signal.of(static_cast<std::int64_t>(i))) {
      term.weight *= factor;
      if (term.weight != 0) terms.push_back(term);
    }
    add_element(made, terms, none[i] + factor * signal.constants[i]);
  }
  if (is_shift) made.kernel = signal.kernel;
  return made;
}

// Each element of the result is one of the operand, or none.
std::optional<LinearSignal> moved(const OpInstance& call, std::size_t operand, const LinearSignal& signal,
                                  const std::vector<Array>& contents) {
  std::vector<double> numbers(static_cast<std::size_t>(signal.elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i + 1);
  const Array places = made_of(call, operand, contents, numbers);
  const Array zeros = made_of(call, operand, contents, std::vector<double>(numbers.size(), 0));
  LinearSignal made;
  made.extents = call.out[0].extents;
  std::vector<SignalTerm> terms;
  bool is_same = places.elements() == signal.elements();
  for (std::int64_t i = 0; i < places.elements(); ++i) {
    if (zeros.number(i) != 0) return std::nullopt;
    const auto from = static_cast<std::int64_t>(places.number(i)) - 1;
    is_same = is_same && from == i;
    if (from >= 0) terms.assign(signal.of(from).begin(), signal.of(from).end());
    add_element(made, terms, from >= 0 ? signal.constants[static_cast<std::size_t>(from)] : 0);
  }
  if (is_same) made.kernel = signal.kernel;
  return made;
}

// Where the operand of that name stands; none: the op has none.
std::optional<std::size_t> operand_named(const OpDef& op, std::string_view name) {
  for (std::size_t k = 0; k < op.operands.size(); ++k)
    if (op.operands[k].name == name) return k;
  return std::nullopt;
}

// Whether its taps are the terms of the signal.
bool is_made_by(const LinearSignal& signal, const SignalKernel& kernel) {
  const std::int64_t c = kernel.in[0], rows = kernel.in[1], columns = kernel.in[2], f = kernel.out[0],
                     y = kernel.out[1], x = kernel.out[2];
  if (signal.elements() != f * y * x) return false;
  const ConvolutionSynapses& w = kernel.windows;
  double largest = 0;  // weights were found beside a bias, in the precision of the op
  for (const double weight : kernel.weights) largest = std::max(largest, std::abs(weight));
  for (const double constant : signal.constants) largest = std::max(largest, std::abs(constant));
  const double nothing = 1e-5 * largest;
  for (std::int64_t e = 0; e < signal.elements(); ++e) {
    std::size_t term = 0;
    const std::span<const SignalTerm> terms = signal.of(e);
    for (std::int64_t channel = 0; channel < c; ++channel)
      for (std::int64_t ky = 0; ky < w.ky; ++ky)
        for (std::int64_t kx = 0; kx < w.kx; ++kx) {
          const std::int64_t row = e / x % y * w.stride_y + ky * w.dilation_y - w.pad_y,
                             column = e % x * w.stride_x + kx * w.dilation_x - w.pad_x;
          if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
          const double weight =
              kernel.weights[static_cast<std::size_t>(((e / (y * x) * c + channel) * w.ky + ky) * w.kx + kx)];
          const bool is_there = term < terms.size() && terms[term].element == (channel * rows + row) * columns + column;
          if (std::abs((is_there ? terms[term].weight : 0) - weight) > nothing) return false;
          if (is_there) ++term;
        }
    if (term != terms.size()) return false;
  }
  return true;
}

// A convolution of whole images: an op with weights [f, c, ky, kx] and windows.
std::shared_ptr<const SignalKernel> kernel_of(const OpInstance& call, const LinearSignal& signal,
                                              const std::vector<Array>& contents, const LinearSignal& made) {
  std::vector<std::size_t> at;
  for (const std::string_view name : {"w", "stride", "pad", "dilation", "groups"}) {
    const std::optional<std::size_t> operand = operand_named(*call.op, name);
    if (!operand) return nullptr;
    at.push_back(*operand);
  }
  const std::optional<SignalTerm> source = plain_source(signal);
  const Extents &x = call.in[0].extents, &out = call.out[0].extents;
  if (!source || at[0] != 1 || x.size() != 4 || out.size() != 4 || x[0] != 1) return nullptr;
  if (!call.attributes[at[4]].is_integer() || call.attributes[at[4]].integer() != 1) return nullptr;
  const Extents& w = contents[1].extents();
  if (w.size() != 4) return nullptr;
  auto pair_of = [&](std::size_t operand) {
    const Value& value = call.attributes[operand];
    if (value.is_integer()) return std::array{value.integer(), value.integer()};
    return std::array{value.tuple().items[0].integer(), value.tuple().items[1].integer()};
  };
  const auto steps = pair_of(at[1]), pads = pair_of(at[2]), apart = pair_of(at[3]);
  auto narrow = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  auto kernel = std::make_shared<SignalKernel>();
  kernel->source = source->source, kernel->delay = source->delay;
  kernel->windows = {narrow(w[2]),     narrow(w[3]),     narrow(steps[0]),
                     narrow(steps[1]), narrow(pads[0]),  narrow(pads[1]),
                     narrow(apart[0]), narrow(apart[1]), {}};
  kernel->in = {x[1], x[2], x[3]}, kernel->out = {out[1], out[2], out[3]}, kernel->weights_of = w;
  kernel->weights = numbers_of(contents[1]);
  return is_made_by(made, *kernel) ? kernel : nullptr;
}

// Any other op: what it makes of each element alone; then whether that tells all.
std::optional<LinearSignal> applied_to_all(const OpInstance& call, std::size_t operand, const LinearSignal& signal,
                                           const std::vector<Array>& contents) {
  constexpr std::int64_t most = std::int64_t{1} << 32;  // numbers to look at
  const std::int64_t inputs = signal.elements(), outputs = count_of(call.out[0].extents);
  if (inputs * outputs > most) return std::nullopt;
  const std::vector<double> none(static_cast<std::size_t>(inputs), 0);
  const std::vector<double> constants = numbers_of(made_of(call, operand, contents, none));
  std::vector<std::vector<std::pair<std::uint32_t, double>>> rows(static_cast<std::size_t>(outputs));
  std::vector<double> probe(none), told = constants;
  for (std::uint32_t e = 0; e < inputs; ++e) probe[e] = e % 7 + 1;
  const std::vector<double> all = numbers_of(made_of(call, operand, contents, probe));
  std::vector<double> one(none);
  for (std::uint32_t e = 0; e < inputs; ++e) {
    one[e] = 1;
    const Array column = made_of(call, operand, contents, one);
    one[e] = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const double weight = column.number(static_cast<std::int64_t>(j)) - constants[j];
      if (weight == 0) continue;
      rows[j].emplace_back(e, weight);
      told[j] += weight * probe[e];
    }
  }
  // What is that small comes from the way that a kernel takes, as of convolutions.
  double largest = 0;
  for (const auto& row : rows)
    for (const auto& [e, weight] : row) largest = std::max(largest, std::abs(weight));
  for (auto& row : rows) std::erase_if(row, [&](const auto& one) { return std::abs(one.second) < 2e-6 * largest; });
  for (std::size_t j = 0; j < told.size(); ++j)
    if (!(std::abs(told[j] - all[j]) <= 1e-4 * (1 + std::abs(all[j])))) return std::nullopt;
  LinearSignal made;
  made.extents = call.out[0].extents;
  std::vector<SignalTerm> terms;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    double constant = constants[j];
    for (const auto& [e, weight] : rows[j]) {
      constant += weight * signal.constants[e];
      for (SignalTerm term : signal.of(e)) {
        term.weight *= weight;
        terms.push_back(term);
      }
    }
    add_element(made, terms, constant);
  }
  return made;
}

// A matrix that is known times a vector: its rows are the sums.
LinearSignal multiplied(const OpInstance& call, const LinearSignal& signal, const Array& matrix) {
  LinearSignal made;
  made.extents = call.out[0].extents;
  std::vector<SignalTerm> terms;
  const std::int64_t columns = signal.elements();
  for (std::int64_t row = 0; row < call.out[0].extents[0]; ++row) {
    double constant = 0;
    for (std::int64_t e = 0; e < columns; ++e) {
      const double weight = matrix.number(row * columns + e);
      if (weight == 0) continue;
      constant += weight * signal.constants[static_cast<std::size_t>(e)];
      for (SignalTerm term : signal.of(e)) {
        term.weight *= weight;
        terms.push_back(term);
      }
    }
    add_element(made, terms, constant);
  }
  return made;
}

}  // namespace

LinearSignal spikes_of(std::uint32_t source, const Extents& extents) {
  LinearSignal made;
  made.extents = extents;
  std::vector<SignalTerm> terms;
  for (std::int32_t e = 0; e < count_of(extents); ++e) {
    terms.push_back({source, e, 0, 1});
    add_element(made, terms, 0);
  }
  return made;
}

LinearSignal constant_signal(const Array& numbers) {
  LinearSignal made;
  made.extents = numbers.extents();
  std::vector<SignalTerm> none;
  for (std::int64_t i = 0; i < numbers.elements(); ++i) add_element(made, none, numbers.number(i));
  return made;
}

LinearSignal late(LinearSignal signal, std::int32_t steps) {
  return late(std::move(signal), std::vector<std::int32_t>(signal.constants.size(), steps));
}

LinearSignal late(LinearSignal signal, const std::vector<std::int32_t>& steps) {
  const bool is_even = std::ranges::all_of(steps, [&](std::int32_t s) { return s == steps[0]; });
  for (std::size_t e = 0; e < steps.size(); ++e)
    for (std::uint32_t i = signal.offsets[e]; i < signal.offsets[e + 1]; ++i) signal.terms[i].delay += steps[e];
  if (signal.kernel && is_even) {
    auto kernel = std::make_shared<SignalKernel>(*signal.kernel);
    kernel->delay += steps[0];
    signal.kernel = std::move(kernel);
  } else {
    signal.kernel = nullptr;
  }
  return signal;
}

LinearSignal stacked(const std::vector<LinearSignal>& rows) {
  LinearSignal made;
  made.extents = rows[0].extents;
  made.extents.insert(made.extents.begin(), static_cast<std::int64_t>(rows.size()));
  std::vector<SignalTerm> terms;
  for (const LinearSignal& row : rows)
    for (std::int64_t e = 0; e < row.elements(); ++e) {
      terms.assign(row.of(e).begin(), row.of(e).end());
      add_element(made, terms, row.constants[static_cast<std::size_t>(e)]);
    }
  return made;
}

std::optional<SignalTerm> plain_spike(const LinearSignal& signal, std::int64_t element) {
  const std::span<const SignalTerm> terms = signal.of(element);
  if (terms.size() != 1 || terms[0].weight != 1 || signal.constants[static_cast<std::size_t>(element)] != 0)
    return std::nullopt;
  return terms[0];
}

std::optional<SignalTerm> plain_source(const LinearSignal& signal) {
  std::optional<SignalTerm> first;
  for (std::int64_t e = 0; e < signal.elements(); ++e) {
    const std::optional<SignalTerm> one = plain_spike(signal, e);
    if (!one || one->element != e) return std::nullopt;
    if (!first) first = one;
    if (one->source != first->source || one->delay != first->delay) return std::nullopt;
  }
  return first;
}

std::optional<LinearSignal> applied(const OpInstance& call, std::size_t operand, const LinearSignal& signal,
                                    const std::vector<Array>& contents) {
  if (call.out.size() != 1) return std::nullopt;
  const std::int64_t outputs = count_of(call.out[0].extents);
  if (call.op->fusion == Fusion::movement) return moved(call, operand, signal, contents);
  if (call.op->fusion == Fusion::pointwise && outputs == signal.elements())
    return applied_by_element(call, operand, signal, contents);
  if (call.op->symbol == "@" && operand == 1 && call.in[0].extents.size() == 2 && call.in[1].extents.size() == 1)
    return multiplied(call, signal, contents[0]);
  std::optional<LinearSignal> made = applied_to_all(call, operand, signal, contents);
  if (made && operand == 0) made->kernel = kernel_of(call, signal, contents, *made);
  return made;
}

std::optional<LinearSignal> joined(const OpInstance& call, const LinearSignal& a, const LinearSignal& b) {
  if (call.in.size() != 2 || call.out.size() != 1 || a.extents != b.extents || call.op->fusion != Fusion::pointwise)
    return std::nullopt;
  auto at = [&](double x, double y) {
    std::vector<Array> in{Array::make(call.in[0]), Array::make(call.in[1])};
    for (std::int64_t e = 0; e < a.elements(); ++e) in[0].set_number(e, x), in[1].set_number(e, y);
    return numbers_of(evaluate(call, in)[0]);
  };
  const std::vector<double> none = at(0, 0), first = at(1, 0), second = at(0, 1), both = at(2, 3);
  LinearSignal made;
  made.extents = call.out[0].extents;
  std::vector<SignalTerm> terms;
  if (none.size() != a.constants.size()) return std::nullopt;
  for (std::size_t i = 0; i < none.size(); ++i) {
    const double of_a = meant(first[i] - none[i], none[i]), of_b = meant(second[i] - none[i], none[i]);
    if (std::abs(both[i] - none[i] - 2 * of_a - 3 * of_b) > 1e-5 * (1 + std::abs(none[i]))) return std::nullopt;
    for (const auto& [signal, factor] : {std::pair(&a, of_a), std::pair(&b, of_b)})
      for (SignalTerm term : signal->of(static_cast<std::int64_t>(i))) {
        term.weight *= factor;
        terms.push_back(term);
      }
    add_element(made, terms, none[i] + of_a * a.constants[i] + of_b * b.constants[i]);
  }
  return made;
}

}  // namespace taskspec
