// Files of fields of regions: npy, and HDF5 in a process of its own whose time is bounded, as the tool reads it.
#include "interp/import/fields/fields.hpp"
#include "ir/base/diag.hpp"
#include "ir/files/files.hpp"
#include "tests/fuzz/apart.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::fuzz {

namespace {

const std::vector<FileField> fields_of_samples{{"charge", Precision::f64}, {"piece", Precision::i32}};
constexpr std::int64_t points = 6;

Hdf5Layouts here(const TemporaryFolder& folder) {
  return {[&folder](const std::string& path, std::span<const FileField> fields) {
            std::vector<std::string> names;
            for (const FileField& field : fields) names.push_back(field.name);
            return fields::find_fields(path, names, folder.path().string());
          },
          fields::make_fields};
}

std::string sample(std::span<const FileField> fields, const std::string& name, const Extents& extents) {
  const TemporaryFolder folder;
  FieldWriter out(folder / name, fields, extents, here(folder));
  std::vector<std::byte> bytes(points * 8, std::byte{1});
  for (std::size_t f = 0; f < fields.size(); ++f)
    out.write(f, 0, std::span(bytes).first(points * info(fields[f].precision).bytes));
  out.commit();
  return read_text(folder / name);
}

std::vector<std::string> field_samples() {
  const std::span<const FileField> both = fields_of_samples;
  return {sample(both, "x.h5", {points}), sample(both, "x.h5", {2, 3}), sample(both.first(1), "x.h5", {points}),
          sample(both.first(1), "x.npy", {points})};
}

// All that a file that is taken promises is there.
Fate fate_of_fields(const TemporaryFolder& folder, const std::string& name, std::span<const FileField> fields) {
  try {
    const FieldReader file(folder / name, fields, {points}, here(folder));
    std::vector<std::byte> bytes(points * 8);
    for (std::size_t f = 0; f < fields.size(); ++f)
      file.read(f, 0, std::span(bytes).first(points * info(fields[f].precision).bytes));
    return Fate::accepted;
  } catch (const Error& error) {
    return fate_of(error);
  } catch (const std::bad_alloc&) {
    return Fate::refused;
  }
}

bool read_fields(const std::string& bytes) {
  static const TemporaryFolder folder;
  const bool is_npy = bytes.starts_with("\x93NUMPY");
  const std::string name = is_npy ? "x.npy" : "x.h5";
  const std::span<const FileField> fields = std::span(fields_of_samples).first(is_npy ? 1 : 2);
  folder.put(name, bytes);
  return read_apart([&] { return fate_of_fields(folder, name, fields); }, is_npy ? Crash::is_odd : Crash::refuses,
                    "an error of another kind");
}

}  // namespace

extern const Reader reader_fields{Grain::bytes, field_samples, nullptr, read_fields};

}  // namespace taskspec::fuzz
