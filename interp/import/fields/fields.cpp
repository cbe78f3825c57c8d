// What is read is hostile until proven: only what lies in the file itself is followed, and no dataset is larger than
// what its bytes could unpack to.
#include "interp/import/fields/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>

#include "interp/import/nir/hdf5_handle.hpp"
#include "ir/base/diag.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec::fields {

namespace {

using nir::Handle;

constexpr std::size_t best_packing = 1'040;  // bytes that deflate makes of one, at most
constexpr std::size_t small_array = 4'096;   // that a file may leave to its fill value
constexpr std::size_t most_objects = 100'000;
constexpr std::size_t slice_bytes = 16 << 20;  // that are unpacked at a time

// ---- types ----------------------------------------------------------------------------------------

// The standard type of this precision, in the order of bytes of the machine.
hid_t type_of(Precision precision) {
  switch (precision) {
    case Precision::i8:
      return H5T_NATIVE_INT8;
    case Precision::boolean:
    case Precision::u8:
      return H5T_NATIVE_UINT8;
    case Precision::i16:
      return H5T_NATIVE_INT16;
    case Precision::u16:
      return H5T_NATIVE_UINT16;
    case Precision::i32:
      return H5T_NATIVE_INT32;
    case Precision::u32:
      return H5T_NATIVE_UINT32;
    case Precision::i64:
      return H5T_NATIVE_INT64;
    case Precision::u64:
      return H5T_NATIVE_UINT64;
    case Precision::f32:
      return H5T_NATIVE_FLOAT;
    case Precision::f64:
      return H5T_NATIVE_DOUBLE;
    default:
      return H5I_INVALID_HID;
  }
}

// IEEE half precision, which the library does not name.
Handle half_type() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  if constexpr (std::endian::native == std::endian::big) H5Tset_order(type, H5T_ORDER_BE);
  return type;
}

Handle file_type(Precision precision) {
  if (precision == Precision::f16) return half_type();
  return {H5Tcopy(type_of(precision)), H5Tclose};
}

// Truth values are an enumeration of one byte, as other tools write them.
Handle truth_type() {
  Handle truth(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  for (const signed char value : {0, 1}) H5Tenum_insert(truth, value != 0 ? "TRUE" : "FALSE", &value);
  return truth;
}

Handle dataset_type(Precision precision) {
  return precision == Precision::boolean ? truth_type() : file_type(precision);
}

struct FoundType {
  std::optional<Precision> precision;
  bool swapped = false;
};

FoundType found_type(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_ENUM && H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2) return {Precision::boolean, false};
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) return {};
  const bool swapped = H5Tget_size(type) > 1 && H5Tget_order(type) != H5Tget_order(H5T_NATIVE_INT64);
  const Handle ours(H5Tcopy(type), H5Tclose);
  if (H5Tget_size(type) > 1) H5Tset_order(ours, H5Tget_order(H5T_NATIVE_INT64));
  for (const PrecisionInfo& p : all_precisions()) {
    const Precision precision = precision_of(p.name).value();
    if (p.storage_only || precision == Precision::boolean) continue;
    if (H5Tequal(ours, file_type(precision)) > 0) return {precision, swapped};
  }
  return {};
}

// ---- reading --------------------------------------------------------------------------------------

class Reader {
 public:
  Reader(const std::string& path, const std::string& folder) : path_(path), folder_(folder) {}

