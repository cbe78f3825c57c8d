#include "interp/control/host_context.hpp"

#include <filesystem>

namespace taskspec {

HostContext::HostContext(const Program& p, const OpTable& o) : program(p), ops(o) {}

std::string HostContext::input_path(const std::string& written) const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path path(written);
  if (path.is_absolute() || fs::exists(path, ignored)) return written;
  fs::path there = fs::path(beside.empty() ? program.main().path : beside).parent_path() / path;
  return fs::exists(there, ignored) ? there.string() : written;
}

}  // namespace taskspec
