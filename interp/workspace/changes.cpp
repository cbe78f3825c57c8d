#include "interp/workspace/changes.hpp"

#include <fmt/format.h>

#include "ir/base/text.hpp"
#include "ir/print_graph.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most = 4;  // names of one kind in the line; more are counted

std::string names_text(const TaskGraph& graph, std::size_t begin, std::size_t end) {
  std::vector<std::string> names;
  for (std::size_t i = begin; i < end && names.size() < most; ++i) names.push_back(graph.path(NodeId(i)));
  const std::size_t more = end - begin - names.size();
  return joined(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string members_text(const TaskGraph& graph, std::span<const NodeId> members) {
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 2 * most && members.size() > 2 * most + 1) return fmt::format("[{}, ... {} tasks]", text, members.size());
    text += (i > 0 ? ", " : "") + graph.definition(members[i]).name;
  }
  return "[" + text + "]";
}

// Why a chain that went on before ends where it ends now: "after inc#0, because it branches to ... (sink rule)".
std::string split_text(const TaskGraph& graph, const Chains& chains, ChainId first_part) {
  std::string why = last_text(graph, chains, first_part);  // "ends with inc#0, because ..."
  return "after" + why.substr(std::string_view("ends with").size());
}

}  // namespace

std::string GraphChanges::since_last(const TaskGraph& graph, std::span<const Ref> received) {
  const std::size_t before = tasks_;
  tasks_ = graph.size();
  Chains chains = aggregate(graph, {.received = received});
  std::vector<std::string> parts;
  if (tasks_ > before)
    parts.push_back(
        fmt::format("new {} {}", tasks_ - before == 1 ? "task" : "tasks", names_text(graph, before, tasks_)));

  std::vector<bool> split(members_.size(), false);
  std::vector<std::string> splits, grown, fresh;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    std::span<const NodeId> members = chains.members(ChainId(c));
    if (members.front().index() >= before) {
      fresh.push_back(members_text(graph, members));
      continue;
    }
    const std::uint32_t old = chain_of_[members.front().index()];
    const std::vector<NodeId>& was = members_[old];
    if (members.back().index() >= before)
      grown.push_back(fmt::format("chain {} grew to {}", members_text(graph, was), members_text(graph, members)));
    else if (members.size() < was.size() && members.front() == was.front() && !split[old])
      splits.push_back(
          fmt::format("chain {} split {}", members_text(graph, was), split_text(graph, chains, ChainId(c))));
    split[old] = true;
  }
  auto add = [&](const std::vector<std::string>& list) {
    for (std::size_t i = 0; i < list.size() && i < most; ++i) parts.push_back(list[i]);
    if (list.size() > most) parts.push_back(fmt::format("{} more like that", list.size() - most));
  };
  add(splits);
  add(grown);
  if (fresh.size() == 1) parts.push_back("new chain " + fresh[0]);
  if (fresh.size() > 1) {
    std::vector<std::string> shown(fresh.begin(),
                                   fresh.begin() + static_cast<std::ptrdiff_t>(std::min(most, fresh.size())));
    const std::string more = fresh.size() > most ? fmt::format(" and {} more", fresh.size() - most) : "";
    parts.push_back("new chains " + joined(shown, ", ") + more);
  }
  chain_of_.resize(graph.size());
  members_.assign(chains.size(), {});
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (NodeId node : chains.members(ChainId(c))) {
      chain_of_[node.index()] = static_cast<std::uint32_t>(c);
      members_[c].push_back(node);
    }
  return joined(parts, "; ");
}

}  // namespace taskspec
