#include "interp/reference/blocks.hpp"

#include <fmt/format.h>

#include "interp/reference/reference.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

std::string axes_text(std::span<const BlockAxis> axes) {
  std::vector<std::string> names;
  for (BlockAxis axis : axes) names.emplace_back(text(axis));
  return "[" + joined(names, ", ") + "]";
}

std::string list_text(std::span<const ClusterDef> clusters) {
  std::vector<std::string> texts;
  for (const ClusterDef& cluster : clusters)
    texts.push_back(fmt::format("{}{}{}{}", cluster.name, cluster.axes.empty() ? "" : " " + axes_text(cluster.axes),
                                cluster.repeated ? ", and more of them" : "",
                                cluster.optional ? " (may be left out)" : ""));
  return joined(texts, "; ");
}

}  // namespace

std::string signature_text(const BlockDef& block) {
  std::vector<std::string> attributes;
  for (const BlockAttributeDef* attribute : block.attributes)
    attributes.push_back(fmt::format("{}: {}", attribute->name, attribute->standard));
  const std::string_view precision = block.precisions.empty() ? "p" : info(block.precisions[0].out).name;
  return fmt::format("name : {} {} {}{}", block.name, precision, axes_text(block.axes),
                     attributes.empty() ? "" : " (" + joined(attributes, ", ") + ")");
}

std::string signature_text(const RearrangeDef& moves) { return "a -> b | " + call_text(moves.name, moves.operands); }

std::string clusters_text(const BlockDef& block) {
  std::string text;
  if (!block.in.empty()) text += "Inputs: " + list_text(block.in) + ".";
  if (!block.out.empty()) text += (text.empty() ? "" : " ") + ("Output: " + list_text(block.out)) + ".";
  if (!block.feeds.empty()) {
    std::vector<std::string> names(block.feeds.begin(), block.feeds.end());
    text += " Of the blocks that compute " + joined(names, ", ") + " may read it.";
  }
  std::vector<std::string> pairs;
  for (const BlockPrecisions& pair : block.precisions)
    pairs.push_back(fmt::format("{} to {}", info(pair.in).name, info(pair.out).name));
  if (!pairs.empty()) text += " Precisions: " + joined(pairs, ", ") + ".";
  return text;
}

}  // namespace taskspec
