#include "interp/host/start_thread.hpp"

namespace taskspec {

Error no_threads(std::string what) {
  Diag diag("E5008", Severity::error, {}, std::move(what));
  diag.help("ask for fewer threads, or raise the limit on processes and address space (ulimit -u, ulimit -v)");
  return Error(std::move(diag));
}

}  // namespace taskspec
