// What is drawn of a graph while some of its scopes are collapsed: boxes, lines, bands of chains, frames of scopes.
// Without collapsed scopes everything stands where the layout of the file says; else it is laid out again.

const STUB = 18;
const BAND = { halo: 6, round: 11, ribbon: 18 };  // of chains: around boxes, and from one to the next

function makeScene(graph, collapsed) {
  const hidden = collapsedScopeOf(graph, collapsed);
  const boxes = [], boxOf = new Int32Array(graph.size), scopeBox = new Map();
  for (let node = 0; node < graph.size; ++node) {
    const scope = hidden[graph.nodes[node].scope];
    if (scope < 0) {
      boxOf[node] = boxes.push(nodeBox(graph, node)) - 1;
      continue;
    }
    if (!scopeBox.has(scope)) scopeBox.set(scope, boxes.push(emptyScopeBox(graph, scope)) - 1);
    boxOf[node] = scopeBox.get(scope);
    boxes[boxOf[node]].nodes.push(node);
  }
  for (const i of scopeBox.values()) finishScopeBox(graph, boxes[i]);
  const scene = { graph, boxes, boxOf, collapsed, lines: [], bands: [], frames: [] };
  if (scopeBox.size > 0) {
    placeAgain(scene);
  } else {
    scene.lines = givenLines(graph);
    graph.frames.forEach((frame, scope) => {
      if (frame) scene.frames.push(frameOf(graph, scope, frame));
    });
  }
  scene.bands = makeBands(graph, boxes, boxOf);
  scene.bounds = boundsOf(boxes, scene.frames);
  scene.firstColumn = boxes.reduce((least, box) => Math.min(least, box.x + 1), Infinity);
  scene.lastColumn = boxes.reduce((most, box) => Math.max(most, box.x), -Infinity);
  return scene;
}

// By scope: the outermost collapsed one that it is in, or -1. Parents stand before their children.
function collapsedScopeOf(graph, collapsed) {
  const hidden = new Int32Array(graph.scopes.length).fill(-1);
  graph.scopes.forEach((scope, i) => {
    if (scope.parent === null) return;
    hidden[i] = hidden[scope.parent] >= 0 ? hidden[scope.parent] : collapsed.has(i) ? i : -1;
  });
  return hidden;
}

function nodeBox(graph, node) {
  const [x, y, w, h] = graph.boxes[node];
  return { x, y, w, h, nodes: [node], node, scope: -1, title: graph.nameOf(node), chain: graph.chainOf(node),
           control: graph.nodes[node].control === true };
}

function emptyScopeBox(graph, scope) {
  return { x: 0, y: 0, w: 0, h: 0, nodes: [], node: -1, scope, title: graph.scopes[scope].name, chain: -1 };
}

function finishScopeBox(graph, box) {
  box.w = Math.max(40 + 8 * box.title.length, 110);
  box.h = 46;
  const chains = new Set(box.nodes.map(node => graph.chainOf(node)));
  if (chains.size === 1) box.chain = [...chains][0];
}

function frameOf(graph, scope, [x, y, w, h]) {
  return { scope, title: graph.scopes[scope].name, x, y, right: x + w, bottom: y + h };
}

// A scope without a frame of its own stands in that of the one around it.
function placeAgain(scene) {
  const { graph, boxes } = scene, framed = scope => {
    while (scope !== null && !graph.frames[scope]) scope = graph.scopes[scope].parent;
    return scope === null ? -1 : scope;
  };
  for (const box of boxes) {
    box.group = framed(box.scope < 0 ? graph.nodes[box.node].scope : graph.scopes[box.scope].parent);
    box.first = box.nodes[0];
  }
  const parentOf = graph.scopes.map(scope => scope.parent === null ? -1 : framed(scope.parent));
  const lines = joinedLines(scene), widthOf = scope => 24 + 9 * graph.scopes[scope].name.length;
  for (const { group, x, y, w, h } of relayout(boxes, lines, parentOf, widthOf))
    scene.frames.push(frameOf(graph, group, [x, y, w, h]));
  scene.lines = lines.map(line => lineOf(line.edges, line.from, line.to, line.order, line.points));
}

