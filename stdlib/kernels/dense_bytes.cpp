#include "stdlib/kernels/dense_bytes.hpp"

#include <dnnl.hpp>

#include "stdlib/kernels/single_threaded.hpp"

namespace taskspec {

namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

class ByteTwin final : public DenseBytes {
 public:
  ByteTwin(const DenseBytesShape& s, const std::int8_t* weights)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    SingleThreaded guard;  // primitives keep the number of threads they were made with
    const dnnl::memory::desc image({1, s.channels, s.rows, s.columns}, Type::s8, Tag::nhwc);
    const dnnl::memory::desc stored({s.outputs, s.channels, s.kernel, s.kernel}, Type::s8, Tag::oihw);
    const dnnl::memory::desc arranged({s.outputs, s.channels, s.kernel, s.kernel}, Type::s8, Tag::any);
    const dnnl::memory::desc sums({1, s.outputs, s.out_rows(), s.out_columns()}, Type::s32, Tag::nhwc);
    const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                               image, arranged, sums, {1, 1}, {s.pad, s.pad}, {s.pad, s.pad});
    const dnnl::convolution_forward::primitive_desc made(what, engine_);
    convolution_ = dnnl::convolution_forward(made);
    image_ = dnnl::memory(image, engine_, nullptr);
    sums_ = dnnl::memory(sums, engine_, nullptr);
    weights_ = dnnl::memory(made.weights_desc(), engine_);
    dnnl::memory from(stored, engine_, const_cast<std::int8_t*>(weights));
    dnnl::reorder(from, weights_).execute(stream_, from, weights_);
    stream_.wait();
  }

  void run(const std::int8_t* image, std::int32_t* sums) override {
    SingleThreaded guard;
    image_.set_data_handle(const_cast<std::int8_t*>(image));
    sums_.set_data_handle(sums);
    convolution_.execute(stream_, {{DNNL_ARG_SRC, image_}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, sums_}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward convolution_;
  dnnl::memory image_, weights_, sums_;
};

}  // namespace

std::unique_ptr<DenseBytes> dense_bytes(const DenseBytesShape& shape, const std::int8_t* weights) {
  return std::make_unique<ByteTwin>(shape, weights);
}

}  // namespace taskspec
