// The files behind `attach` and `detach`: of each point of a launch the one that its piece is read from, or written to.
//
//   attach(p, files: c => format("cells_{}.npy", c))      point 2: the elements of p[2], in order, from cells_2.npy
#pragma once
#include "ir/files/field_file.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

class FieldFiles final : public LaunchFiles {
 public:
  // `fields` of `region` are those whose numbers are in `mask`; `names` are what the program calls the files.
  // Throws Error E7003 where a path names no such file, E3101 where two points would write the same one.
  FieldFiles(const Region& region, const FieldMask& mask, std::vector<std::string> paths,
             const std::vector<std::string>& names, bool writes, Hdf5Layouts hdf5, Span span);
  void transfer(std::size_t position, const Piece& piece) const override;
  std::string key() const override { return key_; }
  // The same for processes that find the files of these names at other places.
  const std::string& call_key() const { return call_key_; }
  const std::vector<std::string>& paths() const { return paths_; }
  // Throws what reading these points from the file at this position would throw.
  void check(std::size_t position, const IndexSpace& points) const;

 private:
  void read(std::size_t position, const Piece& piece, const Extents& extents) const;
  void write(std::size_t position, const Piece& piece, const Extents& extents) const;

  std::vector<FileField> fields_;
  std::vector<std::uint32_t> numbers_;  // of them in the region
  const std::vector<std::string> paths_;
  const bool writes_;
  const Hdf5Layouts hdf5_;
  std::string key_, call_key_;
};

}  // namespace taskspec
