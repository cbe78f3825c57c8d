// Where boxes stand: ir/layout/ once more, step by step and number by number, for what C++ cannot know when it writes a
// report: which scopes are closed, what is shown, across or down. A test compares the two over random nested graphs;
// why things are done so is said there, and is decided there first.
//
//   layOut([{ w: 80, h: 24 }, { w: 80, h: 24 }], [{ from: 0, to: 1, fromY: 0, toY: 0 }],
//          { parent: [], group: [], width: [] })
//     -> { nodes: [{ x, y, w, h }], frames: by group (null: none), edges: [[[x, y], ...]] }

const ROOM = { layer: 72, port: 28, box: 32, bend: 24, line: 10, side: 16, top: 32, bottom: 26 };
const DEEPEST_FRAME = 24, MOST_FRAMED = 50000;

// ---- one sheet: ports in, boxes, ports out; all in topological order ----

function laySheet(extents, ports, edges, least) {
  const sheet = { boxes: extents.map(({ w, h }) => ({ w, h })), nodes: extents.length, ports, edges, segments: [] };
  assignLayers(sheet);
  addBends(sheet);
  sheet.isBend = box => box < ports.in || box + ports.out >= sheet.nodes;
  for (const box of sheet.boxes) box.before = [], box.after = [];
  for (const { from, to, fromY, toY } of sheet.segments) {
    sheet.boxes[from].after.push({ box: to, offset: toY, own: fromY });
    sheet.boxes[to].before.push({ box: from, offset: fromY, own: toY });
  }
  const layers = sheet.layer.reduce((most, layer) => Math.max(most, layer + 1), 0);
  sheet.order = Array.from({ length: layers }, () => []);
  sheet.layer.forEach((layer, box) => sheet.order[layer].push(box));
  orderLayers(sheet);
  placeBoxes(sheet);
  return drawnSheet(sheet, placeColumns(sheet, least));
}

function assignLayers(sheet) {
  const { ports, edges, nodes } = sheet, out = nodes - ports.out;
  const layer = sheet.layer = new Array(nodes).fill(ports.in > 0 ? 1 : 0).fill(0, 0, ports.in);
  const before = layer.map(() => []), after = layer.map(() => []);
  for (const { from, to } of edges) before[to].push(from), after[from].push(to);
  for (let node = ports.in; node < nodes; ++node)
    for (const from of before[node]) layer[node] = Math.max(layer[node], layer[from] + 1);
  const most = (begin, end) => layer.slice(begin, end).reduce((a, b) => Math.max(a, b), 0);
  const last = most(0, nodes), behindBoxes = out === ports.in || most(ports.in, out) < last;
  layer.fill(behindBoxes ? last : last + 1, out);
  for (let node = ports.in; node < out; ++node)
    if (before[node].length === 0 && after[node].length > 0)
      layer[node] = after[node].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1;
}

function addBends(sheet) {
  const { layer, edges, boxes, segments } = sheet, longest = longestBend(sheet);
  sheet.bends = edges.map(({ from, to, fromY, toY }) => {
    const crossed = layer[to] - layer[from] - 1, bends = [];
    if (crossed > longest) return bends;
    let at = from, offset = fromY;
    for (let k = 0; k < crossed; ++k) {
      const bend = boxes.push({ w: 0, h: 0 }) - 1;
      layer.push(layer[at] + 1);
      segments.push({ from: at, to: bend, fromY: offset, toY: 0 });
      bends.push(bend);
      at = bend, offset = 0;
    }
    segments.push({ from: at, to, fromY: offset, toY });
    return bends;
  });
}

function longestBend({ layer, edges, nodes }) {
  const byLength = [];
  for (const { from, to } of edges) {
    const crossed = layer[to] - layer[from] - 1;
    byLength[crossed] = (byLength[crossed] || 0) + 1;
  }
  let room = 20000 + 2 * (nodes + edges.length);
  for (let length = 0; length < byLength.length; ++length) {
    const cost = length * (byLength[length] || 0);
    if (cost > room) return length - 1;
    room -= cost;
  }
  return Infinity;
}

function sweepsFor(sheet, most) {
  return Math.min(Math.max(Math.floor(1000000 / (sheet.segments.length + 1)), 2), most);
}

