#include "ir/blocks/connections.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace taskspec {

namespace {

// The matrix as plain numbers.
struct Connections {
  std::int64_t outputs, inputs;
  std::vector<char> ones;

  explicit Connections(const Array& matrix)
      : outputs(matrix.type().extents.at(0)), inputs(matrix.type().extents.at(1)) {
    for (std::int64_t i = 0; i < matrix.elements(); ++i) ones.push_back(matrix.integer(i) != 0);
  }
  bool at(std::int64_t output, std::int64_t input) const {
    return ones[static_cast<std::size_t>(output * inputs + input)] != 0;
  }
};

double density_of(const Connections& c, const ConnectionOrder& order, const ConnectionBlocks& blocks) {
  std::int64_t ones = 0, places = 0;
  for (std::int64_t top = 0; top < c.outputs; top += blocks.outputs)
    for (std::int64_t left = 0; left < c.inputs; left += blocks.inputs) {
      const std::int64_t bottom = std::min(top + blocks.outputs, c.outputs);
      const std::int64_t right = std::min(left + blocks.inputs, c.inputs);
      std::int64_t found = 0;
      for (std::int64_t f = top; f < bottom; ++f)
        for (std::int64_t r = left; r < right; ++r)
          found += c.at(order.outputs[static_cast<std::size_t>(f)], order.inputs[static_cast<std::size_t>(r)]) ? 1 : 0;
      ones += found;
      if (found > 0) places += (bottom - top) * (right - left);
    }
  return places == 0 ? 1 : static_cast<double>(ones) / static_cast<double>(places);
}

ConnectionOrder as_it_is(const Connections& c) {
  ConnectionOrder order;
  order.outputs.resize(static_cast<std::size_t>(c.outputs));
  order.inputs.resize(static_cast<std::size_t>(c.inputs));
  std::iota(order.outputs.begin(), order.outputs.end(), 0);
  std::iota(order.inputs.begin(), order.inputs.end(), 0);
  return order;
}

// Block by block: the open output with the most connections, then those that share most with the block and add least.
std::vector<std::int64_t> outputs_together(const Connections& c, std::int64_t block) {
  std::vector<std::int64_t> open(static_cast<std::size_t>(c.outputs)), order;
  std::iota(open.begin(), open.end(), 0);
  std::vector<char> read(static_cast<std::size_t>(c.inputs));
  while (!open.empty()) {
    if (static_cast<std::int64_t>(order.size()) % block == 0) std::ranges::fill(read, 0);
    std::size_t best = 0;
    std::int64_t most = INT64_MIN;
    for (std::size_t k = 0; k < open.size(); ++k) {
      std::int64_t shared = 0, added = 0;
      for (std::int64_t r = 0; r < c.inputs; ++r) {
        if (!c.at(open[k], r)) continue;
        (read[static_cast<std::size_t>(r)] != 0 ? shared : added) += 1;
      }
      const bool is_first = static_cast<std::int64_t>(order.size()) % block == 0;
      const std::int64_t value = is_first ? added : shared - added;
      if (value > most) most = value, best = k;
    }
    for (std::int64_t r = 0; r < c.inputs; ++r)
      if (c.at(open[best], r)) read[static_cast<std::size_t>(r)] = 1;
    order.push_back(open[best]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return order;
}

// Those that the same blocks of outputs read stand together: sorted by which blocks these are.
std::vector<std::int64_t> inputs_together(const Connections& c, const std::vector<std::int64_t>& outputs,
                                          std::int64_t block) {
  std::vector<std::vector<char>> read_by(static_cast<std::size_t>(c.inputs));
  for (std::int64_t r = 0; r < c.inputs; ++r) {
    std::vector<char>& blocks = read_by[static_cast<std::size_t>(r)];
    blocks.resize(static_cast<std::size_t>((c.outputs + block - 1) / block));
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (c.at(outputs[k], r)) blocks[k / static_cast<std::size_t>(block)] = 1;
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(c.inputs));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return read_by[static_cast<std::size_t>(a)] > read_by[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace

double block_density(const Array& connections, const ConnectionBlocks& blocks) {
  const Connections c(connections);
  return density_of(c, as_it_is(c), blocks);
}

ConnectionOrder dense_order(const Array& connections, const ConnectionBlocks& blocks) {
  const Connections c(connections);
  ConnectionOrder best = as_it_is(c), found;
  best.density = density_of(c, best, blocks);
  found.outputs = outputs_together(c, blocks.outputs);
  found.inputs = inputs_together(c, found.outputs, blocks.outputs);
  found.density = density_of(c, found, blocks);
  return found.density > best.density ? found : best;
}

Array reordered(const Array& matrix, const ConnectionOrder& order) {
  Array made = Array::make(matrix.type());
  const std::size_t element = info(matrix.precision()).bytes, inputs = order.inputs.size();
  for (std::size_t f = 0; f < order.outputs.size(); ++f)
    for (std::size_t r = 0; r < inputs; ++r)
      std::memcpy(made.raw() + (f * inputs + r) * element,
                  matrix.raw() + (static_cast<std::size_t>(order.outputs[f]) * inputs +
                                  static_cast<std::size_t>(order.inputs[r])) *
                                     element,
                  element);
  return made;
}

}  // namespace taskspec
