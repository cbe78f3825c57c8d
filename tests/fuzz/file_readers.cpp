// The readers of ir/files. Input lies in memory, but under a name in a folder: the door chooses the format by it.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "ir/files/checkpoint.hpp"
#include "ir/files/files.hpp"
#include "ir/files/zip.hpp"
#include "ir/json/text.hpp"
#include "ir/types/value.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/unit/file_samples.hpp"
#include "tests/unit/png_builder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::fuzz {

namespace {

using namespace std::string_literals;

class InputSlot {
 public:
  // Where these bytes can be read, until the next call.
  std::string path(const std::string& name, const std::string& bytes) {
    if (ftruncate(memory_, 0) != 0 || pwrite(memory_, bytes.data(), bytes.size(), 0) < 0)
      throw Odd("the input cannot be put into memory");
    const std::filesystem::path link = folder_ / name;
    if (!std::filesystem::is_symlink(link))
      std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(memory_), link);
    return link;
  }

 private:
  TemporaryFolder folder_;
  int memory_ = memfd_create("fuzz", MFD_CLOEXEC);
};

InputSlot& slot() {
  static InputSlot only;
  return only;
}

bool load(const std::string& path, const FileQuery& query = {}) {
  const Array array = load_array(path, query);
  if (const ArrayType probed = probe(path, query); probed != array.type())
    throw Odd("probe says " + probed.text() + ", but it is " + array.type().text());
  volatile unsigned sum = 0;  // every byte is there
  for (std::size_t i = 0; i < array.bytes(); ++i) sum = sum + std::to_integer<unsigned>(array.raw()[i]);
  return true;
}

Array counted(Precision precision, Extents extents) {
  Array array = Array::make({precision, std::move(extents)});
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_integer(i, i % 2);
  return array;
}

std::string saved(const Array& array, const std::string& name) {
  TemporaryFolder folder;
  save_array(array, folder / name);
  return read_text(folder / name);
}

std::string of_base64(const char* text) {
  std::string bytes;
  if (!from_base64(text, bytes)) throw Odd("a sample is no base64");
  return bytes;
}

// ---- npy, npz --------------------------------------------------------------------------------------

std::vector<std::string> npy_samples() {
  std::vector<std::string> samples;
  for (const PrecisionInfo& p : all_precisions())
    for (const Extents& extents : {Extents{}, Extents{5}, Extents{2, 3, 2}, Extents{2, 0}})
      samples.push_back(saved(counted(*precision_of(p.name), extents), "x.npy"));
  for (const char* shape : {"(3, 2)", "(3,2L)", "()"})
    for (const char* type : {">i2", "<u8", "=f4", "|b1"}) {
      const std::string head = "{'descr': '"s + type + "', 'fortran_order': True, 'shape': " + shape + "}";
      samples.push_back("\x93NUMPY\x02"s + '\0' + static_cast<char>(head.size()) + "\0\0\0"s + head +
                        std::string(48, '\1'));
    }
  return samples;
}

// As one of more than 4 GiB.
std::string wide_archive(const std::string& npy) {
  std::string bytes;
  ZipWriter archive([&](std::string_view more) { bytes += more; }, {.number = 100, .entries = 1});
  const std::string_view pieces[] = {npy};
  archive.add("a.npy", pieces);
  archive.add("b.npy", pieces);
  archive.finish();
  return bytes;
}

std::vector<std::string> npz_samples() {
  std::vector<std::string> samples{of_base64(file_samples::archive), of_base64(file_samples::zeros)};
  const Array three = counted(Precision::f32, {3}), one = counted(Precision::u8, {});
  TemporaryFolder folder;
  auto add = [&](std::vector<NamedArray> arrays) {
    save_arrays(folder / "x.npz", arrays);
    samples.push_back(read_text(folder / "x.npz"));
  };
  add({{"a", three}});
  add({{"a", one}});
  add({{"a", three}, {"blocks[2].w", one}, {"é/b", three}});
  save_checkpoint(folder / "x.npz", {{"a", three}, {"b", one}});
  samples.push_back(read_text(folder / "x.npz"));
  samples.push_back(wide_archive(saved(three, "x.npy")));
  return samples;
}

std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

// Entries that are stored get the checksum of what they hold now.
std::string with_zip_checksums(std::string bytes) {
  for (std::size_t at = 0; (at = bytes.find("PK\1\2", at)) != std::string::npos; at += 4) {
    const std::uint64_t size = number_at(bytes, at + 20, 4), header = number_at(bytes, at + 42, 4);
    const std::uint64_t begin = header + 30 + number_at(bytes, header + 26, 2) + number_at(bytes, header + 28, 2);
    if (at + 46 > bytes.size() || number_at(bytes, at + 10, 2) != 0 || begin > at || size > at - begin) continue;
    const std::uint32_t sum = PngBuilder::crc(bytes.substr(begin, size));
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 16 + i] = static_cast<char>(sum >> (8 * i));
  }
  return bytes;
}

bool read_npy(const std::string& bytes) { return load(slot().path("x.npy", bytes)); }

// Each array is by itself what it is among the others.
void load_all(const std::string& path) {
  for (const auto& [name, array] : load_arrays(path)) {
    if (name.empty()) continue;
    const Array alone = load_array(path, {.name = name});
    if (alone.type() != array.type() || std::memcmp(alone.raw(), array.raw(), array.bytes()) != 0)
      throw Odd("'" + name + "' is another array by itself");
  }
}

