// The exact engine beside oneDNN's convolution of bytes, with even weights: without VNNI oneDNN halves them, so that
// its sums of pairs fit 16 bits, and loses their last bit.
#include "stdlib/kernels/dense_bytes.hpp"

#include <doctest/doctest.h>

#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::dense_bytes_test {

TEST_CASE("convolutions are those of oneDNN [ir-loops]") {
  for (std::uint64_t seed : random_seeds(10, 100)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const DenseBytesShape s{.rows = between(random, 3, 9),
                            .columns = between(random, 3, 9),
                            .channels = between(random, 1, 20),
                            .outputs = between(random, 1, 40),
                            .kernel = between(random, 1, 3),
                            .pad = between(random, 0, 1)};
    const Array image = random_array(random, Precision::i8, {s.rows, s.columns, s.channels});
    Array weights = random_array(random, Precision::i8, {s.outputs, s.channels, s.kernel, s.kernel}, -60, 60);
    for (std::int8_t& w : weights.data<std::int8_t>()) w = static_cast<std::int8_t>(w * 2);
    const std::unique_ptr<DenseBytes> twin = dense_bytes(s, weights.data<std::int8_t>().data());
    if (!twin) {
      MESSAGE("skipped: built without oneDNN");
      return;
    }
    BlockCase c("CC",
                {.y = s.out_rows(),
                 .x = s.out_columns(),
                 .f = s.outputs,
                 .r = s.channels,
                 .ky = s.kernel,
                 .kx = s.kernel,
                 .iy = s.rows,
                 .ix = s.columns},
                Precision::i32);
    for (const char* pad : {"pad_up", "pad_down", "pad_left", "pad_right"}) c.set(pad, s.pad);
    c.feed(0, image, true);
    c.feed(1, weights);
    Array sums = Array::make({Precision::i32, {s.out_rows(), s.out_columns(), s.outputs}});
    twin->run(image.data<std::int8_t>().data(), sums.data<std::int32_t>().data());
    CHECK(integers_of(c.run({})) == integers_of(sums));
  }
}

}  // namespace taskspec::dense_bytes_test