function orderLayers(sheet) {
  const { boxes, order } = sheet, tallest = boxes.reduce((most, box) => Math.max(most, box.h), 1024);
  const note = layer => order[layer].forEach((box, k) => {
    boxes[box].position = k;
    boxes[box].centred = k - (order[layer].length - 1) / 2;
  });
  order.forEach((_, layer) => note(layer));
  findEnds(boxes);
  const sortLayer = (layer, forward) => {
    for (const at of order[layer]) {
      const box = boxes[at], near = forward ? box.before : box.after;
      let sum = 0;
      for (const n of near) sum += boxes[n.box].centred + n.offset / tallest;
      box.wish = near.length === 0 ? box.centred : sum / near.length;
    }
    order[layer].sort((a, b) => boxes[a].wish - boxes[b].wish || boxes[a].position - boxes[b].position);
    note(layer);
  };
  let best = null, fewest = Infinity, sinceBest = 0;
  for (let sweep = 0; sweep < sweepsFor(sheet, 24) && fewest > 0 && sinceBest < 6; ++sweep, ++sinceBest) {
    for (let i = 0; i < order.length; ++i) sortLayer(sweep % 2 === 0 ? i : order.length - 1 - i, sweep % 2 === 0);
    const now = crossingsOf(sheet, fewest);
    if (now >= fewest) continue;
    fewest = now, sinceBest = 0;
    best = order.map(layer => [...layer]);
  }
  if (best) sheet.order = best;
}

// Segments may cross in front of one box, too: where its ends are counts, from top to bottom.
function findEnds(boxes) {
  for (const box of boxes) box.ends = [...new Set(box.before.map(n => n.own))].sort((a, b) => a - b);
  for (const box of boxes)
    box.outs = box.after.map(n => ({ to: boxes[n.box], end: boxes[n.box].ends.indexOf(n.offset), own: n.own }))
      .sort((a, b) => a.own - b.own);
}

// All pairs of segments that cross, or some number from `enough` on.
function crossingsOf({ boxes, order }, enough) {
  let count = 0;
  for (let i = 0; i + 1 < order.length && count < enough; ++i) {
    let passed = 0, ends = 0;
    for (const box of order[i + 1]) boxes[box].firstEnd = ends, ends += boxes[box].ends.length;
    const sums = new Uint32Array(ends + 1);
    for (const box of order[i]) {
      const { outs } = boxes[box];
      for (let begin = 0, end = 0; begin < outs.length; begin = end) {
        while (end < outs.length && outs[end].own === outs[begin].own) ++end;
        for (let k = begin; k < end; ++k) {
          count += passed;
          for (let at = outs[k].to.firstEnd + outs[k].end + 1; at > 0; at -= at & -at) count -= sums[at];
        }
        for (let k = begin; k < end; ++k)
          for (let at = outs[k].to.firstEnd + outs[k].end + 1; at < sums.length; at += at & -at) ++sums[at];
        passed += end - begin;
      }
    }
  }
  return count;
}

// ---- how far down each box stands ----

function placeBoxes(sheet) {
  const { boxes, order, isBend } = sheet;
  const distance = (above, below) => {
    const bends = isBend(above) + isBend(below);
    return boxes[above].h / 2 + boxes[below].h / 2 + (bends === 0 ? ROOM.box : bends === 1 ? ROOM.bend : ROOM.line);
  };
  for (const layer of order) {
    let y = 0;
    layer.forEach((box, k) => {
      if (k > 0) y += distance(layer[k - 1], box);
      boxes[box].middle = y;
    });
    for (const box of layer) boxes[box].middle -= y / 2;
  }
  sheet.isPair = (box, other, otherBefore) => otherBefore
    ? boxes[box].before.length === 1 && boxes[other].after.length === 1
    : boxes[box].after.length === 1 && boxes[other].before.length === 1;
  const sweeps = sweepsFor(sheet, 16);
  for (let sweep = 0; sweep < sweeps; ++sweep)
    for (let i = 0; i < order.length; ++i)
      levelLayer(sheet, order[sweep % 2 === 0 ? i : order.length - 1 - i], sweep % 2 === 0, sweep + 2 >= sweeps,
          distance);
  for (const layer of order) layer.forEach((box, k) => { boxes[box].position = k; });
  straightenRuns(sheet, (a, b) => isBend(a) && isBend(b), distance);
  straightenRuns(sheet, (a, b) => sheet.isPair(a, b, false), distance);
}

