// oneDNN's convolution of bytes to 32-bit sums: the twin that our own loops are held to, in a test and in `bench
// exact`. Null in a build without oneDNN.
//
//   auto twin = dense_bytes({.rows = 56, .columns = 56, .channels = 64, .outputs = 64, .kernel = 3, .pad = 1},
//   weights); twin->run(image, sums);                    // image [rows, columns, channels], sums [rows, columns,
//   outputs]
#pragma once
#include <cstdint>
#include <memory>

namespace taskspec {

struct DenseBytesShape {
  std::int64_t rows = 1, columns = 1, channels = 1, outputs = 1, kernel = 1, pad = 0;  // stride 1
  std::int64_t out_rows() const { return rows + 2 * pad - kernel + 1; }
  std::int64_t out_columns() const { return columns + 2 * pad - kernel + 1; }
};

class DenseBytes {
 public:
  virtual ~DenseBytes() = default;
  virtual void run(const std::int8_t* image, std::int32_t* sums) = 0;
};

// Weights [outputs, channels, kernel, kernel], rearranged once.
std::unique_ptr<DenseBytes> dense_bytes(const DenseBytesShape& shape, const std::int8_t* weights);

}  // namespace taskspec
