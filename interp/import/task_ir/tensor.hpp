// Tensors of a file to arrays and back.
#pragma once
#include <functional>
#include <optional>

#include "interp/import/task_ir/task_ir.pb.h"
#include "ir/base/diag.hpp"
#include "ir/types/array.hpp"

namespace taskspec::task_ir {

using TensorPlace = std::function<Span(std::string_view field, std::size_t index)>;

// As an array of that type, whatever precision the tensor says: its values must fit. E4006, E7003; `who` for messages.
std::optional<Array> array_of(const tianjic_ir::Tensor& tensor, const ArrayType& type, const std::string& who,
                              const TensorPlace& place, Diags& diags);

// Into the field that files use for such a precision. Precisions that files lack are our bug.
void set_tensor(tianjic_ir::Tensor& tensor, const Array& array);

}  // namespace taskspec::task_ir