function wishOf({ boxes, isBend, isPair }, box, forward, both) {
  let sum = 0, weights = 0;
  for (const side of both ? [forward, !forward] : [forward])
    for (const n of side ? boxes[box].before : boxes[box].after) {
      const weight = isBend(box) && isBend(n.box) ? 8 : isPair(box, n.box, side) ? 4 : 1;
      sum += weight * (boxes[n.box].middle + n.offset - n.own);
      weights += weight;
    }
  return weights === 0 ? [boxes[box].middle, 0.1] : [sum / weights, isBend(box) ? 4 : 1];
}

function levelLayer(sheet, layer, forward, both, distance) {
  const groups = [], offset = new Array(layer.length).fill(0);
  layer.forEach((box, k) => {
    if (k > 0) offset[k] = offset[k - 1] + distance(layer[k - 1], box);
    const [place, weight] = wishOf(sheet, box, forward, both);
    const group = { sum: weight * (place - offset[k]), weight, boxes: 1 };
    for (let above = groups[groups.length - 1]; above && above.sum / above.weight >= group.sum / group.weight;
         above = groups[groups.length - 1]) {
      group.sum += above.sum, group.weight += above.weight, group.boxes += above.boxes;
      groups.pop();
    }
    groups.push(group);
  });
  let k = 0;
  for (const group of groups)
    for (let n = 0; n < group.boxes; ++n, ++k) sheet.boxes[layer[k]].middle = group.sum / group.weight + offset[k];
}

function straightenRuns(sheet, linked, distance) {
  const { boxes, order, layer } = sheet;
  const nextOf = box => {
    const { after } = boxes[box];
    return after.length === 1 && linked(box, after[0].box) ? after[0].box : box;
  };
  const fits = (box, y) => {
    const column = order[layer[box]], k = boxes[box].position;
    return (k === 0 || y - boxes[column[k - 1]].middle >= distance(column[k - 1], box) - 1e-6) &&
      (k + 1 === column.length || boxes[column[k + 1]].middle - y >= distance(box, column[k + 1]) - 1e-6);
  };
  const inside = new Uint8Array(boxes.length);
  for (let box = 0; box < boxes.length; ++box) if (nextOf(box) !== box) inside[nextOf(box)] = 1;
  for (let box = 0; box < boxes.length; ++box) {
    if (inside[box] || nextOf(box) === box) continue;
    const run = [[box, 0]];
    let sum = boxes[box].middle, down = 0;
    for (let at = box, next = nextOf(at); next !== at; at = next, next = nextOf(at)) {
      const link = boxes[at].after[0];
      down = down + link.own - link.offset;
      run.push([next, down]);
      sum += boxes[next].middle - down;
    }
    const last = run[run.length - 1];
    for (const first of [sum / run.length, boxes[box].middle, boxes[last[0]].middle - last[1]])
      if (run.every(([member, below]) => fits(member, first + below))) {
        for (const [member, below] of run) boxes[member].middle = first + below;
        break;
      }
  }
}

// ---- whole pixels ----

function placeColumns({ boxes, layer, segments, order, ports }, least) {
  const slanted = new Uint32Array(order.length + 1), columns = [];
  for (const { from, to, fromY, toY } of segments)
    if (Math.abs(boxes[from].middle + fromY - boxes[to].middle - toY) > 200) ++slanted[layer[to]];
  let x = 0;
  order.forEach((column, i) => {
    const last = ports.out > 0 && i + 1 === order.length;
    if (i > 0) x += ((ports.in > 0 && i === 1) || last ? ROOM.port : ROOM.layer) + Math.min(slanted[i] * 4, 120);
    if (last) x = Math.max(x, least);
    const widest = column.reduce((most, box) => Math.max(most, boxes[box].w), 0);
    columns.push({ left: x, right: x + widest });
    x += widest;
  });
  return { columns, width: Math.max(least, x) };
}

function drawnSheet({ boxes, layer, edges, bends, nodes }, { columns, width }) {
  const half = box => Math.floor(boxes[box].h / 2), pixel = box => Math.floor(boxes[box].middle + 1e-6);
  const all = boxes.map((_, i) => i);
  const top = all.reduce((least, box) => Math.min(least, pixel(box) - half(box)), Infinity);
  const yOf = box => pixel(box) - top, column = box => columns[layer[box]];
  const height = all.reduce((most, box) => Math.max(most, yOf(box) - half(box) + boxes[box].h), 0);
  const drawn = edges.map(({ from, to, fromY, toY }, i) => {
    const begin = column(from).left + boxes[from].w, level = yOf(from) + fromY, line = [[begin, level]];
    if (begin < column(from).right) line.push([begin, level], [column(from).right, level]);
    for (const bend of bends[i]) line.push([column(bend).left, yOf(bend)], [column(bend).right, yOf(bend)]);
    line.push([column(to).left, yOf(to) + toY]);
    return line;
  });
  const placed = all.slice(0, nodes).map(box => (
    { x: column(box).left, y: yOf(box) - half(box), w: boxes[box].w, h: boxes[box].h }));
  return { nodes: placed, edges: drawn, width, height };
}