function lineOf(edges, from, to, order, points) {
  let top = Infinity, bottom = -Infinity, left = Infinity, right = -Infinity;
  for (const [x, y] of points) {
    top = Math.min(top, y), bottom = Math.max(bottom, y);
    left = Math.min(left, x), right = Math.max(right, x);
  }
  return { edges, from, to, order, points, top, bottom, left, right };
}

function givenLines(graph) {
  return graph.edges.map((edge, i) => lineOf([i], edge.from, edge.to, edge.kind === "order", graph.lines[i]));
}

// One line for all edges of a kind between the same ends; a collapsed scope has one end at each side.
function joinedLines({ graph, boxes, boxOf }) {
  const known = new Map();
  const endOf = (box, node, point) => box.scope < 0 ? point[1] - graph.boxes[node][1] : box.h / 2;
  graph.edges.forEach((edge, i) => {
    const from = boxOf[edge.from], to = boxOf[edge.to], order = edge.kind === "order", way = graph.lines[i];
    if (from === to) return;
    const fromY = endOf(boxes[from], edge.from, way[0]), toY = endOf(boxes[to], edge.to, way[way.length - 1]);
    const key = [from, fromY, to, toY, order].join(" ");
    if (known.has(key)) return known.get(key).edges.push(i);
    known.set(key, { edges: [i], from, to, order, fromY, toY });
  });
  return [...known.values()];
}

function makeBands(graph, boxes, boxOf) {
  const bands = [];
  graph.chains.forEach((chain, i) => {
    const members = [];
    for (const node of chain.nodes) if (members[members.length - 1] !== boxOf[node]) members.push(boxOf[node]);
    if (members.length === 1 && boxes[members[0]].scope >= 0) return;
    const shown = members.map(m => boxes[m]);
    bands.push({ chain: i, boxes: shown, first: chain.first, last: chain.last });
  });
  return bands;
}

function boundsOf(boxes, frames) {
  const bounds = { x: Infinity, y: Infinity, right: -Infinity, bottom: -Infinity };
  for (const box of boxes) {
    bounds.x = Math.min(bounds.x, box.x), bounds.right = Math.max(bounds.right, box.x + box.w);
    bounds.y = Math.min(bounds.y, box.y), bounds.bottom = Math.max(bounds.bottom, box.y + box.h);
  }
  for (const frame of frames) {
    bounds.x = Math.min(bounds.x, frame.x), bounds.right = Math.max(bounds.right, frame.right);
    bounds.y = Math.min(bounds.y, frame.y), bounds.bottom = Math.max(bounds.bottom, frame.bottom);
  }
  return boxes.length > 0 ? bounds : { x: 0, y: 0, right: 200, bottom: 100 };
}

// The rules that stopped a chain, as words at its ends; those of a chain of one box stand together.
function ruleTexts({ boxes, first, last }) {
  const head = boxes[0], tail = boxes[boxes.length - 1];
  if (head === tail) return [{ text: first + " · " + last, x: head.x, y: head.y + head.h + 18, end: false }];
  return [{ text: first, x: head.x, y: head.y + head.h + 18, end: false },
          { text: last, x: tail.x + tail.w, y: tail.y + tail.h + 18, end: true }];
}

// Inputs and results stand outside of the boxes: with their types where there is room.
function inputText(scene, box, input) {
  return box.x < scene.firstColumn ? input.name + ": " + input.type : input.name;
}
function resultText(scene, box, result) {
  const name = result.name.slice(result.name.lastIndexOf("/") + 1);
  return box.x + box.w >= scene.lastColumn ? name + ": " + result.type : name;
}

// A line as a path: level past the boxes of a layer, bent between layers. `move`, `line` and `curve` draw it.
function tracePath(points, pen) {
  pen.move(points[0][0], points[0][1]);
  for (let i = 1; i < points.length; ++i) {
    const [px, py] = points[i - 1], [x, y] = points[i];
    if (i % 2 === 0) {
      pen.line(x, y);
    } else {
      const reach = Math.max((x - px) / 2, x < px ? 60 : 0);
      pen.curve(px + reach, py, x - reach, y, x, y);
    }
  }
}

// The way along a chain's boxes, at the height of their first slots.
function bandWay(band) {
  return band.boxes.flatMap(box => {
    const y = box.y + (box.scope < 0 ? BOX.title + BOX.row / 2 : box.h / 2);
    return [[box.x, y], [box.x + box.w, y]];
  });
}