  FieldLayout find(std::span<const std::string> wanted) {
    nir::keep_library_quiet();
    std::error_code unknown;
    file_bytes_ = std::filesystem::file_size(path_, unknown);
    if (unknown) throw failure("E7001", {}, "no file '" + path_ + "'");
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file.valid()) fail("is no HDF5 file");
    FieldLayout layout;
    for (const std::string& name : names(file)) {
      if (std::ranges::find(wanted, name) == wanted.end())
        layout.others.push_back(name);
      else
        layout.fields.push_back(field(file, name));
    }
    return layout;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw unreadable(path_, what); }

  // Of the datasets of the file itself, by their bytes. Links that lead elsewhere are left out.
  std::vector<std::string> names(hid_t file) const {
    std::vector<std::string> found;
    auto each = [](hid_t, const char* name, const H5L_info_t* info, void* data) -> herr_t {
      auto& seen = *static_cast<std::vector<std::string>*>(data);
      if (info->type == H5L_TYPE_HARD) seen.emplace_back(name);
      return seen.size() > most_objects ? -1 : 0;
    };
    hsize_t position = 0;
    if (H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, &position, each, &found) < 0)
      fail("is broken: what it holds cannot be listed");
    std::ranges::sort(found);
    return found;
  }

  FoundField field(hid_t file, const std::string& name) {
    FoundField found;
    found.name = name;
    const Handle data(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!data.valid()) fail("is broken: '" + name + "' cannot be read");
    if (H5Iget_type(data) != H5I_DATASET) return found;
    const Handle type(H5Dget_type(data), H5Tclose), creation(H5Dget_create_plist(data), H5Pclose);
    const FoundType known = found_type(type);
    found.precision = known.precision;
    found.swapped = known.swapped;
    if (!known.precision) return found;
    found.extents = extents(data, creation, H5Tget_size(type), name);
    const haddr_t offset = H5Dget_offset(data);
    const bool in_place = H5Pget_layout(creation) == H5D_CONTIGUOUS && H5Pget_nfilters(creation) == 0;
    if (in_place && offset != HADDR_UNDEF) {
      found.path = path_;
      found.offset = offset;
      return found;
    }
    unpack(data, found);
    return found;
  }

  // If the file can hold so much.
  Extents extents(hid_t data, hid_t creation, std::size_t element, const std::string& name) {
    const Handle space(H5Dget_space(data), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) fail("is broken: '" + name + "' has no shape");
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    refuse_elsewhere(creation, name);
    const std::size_t stored = std::min<std::size_t>(H5Dget_storage_size(data), file_bytes_);
    const std::size_t most = (H5Pget_nfilters(creation) > 0 ? best_packing : 1) * stored + small_array;
    std::size_t bytes = element;
    for (const hsize_t dim : dims) bytes = times(bytes, dim, most, name);
    if (H5Pget_layout(creation) == H5D_CHUNKED) {
      hsize_t chunk[H5S_MAX_RANK];
      const int chunk_rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
      std::size_t size = element;
      for (int i = 0; i < chunk_rank; ++i) size = times(size, std::max<hsize_t>(chunk[i], 1), most + slice_bytes, name);
    }
    return {dims.begin(), dims.end()};
  }

  std::size_t times(std::size_t bytes, hsize_t dim, std::size_t most, const std::string& name) const {
    if (dim > 0 && bytes > most / dim)
      fail("is broken: '" + name + "' says that it is larger than what its bytes can hold");
    return bytes * dim;
  }

  void refuse_elsewhere(hid_t creation, const std::string& name) const {
    if (H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
      fail("has the data of '" + name + "' in another file");
    for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
      unsigned flags = 0, config = 0;
      std::size_t count = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &count, nullptr, 0, nullptr, &config);
      if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
        fail("has '" + name + "' packed by something else than gzip");
    }
  }

  // Into a file of its own, some rows at a time.
  void unpack(hid_t data, FoundField& found) {
    found.path = (std::filesystem::path(folder_) / fmt::format("{}.field", unpacked_++)).string();
    found.swapped = false;
    AtomicFile out(found.path);
    const Handle memory = dataset_type(*found.precision);
    const std::size_t width = info(*found.precision).bytes;
    std::size_t row = width;
    for (std::size_t axis = 1; axis < found.extents.size(); ++axis)
      row *= static_cast<std::size_t>(found.extents[axis]);
    const Handle space(H5Dget_space(data), H5Sclose);
    const auto rows = static_cast<hsize_t>(found.extents.empty() ? 1 : found.extents[0]);
    const hsize_t at_once = std::max<hsize_t>(1, row == 0 ? rows : slice_bytes / row);
    std::vector<std::byte> bytes;
    for (hsize_t first = 0; row > 0 && first < rows; first += at_once) {
      const hsize_t count = std::min(at_once, rows - first);
      bytes.resize(count * row);
      if (!read(data, memory, space, found.extents, first, count, bytes))
        fail("is broken: '" + found.name + "' cannot be unpacked");
      out.write(bytes);
    }
    out.commit();
  }

  static bool read(hid_t data, hid_t memory, hid_t space, const Extents& extents, hsize_t first, hsize_t count,
                   std::span<std::byte> bytes) {
    if (extents.empty()) return H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
    std::vector<hsize_t> start(extents.size(), 0), size(extents.begin(), extents.end());
    start[0] = first;
    size[0] = count;
    const Handle block(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
           H5Dread(data, memory, block, space, H5P_DEFAULT, bytes.data()) >= 0;
  }

  const std::string path_, folder_;
  std::size_t file_bytes_ = 0;
  int unpacked_ = 0;
};

// ---- writing --------------------------------------------------------------------------------------

class Writer {
 public:
  explicit Writer(const std::string& path) : path_(path) {}

