// What stands in a task that is a loop, a branch or a fn: pictures of its bodies in its box, with what ran there how
// often, how long, in how much memory. A task, a fn, a loop or a branch in such a picture opens in turn; the key of a
// box says where it is, "12/0.3/1.0": node 12, there node 3 of body 0, there node 0 of body 1.

const INSIDE = { room: 12, between: 16, heading: 18 };

const isAt = (place, other) => place !== null && other !== undefined && place.path === other.path &&
    place.line === other.line && place.column === other.column;

// The row of an op or a task that stands there, all calls together.
function rowOf(rows, node) {
  const op = node.kind === "task" ? "task" : node.kind === "op" ? node.name.slice(0, node.name.lastIndexOf("#")) : "";
  const found = rows.filter(row => row.op === op && isAt(row.place, node.place));
  return found.length === 0 ? null
    : { calls: sum(found.map(row => row.calls)), ms: sum(found.map(row => row.ms)), bytes: sum(found.map(row => row.bytes)) };
}

// Of a loop or branch inside: all that ran in it, and the turns of a loop, which are the calls of what stands in it.
function rowOfControl(rows, node) {
  const inner = node.bodies.flatMap(body => body.nodes).map(other =>
      other.bodies ? rowOfControl(rows, other) : rowOf(rows, other)).filter(row => row);
  if (inner.length === 0) return null;
  return { calls: most(inner.map(row => row.calls)), ms: sum(inner.map(row => row.ms)), bytes: 0 };
}

function timesText(node, row) {
  if (!row) return "";
  const turns = !node.bodies ? "× " + row.calls : node.name.startsWith("if#") ? "" : plural(row.calls, "turn");
  return [turns, timeText(Math.round(1e6 * row.ms))].filter(text => text).join(", ");
}

// What a whole node took: "7 turns, 1.20 µs each, 96 B at once".
function totalText({ turns, ms, alive }) {
  const parts = turns > 0 ? [plural(turns, "turn"), timeText(Math.round(1e6 * ms / turns)) + " each"]
    : ms > 0 ? [timeText(Math.round(1e6 * ms))] : [];
  return [...parts, ...(alive ? [alive] : [])].join(", ");
}

const bodiesOf = (graph, node) => (node.bodies || (node.inside === undefined ? [] : graph.insides[node.inside].bodies))
  .filter(body => body.nodes.length > 0);

// { w, h, words, boxes, lines }, counted from its corner; `rows` are those of the node of the graph that it is in.
function picture(graph, bodies, rows, key, opened, total) {
  const all = { w: 0, h: 0, words: [], boxes: [], lines: [] };
  if (total) {
    all.words.push(word("faint", total, 2, 11));
    all.w = Math.ceil(WIDE.slot * lettersOf(total)), all.h = INSIDE.heading;
  }
  bodies.forEach((body, i) => {
    all.words.push(word("hazard", body.name, 2, all.h + 11));
    addBody(all, bodyPicture(graph, body, rows, `${key}/${i}`, opened), all.h + INSIDE.heading);
  });
  return all;
}

function addBody(all, { w, h, boxes, lines }, top) {
  all.boxes.push(...boxes.map(box => Object.assign(box, { y: box.y + top })));
  all.lines.push(...lines.map(points => points.map(([x, y]) => [x, y + top])));
  all.w = Math.max(all.w, w), all.h = top + h + INSIDE.between;
}

