#include "ir/files/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/base/hash.hpp"
#include "ir/base/text.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec {

namespace {

constexpr std::string_view mark = "taskspec checkpoint ";
constexpr int newest_version = 1;
constexpr std::size_t most_differences = 100;  // that are listed

// As an array file holds it: narrow integers are those that the host keeps them in.
ArrayType stored(ArrayType type) {
  const PrecisionInfo& narrow = info(type.precision);
  if (narrow.is_float || type.precision == Precision::boolean) return type;
  for (Precision wide : {Precision::i8, Precision::u8, Precision::i16, Precision::u16, Precision::i32, Precision::u32,
                         Precision::i64, Precision::u64}) {
    const PrecisionInfo& p = info(wide);
    if (p.bytes != narrow.bytes || (p.minimum < 0) != (narrow.minimum < 0)) continue;
    type.precision = wide;
    return type;
  }
  bug("no integer holds this precision");
}

Hash128 hash_of(std::span<const NamedArray> arrays) {
  std::vector<const NamedArray*> by_name;
  for (const NamedArray& array : arrays) by_name.push_back(&array);
  std::ranges::sort(by_name, {}, [](const NamedArray* array) { return std::string_view(array->name); });
  Hasher hasher;
  for (const NamedArray* one : by_name) {
    hasher.add(one->name).add(stored(one->array.type()).text());
    hasher.add(std::uint64_t{one->array.bytes()}).bytes({one->array.raw(), one->array.bytes()});
  }
  return hasher.digest();
}

std::string seal_text(std::span<const NamedArray> arrays) {
  return fmt::format("{}{} xxh3 {}", mark, newest_version, hash_of(arrays).text());
}

Array bytes_as_array(std::string_view text) {
  Array array = Array::make({Precision::u8, {static_cast<std::int64_t>(text.size())}});
  std::copy(text.begin(), text.end(), array.data<char>().begin());
  return array;
}

void check_seal(const std::string& path, const Array& seal, std::span<const NamedArray> arrays) {
  std::string_view text;
  if (seal.precision() == Precision::u8) text = {seal.data<char>().data(), seal.bytes()};
  int version = 0;
  if (text.starts_with(mark)) std::from_chars(text.begin() + mark.size(), text.end(), version);
  if (version > newest_version)
    throw unreadable(path, fmt::format("is a checkpoint of version {}; up to {} are known", version, newest_version));
  if (version < 1) throw unreadable(path, fmt::format("has a broken '{}', which says what it is", checkpoint_seal));
  if (text != seal_text(arrays))
    throw unreadable(path, fmt::format("was changed since it was written: '{}' holds another hash than that of its {}",
                                       checkpoint_seal, plural(arrays.size(), "array")));
}

// The same elements, as narrow as they are wanted. Nothing: one of them is not.
std::optional<Array> narrowed(const Array& array, const ArrayType& wanted) {
  const PrecisionInfo& p = info(wanted.precision);
  if (array.precision() != wanted.precision)
    for (std::int64_t i = 0, n = array.elements(); i < n; ++i)
      if (const std::int64_t value = array.integer(i); value < p.minimum || value > p.maximum) return std::nullopt;
  return Array::wrap(wanted, array.storage());
}

}  // namespace

void save_checkpoint(const std::string& path, std::vector<NamedArray> arrays) {
  for (const NamedArray& array : arrays)
    if (array.name == checkpoint_seal)
      throw failure("E7004", {}, fmt::format("cannot write '{}': '{}' is the name of what seals it", path, array.name));
  arrays.push_back({std::string(checkpoint_seal), bytes_as_array(seal_text(arrays))});
  save_arrays(path, arrays);
}

Checkpoint load_checkpoint(const std::string& path) {
  Checkpoint found{load_arrays(path), false};
  auto seal = std::ranges::find(found.arrays, checkpoint_seal, &NamedArray::name);
  if (seal == found.arrays.end()) return found;
  const Array contents = std::move(seal->array);
  found.arrays.erase(seal);
  check_seal(path, contents, found.arrays);
  found.sealed = true;
  return found;
}

std::vector<Array> fitting(const std::string& path, const std::string& what, std::span<const WantedArray> wanted,
                           std::span<const NamedArray> found) {
  std::unordered_map<std::string_view, const Array*> arrays;
  for (const auto& [name, array] : found) arrays.emplace(name, &array);
  std::vector<Array> result;
  std::vector<std::string> differences;
  std::unordered_set<std::string_view> known;
  for (const auto& [name, type] : wanted) {
    known.insert(name);
    const auto there = arrays.find(name);
    if (there == arrays.end()) {
      differences.push_back(fmt::format("missing: '{}', {}", name, type.text()));
    } else if (const ArrayType& is = there->second->type(); is != stored(type)) {
      differences.push_back(fmt::format("'{}' is {} in the file, and {} here", name, is.text(), type.text()));
    } else if (std::optional<Array> array = narrowed(*there->second, type)) {
      result.push_back(std::move(*array));
    } else {
      differences.push_back(
          fmt::format("'{}' holds numbers in the file that are no {}", name, info(type.precision).name));
    }
  }
  for (const auto& [name, array] : found)
    if (!known.contains(name))
      differences.push_back(fmt::format("not known here: '{}', {}", name, array.type().text()));
  if (differences.empty()) return result;
  Diag diag("E7003", Severity::error, {},
            fmt::format("'{}' does not fit {}: {}", path, what, plural(differences.size(), "difference")));
  for (std::size_t i = 0; i < std::min(differences.size(), most_differences); ++i) diag.note(differences[i]);
  if (differences.size() > most_differences)
    diag.note(fmt::format("and {} others", differences.size() - most_differences));
  throw Error(std::move(diag));
}

}  // namespace taskspec
