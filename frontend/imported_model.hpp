// A model file as a module: what the root gives for `import "net.onnx" as net`.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace taskspec {

struct ImportedModel {
  std::string text;    // of a module
  std::string folder;  // where the files are that it names; there as long as the program
};

using ModelOptions = std::vector<std::pair<std::string, std::string>>;  // batch 1, precision f64

// `name` is what the files beside the text go by. Throws Error.
using ImportModel =
    std::function<ImportedModel(const std::string& path, const std::string& name, const ModelOptions& options)>;

}  // namespace taskspec
