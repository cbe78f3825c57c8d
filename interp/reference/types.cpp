#include "interp/reference/types.hpp"

#include <fmt/format.h>

#include "ir/types/precision.hpp"

namespace taskspec {

namespace {

std::string precision_doc(const PrecisionInfo& precision) {
  std::string doc =
      fmt::format("A precision: {}[N, M] is a tensor of it, {} alone has rank 0. ", precision.name, precision.name);
  if (precision.name == "bool")
    return "A precision: bool[N, M] is a tensor of it. Truth values, also a type of the host program: bool alone is a "
           "tensor of rank 0 where only tensors may stand (outputs, slots, inout parameters), else the type of the "
           "host. Messages call such a tensor bool[].";
  if (precision.is_float)
    doc += fmt::format("An IEEE float of {} bits.", 8 * precision.bytes);
  else
    doc += fmt::format("Integers from {} to {}; {} in memory.", precision.minimum,
                       precision.name == "u64" ? std::to_string(UINT64_MAX) : std::to_string(precision.maximum),
                       precision.bytes == 1 ? "1 byte each" : fmt::format("{} bytes each", precision.bytes));
  if (precision.name == "u64") doc += " Those above 2^63 - 1 are no host values: receiving one is E5001.";
  if (precision.storage_only)
    doc += " It only stores: it enters conversions, matrix products, convolutions, comparisons and movement ops.";
  return doc;
}

std::vector<TypeRecord> make_records() {
  std::vector<TypeRecord> records = {
      {"int", "A host integer of 64 bits; overflow is the error E5001."},
      {"float", "A host float of 64 bits (IEEE)."},
      {"string", "A host text in UTF-8, indexed by code point."},
      {"range", "a..b: the ints from a up to but not including b."},
      {"list", "[T]: a list of values of one type. Lists are values: a change concerns one variable only."},
      {"tuple", "(T, U): two values or more of any types."},
      {"fn", "fn(T) -> U: a function value; x => e makes one."},
      {"tensor",
       "p[d1, ..., dk]: an immutable array of precision p. Extents are made of dimension variables, int parameters and "
       "numbers by + - * and exact /; `_` is any extent (see extents)."},
  };
  for (const PrecisionInfo& precision : all_precisions())
    records.push_back({std::string(precision.name), precision_doc(precision)});
  return records;
}

}  // namespace

std::span<const TypeRecord> type_records() {
  static const std::vector<TypeRecord> records = make_records();
  return records;
}

}  // namespace taskspec
