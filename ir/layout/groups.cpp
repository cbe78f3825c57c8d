// A layout with groups: each group is laid out as a sheet of its own, from the innermost ones outwards, and stands as
// one box in the sheet around it. An edge that crosses frames is one line per sheet; these meet at ports.
#include <algorithm>
#include <unordered_map>

#include "ir/layout/layers.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t none = LayoutGroups::none;

struct SheetItem {
  bool is_group = false;
  std::uint32_t id = 0;
};

// Which groups get a frame, and in which order each sheet takes what stands in it.
class Grouping {
 public:
  Grouping(std::size_t nodes, std::span<const LayoutEdge> edges, const LayoutGroups& groups)
      : parent_(groups.parent),
        depth_(parent_.size()),
        group_(nodes, none),
        kept_(parent_.size()),
        items_(parent_.size() + 1) {
    constexpr std::size_t most_nodes = 50'000;
    constexpr std::uint32_t deepest = 24;  // edges are cut at every frame: this bounds the work
    if (nodes <= most_nodes && !groups.group.empty()) group_ = groups.group;
    for (std::uint32_t g = 0; g < parent_.size(); ++g) {
      depth_[g] = parent_[g] == none ? 1 : depth_[parent_[g]] + 1;
      kept_[g] = depth_[g] <= deepest;
    }
    do dissolve();
    while (!sort_items(edges));
  }

  std::uint32_t parent(std::uint32_t g) const { return parent_[g]; }
  std::uint32_t group(std::uint32_t node) const { return group_[node]; }
  std::size_t sheets() const { return items_.size(); }
  std::size_t sheet_of(std::uint32_t g) const { return g == none ? items_.size() - 1 : g; }
  const std::vector<SheetItem>& items(std::size_t sheet) const { return items_[sheet]; }  // in topological order

  // The innermost group that both are in.
  std::uint32_t around(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      std::uint32_t& deeper = b == none || (a != none && depth_[a] >= depth_[b]) ? a : b;
      deeper = parent_[deeper];
    }
    return a;
  }

 private:
  // What stands in a group that is not kept stands in the one around it.
  void dissolve() {
    for (std::uint32_t g = 0; g < parent_.size(); ++g) {
      if (parent_[g] != none && !kept_[parent_[g]]) parent_[g] = parent_[parent_[g]];
      depth_[g] = parent_[g] == none ? 1 : depth_[parent_[g]] + 1;
    }
    for (std::uint32_t& g : group_)
      if (g != none && !kept_[g]) g = parent_[g];
  }

  // Boxes are numbered: nodes, then groups.
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(group_.size()); }
  std::uint32_t box_in(std::uint32_t sheet, std::uint32_t node) const {
    std::uint32_t g = group_[node];
    if (g == sheet) return node;
    while (parent_[g] != sheet) g = parent_[g];
    return nodes() + g;
  }
  void place(std::uint32_t box) {
    const bool is_group = box >= nodes();
    const std::uint32_t id = is_group ? box - nodes() : box;
    items_[sheet_of(is_group ? parent_[id] : group_[id])].push_back({is_group, id});
  }

  // By box: the first node in it, or none.
  std::vector<std::uint32_t> first_nodes() const {
    std::vector<std::uint32_t> first(nodes() + parent_.size(), none);
    for (std::uint32_t node = nodes(); node-- > 0;) {
      first[node] = node;
      for (std::uint32_t g = group_[node]; g != none; g = parent_[g]) first[nodes() + g] = node;
    }
    return first;
  }

  // By number of the first node where edges leave a choice. False: some group would have to stand before and behind the
  // same box, and is not kept.
  bool sort_items(std::span<const LayoutEdge> edges) {
    const std::vector<std::uint32_t> first = first_nodes();
    std::vector<std::uint32_t> waits(first.size(), 0), ready;
    std::vector<LayoutEdge> between;  // boxes of one sheet
    for (const LayoutEdge& edge : edges) {
      std::uint32_t sheet = around(group_[edge.from], group_[edge.to]);
      between.push_back({box_in(sheet, edge.from), box_in(sheet, edge.to)});
      ++waits[between.back().to];
    }
    const Neighbours after(first.size(), between, true);
    auto later = [&](std::uint32_t a, std::uint32_t b) { return first[a] != first[b] ? first[a] > first[b] : a > b; };
    auto add = [&](std::uint32_t box) { ready.push_back(box), std::push_heap(ready.begin(), ready.end(), later); };
    for (std::uint32_t box = 0; box < first.size(); ++box)
      if (first[box] != none && waits[box] == 0) add(box);
    for (std::vector<SheetItem>& items : items_) items.clear();
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), later);
      std::uint32_t box = ready.back();
      ready.pop_back();
      place(box);
      for (const Neighbour& next : after.of(box))
        if (--waits[next.box] == 0) add(next.box);
    }
    bool all = true;
    for (std::uint32_t g = 0; g < parent_.size(); ++g)
      if (waits[nodes() + g] > 0) kept_[g] = all = false;
    return all;
  }

  std::vector<std::uint32_t> parent_, depth_;  // by group; of those that are kept
  std::vector<std::uint32_t> group_;           // by node
  std::vector<bool> kept_;                     // by group
  std::vector<std::vector<SheetItem>> items_;  // by group, then of the whole sheet
};

