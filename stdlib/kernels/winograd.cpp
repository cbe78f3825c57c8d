#include "stdlib/kernels/winograd.hpp"

#include <algorithm>

#include "stdlib/kernels/scratch_slots.hpp"
#include "stdlib/kernels/winograd_loops.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t tiles_at_once = 64;  // so that all that is made of them stays in the second cache

const float* winograd_input(const KernelArgs& args, std::size_t i) {
  return reinterpret_cast<const float*>(args.in[i]);
}

// Images are taken apart into blocks of tiles: whole images, or some rows of tiles of one. Lanes take blocks in order,
// each in a room of its own.
class Winograd : public Kernel {
 protected:
  struct Plane {
    std::int64_t height = 0, width = 0;
    std::int64_t pixels() const { return height * width; }
  };
  // `out`: what tiles are cut from.
  Winograd(const ConvolutionPlan& plan, Plane out, std::int64_t most_lanes) : plan_(plan), out_(out) {
    down_ = (out.height + winograd_tile - 1) / winograd_tile;
    right_ = (out.width + winograd_tile - 1) / winograd_tile;
    images_ = std::clamp<std::int64_t>(tiles_at_once / (down_ * right_), 1, plan.batch);
    rows_ = std::clamp<std::int64_t>(tiles_at_once / right_, 1, down_);
    strips_ = images_ > 1 ? 1 : (down_ + rows_ - 1) / rows_;
    if (images_ > 1) rows_ = down_;
    blocks_ = images_ > 1 ? (plan.batch + images_ - 1) / images_ : plan.batch * strips_;
    lanes_ = std::min(lane_count(most_lanes, plan.operations()), blocks_);
    tiles_ = lines(images_ * rows_ * right_);  // whole blocks of a product
  }

  // Elements from one of the 36 places to the next. A row more: else all of them share few lines of the first cache.
  std::int64_t step(std::int64_t channels) const { return (tiles_ + 1) * channels; }
  std::int64_t places(std::int64_t channels) const { return winograd_places * step(channels); }
  Tiles shape(std::int64_t channels, std::int64_t line) const { return {rows_, right_, channels, line}; }
  // Of the images of a block with so many pixels beyond the results of its tiles.
  std::int64_t part_pixels(std::int64_t around) const {
    return (winograd_tile * rows_ + around) * (winograd_tile * right_ + around);
  }
  ImagePart part(std::int64_t strip, std::int64_t channels, Plane image, std::int64_t before,
                 std::int64_t around) const {
    return {channels,
            image.height,
            image.width,
            winograd_tile * rows_ * strip - before,
            winograd_tile * rows_ + around,
            winograd_tile * right_ + around,
            before};
  }

  // f(image, strip, tiles before it in the block)
  template <class F>
  void each_image(std::int64_t block, F&& f) const {
    if (strips_ > 1) return f(block / strips_, block % strips_, std::int64_t{0});
    const std::int64_t first = block * images_, end = std::min(first + images_, plan_.batch);
    for (std::int64_t image = first; image < end; ++image) f(image, std::int64_t{0}, (image - first) * rows_ * right_);
  }
  // Asks for a share of what the block behind this one will read, so that it comes while products are computed.
  void fetch_ahead(const float* images, std::int64_t elements, std::int64_t block, std::int64_t place) const {
    if (strips_ > 1) return;
    constexpr std::int64_t line = 16;
    const std::int64_t first = std::min((block + 1) * images_, plan_.batch) * elements,
                       end = std::min((block + 2) * images_, plan_.batch) * elements;
    const std::int64_t from = first + (end - first) * place / winograd_places,
                       to = first + (end - first) * (place + 1) / winograd_places;
    for (std::int64_t i = from; i < to; i += line) __builtin_prefetch(images + i, 0, 2);
  }
  // f(lane, its room, first block, the one behind the last)
  template <class F>
  void each_lane(const KernelArgs& args, F&& f) const {
    ScratchSlots rooms(lanes_);
    args.parallel.for_each(lanes_, 1, [&](std::int64_t begin, std::int64_t end) {
      rooms.with([&](std::int64_t room) {
        for (std::int64_t lane = begin; lane < end; ++lane)
          f(lane, room, blocks_ * lane / lanes_, blocks_ * (lane + 1) / lanes_);
      });
    });
  }
  static std::int64_t lines(std::int64_t elements) { return (elements + 15) / 16 * 16; }