// ---- sheets in sheets ----

// Which groups get a frame, and in which order each sheet takes what stands in it.
function groupingOf(count, edges, groups) {
  const parent = [...groups.parent], depth = [];
  const group = count <= MOST_FRAMED && groups.group.length > 0 ? [...groups.group] : new Array(count).fill(-1);
  const kept = parent.map((p, g) => { depth[g] = p < 0 ? 1 : depth[p] + 1; return depth[g] <= DEEPEST_FRAME; });
  const around = (a, b) => {
    while (a !== b)
      if (b < 0 || (a >= 0 && depth[a] >= depth[b])) a = parent[a];
      else b = parent[b];
    return a;
  };
  for (;;) {
    parent.forEach((p, g) => {
      if (p >= 0 && !kept[p]) parent[g] = parent[p];
      depth[g] = parent[g] < 0 ? 1 : depth[parent[g]] + 1;
    });
    group.forEach((g, node) => { if (g >= 0 && !kept[g]) group[node] = parent[g]; });
    const { items, waiting } = sortItems(count, edges, { parent, group, around });
    if (waiting.length === 0) return { parent, group, around, items };
    for (const g of waiting) kept[g] = false;
  }
}

function sortItems(count, edges, { parent, group, around }) {
  const boxIn = (sheet, node) => {
    let g = group[node];
    if (g === sheet) return node;
    while (parent[g] !== sheet) g = parent[g];
    return count + g;
  };
  const first = new Array(count + parent.length).fill(-1);
  for (let node = count; node-- > 0;) {
    first[node] = node;
    for (let g = group[node]; g >= 0; g = parent[g]) first[count + g] = node;
  }
  const waits = new Uint32Array(first.length), after = first.map(() => []), items = parent.map(() => []);
  items.push([]);
  for (const edge of edges) {
    const sheet = around(group[edge.from], group[edge.to]), to = boxIn(sheet, edge.to);
    after[boxIn(sheet, edge.from)].push(to);
    ++waits[to];
  }
  const ready = new Heap((a, b) => first[a] - first[b] || a - b);
  first.forEach((node, box) => { if (node >= 0 && waits[box] === 0) ready.push(box); });
  while (ready.size > 0) {
    const box = ready.pop(), isGroup = box >= count, id = isGroup ? box - count : box;
    const sheet = isGroup ? parent[id] : group[id];
    items[sheet < 0 ? parent.length : sheet].push({ isGroup, id });
    for (const next of after[box]) if (--waits[next] === 0) ready.push(next);
  }
  return { items, waiting: parent.map((_, g) => g).filter(g => waits[count + g] > 0) };
}

class Heap {
  constructor(compare) { this.compare = compare; this.items = []; }
  get size() { return this.items.length; }
  push(item) {
    const { items } = this;
    let at = items.push(item) - 1;
    for (let up; at > 0 && this.compare(items[up = (at - 1) >> 1], item) > 0; at = up) items[at] = items[up];
    items[at] = item;
  }
  pop() {
    const { items } = this, top = items[0], item = items.pop();
    if (items.length === 0) return top;
    let at = 0;
    for (let next; (next = 2 * at + 1) < items.length; at = next) {
      if (next + 1 < items.length && this.compare(items[next + 1], items[next]) < 0) ++next;
      if (this.compare(items[next], item) >= 0) break;
      items[at] = items[next];
    }
    items[at] = item;
    return top;
  }
}

