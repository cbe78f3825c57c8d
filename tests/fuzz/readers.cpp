#include "tests/fuzz/readers.hpp"

#include <algorithm>
#include <new>

#include "ir/base/diag.hpp"

namespace taskspec::fuzz {

#define READER(name, what) extern const Reader reader_##name;
#include "tests/fuzz/readers.def"
#undef READER

namespace {

constexpr ReaderName readers[] = {
#define READER(name, what) {#name, what, &reader_##name},
#include "tests/fuzz/readers.def"
#undef READER
};

}  // namespace

std::span<const ReaderName> all_readers() { return readers; }

const ReaderName* find_reader(std::string_view name) {
  const auto* found = std::ranges::find(readers, name, &ReaderName::name);
  return found == std::end(readers) ? nullptr : found;
}

Trial::Trial(const Reader& reader) : reader_(reader), mutate_(reader.samples(), reader.grain) {}

std::string Trial::input(std::uint64_t seed, std::uint64_t number) const {
  if (number < samples()) return mutate_.samples()[number];
  std::string changed = mutate_(seed, number);
  const bool repair = reader_.repaired && number % 4 != 0;
  return repair ? reader_.repaired(std::move(changed)) : changed;
}

Taken Trial::run(const std::string& input) const {
  try {
    return {reader_.read(input), ""};
  } catch (const Error& error) {
    if (!error.diags().has_errors()) return {false, "an Error without an error"};
    const std::string code = error.diags().items().front().code.text();
    // Broken, or more than the memory; programs report their errors otherwise.
    if (code != "E7003" && code != "E5008") return {false, std::string("an error of another kind: ") + error.what()};
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
  return {};
}

}  // namespace taskspec::fuzz
