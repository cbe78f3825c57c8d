#include "interp/import/onnx/precisions.hpp"

#include <array>

namespace taskspec::onnx {

namespace {

struct Row {
  std::int64_t type;  // of TensorProto.DataType
  std::string_view name;
  Precision precision;
};

constexpr std::array precision_rows{
    Row{1, "FLOAT", Precision::f32},   Row{2, "UINT8", Precision::u8},     Row{3, "INT8", Precision::i8},
    Row{4, "UINT16", Precision::u16},  Row{5, "INT16", Precision::i16},    Row{6, "INT32", Precision::i32},
    Row{7, "INT64", Precision::i64},   Row{9, "BOOL", Precision::boolean}, Row{10, "FLOAT16", Precision::f16},
    Row{11, "DOUBLE", Precision::f64}, Row{12, "UINT32", Precision::u32},  Row{13, "UINT64", Precision::u64},
};

}  // namespace

std::optional<Precision> precision_of_type(std::int64_t type) {
  for (const Row& row : precision_rows)
    if (row.type == type) return row.precision;
  return std::nullopt;
}

std::optional<Precision> precision_of_name(const std::string& name) {
  for (const Row& row : precision_rows)
    if (row.name == name) return row.precision;
  return std::nullopt;
}

Term truncated(Call& call, const Term& x, Precision to) {
  const Term own = call.let(x);
  return cast(chosen(with_number(own, "<", 0), called("ceil", own), called("floor", own)), to);
}

}  // namespace taskspec::onnx
