#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

// These two want <cstdio> above them.
#include <jerror.h>
#include <jpeglib.h>

#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/picture.hpp"

namespace taskspec {

namespace {

constexpr int quality = 92;
constexpr int most_scans = 200;  // real progressive pictures have about ten; each costs a pass over all pixels

// libjpeg's error manager must be the first member: libjpeg hands back a pointer to it.
struct JpegComplaint {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto* complaint = reinterpret_cast<JpegComplaint*>(jpeg->err);
  jpeg->err->format_message(jpeg, complaint->text);
  std::longjmp(complaint->back, 1);
}

// libjpeg only warns about data that ends early or is damaged, and invents the rest. We do not.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  constexpr int harmless[] = {JWRN_EXTRANEOUS_DATA, JWRN_JFIF_MAJOR, JWRN_ADOBE_XFORM, JWRN_TOO_MUCH_DATA};
  if (std::find(std::begin(harmless), std::end(harmless), jpeg->err->msg_code) == std::end(harmless)) on_error(jpeg);
}

void on_progress(j_common_ptr jpeg) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (jpeg->is_decompressor && decoder->input_scan_number > most_scans) {
    jpeg->err->msg_code = JERR_BAD_PROGRESSION;
    on_error(jpeg);
  }
}

// Errors come by longjmp, which skips destructors: each call of libjpeg stands in a `step` without
// objects that have one; everything with a destructor lives outside.
template <class Step>
bool guarded(JpegComplaint& complaint, Step step) {
  if (setjmp(complaint.back)) return false;
  step();
  return true;
}

void prepare(JpegComplaint& complaint) {
  jpeg_std_error(&complaint.manager);
  complaint.manager.error_exit = on_error;
  complaint.manager.emit_message = on_message;
  complaint.text[0] = '\0';
}

class JpegReader {
 public:
  explicit JpegReader(const std::string& path) : file_(path) {
    prepare(complaint_);
    jpeg_.err = &complaint_.manager;
    progress_.progress_monitor = on_progress;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }

  ArrayType header() {
    check(guarded(complaint_, [&] {
      jpeg_create_decompress(&jpeg_);
      jpeg_.progress = &progress_;
      jpeg_stdio_src(&jpeg_, file_.stream());
      jpeg_read_header(&jpeg_, TRUE);
    }));
    if (jpeg_.num_components != 1 && jpeg_.num_components != 3)
      throw unreadable(file_.path(),
                       fmt::format("has {} colour components (CMYK?); supported are 1 and 3", jpeg_.num_components));
    jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    PictureSize size{jpeg_.image_height, jpeg_.image_width, jpeg_.num_components};
    // Huffman codes take at least a bit for each block of 64 pixels; arithmetic ones may take less.
    std::uint64_t per_byte = jpeg_.arith_code ? UINT64_MAX : std::uint64_t{8 * 64 * 3};
    check_picture(file_, size, 1, per_byte);
    return {Precision::u8, {size.height, size.width, size.channels}};
  }

  Array picture() {
    Array array = Array::make(header());
    auto* pixels = reinterpret_cast<JSAMPROW>(array.raw());
    std::size_t row_bytes = array.bytes() / jpeg_.image_height;
    check(guarded(complaint_, [&] {
      jpeg_start_decompress(&jpeg_);
      while (jpeg_.output_scanline < jpeg_.output_height) {
        JSAMPROW row = pixels + jpeg_.output_scanline * row_bytes;
        jpeg_read_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_decompress(&jpeg_);
    }));
    return array;
  }

 private:
  void check(bool done) {
    if (done) return;
    std::uint64_t unread = jpeg_.src ? jpeg_.src->bytes_in_buffer : 0, read = file_.position();
    throw file_.broken(fmt::format("libjpeg says '{}'", complaint_.text), read > unread ? read - unread : 0);
  }

  InputFile file_;
  JpegComplaint complaint_;
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct jpeg_{};
};

class JpegWriter {
 public:
  JpegWriter() {
    prepare(complaint_);
    jpeg_.err = &complaint_.manager;
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg_);
    std::free(bytes_);
  }

  // The bytes belong to the writer.
  std::span<const unsigned char> encoded(const PictureSize& size, const std::uint8_t* pixels) {
    bool done = guarded(complaint_, [&] {
      jpeg_create_compress(&jpeg_);
      jpeg_mem_dest(&jpeg_, &bytes_, &length_);
      jpeg_.image_width = static_cast<JDIMENSION>(size.width);
      jpeg_.image_height = static_cast<JDIMENSION>(size.height);
      jpeg_.input_components = static_cast<int>(size.channels);
      jpeg_.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_set_defaults(&jpeg_);
      jpeg_set_quality(&jpeg_, quality, TRUE);
      jpeg_start_compress(&jpeg_, TRUE);
      while (jpeg_.next_scanline < jpeg_.image_height) {
        auto* row =
            const_cast<JSAMPROW>(pixels + static_cast<std::size_t>(size.width * size.channels) * jpeg_.next_scanline);
        jpeg_write_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_compress(&jpeg_);
    });
    if (!done) throw failure("E5008", {}, fmt::format("cannot encode a jpeg file: {}", complaint_.text));
    return {bytes_, length_};
  }

 private:
  JpegComplaint complaint_;
  jpeg_compress_struct jpeg_{};
  unsigned char* bytes_ = nullptr;
  unsigned long length_ = 0;
};

}  // namespace

ArrayType probe_jpeg(const std::string& path, const FileQuery&) { return JpegReader(path).header(); }
Array load_jpeg(const std::string& path, const FileQuery&) { return JpegReader(path).picture(); }

void save_jpeg(const Array& array, const std::string& path) {
  PictureSize size = picture_size(array, path, {1, 3});
  if (array.precision() != Precision::u8 && array.precision() != Precision::boolean)
    throw not_a_picture(array, path, "a jpeg file holds u8 or bool");
  std::vector<std::uint8_t> room;
  const std::uint8_t* pixels = picture_bytes(array, room);
  JpegWriter writer;
  write_whole(path, std::as_bytes(writer.encoded(size, pixels)));
}

}  // namespace taskspec