  const ConvolutionPlan plan_;
  const Plane out_;
  std::int64_t down_, right_;            // tiles of an image
  std::int64_t images_, rows_, strips_;  // images of a block; rows of tiles of each; blocks of an image
  std::int64_t blocks_, lanes_, tiles_;
};

// The result by x, w and the bias, or the gradient by the images: a convolution of that of the result with turned w.
class WinogradConvolution final : public Winograd {
 public:
  WinogradConvolution(const ConvolutionPlan& plan, bool forward)
      : Winograd(plan, forward ? of(plan.windows.out) : of(plan.windows.image), 16),
        forward_(forward),
        in_(forward ? of(plan.windows.image) : of(plan.windows.out)),
        pad_(forward ? plan.windows.pad[0] : 2 - plan.windows.pad[0]),
        read_(forward ? plan.channels : plan.outputs),
        made_(forward ? plan.outputs : plan.channels) {}

  std::size_t scratch_bytes() const override {
    return sizeof(float) * static_cast<std::size_t>(shared() + lanes_ * lane_elements());
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    float *weights = reinterpret_cast<float*>(args.scratch), *first = weights + shared();
    weights_to_places(plan_.outputs, plan_.channels, !forward_, winograd_input(args, 1), first, weights);
    each_lane(args, [&](std::int64_t, std::int64_t room, std::int64_t begin, std::int64_t end) {
      float* own = first + room * lane_elements();
      for (std::int64_t block = begin; block < end; ++block) convolve(args, block, weights, own);
    });
    return std::nullopt;
  }

 private:
  static Plane of(const Pair& extents) { return {extents[0], extents[1]}; }
  std::int64_t shared() const { return winograd_places * read_ * made_; }
  // Weights are turned in the room of the lanes, before those are at work.
  std::int64_t lane_elements() const {
    const std::int64_t own =
        places(read_) + places(made_) + lines(std::max(part_pixels(2) * read_, part_pixels(0) * made_));
    return std::max(own, (forward_ ? 9 : 9 + winograd_places) * read_ * made_);
  }

  void convolve(const KernelArgs& args, std::int64_t block, const float* weights, float* own) const {
    float *from = own, *to = from + places(read_), *pixels = to + places(made_);
    const std::int64_t line = winograd_tile * right_;
    std::int64_t there = 0;  // tiles
    each_image(block, [&](std::int64_t image, std::int64_t strip, std::int64_t tile) {
      channels_last(part(strip, read_, in_, pad_, 2), winograd_input(args, 0) + image * read_ * in_.pixels(), pixels);
      pixels_to_places(shape(read_, line + 2), pixels, from + tile * read_, step(read_));
      there = tile + rows_ * right_;
    });
    for (std::int64_t place = 0; place < winograd_places; ++place) {
      fetch_ahead(winograd_input(args, 0), read_ * in_.pixels(), block, place);
      place_product({lines(there), read_, made_}, from + place * step(read_), weights + place * read_ * made_,
                    to + place * step(made_));
    }
    const float* bias = forward_ && plan_.bias ? winograd_input(args, 2) : nullptr;
    each_image(block, [&](std::int64_t image, std::int64_t strip, std::int64_t tile) {
      places_to_results(shape(made_, line), to + tile * made_, step(made_), bias, pixels);
      channels_first(part(strip, made_, out_, 0, 0), pixels,
                     reinterpret_cast<float*>(args.out[0]) + image * made_ * out_.pixels());
    });
  }

  const bool forward_;
  const Plane in_;
  const std::int64_t pad_, read_, made_;  // channels of what is read, and of what is made
};