class GroupedLayout {
 public:
  GroupedLayout(std::span<const Extent> nodes, std::span<const LayoutEdge> edges, const LayoutGroups& groups)
      : nodes_(nodes),
        edges_(edges),
        groups_(groups),
        grouping_(nodes.size(), edges, groups),
        sheets_(grouping_.sheets()),
        place_(nodes.size()),
        frame_place_(groups.parent.size()) {}

  Layout run() {
    for (std::size_t s = 0; s < sheets_.size(); ++s)
      for (std::uint32_t k = 0; k < grouping_.items(s).size(); ++k) {
        const SheetItem& item = grouping_.items(s)[k];
        (item.is_group ? frame_place_ : place_)[item.id] = k;
      }
    for (const LayoutEdge& edge : edges_) ways_.push_back(cut(edge));
    // Children come behind their parents, and the whole sheet is the last one.
    for (std::size_t g = groups_.parent.size(); g-- > 0;)
      if (has_frame(static_cast<std::uint32_t>(g))) lay_out_inside(static_cast<std::uint32_t>(g));
    lay_out_inside(none);
    return put_together();
  }

 private:
  // One end of a piece of an edge: at a box of the sheet, at a port of a group in it, or at a port of the sheet itself.
  struct End {
    enum class At : std::uint8_t { node, into_group, out_of_group, port_in, port_out } at = At::node;
    std::uint32_t id = 0;     // of the node or the group
    std::uint32_t port = 0;   // by number among those of its group that lead in (or out)
    std::int32_t offset = 0;  // from the middle of a node
  };
  struct Piece {
    End from, to;
  };
  struct PieceId {
    std::uint32_t sheet = 0, piece = 0;
  };
  struct Inside {
    std::vector<Piece> pieces;
    std::vector<PieceId> in, out;  // by port: the piece that ends there, outside or inside
    Sheet sheet;
    Extent frame;
    PlanePoint begin;  // of the sheet in its frame
    PlanePoint at;     // of the sheet, on the whole one
  };
  using Known = std::unordered_map<std::uint64_t, std::uint32_t>;  // (end of a box, group) -> port

  PieceId add(std::size_t sheet, const Piece& piece) {
    sheets_[sheet].pieces.push_back(piece);
    return {static_cast<std::uint32_t>(sheet), static_cast<std::uint32_t>(sheets_[sheet].pieces.size() - 1)};
  }

  // Edges that begin at one end of a box come in by one port, and go out by one.
  std::uint64_t key(const LayoutEdge& edge, std::uint32_t g) {
    std::uint64_t end = std::uint64_t{edge.from} << 32 | static_cast<std::uint32_t>(edge.from_offset);
    return std::uint64_t{ends_.emplace(end, static_cast<std::uint32_t>(ends_.size())).first->second} << 32 | g;
  }

  // The pieces of an edge: out of the frames around its source, then into those around its target.
  std::vector<PieceId> cut(const LayoutEdge& edge) {
    using At = End::At;
    const std::uint32_t shared = grouping_.around(grouping_.group(edge.from), grouping_.group(edge.to));
    std::vector<PieceId> way;
    End at{At::node, edge.from, 0, edge.from_offset};
    for (std::uint32_t g = grouping_.group(edge.from); g != shared; g = grouping_.parent(g)) {
      std::vector<PieceId>& ports = sheets_[g].out;
      auto [port, fresh] = out_.emplace(key(edge, g), static_cast<std::uint32_t>(ports.size()));
      if (fresh) ports.push_back(add(g, {at, {At::port_out, g, port->second}}));
      way.push_back(ports[port->second]);
      at = {At::out_of_group, g, port->second};
    }
    std::vector<std::uint32_t> inwards;
    for (std::uint32_t g = grouping_.group(edge.to); g != shared; g = grouping_.parent(g)) inwards.push_back(g);
    for (std::size_t k = inwards.size(); k-- > 0;) {
      const std::uint32_t g = inwards[k];
      std::vector<PieceId>& ports = sheets_[g].in;
      auto [port, fresh] = in_.emplace(key(edge, g), static_cast<std::uint32_t>(ports.size()));
      if (fresh) ports.push_back(add(grouping_.sheet_of(grouping_.parent(g)), {at, {At::into_group, g, port->second}}));
      way.push_back(ports[port->second]);
      at = {At::port_in, g, port->second};
    }
    const std::size_t last = grouping_.sheet_of(grouping_.group(edge.to));
    way.push_back(add(last, {at, {At::node, edge.to, 0, edge.to_offset}}));
    return way;
  }

