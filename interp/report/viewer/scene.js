// What is drawn of a graph: boxes, lines, bands of chains and frames of groups, where layOut() puts them. A view says
// what is wanted: { by: "scopes" or "agents", closed: a set of groups, shapes: with types of values, down: from top to
// bottom, opened: keys of boxes that show what is inside of them }.

const MOST_LAID_OUT = 20000;  // tasks, for which that takes a second or two
const BAND = { halo: 6, round: 11, ribbon: 18 };  // of chains: around boxes, and from one to the next

// What tasks are grouped by: names, parents (-1: none) and, by task, its group (-1: none).
function groupsOf(graph, by) {
  graph.groupings = graph.groupings || {};
  if (graph.groupings[by]) return graph.groupings[by];
  const { scopes } = graph, isGraph = scope => scopes[scope].parent === null;  // the graph itself is no group
  const groups = by === "scopes"
    ? { parent: scopes.map((scope, i) => isGraph(i) || isGraph(scope.parent) ? -1 : scope.parent),
        names: scopes.map(scope => scope.name), group: graph.nodes.map(({ scope }) => isGraph(scope) ? -1 : scope) }
    : agentGroups(graph);
  // Of those that no order fits there is neither frame nor closed box.
  const { group, items } = groupingOf(graph.size, graph.edges, groups);
  groups.able = groups.names.map((_, g) => items[g].length > 0);
  groups.group = group;
  groups.parent = groups.parent.map(p => { while (p >= 0 && !groups.able[p]) p = groups.parent[p]; return p; });
  return graph.groupings[by] = groups;
}

// One group for each agent; where agents hand values around in a circle, as cells of an array do, one for each stretch
// of tasks after which others come first: "Cell#0 (2 of 5)".
function agentGroups(graph) {
  const { agents } = graph.json, group = graph.nodes.map(({ agent }) => agent === undefined ? -1 : agent);
  const flat = { parent: agents.map(() => -1), names: agents.map(({ name }) => name), group };
  const kept = groupingOf(graph.size, graph.edges, flat).items;
  const circular = new Set(group.filter(g => g >= 0 && kept[g].length === 0));
  if (circular.size === 0 || graph.size > MOST_FRAMED) return flat;
  const level = levelsOf(graph, group), some = inStretches(flat, level, circular);
  // Their stretches may make a circle with an agent that was in none.
  const { items } = groupingOf(graph.size, graph.edges, some);
  return some.group.every(g => g < 0 || items[g].length > 0) ? some : inStretches(flat, level, new Set(group));
}

// By task: how often the way to it changes from one agent to another. Between stretches of one level no line leads.
function levelsOf(graph, group) {
  const level = new Int32Array(graph.size);
  for (let node = 0; node < graph.size; ++node)
    for (const i of graph.outOf[node]) {
      const { to } = graph.edges[i], step = group[to] >= 0 && group[to] === group[node] ? 0 : 1;
      level[to] = Math.max(level[to], level[node] + step);
    }
  return level;
}

function inStretches({ names, group }, level, circular) {
  const numbers = new Map(), result = { parent: [], names: [], group: new Array(group.length).fill(-1) };
  const stretches = names.map(() => []);
  group.forEach((g, node) => {
    if (g >= 0) stretches[g].push(circular.has(g) ? level[node] : 0);
  });
  const ordered = stretches.map(levels => [...new Set(levels)].sort((a, b) => a - b));
  group.forEach((g, node) => {
    if (g < 0) return;
    const at = ordered[g].indexOf(circular.has(g) ? level[node] : 0), key = g + " " + at, count = ordered[g].length;
    if (!numbers.has(key)) {
      numbers.set(key, result.parent.push(-1) - 1);
      result.names.push(count > 1 ? `${names[g]} (${at + 1} of ${count})` : names[g]);
    }
    result.group[node] = numbers.get(key);
  });
  return result;
}

