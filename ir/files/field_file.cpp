#include "ir/files/field_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/npy_header.hpp"

namespace taskspec {

namespace {

bool ends_in(std::string path, std::string_view suffix) {
  for (char& c : path)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return path.ends_with(suffix);
}

bool is_npy(const std::string& path) { return ends_in(path, ".npy"); }
bool is_hdf5(const std::string& path) { return ends_in(path, ".h5") || ends_in(path, ".hdf5"); }

std::string names_of(std::span<const FileField> fields) {
  std::vector<std::string> names;
  for (const FileField& field : fields) names.push_back(field.name);
  return joined(names, ", ");
}

// What a file holds of it.
Precision stored(Precision precision) {
  const PrecisionInfo& p = info(precision);
  if (!p.storage_only) return precision;
  if (p.bytes == 1) return p.minimum < 0 ? Precision::i8 : Precision::u8;
  return p.bytes == 2 ? Precision::i16 : Precision::i32;
}

std::string text_of(const FoundField& found) {
  if (!found.precision) return "no numbers that are known here";
  return ArrayType{*found.precision, found.extents}.text();
}

FieldLayout layout_of_npy(const std::string& path, const FileField& field) {
  InputFile file(path);
  const NpyHeader header = read_npy_header(file);
  FieldLayout layout;
  layout.fields.push_back(
      {field.name, header.type.precision, header.type.extents, path, file.position(), header.swapped});
  if (header.fortran_order && header.type.extents.size() > 1)
    throw unreadable(path, "holds its elements column by column; save it row by row (numpy: order='C')");
  return layout;
}

// Empty where it is as it should be.
std::string difference(const FileField& field, const Extents& extents, const FieldLayout& layout, bool named) {
  const auto found = std::ranges::find(layout.fields, field.name, &FoundField::name);
  if (found == layout.fields.end()) return fmt::format("it has no dataset '{}'", field.name);
  const Precision wanted = stored(field.precision);
  if (found->precision == wanted && found->extents == extents) return "";
  return fmt::format("{}it holds {}, expected {}", named ? fmt::format("of '{}' ", field.name) : "", text_of(*found),
                     ArrayType{wanted, extents}.text());
}

void check_layout(const std::string& path, std::span<const FileField> fields, const Extents& extents,
                  const FieldLayout& layout, bool named) {
  std::vector<std::string> wrong;
  bool missing = false;
  for (const FileField& field : fields) {
    std::string one = difference(field, extents, layout, named);
    missing |= std::ranges::find(layout.fields, field.name, &FoundField::name) == layout.fields.end();
    if (!one.empty()) wrong.push_back(std::move(one));
  }
  if (wrong.empty()) return;
  std::string text = joined(wrong, "; ");
  if (missing) {
    std::vector<std::string> names = layout.others;
    for (const FoundField& found : layout.fields) names.push_back(found.name);
    std::ranges::sort(names);
    constexpr std::size_t most_named = 16;
    if (names.size() > most_named) names.resize(most_named);
    text += names.empty() ? "; it has none" : "; it has " + joined(names, ", ");
  }
  throw failure("E7003", {}, fmt::format("'{}' does not hold these fields: {}", path, text));
}

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at + width <= bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
}

// A narrow number in a wider one, as an element of this width.
std::int64_t narrow(const std::byte* at, std::size_t width, bool is_signed) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, width);
  const unsigned shift = 64 - 8 * static_cast<unsigned>(width);
  return is_signed ? static_cast<std::int64_t>(bits << shift) >> shift : static_cast<std::int64_t>(bits);
}

// The first that no field of this precision can hold.
std::optional<std::pair<std::size_t, std::int64_t>> too_large(Precision precision, std::span<const std::byte> bytes) {
  const PrecisionInfo& p = info(precision);
  for (std::size_t at = 0; at < bytes.size(); at += p.bytes) {
    const std::int64_t number = narrow(bytes.data() + at, p.bytes, p.minimum < 0);
    if (number < p.minimum || number > p.maximum) return std::pair(at / p.bytes, number);
  }
  return std::nullopt;
}

}  // namespace

void check_field_file(const std::string& path, std::span<const FileField> fields) {
  if (!is_npy(path) && !is_hdf5(path))
    throw failure("E7003", {}, "'" + path + "' is no file of fields by its name: .npy, .h5, .hdf5");
  if (is_npy(path) && fields.size() != 1)
    throw failure(
        "E7003", {},
        fmt::format("'{}' would hold one field, and these are {}: {}; end it in .h5, or take one of them, r.{}", path,
                    fields.size(), names_of(fields), fields.empty() ? "f" : fields.front().name));
}