function bodyPicture(graph, body, rows, key, opened) {
  const plain = { down: false }, read = body.inputs.map(() => false), boxes = [];
  for (const node of body.nodes) for (const { ref } of node.in) if ("input" in ref) read[ref.input] = true;
  for (const { ref } of body.results) if ("input" in ref) read[ref.input] = true;
  const inputs = [], nodes = [];
  body.inputs.forEach(({ name, type }, i) => {
    if (read[i]) inputs[i] = boxes.push(pillBox("input", `${name}: ${type}`, plain)) - 1;
  });
  body.nodes.forEach((node, i) => {
    nodes[i] = boxes.push(innerBox(graph, node, rows, `${key}.${i}`, opened)) - 1;
  });
  const edges = [], link = (from, fromY, to, toY) => edges.push({ from, to,
    fromY: fromY - Math.floor(boxes[from].h / 2), toY: toY - Math.floor(boxes[to].h / 2) });
  const begin = (ref, to, toY) => {
    if ("input" in ref) return link(inputs[ref.input], boxes[inputs[ref.input]].portOut(0), to, toY);
    const slot = Math.max(0, body.nodes[ref.node].out.findIndex(out => out.slot === ref.slot));
    link(nodes[ref.node], boxes[nodes[ref.node]].portOut(slot), to, toY);
  };
  body.nodes.forEach((node, i) => node.in.forEach(({ ref }, slot) => begin(ref, nodes[i], boxes[nodes[i]].portIn(slot))));
  for (const { name, ref } of body.results) {
    const end = boxes.push(pillBox("result", name, plain)) - 1;
    begin(ref, end, boxes[end].portIn(0));
  }
  const layout = layOut(boxes.map(box => ({ w: box.w + box.tab, h: box.h })), edges,
                        { parent: [], group: boxes.map(() => -1), width: [] });
  boxes.forEach((box, i) => { box.x = layout.nodes[i].x, box.y = layout.nodes[i].y; });
  const size = (at, long) => most(boxes.map(box => box[at] + box[long] + (at === "x" ? box.tab : 0)));
  return { boxes, lines: layout.edges.map((way, i) => fromBox(way, boxes[edges[i].from].tab)), w: size("x", "w"),
           h: size("y", "h") };
}

function innerBox(graph, node, rows, key, opened) {
  const bodies = bodiesOf(graph, node), row = node.bodies ? rowOfControl(rows, node) : rowOf(rows, node);
  const box = { nodes: [], node: -1, group: -1, key, opens: bodies.length > 0, title: node.name, chain: -1, words: [],
                control: node.kind === "control", kind: "inner" };
  if (box.opens) box.title = (opened.has(key) ? "⊟ " : "⊞ ") + box.title;
  const times = timesText(node, row), slots = node.in.map(({ slot }) => ({ slot, held: null }));
  box.tip = [`${node.kind} ${node.name}`, times, ...(row && row.bytes > 0 ? [bytesText(row.bytes) + " moved"] : [])]
    .filter(text => text).join("\n");
  fillAcross(box, slots, node.out, node.out.map(({ type }) => type), "");
  if (times) {
    box.words.push(word("faint", times, 10, box.h + 8));
    widen(box, Math.ceil(WIDE.slot * lettersOf(times)) + 20, false);
    box.h += BOX.row, box.foot = box.h;
  }
  if (box.opens && opened.has(key)) openBox(box, picture(graph, bodies, rows, key, opened, ""), false);
  return box;
}

// What stood at the right end stands there again; the title stays where it was clicked.
function widen(box, w, down) {
  const more = Math.max(0, w - box.w);
  box.w += more;
  for (const one of box.words)
    if (one.anchor === "end" || (!down && (one.kind === "type" || one.kind === "hazard"))) one.x += more;
}

// Below all else in the box; from top to bottom the outputs leave below that.
function openBox(box, shown, down) {
  widen(box, shown.w + 2 * INSIDE.room, down);
  const grown = shown.h + 10;
  for (const one of box.words) if (one.y > box.foot) one.y += grown;
  box.line = box.foot + 2;
  box.inner = { ...shown, x: INSIDE.room, y: box.foot + 8 };
  box.h += grown;
}

// The innermost box at a point that is counted from the corner of `box`, and that point from its own corner.
function innermost(box, x, y) {
  if (!box.inner) return { box, x, y };
  const px = x - box.inner.x, py = y - box.inner.y;
  const found = box.inner.boxes.find(one => one.kind === "inner" && px >= one.x && px <= one.x + one.w && py >= one.y &&
      py <= one.y + one.h);
  return found ? innermost(found, px - found.x, py - found.y) : { box, x, y };
}