// Good input for one of the ways in; and for each of them an error of the right kind, if it is none.
bool read_npz(const std::string& bytes) {
  const std::string path = slot().path("x.npz", bytes);
  const std::function<void()> ways[] = {[&] { load(path, {.name = "a"}); }, [&] { load(path); },
                                        [&] { load_all(path); }, [&] { load_checkpoint(path); }};
  std::optional<Error> refused;
  std::size_t accepted = 0;
  for (const auto& way : ways) {
    try {
      way();
      ++accepted;
    } catch (const Error& error) {
      refused.emplace(error);
      const Code code = error.diags().items().front().code;
      if (code != Code("E7003") && code != Code("E5008")) throw;
    }
  }
  if (accepted == 0) throw Error(*refused);
  return true;
}

// ---- pictures --------------------------------------------------------------------------------------

std::vector<std::string> png_samples() {
  std::vector<std::string> samples;
  for (std::int64_t channels : {1, 3, 4})
    for (Precision precision : {Precision::u8, Precision::u16})
      samples.push_back(saved(counted(precision, {5, 7, channels}), "x.png"));
  samples.push_back(PngBuilder(2, 1, 1, 3).chunk("PLTE", "123456").chunk("tRNS", "1").pixels("\0\x40"s).bytes());
  samples.push_back(PngBuilder(3, 2, 8, 4).pixels("\0abcdef\1ghijkl"s).bytes());
  samples.push_back(PngBuilder(2, 2, 2, 0, true).chunk("tRNS", "\0\1"s).pixels("\0\x40\0\x40\0\x80"s).bytes());
  samples.push_back(PngBuilder(1, 1, 16, 2).chunk("tEXt", "a\0b"s).pixels("\0abcdef"s).bytes());
  return samples;
}

std::string with_png_checksums(std::string bytes) {
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    if (length > bytes.size() - at - 12) break;
    const std::uint32_t sum = PngBuilder::crc(bytes.substr(at + 4, length + 4));
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 8 + length + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += 12 + length;
  }
  return bytes;
}

std::vector<std::string> jpeg_samples() {
  std::vector<std::string> samples{file_samples::from_hex(file_samples::progressive_jpeg),
                                   file_samples::from_hex(file_samples::cmyk_jpeg)};
  for (const Extents& extents : {Extents{8, 8, 1}, Extents{17, 9, 3}, Extents{1, 1}})
    samples.push_back(saved(counted(Precision::u8, extents), "x.jpg"));
  return samples;
}

bool read_png(const std::string& bytes) { return load(slot().path("x.png", bytes)); }
bool read_jpeg(const std::string& bytes) { return load(slot().path("x.jpg", bytes)); }

// ---- csv, idx --------------------------------------------------------------------------------------

std::vector<std::string> csv_samples() {
  return {saved(counted(Precision::f64, {3, 4}), "x.csv"), "a,b\n1,2\n\"3\",4e5\n-inf,+7\n",
          "\xef\xbb\xbfname,a,\"width, m\"\r\nAda,1.5,2\r\n\"Bob, \"\"B\"\"\n\",2.5,3\r\n",
          "1e-400, -1e400,\t0.5\n\n\nnan,inf,-0\n", "a\n1\n2\n"};
}

bool read_csv(const std::string& bytes) {
  const std::string path = slot().path("x.csv", bytes);
  try {
    return load(path, {.name = "a"});
  } catch (const Error&) {
    return load(path);
  }
}

// Stored, not packed: what is changed inside stays what it is.
std::string gzipped(const std::string& bytes) {
  std::string out = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01"s;
  auto little = [&](std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
  };
  little(bytes.size(), 2), little(~bytes.size(), 2);
  out += bytes;
  little(PngBuilder::crc(bytes), 4), little(bytes.size(), 4);
  return out;
}

std::vector<std::string> idx_samples() {
  std::vector<std::string> samples{of_base64(file_samples::packed_idx)};
  for (Precision p : {Precision::u8, Precision::i8, Precision::i16, Precision::i32, Precision::f32, Precision::f64})
    for (const Extents& extents : {Extents{}, Extents{3}, Extents{2, 2, 2}, Extents{4, 0}})
      samples.push_back(saved(counted(p, extents), "x.idx"));
  samples.push_back(gzipped(samples.back()));
  samples.push_back(gzipped(samples[3]));
  return samples;
}

// A stored gzip file gets the checksum of what it holds now.
std::string with_gzip_checksum(std::string bytes) {
  constexpr std::size_t around = 15 + 8;
  if (!bytes.starts_with("\x1f\x8b") || bytes.size() < around || bytes[10] != '\1') return bytes;
  return gzipped(bytes.substr(15, bytes.size() - around));
}

bool read_idx(const std::string& bytes) {
  return load(slot().path(bytes.starts_with("\x1f\x8b") ? "x.idx.gz" : "x.idx", bytes));
}

}  // namespace

extern const Reader reader_npy{Grain::bytes, npy_samples, nullptr, read_npy};
extern const Reader reader_npz{Grain::bytes, npz_samples, with_zip_checksums, read_npz};
extern const Reader reader_png{Grain::bytes, png_samples, with_png_checksums, read_png};
extern const Reader reader_jpeg{Grain::bytes, jpeg_samples, nullptr, read_jpeg};
extern const Reader reader_csv{Grain::tokens, csv_samples, nullptr, read_csv};
extern const Reader reader_idx{Grain::bytes, idx_samples, with_gzip_checksum, read_idx};

}  // namespace taskspec::fuzz