// By x and the gradient of the result. Each lane gives a part of the sum, and they are added in their order.
class WinogradWeightGradient final : public Winograd {
 public:
  explicit WinogradWeightGradient(const ConvolutionPlan& plan)
      : Winograd(plan, {plan.windows.out[0], plan.windows.out[1]}, 4) {}

  std::size_t scratch_bytes() const override {
    return sizeof(float) * static_cast<std::size_t>(lanes_ * (sum_elements() + work_elements()));
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    float* sums = reinterpret_cast<float*>(args.scratch);
    each_lane(args, [&](std::int64_t lane, std::int64_t room, std::int64_t begin, std::int64_t end) {
      float* sum = sums + lane * sum_elements();
      std::fill_n(sum, sum_elements(), 0.0F);
      float* work = sums + lanes_ * sum_elements() + room * work_elements();
      for (std::int64_t block = begin; block < end; ++block) add(args, block, work, sum);
    });
    for (std::int64_t lane = 1; lane < lanes_; ++lane)
      for (std::int64_t i = 0; i < sum_elements(); ++i) sums[i] += sums[lane * sum_elements() + i];
    places_to_weights(plan_.outputs, plan_.channels, sums, reinterpret_cast<float*>(args.out[0]));
    return std::nullopt;
  }

 private:
  std::int64_t sum_elements() const { return winograd_places * plan_.channels * plan_.outputs; }
  std::int64_t work_elements() const {
    return places(plan_.channels) + places(plan_.outputs) +
           lines(std::max(part_pixels(2) * plan_.channels, part_pixels(0) * plan_.outputs));
  }

  void add(const KernelArgs& args, std::int64_t block, float* work, float* sum) const {
    const Windows& w = plan_.windows;
    const Plane image_plane{w.image[0], w.image[1]};
    const std::int64_t channels = plan_.channels, outputs = plan_.outputs, line = winograd_tile * right_;
    float *x = work, *up = x + places(channels), *pixels = up + places(outputs);
    std::int64_t there = 0;  // tiles
    each_image(block, [&](std::int64_t image, std::int64_t strip, std::int64_t tile) {
      channels_last(part(strip, channels, image_plane, w.pad[0], 2),
                    winograd_input(args, 0) + image * channels * image_plane.pixels(), pixels);
      pixels_to_places(shape(channels, line + 2), pixels, x + tile * channels, step(channels));
      channels_last(part(strip, outputs, out_, 0, 0), winograd_input(args, 1) + image * outputs * out_.pixels(),
                    pixels);
      results_to_places(shape(outputs, line), pixels, up + tile * outputs, step(outputs));
      there = tile + rows_ * right_;
    });
    for (std::int64_t place = 0; place < winograd_places; ++place) {
      fetch_ahead(winograd_input(args, 0), channels * image_plane.pixels(), block, place);
      fetch_ahead(winograd_input(args, 1), outputs * out_.pixels(), block, place);
      add_turned_product({channels, there, outputs}, x + place * step(channels), up + place * step(outputs),
                         sum + place * channels * outputs);
    }
  }
};

}  // namespace

bool suits_winograd(const ConvolutionPlan& plan) {
  const Windows& w = plan.windows;
  const Pair one{1, 1};
  if (!has_winograd_loops() || w.kernel != Pair{3, 3} || w.stride != one || w.dilation != one || plan.groups != 1 ||
      plan.batch == 0 || w.pad[0] != w.pad[1] || w.pad[0] > 2)
    return false;
  if (plan.channels % 16 != 0 || plan.outputs % 16 != 0) return false;
  auto wasted = [](std::int64_t extent) { return (extent + 3) / 4 * 4 > extent + extent / 4; };
  return !wasted(w.out[0]) && !wasted(w.out[1]) && !wasted(w.image[0]) && !wasted(w.image[1]);
}

std::unique_ptr<Kernel> winograd_kernel(const ConvolutionPlan& plan, ConvolutionPart part) {
  if (part == ConvolutionPart::weight_gradient) return std::make_unique<WinogradWeightGradient>(plan);
  return std::make_unique<WinogradConvolution>(plan, part == ConvolutionPart::result);
}

}  // namespace taskspec