function makeScene(graph, view) {
  const groups = groupsOf(graph, view.by);
  const scene = { graph, view, groups, boxes: [], boxOf: new Int32Array(graph.size), lines: [], bands: [], frames: [] };
  if (graph.size > MOST_LAID_OUT && view.by === "scopes" && !view.down &&
      view.closed.size === 0) return givenScene(scene);
  const inputs = inputsOf(graph), results = resultsOf(graph);
  for (const { text } of inputs) scene.boxes.push(pillBox("input", text, view));
  addTasks(scene, new Set(results.map(({ node, slot }) => node + " " + slot)));
  const first = scene.boxes.length;
  for (const { text } of results) scene.boxes.push(pillBox("result", text, view));
  const lines = joinedLines(scene, inputs, results, first);
  place(scene, lines);
  scene.bands = makeBands(scene);
  scene.bounds = boundsOf(scene);
  return scene;
}

// Of a very large graph everything stands where C++ put it: without inputs, results and types, and at once.
function givenScene(scene) {
  const { graph, view, groups } = scene, { nodes, edges, scopes } = graph.json.layout;
  const plain = { ...view, shapes: false, opened: new Set(), plain: true };
  nodes.forEach(([x, y, w, h], node) => {
    scene.boxOf[node] = scene.boxes.push(Object.assign(taskBox(graph, node, plain, [], ""), { x, y, w, h })) - 1;
  });
  scene.lines = graph.edges.map(({ from, to, kind }, i) =>
    lineOf({ edges: [i], tasks: [], from, to, order: kind === "order" }, edges[i], false));
  scopes.forEach((frame, group) => {
    if (!frame) return;
    const [x, y, w, h] = frame;
    scene.frames.push({ group, title: groups.names[group], x, y, right: x + w, bottom: y + h });
  });
  scene.bands = makeBands(scene);
  scene.bounds = boundsOf(scene);
  return scene;
}

// ---- what leads in and out ----

// Inputs that tasks read as such, one box each; `readers`: [task, slot].
function inputsOf(graph) {
  const readers = graph.json.inputs.map(() => []);
  for (let node = 0; node < graph.size; ++node) {
    const slots = slotsOf(graph, node);
    graph.nodes[node].in.forEach(({ ref }, i) => {
      if ("input" in ref && !("node" in ref) && slots[i].held === null) readers[ref.input].push([node, i]);
    });
  }
  return graph.json.inputs.map((input, i) => ({ input, readers: readers[i] })).filter(({ readers }) =>
      readers.length > 0)
    .map(({ input, readers }) => {
      // A plan numbers what it reads; the slot says more.
      const [node, slot] = readers[0], name = graph.json.name === "" ? graph.nodes[node].in[slot].slot : input.name;
      return { readers, text: `${name}: ${input.type}` };
    });
}

function resultsOf(graph) {
  return graph.json.results.filter(({ ref }) => "node" in ref).map(({ name, type, ref }) => {
    const last = name.slice(name.lastIndexOf("/") + 1), { node } = ref;
    const slot = Math.max(0, graph.nodes[node].out.findIndex(out => out.slot === ref.slot));
    return { node, slot, text: last === graph.nameOf(node) ? ref.slot : last, type };
  });
}

// ---- boxes ----

function addTasks(scene, wanted) {
  const { graph, view, groups } = scene, hidden = closedGroupOf(groups, view.closed), boxOfGroup = new Map();
  for (let node = 0; node < graph.size; ++node) {
    const group = groups.group[node] < 0 ? -1 : hidden[groups.group[node]];
    if (group < 0) {
      scene.boxOf[node] = scene.boxes.push(taskBox(graph, node, view, ...leavingOf(graph, node, wanted))) - 1;
      continue;
    }
    if (!boxOfGroup.has(group))
      boxOfGroup.set(group, scene.boxes.push(closedBox(graph, group, groups.names[group], view)) - 1);
    scene.boxOf[node] = boxOfGroup.get(group);
    scene.boxes[scene.boxOf[node]].nodes.push(node);
  }
  for (const i of boxOfGroup.values()) scene.boxes[i].finish();
}

