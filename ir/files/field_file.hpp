// Files of fields: arrays of one shape, of which somebody reads and writes runs of elements where they lie. An .npy
// holds one, whatever that is called; HDF5 (.h5, .hdf5) holds any number, by their names.
//
//   FieldReader file("nodes.h5", {{"cap", Precision::f64}}, {1000}, hdf5);
//   file.read(0, 250, bytes);                        // of the first field the elements from number 250 on
//
//   FieldWriter file("cells.npy", {{"state", Precision::f64}}, {8, 8}, hdf5);
//   file.write(0, 0, bytes);   file.commit();        // until then the old file stands
//
// The shape and the types of elements are those that the file must have: E7003 says what it has instead, with all
// fields that differ. Of tern, u4, i9, i28 a file holds the integers that the host keeps them in.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/files/atomic_write.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

struct FileField {
  std::string name;
  Precision precision = Precision::f64;
};

// Where the elements of one lie, row by row.
struct FoundField {
  std::string name;
  std::optional<Precision> precision;  // none: no numbers
  Extents extents;
  std::string path;  // of the file that holds them: of packed ones another one
  std::uint64_t offset = 0;
  bool swapped = false;  // in the other order of bytes than ours
};

struct FieldLayout {
  std::vector<FoundField> fields;          // some of what there is
  std::vector<std::string> others;         // the names of the rest
  std::shared_ptr<const void> keeps = {};  // until the elements were read
};

// Who knows HDF5. Throws Error; nobody: E7001 tells how to get it.
struct Hdf5Layouts {
  // Of these fields those that there are.
  std::function<FieldLayout(const std::string& path, std::span<const FileField> fields)> find;
  // Makes `path` anew, with place for the fields. What else is in `old` it has as well.
  std::function<FieldLayout(const std::string& path, const std::string& old, std::span<const FileField> fields,
                            const Extents& extents)>
      make;
};

// Whether the name says that it is a file of fields, and of that many: else E7003.
void check_field_file(const std::string& path, std::span<const FileField> fields);

class FieldReader {
 public:
  // A file that is too short is refused here, before anything is read.
  FieldReader(const std::string& path, std::span<const FileField> fields, const Extents& extents,
              const Hdf5Layouts& hdf5);
  FieldReader(const FieldReader&) = delete;
  ~FieldReader();
  // As the host keeps them. E7003 also for a number that the field cannot hold.
  void read(std::size_t field, std::int64_t first, std::span<std::byte> bytes) const;

 private:
  struct Source {
    int descriptor = -1;
    std::uint64_t offset = 0;
    bool swapped = false;
  };
  void open(const FoundField& field);
  void require_length(std::size_t field, std::uint64_t bytes) const;
  void close_all();
  const std::string path_;
  const std::vector<FileField> fields_;
  std::shared_ptr<const void> keeps_;
  std::vector<Source> sources_;  // by field
};

class FieldWriter {
 public:
  FieldWriter(const std::string& path, std::span<const FileField> fields, const Extents& extents,
              const Hdf5Layouts& hdf5);
  // Of an .npy one run behind the other; of HDF5 in any order.
  void write(std::size_t field, std::int64_t first, std::span<const std::byte> bytes);
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  std::vector<std::uint64_t> offsets_;  // by field; none: the bytes stand in a row
  std::vector<std::size_t> widths_;
};

}  // namespace taskspec
