#include "interp/cli/ranks_tell.hpp"

#include <chrono>
#include <thread>

#include "interp/shards/ranks/rank_process.hpp"
#include "interp/shards/ranks/ranks.hpp"

namespace taskspec::cli {

namespace {

// Long enough for the first rank to tell the same.
constexpr int most_looks = 10;
constexpr std::chrono::milliseconds between_looks{100};

// That it was interrupted, or another one ended: that one may say why.
bool is_of_another(const Diags& diags) { return diags.items().front().code == Code("E5009"); }

bool is_ours_to_tell(const Options& options, const Diags& diags) {
  static bool has_told = false;
  if (!diags.has_errors() || has_told) return !options.is_hidden || has_told;
  const CallNotes* notes = starter_notes();
  if (!notes && options.is_hidden) return false;
  const int looks = !notes ? 0 : is_of_another(diags) ? 2 * most_looks : options.is_hidden ? most_looks : 0;
  for (int look = 0; look < looks && !notes->has_last_word(); ++look) std::this_thread::sleep_for(between_looks);
  return has_told = claim_last_word();
}

Diags with_rank(const Diags& diags) {
  Diags made;
  for (Diag diag : diags.items()) {
    if (made.items().empty()) diag.note("on rank " + std::to_string(number_in_environment(rank_variable).value_or(0)));
    made.add(std::move(diag));
  }
  return made;
}

}  // namespace

Diags to_tell(const Options& options, const Diags& diags) {
  if (!is_ours_to_tell(options, diags)) return {};
  return options.is_hidden ? with_rank(diags) : diags;
}

}  // namespace taskspec::cli