// By group: the outermost closed one that it is in, or -1. Parents stand before their children.
function closedGroupOf({ parent, able }, closed) {
  const hidden = new Int32Array(parent.length).fill(-1);
  parent.forEach((outer, g) => {
    hidden[g] = outer >= 0 && hidden[outer] >= 0 ? hidden[outer] : closed.has(g) && able[g] ? g : -1;
  });
  return hidden;
}

function leavingOf(graph, node, wanted) {
  const from = new Set(), orders = new Set();
  for (const i of graph.outOf[node]) {
    const edge = graph.edges[i];
    if (edge.kind === "order") orders.add(edge.why);
    else from.add(edge.slot_from);
  }
  return [graph.nodes[node].out.map(({ slot }, i) => from.has(slot) || wanted.has(node + " " + i)),
      [...orders].join(" ")];
}

// ---- lines ----

// One line for all edges of a kind between the same ends.
function joinedLines({ graph, boxes, boxOf }, inputs, results, firstResult) {
  const known = new Map();
  const slotIn = (node, name) => graph.nodes[node].in.findIndex(({ slot }) => slot === name);
  const slotOut = (node, name) => graph.nodes[node].out.findIndex(({ slot }) => slot === name);
  const add = (edges, from, slotFrom, to, slotTo, order, node) => {
    if (from === to) return;
    const fromY = boxes[from].portOut(slotFrom), toY = boxes[to].portIn(slotTo);
    const key = [from, fromY, to, toY, order].join(" ");
    if (!known.has(key)) known.set(key, { edges: [], tasks: [], from, to, order, fromY, toY });
    known.get(key).edges.push(...edges);
    if (node >= 0) known.get(key).tasks.push(node);
  };
  graph.edges.forEach((edge, i) => {
    const order = edge.kind === "order";
    add([i], boxOf[edge.from], order ? -1 : slotOut(edge.from, edge.slot_from), boxOf[edge.to],
        order ? -1 : slotIn(edge.to, edge.slot_to), order, -1);
  });
  inputs.forEach(({ readers }, i) => {
    for (const [node, slot] of readers) add([], i, 0, boxOf[node], slot, false, node);
  });
  results.forEach(({ node, slot }, i) => add([], boxOf[node], slot, firstResult + i, 0, false, node));
  return [...known.values()];
}

// ---- where everything stands ----

function place(scene, lines) {
  const { boxes, groups, view } = scene, turned = view.down;
  const cross = box => turned ? box.w : box.h, along = box => (turned ? box.h : box.w) + box.tab;
  // Lines lead from boxes to later ones: tasks come in order, but a closed group stands where its first task does.
  const { order, position } = inOrder(boxes.length, lines);
  const extents = order.map(i => ({ w: along(boxes[i]), h: cross(boxes[i]) }));
  const middle = box => Math.floor(cross(box) / 2);
  const edges = lines.map(({ from, to, fromY, toY }) => ({ from: position[from], to: position[to],
    fromY: fromY - middle(boxes[from]), toY: toY - middle(boxes[to]) }));
  const groupOf = box => {
    if (box.kind === "task") return groups.group[box.node];
    return box.kind === "group" ? groups.parent[box.group] : -1;
  };
  const layout = layOut(extents, edges, { parent: groups.parent, group: order.map(i => groupOf(boxes[i])),
    width: groups.names.map(name => WIDE.padding + WIDE.title * lettersOf(name)) });
  order.forEach((i, k) => {
    const { x, y } = layout.nodes[k];
    boxes[i].x = turned ? y : x, boxes[i].y = turned ? x : y;
  });
  layout.frames.forEach((frame, group) => {
    if (!frame) return;
    const [x, y, w, h] = turned ? [frame.y, frame.x, frame.h, frame.w] : [frame.x, frame.y, frame.w, frame.h];
    scene.frames.push({ group, title: groups.names[group], x, y, right: x + w, bottom: y + h });
  });
  scene.lines = lines.map((line, i) => lineOf(line, fromBox(layout.edges[i], boxes[line.from].tab), turned));
}

