// Files of fields: npy where its elements lie, and HDF5 as the program of models lays it out.
#include <doctest/doctest.h>

#include <cstring>

#include "interp/import/fields/fields.hpp"
#include "interp/import/nir/hdf5_handle.hpp"
#include "ir/files/files.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::field_files_test {

namespace {

std::vector<std::string> names_of(std::span<const FileField> fields) {
  std::vector<std::string> names;
  for (const FileField& field : fields) names.push_back(field.name);
  return names;
}

// In this process; the tool asks another one.
Hdf5Layouts here(const TemporaryFolder& folder) {
  return {[&folder](const std::string& path, std::span<const FileField> fields) {
            return fields::find_fields(path, names_of(fields), folder.path().string());
          },
          fields::make_fields};
}

template <class T>
std::vector<T> read(const FieldReader& file, std::size_t field, std::int64_t first, std::size_t count) {
  std::vector<T> numbers(count);
  file.read(field, first, std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

template <class T>
void write(FieldWriter& file, std::size_t field, std::int64_t first, const std::vector<T>& numbers) {
  file.write(field, first, std::as_bytes(std::span(numbers)));
}

std::string reading(const std::string& path, const FileField& field, const Extents& extents) {
  const TemporaryFolder aside;
  return error_of([&] { FieldReader(path, std::vector{field}, extents, here(aside)); });
}

Array counted(Precision precision, Extents extents) {
  Array array = Array::make({precision, std::move(extents)});
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_integer(i, i);
  return array;
}

// As other tools write them: a dataset of any layout.
void put_dataset(const std::string& path, const char* name, hid_t stored, std::vector<hsize_t> dims, bool packed,
                 const std::vector<double>& numbers) {
  nir::keep_library_quiet();
  const bool there = std::filesystem::exists(path);
  const nir::Handle file(there ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                               : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                         H5Fclose);
  const nir::Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  const nir::Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (packed) {
    for (hsize_t& dim : dims) dim = dim > 2 ? dim / 2 : dim;
    H5Pset_chunk(how, static_cast<int>(dims.size()), dims.data());
    H5Pset_deflate(how, 4);
  }
  const nir::Handle data(H5Dcreate2(file, name, stored, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
}

void put_attribute(const std::string& path, const char* object, const char* name, double number) {
  const nir::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const nir::Handle to(H5Oopen(file, object, H5P_DEFAULT), H5Oclose), space(H5Screate(H5S_SCALAR), H5Sclose);
  const nir::Handle made(H5Acreate2(to, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  REQUIRE(H5Awrite(made, H5T_NATIVE_DOUBLE, &number) >= 0);
}

double attribute(const std::string& path, const char* object, const char* name) {
  const nir::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const nir::Handle of(H5Oopen(file, object, H5P_DEFAULT), H5Oclose), found(H5Aopen(of, name, H5P_DEFAULT), H5Aclose);
  double number = -1;
  H5Aread(found, H5T_NATIVE_DOUBLE, &number);
  return number;
}

}  // namespace

TEST_CASE("runs of an npy file are read where they lie, and written one behind the other [files]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  save_array(counted(Precision::i32, {4, 5}), path);
  const std::vector<FileField> fields{{"a", Precision::i32}};
  {
    const FieldReader file(path, fields, {4, 5}, {});
    CHECK(read<std::int32_t>(file, 0, 7, 3) == std::vector<std::int32_t>{7, 8, 9});
    CHECK(read<std::int32_t>(file, 0, 0, 2) == std::vector<std::int32_t>{0, 1});
  }
  FieldWriter out(path, fields, {6}, {});
  write<std::int32_t>(out, 0, 0, {5, 4, 3});
  write<std::int32_t>(out, 0, 3, {2, 1, 0});
  CHECK(load_array(path).extents() == Extents{4, 5});  // until it is committed
  out.commit();
  CHECK(load_array(path).extents() == Extents{6});
  CHECK(load_array(path).integer(1) == 4);
}

TEST_CASE("a file of fields that is not as it should be is told with what was expected and found [files]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  CHECK(reading(path, {"a", Precision::f64}, {4}).starts_with("E7001 no file '" + path + "'"));
  CHECK(reading(folder / "x.csv", {"a", Precision::f64}, {4}) ==
        "E7003 '" + (folder / "x.csv") + "' is no file of fields by its name: .npy, .h5, .hdf5");
  save_array(counted(Precision::i32, {4}), path);
  CHECK(reading(path, {"a", Precision::f64}, {4}) ==
        "E7003 '" + path + "' does not hold these fields: it holds i32[4], expected f64[4]");
  CHECK(reading(path, {"a", Precision::i32}, {2, 2}) ==
        "E7003 '" + path + "' does not hold these fields: it holds i32[4], expected i32[2, 2]");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK(reading(path, {"a", Precision::i32}, {4}).starts_with("E7003 '" + path + "' is broken at byte"));
  CHECK(error_of([&] {
          check_field_file(path, std::vector<FileField>{{"a"}, {"b"}});
        }) ==
        "E7003 '" + path + "' would hold one field, and these are 2: a, b; end it in .h5, or take one of them, r.a");
  // Cut while it is read.
  save_array(counted(Precision::i32, {4}), path);
  const FieldReader file(path, std::vector<FileField>{{"a", Precision::i32}}, {4}, {});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK(error_of([&] { read<std::int32_t>(file, 0, 0, 4); }).find("expected, the file ends here") != std::string::npos);
}

TEST_CASE("bytes in the other order, truth values and narrow numbers are read as the host keeps them [files]") {
  const TemporaryFolder folder;
  const auto npy = [&](const std::string& descr, const std::string& elements, bool fortran = false) {
    std::string text =
        "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (2, 2), }\n";
    folder.put("x.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + elements);
    return folder / "x.npy";
  };
  {
    const FieldReader file(npy(">i2", std::string("\x00\x01\x00\x02\x01\x00\xff\xff", 8)),
                           std::vector<FileField>{{"a", Precision::i16}}, {2, 2}, {});
    CHECK(read<std::int16_t>(file, 0, 0, 4) == std::vector<std::int16_t>{1, 2, 256, -1});
  }
  {
    const FieldReader file(npy("|b1", std::string("\x00\x01\x07\x00", 4)),
                           std::vector<FileField>{{"a", Precision::boolean}}, {2, 2}, {});
    CHECK(read<std::uint8_t>(file, 0, 0, 4) == std::vector<std::uint8_t>{0, 1, 1, 0});
  }
  const std::string narrow = npy("|i1", std::string("\x00\x01\xff\x02", 4));
  const FieldReader file(narrow, std::vector<FileField>{{"a", Precision::tern}}, {2, 2}, {});
  CHECK(read<std::int8_t>(file, 0, 0, 3) == std::vector<std::int8_t>{0, 1, -1});
  CHECK(error_of([&] { read<std::int8_t>(file, 0, 2, 2); }) ==
        "E7003 '" + narrow + "' holds 2 as element 3, which is no tern");
  CHECK(reading(npy("|i1", "abcd", true), {"a", Precision::i8}, {2, 2}).find("column by column") != std::string::npos);
}

TEST_CASE("HDF5 files of fields are written, read back, and have the same bytes each time [files]") {
  const TemporaryFolder folder, aside;
  const std::vector<FileField> fields{{"charge", Precision::f64},
                                      {"n", Precision::i64},
                                      {"on", Precision::boolean},
                                      {"half", Precision::f16},
                                      {"c", Precision::u4}};
  std::string bytes[2];
  for (std::string& all : bytes) {
    const std::string path = folder / "x.h5";
    std::filesystem::remove(path);
    FieldWriter out(path, fields, {2, 3}, here(aside));
    write<double>(out, 0, 0, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5});
    write<std::int64_t>(out, 1, 3, {-4, -5, -6});  // in any order
    write<std::int64_t>(out, 1, 0, {-1, -2, -3});
    write<std::uint8_t>(out, 2, 0, {1, 0, 1, 0, 1, 1});
    write<std::uint16_t>(out, 3, 0, {0x3c00, 0, 1, 2, 3, 4});
    write<std::uint8_t>(out, 4, 0, {15, 0, 1, 2, 3, 4});
    out.commit();
    all = read_text(path);
    const FieldReader file(path, fields, {2, 3}, here(aside));
    CHECK(read<double>(file, 0, 4, 2) == std::vector<double>{4.5, 5.5});
    CHECK(read<std::int64_t>(file, 1, 2, 2) == std::vector<std::int64_t>{-3, -4});
    CHECK(read<std::uint8_t>(file, 2, 0, 6) == std::vector<std::uint8_t>{1, 0, 1, 0, 1, 1});
    CHECK(read<std::uint16_t>(file, 3, 0, 1) == std::vector<std::uint16_t>{0x3c00});
    CHECK(read<std::uint8_t>(file, 4, 0, 1) == std::vector<std::uint8_t>{15});
  }
  CHECK(bytes[0] == bytes[1]);
}

TEST_CASE("HDF5 files of other tools are read: packed, in chunks, with the other order of bytes [files]") {
  const TemporaryFolder folder, aside;
  const std::string path = folder / "x.h5";
  const std::vector<double> numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  put_dataset(path, "plain", H5T_IEEE_F64LE, {12}, false, numbers);
  put_dataset(path, "packed", H5T_IEEE_F64LE, {12}, true, numbers);
  put_dataset(path, "big", H5T_IEEE_F64BE, {12}, false, numbers);
  put_dataset(path, "packed_big", H5T_IEEE_F64BE, {12}, true, numbers);
  put_dataset(path, "whole", H5T_STD_I16LE, {3, 4}, false, numbers);
  const std::vector<FileField> fields{{"plain"}, {"packed"}, {"big"}, {"packed_big"}};
  const FieldReader file(path, fields, {12}, here(aside));
  for (std::size_t f = 0; f < fields.size(); ++f) CHECK(read<double>(file, f, 3, 4) == std::vector<double>{3, 4, 5, 6});
  CHECK(reading(path, {"whole", Precision::i16}, {3, 4}) == "no error");
  CHECK(reading(path, {"whole", Precision::i32}, {12}) ==
        "E7003 '" + path + "' does not hold these fields: of 'whole' it holds i16[3, 4], expected i32[12]");
  CHECK(reading(path, {"state", Precision::f64}, {12}) ==
        "E7003 '" + path +
            "' does not hold these fields: it has no dataset 'state'; it has big, packed, packed_big, "
            "plain, whole");
  folder.put("no.h5", "not at all");
  CHECK(reading(folder / "no.h5", {"state"}, {12}) == "E7003 '" + (folder / "no.h5") + "' is no HDF5 file");
  CHECK(reading(folder / "none.h5", {"state"}, {12}).starts_with("E7001 no file"));
}

TEST_CASE("what else an HDF5 file holds stays in it when its fields are written [files]") {
  const TemporaryFolder folder, aside;
  const std::string path = folder / "x.h5";
  put_dataset(path, "state", H5T_IEEE_F32BE, {2}, true, {1, 2});
  put_dataset(path, "other", H5T_IEEE_F32LE, {3}, true, {1, 2, 3});
  put_attribute(path, "/", "step", 7);
  put_attribute(path, "state", "unit", 3);
  put_attribute(path, "other", "unit", 4);
  FieldWriter out(path, std::vector<FileField>{{"state"}}, {2}, here(aside));
  write<double>(out, 0, 0, {0.25, 0.5});
  out.commit();
  const FieldReader file(path, std::vector<FileField>{{"state"}}, {2}, here(aside));
  CHECK(read<double>(file, 0, 0, 2) == std::vector<double>{0.25, 0.5});
  const FieldReader other(path, std::vector<FileField>{{"other", Precision::f32}}, {3}, here(aside));
  CHECK(read<float>(other, 0, 0, 3) == std::vector<float>{1, 2, 3});
  CHECK(attribute(path, "/", "step") == 7);
  CHECK(attribute(path, "state", "unit") == 3);
  CHECK(attribute(path, "other", "unit") == 4);
}

TEST_CASE("a field of an HDF5 file whose elements lie elsewhere is refused [files] [hostile]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.h5";
  nir::keep_library_quiet();
  {
    const nir::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t four = 4;
    const nir::Handle space(H5Screate_simple(1, &four, nullptr), H5Sclose),
        how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(how, "/etc/passwd", 0, 32);
    const nir::Handle data(H5Dcreate2(file, "state", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
    H5Lcreate_external("/etc/passwd", "/", file, "far", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK(reading(path, {"state"}, {4}) == "E7003 '" + path + "' has the data of 'state' in another file");
  CHECK(reading(path, {"far"}, {4}).find("it has no dataset 'far'") != std::string::npos);
}

}  // namespace taskspec::field_files_test