// ---- reading --------------------------------------------------------------------------------------

FieldReader::FieldReader(const std::string& path, std::span<const FileField> fields, const Extents& extents,
                         const Hdf5Layouts& hdf5)
    : path_(path), fields_(fields.begin(), fields.end()) {
  check_field_file(path, fields);
  const bool named = is_hdf5(path);
  if (named) InputFile(std::string(path));  // a file that may be read
  const FieldLayout layout = named ? hdf5.find(path, fields) : layout_of_npy(path, fields[0]);
  check_layout(path, fields, extents, layout, named);
  keeps_ = layout.keeps;
  try {
    for (const FileField& field : fields_) open(*std::ranges::find(layout.fields, field.name, &FoundField::name));
    const auto elements = static_cast<std::uint64_t>(ArrayType{Precision::i8, extents}.elements());
    for (std::size_t f = 0; f < fields_.size(); ++f) require_length(f, elements * info(fields_[f].precision).bytes);
  } catch (...) {
    close_all();
    throw;
  }
}

FieldReader::~FieldReader() { close_all(); }

void FieldReader::open(const FoundField& field) {
  const int descriptor = ::open(field.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) throw unreadable(path_, "cannot be read: " + system_words(errno));
  sources_.push_back({descriptor, field.offset, field.swapped});
}

// A pipe has no length.
void FieldReader::require_length(std::size_t field, std::uint64_t bytes) const {
  struct stat known {};
  const Source& source = sources_[field];
  if (fstat(source.descriptor, &known) != 0 || !S_ISREG(known.st_mode)) return;
  const auto size = static_cast<std::uint64_t>(known.st_size);
  if (size >= source.offset && size - source.offset >= bytes) return;
  const std::uint64_t at = std::max(size, source.offset), there = at - source.offset;
  throw unreadable(path_, fmt::format("is broken at byte {}: {} expected, the file ends here", at,
                                      plural(bytes - there, "more byte")));
}

void FieldReader::close_all() {
  for (const Source& source : sources_) ::close(source.descriptor);
  sources_.clear();
}

void FieldReader::read(std::size_t field, std::int64_t first, std::span<std::byte> bytes) const {
  const Source& source = sources_[field];
  const Precision precision = fields_[field].precision;
  const std::size_t width = info(precision).bytes;
  std::uint64_t at = source.offset + static_cast<std::uint64_t>(first) * width;
  for (std::span<std::byte> left = bytes; !left.empty();) {
    const ssize_t got =
        pread(source.descriptor, left.data(), std::min<std::size_t>(left.size(), 1 << 26), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(path_, "cannot be read: " + system_words(errno));
    if (got == 0)
      throw unreadable(path_, fmt::format("is broken at byte {}: {} expected, the file ends here", at,
                                          plural(left.size(), "more byte")));
    at += static_cast<std::uint64_t>(got);
    left = left.subspan(static_cast<std::size_t>(got));
  }
  if (source.swapped) swap_bytes(bytes, width);
  if (precision == Precision::boolean)
    for (std::byte& one : bytes) one = one == std::byte{0} ? std::byte{0} : std::byte{1};
  if (!info(precision).storage_only) return;
  if (const auto wrong = too_large(precision, bytes))
    throw unreadable(path_, fmt::format("holds {} as element {}, which is no {}", wrong->second,
                                        first + static_cast<std::int64_t>(wrong->first), info(precision).name));
}

// ---- writing --------------------------------------------------------------------------------------

FieldWriter::FieldWriter(const std::string& path, std::span<const FileField> fields, const Extents& extents,
                         const Hdf5Layouts& hdf5)
    : file_((check_field_file(path, fields), path)) {
  for (const FileField& field : fields) widths_.push_back(info(field.precision).bytes);
  if (is_npy(path)) {
    file_.write(npy_header({fields[0].precision, extents}));
    return;
  }
  std::vector<FileField> as_stored(fields.begin(), fields.end());
  for (FileField& field : as_stored) field.precision = stored(field.precision);
  const FieldLayout layout = hdf5.make(file_.beside(), path, as_stored, extents);
  for (const FileField& field : fields) {
    const auto place = std::ranges::find(layout.fields, field.name, &FoundField::name);
    if (place == layout.fields.end()) bug("a field without a place in its file");
    offsets_.push_back(place->offset);
  }
}

void FieldWriter::write(std::size_t field, std::int64_t first, std::span<const std::byte> bytes) {
  if (offsets_.empty()) return file_.write(bytes);
  file_.write_at(offsets_[field] + static_cast<std::uint64_t>(first) * widths_[field], bytes);
}

}  // namespace taskspec
