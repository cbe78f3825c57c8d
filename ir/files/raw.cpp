// Raw records (.bin), as those of CIFAR-10: the elements one after another, little-endian, and nothing that says what
// they are. The type that is asked for does; one extent of it may be open and comes from the size of the file.
#include <fmt/format.h>

#include <bit>

#include "ir/base/text.hpp"
#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec {

static_assert(std::endian::native == std::endian::little,
              "raw records are little-endian, and so is every machine we know");

namespace {

ArrayType type_of(const InputFile& file, const FileQuery& query) {
  if (!query.precision)
    throw unreadable(file.path(), "does not say what it holds; load it with a type such as u8[_, 3073]");
  ArrayType type{*query.precision, {}};
  std::uint64_t record = info(type.precision).bytes;
  std::size_t open = query.extents.size();
  for (std::size_t axis = 0; axis < query.extents.size(); ++axis) {
    type.extents.push_back(query.extents[axis].value_or(0));
    if (!query.extents[axis]) {
      if (open != query.extents.size())
        throw unreadable(file.path(), "does not say what it holds; only one extent may be _");
      open = axis;
    } else if (__builtin_mul_overflow(record, static_cast<std::uint64_t>(type.extents.back()), &record)) {
      throw unreadable(file.path(), fmt::format("has {}, less than that shape", plural(file.size(), "byte")));
    }
  }
  if (open == query.extents.size()) {
    if (record == file.size()) return type;
    throw unreadable(file.path(), fmt::format("has {}; {} needs {}", plural(file.size(), "byte"), type.text(), record));
  }
  if (record == 0 || file.size() % record != 0)
    throw unreadable(file.path(), fmt::format("has {}, no multiple of {}, the bytes of one record",
                                              plural(file.size(), "byte"), record));
  type.extents[open] = static_cast<std::int64_t>(file.size() / record);
  return type;
}

}  // namespace

ArrayType probe_raw(const std::string& path, const FileQuery& query) { return type_of(InputFile(path), query); }

Array load_raw(const std::string& path, const FileQuery& query) {
  InputFile file(path);
  Array array = Array::make(type_of(file, query));
  file.read({array.raw(), array.bytes()});
  const PrecisionInfo& p = info(array.precision());
  if (p.is_float) return array;
  for (std::int64_t i = 0; i < array.elements() && (p.storage_only || array.precision() == Precision::boolean); ++i)
    if (std::int64_t v = array.integer(i); v < p.minimum || v > p.maximum)
      throw unreadable(path, fmt::format("holds {} at position {}, which is no {}", v, i, p.name));
  return array;
}

void save_raw(const Array& array, const std::string& path) { write_whole(path, {array.raw(), array.bytes()}); }

}  // namespace taskspec
