// The lines of two parts beside one another: what is left of the same call stands in one row, and so do the two ends of
// a channel. Longest common subsequence, as in a comparison of two texts.
#include <algorithm>

#include "ir/cut_report/parts.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_cells = 4'000'000;

// How gladly two lines stand in one row; 0: they do not.
int bond(const CodeLine& host, const CodeLine& graph) {
  for (ChannelId id : host.channels)
    if (std::find(graph.channels.begin(), graph.channels.end(), id) != graph.channels.end()) return 3;
  return host.call == graph.call && host.mark == graph.mark ? 2 : 0;
}

}  // namespace

std::vector<CutRow> side_by_side(const std::vector<CodeLine>& host, const std::vector<CodeLine>& graph) {
  const std::size_t n = host.size(), m = graph.size(), width = m + 1;
  std::vector<CutRow> rows;
  std::size_t i = 0, j = 0;
  if ((n + 1) * width <= most_cells) {
    std::vector<std::uint32_t> best((n + 1) * width, 0);  // of the lines from (i, j) on
    for (i = n; i-- > 0;)
      for (j = m; j-- > 0;) {
        const int together = bond(host[i], graph[j]);
        std::uint32_t most = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
        if (together > 0) most = std::max(most, best[(i + 1) * width + j + 1] + static_cast<std::uint32_t>(together));
        best[i * width + j] = most;
      }
    for (i = 0, j = 0; i < n && j < m;) {
      const auto together = static_cast<std::uint32_t>(bond(host[i], graph[j]));
      if (together > 0 && best[i * width + j] == best[(i + 1) * width + j + 1] + together)
        rows.push_back({host[i++], graph[j++]});
      else if (best[i * width + j] == best[(i + 1) * width + j])
        rows.push_back({host[i++], {}});
      else
        rows.push_back({{}, graph[j++]});
    }
  }
  while (i < n) rows.push_back({host[i++], {}});
  while (j < m) rows.push_back({{}, graph[j++]});
  return rows;
}

}  // namespace taskspec
