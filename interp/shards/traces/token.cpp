#include "interp/shards/traces/token.hpp"

namespace taskspec {

std::uint64_t token_of(const Operation& op) {
  std::uint64_t token = static_cast<std::uint64_t>(op.kind) << 8 | static_cast<std::uint64_t>(op.is_counted);
  auto mix = [&](std::uint64_t value) {
    token = (token ^ value) * 0x9E3779B97F4A7C15;
    token ^= token >> 29;
  };
  mix(op.what);
  for (const LaunchUse& use : op.uses) {
    mix(hash_of(op, use));
    mix(static_cast<std::uint64_t>(use.privilege) << 8 | static_cast<std::uint64_t>(use.op));
    use.fields.each([&](std::uint32_t field) { mix(field); });
  }
  return token;
}

}  // namespace taskspec
