// Element types as ONNX numbers and names them, and the conversion that it means.
#pragma once
#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

std::optional<Precision> precision_of_type(std::int64_t type);
std::optional<Precision> precision_of_name(const std::string& name);  // "FLOAT", of old versions

// Floats to integers towards zero, where `as` rounds.
Term truncated(Call& call, const Term& x, Precision to);

}  // namespace taskspec::onnx
