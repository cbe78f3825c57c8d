#include "ir/show/picture.hpp"

#include <algorithm>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::int32_t pill_height = 22, pill_letter = 7, pill_padding = 20, type_letter = 7, type_padding = 12;
constexpr std::size_t longest_type = 40;

std::string order_word(Hazard why) { return why == Hazard::raw ? "RAW" : why == Hazard::waw ? "WAW" : "WAR"; }

class PictureMaker {
 public:
  explicit PictureMaker(const TaskGraph& graph) : graph_(graph) {}

  Picture run() {
    find_pills();
    find_words();
    const Layout sheet = lay_out(boxes(), lines(), scopes());
    take(sheet);
    return std::move(picture_);
  }

 private:
  struct End {
    std::uint32_t pill = 0;
    NodeId node;
    std::size_t slot = 0;
  };

  // Inputs that some task reads, and results that tasks make.
  void find_pills() {
    std::vector<std::uint32_t> pill_of(graph_.inputs().size(), UINT32_MAX);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const std::span<const Ref> in = graph_.in(NodeId(i));
      for (std::size_t slot = 0; slot < in.size(); ++slot) {
        if (in[slot].kind != Ref::Kind::input) continue;
        std::uint32_t& pill = pill_of[in[slot].id];
        const GraphInput& input = graph_.inputs()[in[slot].id];
        if (pill == UINT32_MAX) {
          pill = static_cast<std::uint32_t>(picture_.inputs.size());
          picture_.inputs.push_back({shortened(input.name + ": " + input.type.text()), {}});
        }
        readers_.push_back({pill, NodeId(i), slot});
      }
    }
    for (const GraphResult& result : graph_.results()) {
      if (!result.ref.is_future()) continue;
      makers_.push_back({static_cast<std::uint32_t>(picture_.results.size()), result.ref.node(), result.ref.slot});
      picture_.results.push_back({shortened(result.name + ": " + result.type.text()), {}});
    }
  }

  // Types where a line begins that leads to a task; a result says its own.
  void find_words() {
    picture_.types.resize(graph_.size());
    picture_.orders.resize(graph_.size());
    for (std::size_t i = 0; i < graph_.size(); ++i) picture_.types[i].resize(graph_.out(NodeId(i)).size());
    for (const TaskEdge& edge : graph_.edges()) {
      const std::size_t from = edge.from.index();
      if (edge.kind == EdgeKind::future) {
        picture_.types[from][edge.slot_from] =
            shortened(graph_.type(graph_.out(edge.from)[edge.slot_from]).text(), longest_type);
        continue;
      }
      std::string& words = picture_.orders[from];
      const std::string word = order_word(edge.why);
      if (words.find(word) == std::string::npos) words += (words.empty() ? "" : " ") + word;
    }
  }

  std::int32_t room_behind(std::size_t node) const {
    int widest = display_width(picture_.orders[node]);
    for (const std::string& type : picture_.types[node]) widest = std::max(widest, display_width(type));
    return widest == 0 ? 0 : type_letter * widest + type_padding;
  }

  static Extent extent(const Picture::Pill& pill) {
    return {pill_letter * display_width(pill.text) + pill_padding, pill_height};
  }
  std::uint32_t box_of(NodeId node) const { return static_cast<std::uint32_t>(picture_.inputs.size()) + node.value; }
  std::uint32_t first_result() const { return static_cast<std::uint32_t>(picture_.inputs.size() + graph_.size()); }

  std::vector<Extent> boxes() const {
    std::vector<Extent> boxes;
    for (const Picture::Pill& pill : picture_.inputs) boxes.push_back(extent(pill));
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      Extent box = taskspec::box_of(graph_, NodeId(i));
      box.width += room_behind(i);
      boxes.push_back(box);
    }
    for (const Picture::Pill& pill : picture_.results) boxes.push_back(extent(pill));
    return boxes;
  }

  std::int32_t offset(NodeId node, std::size_t slot, bool future = true) const {
    return (future ? row_middle(slot) : BoxStyle::title / 2) - taskspec::box_of(graph_, node).height / 2;
  }

  std::vector<LayoutEdge> lines() const {
    std::vector<LayoutEdge> lines;
    for (const TaskEdge& edge : graph_.edges()) {
      const bool future = edge.kind == EdgeKind::future;
      lines.push_back({box_of(edge.from), box_of(edge.to), offset(edge.from, edge.slot_from, future),
                       offset(edge.to, edge.slot_to, future)});
    }
    for (const End& end : readers_) lines.push_back({end.pill, box_of(end.node), 0, offset(end.node, end.slot)});
    for (const End& end : makers_)
      lines.push_back({box_of(end.node), first_result() + end.pill, offset(end.node, end.slot), 0});
    return lines;
  }

  LayoutGroups scopes() const {
    LayoutGroups groups = scopes_of(graph_);
    groups.group.insert(groups.group.begin(), picture_.inputs.size(), LayoutGroups::none);
    groups.group.resize(first_result() + picture_.results.size(), LayoutGroups::none);
    return groups;
  }

  // A line begins at the box itself, and runs level past what stands behind it.
  std::vector<PlanePoint> from_box(NodeId node, const std::vector<PlanePoint>& way) const {
    const std::int32_t room = room_behind(node.index());
    if (room == 0) return way;
    const PlanePoint begin{way[0].x - room, way[0].y};
    std::vector<PlanePoint> whole{begin, begin};
    const bool level = way.size() > 2 && way[1].x == way[0].x;
    whole.insert(whole.end(), way.begin() + (level ? 2 : 0), way.end());
    return whole;
  }

  void take(const Layout& sheet) {
    std::size_t box = 0, line = 0;
    for (Picture::Pill& pill : picture_.inputs) pill.box = sheet.nodes[box++];
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      picture_.nodes.push_back(sheet.nodes[box++]);
      picture_.nodes.back().width -= room_behind(i);
    }
    for (Picture::Pill& pill : picture_.results) pill.box = sheet.nodes[box++];
    picture_.frames = sheet.frames;
    for (const TaskEdge& edge : graph_.edges()) picture_.edges.push_back(from_box(edge.from, sheet.edges[line++]));
    for (const End& end : readers_) picture_.from_inputs.push_back({end.pill, end.node, sheet.edges[line++]});
    for (const End& end : makers_)
      picture_.to_results.push_back({end.pill, end.node, from_box(end.node, sheet.edges[line++])});
    for (const std::vector<LayoutBox>* all : {&sheet.nodes, &sheet.frames})
      for (const LayoutBox& b : *all) {
        picture_.width = std::max(picture_.width, b.x + b.width);
        picture_.height = std::max(picture_.height, b.y + b.height);
      }
  }

  const TaskGraph& graph_;
  std::vector<End> readers_, makers_;
  Picture picture_;
};

}  // namespace

Picture picture_of(const TaskGraph& graph) { return PictureMaker(graph).run(); }

}  // namespace taskspec
