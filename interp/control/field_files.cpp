#include "interp/control/field_files.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "ir/base/key.hpp"

namespace taskspec {

namespace {

// Of a rectangle its own ones, of other points how many there are.
Extents extents_of(const IndexSpace& points) {
  if (!points.is_rect()) return {points.size()};
  Extents extents;
  for (std::size_t axis = 0; axis < points.rect().rank; ++axis) extents.push_back(points.rect().extent(axis));
  return extents;
}

// However the path is spelled.
void refuse_shared(const std::vector<std::string>& paths, Span span) {
  std::unordered_map<std::string, std::size_t> first;
  for (std::size_t point = 0; point < paths.size(); ++point)
    if (auto [known, fresh] = first.emplace(std::filesystem::path(paths[point]).lexically_normal().string(), point);
        !fresh)
      throw failure("E3101", span,
                    "points " + std::to_string(known->second) + " and " + std::to_string(point) + " both write '" +
                        paths[point] + "'; a group must be independent");
}

}  // namespace

FieldFiles::FieldFiles(const Region& region, const FieldMask& mask, std::vector<std::string> paths,
                       const std::vector<std::string>& names, bool writes, Hdf5Layouts hdf5, Span span)
    : paths_(std::move(paths)), writes_(writes), hdf5_(std::move(hdf5)) {
  mask.each([&](std::uint32_t field) {
    fields_.push_back({region.fields[field].name, region.fields[field].precision});
    numbers_.push_back(field);
  });
  key_ = writes ? "w" : "r";
  for (const std::string& path : paths_) {
    try {
      check_field_file(path, fields_);
    } catch (const Error& error) {
      throw failure(error.diags().items().front().code, span, error.diags().items().front().message);
    }
    put_text(key_, path);
  }
  call_key_ = writes ? "w" : "r";
  for (const std::string& name : names) put_text(call_key_, name);
  if (writes) refuse_shared(paths_, span);
}

void FieldFiles::transfer(std::size_t position, const Piece& piece) const {
  const Extents extents = extents_of(piece.points);
  writes_ ? write(position, piece, extents) : read(position, piece, extents);
}

// Of precisions that are narrower than what files hold, each number may be one that no field can have.
void FieldFiles::check(std::size_t position, const IndexSpace& points) const {
  const FieldReader file(paths_[position], fields_, extents_of(points), hdf5_);
  constexpr std::int64_t at_once = 1 << 16;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (!info(fields_[f].precision).storage_only) continue;
    std::vector<std::byte> some(static_cast<std::size_t>(at_once) * info(fields_[f].precision).bytes);
    for (std::int64_t first = 0; first < points.size(); first += at_once) {
      const auto count = static_cast<std::size_t>(std::min(at_once, points.size() - first));
      file.read(f, first, std::span(some).first(count * info(fields_[f].precision).bytes));
    }
  }
}

// Run by run, to where the elements belong.
void FieldFiles::read(std::size_t position, const Piece& piece, const Extents& extents) const {
  const FieldReader file(paths_[position], fields_, extents, hdf5_);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const std::size_t width = info(fields_[f].precision).bytes;
    std::byte* base = piece.fields[numbers_[f]];
    std::int64_t first = 0;
    piece.points.runs(piece.root, [&](Run run) {
      file.read(f, first,
                {base + static_cast<std::size_t>(place_in(piece.packed, run.lo)) * width,
                 static_cast<std::size_t>(run.size()) * width});
      first += run.size();
    });
  }
}

void FieldFiles::write(std::size_t position, const Piece& piece, const Extents& extents) const {
  FieldWriter file(paths_[position], fields_, extents, hdf5_);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const std::size_t width = info(fields_[f].precision).bytes;
    const std::byte* base = piece.fields[numbers_[f]];
    std::int64_t first = 0;
    piece.points.runs(piece.root, [&](Run run) {
      file.write(f, first,
                 {base + static_cast<std::size_t>(place_in(piece.packed, run.lo)) * width,
                  static_cast<std::size_t>(run.size()) * width});
      first += run.size();
    });
  }
  file.commit();
}

}  // namespace taskspec
