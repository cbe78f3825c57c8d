#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <vector>

#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/picture.hpp"

namespace taskspec {

namespace {

// What libpng said last. Plain memory: it is filled just before a longjmp.
struct PngComplaint {
  char text[160] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* complaint = static_cast<PngComplaint*>(png_get_error_ptr(png));
  std::snprintf(complaint->text, sizeof complaint->text, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}  // what libpng can repair is not worth a word

// libpng reports errors by longjmp, which skips destructors. So each call of it stands in a `step`
// without objects that have one; everything with a destructor lives outside.
template <class Step>
bool guarded(png_structp png, Step step) {
  if (setjmp(png_jmpbuf(png))) return false;
  step();
  return true;
}

class PngReader {
 public:
  explicit PngReader(const std::string& path) : file_(path) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw failure("E5008", {}, "no memory to read a png file");
    }
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  ArrayType header() {
    check(guarded(png_, [&] {
      png_init_io(png_, file_.stream());
      // Texts, profiles and the like are not needed, and a thousand packed ones would fill the memory.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);  // check_picture has the last word
      png_read_info(png_, info_);
    }));
    // All from the header alone: libpng takes memory for rows as soon as transforms are chosen.
    int color = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
    transparent_ = (color & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
    colourful_ = color & PNG_COLOR_MASK_COLOR;
    PictureSize size{png_get_image_height(png_, info_), png_get_image_width(png_, info_),
                     transparent_ ? 4
                     : colourful_ ? 3
                                  : 1};
    std::int64_t sample_bytes = depth == 16 ? 2 : 1;
    constexpr std::int64_t deflate = 1040;  // one byte of it gives at most 1032
    std::int64_t raw_bits = depth * png_get_channels(png_, info_), bits = size.channels * sample_bytes * 8;
    check_picture(file_, size, sample_bytes, static_cast<std::uint64_t>(deflate * bits / raw_bits));
    return {depth == 16 ? Precision::u16 : Precision::u8, {size.height, size.width, size.channels}};
  }

  Array picture() {
    Array array = Array::make(header());
    auto height = static_cast<std::size_t>(array.extents()[0]);
    std::size_t row_bytes = array.bytes() / height;
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = reinterpret_cast<png_bytep>(array.raw()) + y * row_bytes;
    check(guarded(png_, [&] {
      choose_transforms();
      if (png_get_rowbytes(png_, info_) != row_bytes) png_error(png_, "rows of another length than the header says");
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    }));
    return array;
  }

 private:
  // Every kind of png becomes grey, RGB or RGBA of 8 or 16 bits.
  void choose_transforms() {
    png_set_expand(png_);  // palettes, 1 to 4 bits, transparent colours
    if (transparent_ && !colourful_) png_set_gray_to_rgb(png_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }

  void check(bool done) {
    if (!done) throw file_.broken(fmt::format("libpng says '{}'", complaint_.text));
  }

  InputFile file_;
  PngComplaint complaint_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool transparent_ = false, colourful_ = false;
};

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      throw failure("E5008", {}, "no memory to write a png file");
    }
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  // The bytes belong to the writer.
  std::span<const png_byte> encoded(const PictureSize& size, int bit_depth, const std::uint8_t* pixels) {
    auto row_bytes = static_cast<std::size_t>(size.width * size.channels * (bit_depth / 8));
    int color = size.channels == 1   ? PNG_COLOR_TYPE_GRAY
                : size.channels == 3 ? PNG_COLOR_TYPE_RGB
                                     : PNG_COLOR_TYPE_RGB_ALPHA;
    bool done = guarded(png_, [&] {
      png_set_write_fn(png_, &bytes_, append, nullptr);
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(size.width), static_cast<png_uint_32>(size.height), bit_depth,
                   color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (bit_depth == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
      for (std::int64_t y = 0; y < size.height; ++y)
        png_write_row(png_, pixels + static_cast<std::size_t>(y) * row_bytes);
      png_write_end(png_, nullptr);
    });
    if (!done) throw failure("E5008", {}, fmt::format("cannot encode a png file: {}", complaint_.text));
    return bytes_;
  }

 private:
  static void append(png_structp png, png_bytep data, png_size_t length) {
    auto* bytes = static_cast<std::vector<png_byte>*>(png_get_io_ptr(png));
    bool grown = true;
    try {
      bytes->insert(bytes->end(), data, data + length);
    } catch (const std::bad_alloc&) {  // must not fly through the frames of a C library
      grown = false;
    }
    if (!grown) png_error(png, "no memory");
  }

  PngComplaint complaint_;
  std::vector<png_byte> bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

ArrayType probe_png(const std::string& path, const FileQuery&) { return PngReader(path).header(); }
Array load_png(const std::string& path, const FileQuery&) { return PngReader(path).picture(); }

void save_png(const Array& array, const std::string& path) {
  PictureSize size = picture_size(array, path, {1, 3, 4});
  bool wide = array.precision() == Precision::u16;
  if (!wide && array.precision() != Precision::u8 && array.precision() != Precision::boolean)
    throw not_a_picture(array, path, "a png file holds u8, u16 or bool");
  std::vector<std::uint8_t> room;
  const std::uint8_t* pixels = picture_bytes(array, room);
  PngWriter writer;
  write_whole(path, std::as_bytes(writer.encoded(size, wide ? 16 : 8, pixels)));
}

}  // namespace taskspec
