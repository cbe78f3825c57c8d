// ONNX: a graph of operators, each with a version (opset), and its weights.
#pragma once
#include <array>

#include "interp/import/importer.hpp"

namespace taskspec::onnx {

ModelText read(const std::string& path, const std::string& name, const ImportOptions& options);

inline constexpr std::array<std::string_view, 1> suffixes{".onnx"};

// A message of protobuf has no mark of its own at the front.
inline constexpr ImporterRecord importer{
    .name = "ONNX",
    .suffixes = suffixes,
    .doc = "Networks as PyTorch, TensorFlow and others export them, of opset 6 to 17.",
    .read = read};

}  // namespace taskspec::onnx