  bool has_frame(std::uint32_t g) const { return g != none && !grouping_.items(g).empty(); }

  void lay_out_inside(std::uint32_t g) {
    const std::vector<SheetItem>& items = grouping_.items(grouping_.sheet_of(g));
    Inside& here = sheets_[grouping_.sheet_of(g)];
    const Ports ports{here.in.size(), here.out.size()};
    std::vector<Extent> boxes(ports.in);
    for (const SheetItem& item : items) boxes.push_back(item.is_group ? sheets_[item.id].frame : nodes_[item.id]);
    boxes.resize(boxes.size() + ports.out);
    std::vector<LayoutEdge> edges;
    for (const Piece& piece : here.pieces) {
      auto [from, from_offset] = end_of(piece.from, ports, items.size());
      auto [to, to_offset] = end_of(piece.to, ports, items.size());
      edges.push_back({from, to, from_offset, to_offset});
    }
    if (!has_frame(g)) {
      here.sheet = lay_out_sheet(boxes, ports, edges, 0);
      return;
    }
    here.begin = {ports.in > 0 ? 0 : FrameRoom::side, FrameRoom::top};
    const std::int32_t sides = here.begin.x + (ports.out > 0 ? 0 : FrameRoom::side);
    const std::int32_t title = groups_.width.empty() ? 0 : groups_.width[g];
    here.sheet = lay_out_sheet(boxes, ports, edges, title - sides);
    here.frame = {here.sheet.width + sides, here.sheet.height + FrameRoom::top + FrameRoom::bottom};
  }

  // Which box of the sheet, and how far below its middle.
  std::pair<std::uint32_t, std::int32_t> end_of(const End& end, Ports ports, std::size_t items) const {
    const auto first = static_cast<std::uint32_t>(ports.in);
    switch (end.at) {
      case End::At::node:
        return {first + place_[end.id], end.offset};
      case End::At::port_in:
        return {end.port, 0};
      case End::At::port_out:
        return {first + static_cast<std::uint32_t>(items) + end.port, 0};
      case End::At::into_group:
      case End::At::out_of_group:
        break;
    }
    const Inside& group = sheets_[end.id];
    const std::size_t before = end.at == End::At::into_group ? 0 : group.in.size() + grouping_.items(end.id).size();
    const std::int32_t y = group.begin.y + group.sheet.nodes[before + end.port].y;
    return {first + frame_place_[end.id], y - group.frame.height / 2};
  }

  Layout put_together() {
    Layout layout;
    layout.nodes.resize(nodes_.size());
    layout.frames.resize(groups_.parent.size());
    place_items(none, layout);
    for (std::uint32_t g = 0; g < groups_.parent.size(); ++g)
      if (has_frame(g)) place_items(g, layout);
    for (const std::vector<PieceId>& way : ways_) {
      std::vector<PlanePoint>& line = layout.edges.emplace_back();
      for (PieceId id : way) {
        const Inside& here = sheets_[id.sheet];
        for (PlanePoint p : here.sheet.edges[id.piece]) line.push_back({here.at.x + p.x, here.at.y + p.y});
      }
    }
    return layout;
  }

  void place_items(std::uint32_t g, Layout& layout) {
    const Inside& here = sheets_[grouping_.sheet_of(g)];
    const std::vector<SheetItem>& items = grouping_.items(grouping_.sheet_of(g));
    for (std::size_t k = 0; k < items.size(); ++k) {
      LayoutBox box = here.sheet.nodes[here.in.size() + k];
      box.x += here.at.x, box.y += here.at.y;
      (items[k].is_group ? layout.frames : layout.nodes)[items[k].id] = box;
      if (!items[k].is_group) continue;
      Inside& inner = sheets_[items[k].id];
      inner.at = {box.x + inner.begin.x, box.y + inner.begin.y};
    }
  }

  std::span<const Extent> nodes_;
  std::span<const LayoutEdge> edges_;
  const LayoutGroups& groups_;
  Grouping grouping_;
  std::vector<Inside> sheets_;                      // by group, then the whole
  std::vector<std::uint32_t> place_, frame_place_;  // by node and by group: position among the items of its sheet
  std::vector<std::vector<PieceId>> ways_;          // by edge
  Known ends_, in_, out_;
};

}  // namespace

Layout lay_out(std::span<const Extent> nodes, std::span<const LayoutEdge> edges, const LayoutGroups& groups) {
  return GroupedLayout(nodes, edges, groups).run();
}

}  // namespace taskspec
