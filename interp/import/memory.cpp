#include "interp/import/memory.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace taskspec {

namespace {

constexpr std::uint64_t program_bytes = std::uint64_t{768}
                                        << 20;  // of addresses: libraries, stacks, and what they begin with
// The file, its messages, the arrays made of them, and those while they are written.
constexpr std::uint64_t copies = 8;

void set_limit(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

void bound_memory(std::uint64_t file_bytes) {
  set_limit(program_bytes + copies * std::min(file_bytes, std::uint64_t{1} << 50));
}

void allow_memory(std::uint64_t more_bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  set_limit(limit.rlim_cur + copies * std::min(more_bytes, std::uint64_t{1} << 50));
}

void bound_time(std::uint64_t file_bytes) {
  constexpr std::uint64_t least_seconds = 10, bytes_a_second = std::uint64_t{1} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(least_seconds + file_bytes / bytes_a_second, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace taskspec