// A line begins at the box, and runs level past what stands behind it.
function fromBox(way, tab) {
  if (tab === 0) return way;
  const [[x, y]] = way, begin = [x - tab, y], rest = way.length > 2 && way[1][0] === x ? way.slice(2) : way;
  return [begin, begin, ...rest];
}

function lineOf({ edges, tasks, from, to, order }, way, turned) {
  const points = turned ? way.map(([x, y]) => [y, x]) : way;
  let top = Infinity, bottom = -Infinity, left = Infinity, right = -Infinity;
  for (const [x, y] of points) {
    top = Math.min(top, y), bottom = Math.max(bottom, y);
    left = Math.min(left, x), right = Math.max(right, x);
  }
  return { edges, tasks, from, to, order, points, top, bottom, left, right };
}

// Boxes in an order in which lines lead on; where they leave a choice, by number.
function inOrder(count, lines) {
  const waits = new Uint32Array(count), after = Array.from({ length: count }, () => []), order = [], position = [];
  for (const { from, to } of lines) after[from].push(to), ++waits[to];
  const ready = new Heap((a, b) => a - b);
  for (let i = 0; i < count; ++i) if (waits[i] === 0) ready.push(i);
  while (ready.size > 0) {
    const i = ready.pop();
    position[i] = order.push(i) - 1;
    for (const next of after[i]) if (--waits[next] === 0) ready.push(next);
  }
  return { order, position };
}

// A chain as a way along the lines between its boxes.
function makeBands({ graph, boxes, boxOf, lines }) {
  const between = new Map();
  for (const line of lines)
    if (!line.order && !between.has(line.from + " " + line.to)) between.set(line.from + " " + line.to, line);
  const bands = [];
  graph.chains.forEach((chain, i) => {
    const members = [];
    for (const node of chain.nodes) if (members[members.length - 1] !== boxOf[node]) members.push(boxOf[node]);
    if (members.length === 1 && boxes[members[0]].kind === "group") return;
    const ways = members.slice(1).map((to, k) => between.get(members[k] + " " + to)).filter(line => line);
    bands.push({ chain: i, boxes: members.map(m => boxes[m]), ways, first: chain.first, last: chain.last });
  });
  return bands;
}

function boundsOf({ boxes, frames, view }) {
  const bounds = { x: Infinity, y: Infinity, right: -Infinity, bottom: -Infinity };
  const add = (x, y, right, bottom) => {
    bounds.x = Math.min(bounds.x, x), bounds.right = Math.max(bounds.right, right);
    bounds.y = Math.min(bounds.y, y), bounds.bottom = Math.max(bounds.bottom, bottom);
  };
  for (const { x, y, w, h, tab } of boxes) add(x, y, x + w + (view.down ? 0 : tab), y + h + (view.down ? tab : 0));
  for (const { x, y, right, bottom } of frames) add(x, y, right, bottom);
  return boxes.length > 0 ? bounds : { x: 0, y: 0, right: 200, bottom: 100 };
}

// The rules that stopped a chain, as words at its ends; those of a chain of one box stand together. From top to bottom
// there is no room for them.
function ruleTexts({ boxes, first, last }, view) {
  if (view.down) return [];
  const head = boxes[0], tail = boxes[boxes.length - 1];
  if (head === tail) return [{ text: first === last ? first : first + " · " + last, x: head.x, y: head.y + head.h + 18,
      end: false }];
  return [{ text: first, x: head.x, y: head.y + head.h + 18, end: false },
          { text: last, x: tail.x + tail.w, y: tail.y + tail.h + 18, end: true }];
}

// A line as a path: level past the boxes of a layer, bent between layers. `move`, `line` and `curve` draw it.
function tracePath(points, pen, down) {
  pen.move(points[0][0], points[0][1]);
  for (let i = 1; i < points.length; ++i) {
    const [px, py] = points[i - 1], [x, y] = points[i];
    if (i % 2 === 0) pen.line(x, y);
    else if (down) pen.curve(px, (py + y) / 2, x, (py + y) / 2, x, y);
    else pen.curve((px + x) / 2, py, (px + x) / 2, y, x, y);
  }
}
