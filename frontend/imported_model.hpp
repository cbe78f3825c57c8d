// A model file as a module: what the root gives for `import "net.onnx" as net`.
#pragma once
#include <functional>
#include <string>

namespace taskspec {

struct ImportedModel {
  std::string text;    // of a module
  std::string folder;  // where the files are that it names; there as long as the program
};

// `name` is what the files beside the text go by. Throws Error.
using ImportModel = std::function<ImportedModel(const std::string& path, const std::string& name)>;

}  // namespace taskspec