// The pieces of an edge: out of the frames around its source, then into those around its target. Edges that begin at
// one end of a box come in by one port, and go out by one.
function cutEdge(edge, { parent, group, around }, sheets) {
  const shared = around(group[edge.from], group[edge.to]), key = edge.from + " " + edge.fromY, way = [];
  const sheetOf = g => sheets[g < 0 ? sheets.length - 1 : g];
  const add = (sheet, piece) => { sheet.pieces.push(piece); return { sheet, piece: sheet.pieces.length - 1 }; };
  const port = (sheet, side, make) => {
    const ports = sheet[side];
    if (!ports.has(key)) ports.set(key, { number: ports.size, id: make(ports.size) });
    way.push(ports.get(key).id);
    return ports.get(key).number;
  };
  let at = { at: "node", id: edge.from, offset: edge.fromY };
  for (let g = group[edge.from]; g !== shared; g = parent[g]) {
    const number = port(sheetOf(g), "out", n => add(sheetOf(g), { from: at, to: { at: "portOut", port: n } }));
    at = { at: "outOfGroup", id: g, port: number };
  }
  const inwards = [];
  for (let g = group[edge.to]; g !== shared; g = parent[g]) inwards.unshift(g);
  for (const g of inwards) {
    const number = port(sheetOf(g), "in", n =>
        add(sheetOf(parent[g]), { from: at, to: { at: "intoGroup", id: g, port: n } }));
    at = { at: "portIn", port: number };
  }
  way.push(add(sheetOf(group[edge.to]), { from: at, to: { at: "node", id: edge.to, offset: edge.toY } }));
  return way;
}

function layOut(nodes, edges, groups) {
  const grouping = groupingOf(nodes.length, edges, groups), { items } = grouping;
  const sheets = items.map((list, g) => ({ g, items: list, pieces: [], in: new Map(), out: new Map(), at: [0, 0] }));
  const place = [], framePlace = [], whole = sheets[sheets.length - 1];
  for (const sheet of sheets) sheet.items.forEach(({ isGroup, id }, k) => { (isGroup ? framePlace : place)[id] = k; });
  const ways = edges.map(edge => cutEdge(edge, grouping, sheets));
  const hasFrame = sheet => sheet !== whole && sheet.items.length > 0;
  const endOf = (sheet, end) => {
    if (end.at === "portIn") return [end.port, 0];
    if (end.at === "portOut") return [sheet.in.size + sheet.items.length + end.port, 0];
    if (end.at === "node") return [sheet.in.size + place[end.id], end.offset];
    const group = sheets[end.id], before = end.at === "intoGroup" ? 0 : group.in.size + group.items.length;
    const y = group.begin[1] + group.laid.nodes[before + end.port].y;
    return [sheet.in.size + framePlace[end.id], y - Math.floor(group.frame.h / 2)];
  };
  const layInside = sheet => {
    const port = { w: 0, h: 0 }, ports = { in: sheet.in.size, out: sheet.out.size };
    const boxes = [...new Array(ports.in).fill(port),
                   ...sheet.items.map(({ isGroup, id }) => isGroup ? sheets[id].frame : nodes[id]),
                   ...new Array(ports.out).fill(port)];
    const links = sheet.pieces.map(piece => {
      const [from, fromY] = endOf(sheet, piece.from), [to, toY] = endOf(sheet, piece.to);
      return { from, to, fromY, toY };
    });
    if (!hasFrame(sheet)) { sheet.laid = laySheet(boxes, ports, links, 0); return; }
    sheet.begin = [ports.in > 0 ? 0 : ROOM.side, ROOM.top];
    const sides = sheet.begin[0] + (ports.out > 0 ? 0 : ROOM.side);
    sheet.laid = laySheet(boxes, ports, links, (groups.width[sheet.g] || 0) - sides);
    sheet.frame = { w: sheet.laid.width + sides, h: sheet.laid.height + ROOM.top + ROOM.bottom };
  };
  for (let g = sheets.length - 1; g-- > 0;) if (hasFrame(sheets[g])) layInside(sheets[g]);
  layInside(whole);
  const layout = { nodes: [], frames: groups.parent.map(() => null) };
  for (const sheet of [whole, ...sheets.slice(0, -1).filter(hasFrame)])
    sheet.items.forEach(({ isGroup, id }, k) => {
      const box = { ...sheet.laid.nodes[sheet.in.size + k] };
      box.x += sheet.at[0], box.y += sheet.at[1];
      (isGroup ? layout.frames : layout.nodes)[id] = box;
      if (isGroup) sheets[id].at = [box.x + sheets[id].begin[0], box.y + sheets[id].begin[1]];
    });
  layout.edges = ways.map(way => way.flatMap(({ sheet, piece }) =>
    sheet.laid.edges[piece].map(([x, y]) => [x + sheet.at[0], y + sheet.at[1]])));
  return layout;
}