  FieldLayout make(const std::string& old, std::span<const FileField> fields, const Extents& extents) {
    nir::keep_library_quiet();
    const Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    check(file.valid());
    const Handle before = opened(old);
    if (before.valid()) keep(before, file, fields);
    std::vector<Handle> made;
    for (const FileField& field : fields) {
      made.push_back(place(file, field, extents));
      if (before.valid() && H5Lexists(before, field.name.c_str(), H5P_DEFAULT) > 0)
        check(copy_attributes(Handle(H5Oopen(before, field.name.c_str(), H5P_DEFAULT), H5Oclose), made.back()));
    }
    check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    const bool empty = std::ranges::find(extents, 0) != extents.end();
    FieldLayout layout;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const haddr_t offset = H5Dget_offset(made[f]);
      check(empty || offset != HADDR_UNDEF);
      layout.fields.push_back({fields[f].name, fields[f].precision, extents, path_, empty ? 0 : offset, false});
    }
    return layout;
  }

 private:
  void check(bool fine) const {
    if (!fine) throw failure("E7004", {}, "it cannot be laid out: no room, or no right to write there");
  }

  static Handle opened(const std::string& old) {
    std::error_code none;
    if (old.empty() || !std::filesystem::is_regular_file(old, none)) return {H5I_INVALID_HID, H5Fclose};
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    return {H5Fopen(old.c_str(), H5F_ACC_RDONLY, access), H5Fclose};
  }

  // Its bytes have a place before anybody wrote them.
  Handle place(hid_t file, const FileField& field, const Extents& extents) const {
    const std::vector<hsize_t> dims(extents.begin(), extents.end());
    const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(how, false);
    H5Pset_layout(how, H5D_CONTIGUOUS);
    H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    Handle made(
        H5Dcreate2(file, field.name.c_str(), dataset_type(field.precision), space, H5P_DEFAULT, how, H5P_DEFAULT),
        H5Dclose);
    check(made.valid());
    return made;
  }

  // All that is no field, and what is said of the file itself.
  void keep(hid_t from, hid_t into, std::span<const FileField> fields) const {
    struct Kept {
      hid_t into;
      std::span<const FileField> fields;
    } kept{into, fields};
    auto each = [](hid_t group, const char* name, const H5L_info_t* info, void* data) -> herr_t {
      const Kept& to = *static_cast<Kept*>(data);
      if (std::ranges::find(to.fields, name, &FileField::name) != to.fields.end()) return 0;
      if (info->type != H5L_TYPE_HARD) return H5Lcopy(group, name, to.into, name, H5P_DEFAULT, H5P_DEFAULT);
      return H5Ocopy(group, name, to.into, name, H5P_DEFAULT, H5P_DEFAULT);
    };
    hsize_t position = 0;
    check(H5Literate(from, H5_INDEX_NAME, H5_ITER_NATIVE, &position, each, &kept) >= 0);
    check(copy_attributes(from, into));
  }

  static bool copy_attributes(hid_t from, hid_t into) {
    auto each = [](hid_t object, const char* name, const H5A_info_t*, void* data) -> herr_t {
      const hid_t to = *static_cast<const hid_t*>(data);
      const Handle old(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
      if (!old.valid()) return -1;
      const Handle type(H5Aget_type(old), H5Tclose), space(H5Aget_space(old), H5Sclose);
      const hssize_t count = H5Sget_simple_extent_npoints(space);
      const Handle made(H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
      if (!made.valid() || count < 0) return -1;
      std::vector<std::byte> bytes(static_cast<std::size_t>(count) * H5Tget_size(type) + 1);
      if (H5Aread(old, type, bytes.data()) < 0) return -1;
      const herr_t written = H5Awrite(made, type, bytes.data());
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes.data());
      return written;
    };
    hsize_t position = 0;
    return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_NATIVE, &position, each, &into) >= 0;
  }

  const std::string path_;
};

}  // namespace

FieldLayout find_fields(const std::string& path, std::span<const std::string> names, const std::string& folder) {
  return Reader(path, folder).find(names);
}

FieldLayout make_fields(const std::string& path, const std::string& old, std::span<const FileField> fields,
                        const Extents& extents) {
  return Writer(path).make(old, fields, extents);
}

std::vector<std::string> lines_of_layout(const FieldLayout& layout) {
  std::vector<std::string> lines;
  for (const FoundField& field : layout.fields) {
    lines.push_back(fmt::format("field\t{}\t{}\t{}\t{}\t{}", field.name,
                                field.precision ? info(*field.precision).name : "", field.swapped ? 1 : 0, field.offset,
                                field.path));
    for (const std::int64_t extent : field.extents) lines.back() += fmt::format("\t{}", extent);
  }
  for (const std::string& name : layout.others) lines.push_back("other\t" + name);
  return lines;
}

}  // namespace taskspec::fields
