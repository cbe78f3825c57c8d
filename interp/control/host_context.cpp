#include "interp/control/host_context.hpp"

#include <filesystem>

namespace taskspec {

std::string HostContext::input_path(const std::string& written) const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path path(written);
  if (path.is_absolute() || fs::exists(path, ignored)) return written;
  fs::path beside = fs::path(program.main().path).parent_path() / path;
  return fs::exists(beside, ignored) ? beside.string() : written;
}

}  // namespace taskspec
