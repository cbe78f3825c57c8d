// Pictures of random nested graphs without a browser: node pictures.js SEEDS [CASES.json].
//
// Whatever is closed, across or down, by call or by agent: boxes do not overlap, frames are disjoint or one inside the
// other and hold their own boxes and no others, lines touch their boxes, run through no other box, no words and no
// frame
// that holds neither end, and a chain's band follows lines from port to port. A small edit moves little. CASES are
// layouts that C++ made: the viewer's are the same, to the pixel. Prints "all well" at last.
"use strict";
const fs = require("fs"), path = require("path");

const viewer = path.join(__dirname, "../../interp/report/viewer");
const script = ["layout.js", "boxes.js", "inside.js", "scene.js"].map(name =>
    fs.readFileSync(path.join(viewer, name), "utf8")).join("\n");
const bytesText = bytes => bytes + " B";
const plural = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");
const timeText = ns => ns + " ns";
const { layOut, makeScene, groupsOf } =
    new Function("plural", "timeText", "bytesText", script + "\nreturn { layOut, makeScene, groupsOf };")(plural, timeText,
        bytesText);

function fail(what) { throw new Error(what); }

function randomOf(seed) {  // splitmix, 32 bit
  let state = seed >>> 0;
  return (least, most) => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return least + ((z ^ (z >>> 15)) >>> 0) % (most - least + 1);
  };
}

// ---- graphs as the model of the viewer has them ----

function randomGraph(random) {
  const count = random(1, 40), scopes = [{ parent: null, name: "" }], nodes = [], edges = [];
  const inputs = Array.from({ length: random(0, 3) }, (_, i) =>
      ({ name: "x" + i, type: "f32[" + random(1, 4000) + ", 8]" }));
  const agents = Array.from({ length: random(0, 4) }, (_, i) => ({ name: "Agent#" + i, slots: [{ name: "w" }] }));
  let scope = 0;
  const insides = 4;
  for (let id = 0; id < count; ++id) {
    for (let moves = random(0, 2); moves > 0; --moves)
      if (random(0, 1) === 0 && scopes.length < 15) scope =
          scopes.push({ parent: scope, name: "call".repeat(random(1, 4)) + "#" + scopes.length }) - 1;
      else if (scopes[scope].parent !== null) scope = scopes[scope].parent;
    const node = { name: "task".repeat(random(1, 3)) + "#" + id, scope, in: [], out: [], chain: 0 };
    if (agents.length > 0 && random(0, 1) === 0) node.agent = random(0, agents.length - 1);
    for (let k = random(1, 3); k > 0; --k) node.out.push({ slot: "abc"[k - 1], type: "f32[" + random(1, 1000) + "]" });
    for (let k = random(0, 3); k > 0; --k) {
      const kind = random(0, 5), slot = "in" + k;
      if (kind === 0 && inputs.length > 0) node.in.push({ slot, ref: { input: random(0, inputs.length - 1) } });
      else if (kind === 1) node.in.push({ slot, ref: { const: 0 } });
      else if (id > 0) {
        const from = random(Math.max(0, id - 10), id - 1), read =
            nodes[from].out[random(0, nodes[from].out.length - 1)].slot;
        node.in.push({ slot, ref: { node: from, slot: read } });
        edges.push({ kind: "future", from, to: id, slot_from: read, slot_to: slot });
        if (random(0, 7) === 0) edges.push({ kind: "order", from, to: id, why: "WAR" });
      }
    }
    if (random(0, 3) === 0) node.inside = random(0, insides - 1);
    if (random(0, 3) === 0)
      node.ran = { alive: "96 B at once", turns: random(0, 100), ms: 1,
          rows: Array.from({ length: random(0, 20) }, (_, i) => ({ task: "for > step".slice(0, 3 + 7 * random(0, 1)),
        op: "op" + i, makes: "f32[8]", calls: random(1, 1000), ms: random(1, 100) })) };
    nodes.push(node);
  }
  const results = nodes.filter(() => random(0, 5) === 0).map((node, i) => ({ name: "y" + i, type: "f32[3]",
    ref: { node: nodes.indexOf(node), slot: node.out[0].slot } }));
  return graphOf({ name: "g", scopes, nodes, edges, inputs, results, agents, consts: [{ type: "f32" }],
    insides: Array.from({ length: insides }, () => ({ bodies: randomBodies(random, insides, 0) })) });
}

function randomBodies(random, insides, depth) {
  return Array.from({ length: random(1, 2) }, (_, b) => {
    const inputs = Array.from({ length: random(0, 3) }, (_, i) => ({ name: "v" + i, type: "f32[" + i + "]" })), nodes = [];
    const origin = () => nodes.length > 0 && (inputs.length === 0 || random(0, 2) > 0)
      ? { node: random(0, nodes.length - 1), slot: "y" } : inputs.length > 0 ? { input: random(0, inputs.length - 1) } : null;
    for (let n = random(0, 6); n > 0; --n) {
      const node = { name: "inner".repeat(random(1, 3)) + "#" + n, kind: "op", in: [],
                     out: [{ slot: "y", type: "f32[" + random(1, 1e6) + "]" }] };
      for (let k = random(0, 2); k > 0; --k) {
        const ref = origin();
        if (ref) node.in.push({ slot: "in" + k, ref });
      }
      if (random(0, 3) === 0) Object.assign(node, { kind: "fn", inside: random(0, insides - 1) });
      else if (random(0, 4) === 0 && depth < 2)
        Object.assign(node, { kind: "control", bodies: randomBodies(random, insides, depth + 1) });
      nodes.push(node);
    }
    const results = nodes.length > 0 ? [{ name: "v0", ref: { node: nodes.length - 1, slot: "y" } }] : [];
    return { name: "body" + b, inputs, nodes, results };
  });
}

// Half of all boxes are open, those in them to some depth.
const someOpened = random => ({ known: new Map(), has(key) {
  if (!this.known.has(key)) this.known.set(key, key.split("/").length < 4 && random(0, 1) === 0);
  return this.known.get(key);
} });

// Chains: along edges, while nobody else reads or writes.
function graphOf(json) {
  const graph = { json, countOf: (of) => of.length, nodes: json.nodes, size: json.nodes.length, edges: json.edges, scopes: json.scopes, chains: [],
                  nameOf: node => json.nodes[node].name, chainOf: node => json.nodes[node].chain, failed: new Set(),
                  poisoned: new Set(), insideOf: node => json.nodes[node].ran || null, insides: json.insides || [] };
  graph.outOf = json.nodes.map(() => []);
  graph.edges.forEach((edge, i) => graph.outOf[edge.from].push(i));
  graph.nodes.forEach((node, id) => {
    const from = [...new Set(graph.edges.filter(edge => edge.to === id).map(edge => edge.from))];
    const before = from.length === 1 && new Set(graph.outOf[from[0]].map(i => graph.edges[i].to)).size === 1 &&
      graph.outOf[from[0]].some(i => graph.edges[i].kind === "future");
    node.chain = before ? graph.nodes[from[0]].chain :
        graph.chains.push({ nodes: [], first: "source", last: "sink" }) - 1;
    graph.chains[node.chain].nodes.push(id);
  });
  return graph;
}

// ---- what is right ----

const apart = (a, b) => a.x >= b.right || b.x >= a.right || a.y >= b.bottom || b.y >= a.bottom;
const inside = (a, b) => a.x >= b.x && a.right <= b.right && a.y >= b.y && a.bottom <= b.bottom;

function checkScene(scene) {
  const { boxes, frames, lines, groups, view } = scene;
  const whole = boxes.map(box => ({ box, x: box.x, y: box.y, right: box.x + box.w + (view.down ? 0 : box.tab),
    bottom: box.y + box.h + (view.down ? box.tab : 0) }));
  const isIn = (group, outer) =>
      { while (group >= 0 && group !== outer) group = groups.parent[group]; return group === outer; };
  const groupOf = ({ kind, node, group }) => kind === "task" ? groups.group[node] : kind === "group" ?
      groups.parent[group] : -1;
  whole.forEach((a, i) =>
      whole.slice(0, i).forEach(b => { if (!apart(a, b)) fail(`${a.box.title} and ${b.box.title} overlap`); }));
  for (const frame of frames) {
    for (const at of whole)
      if (isIn(groupOf(at.box), frame.group) ? !inside(at, frame) :
          !apart(at, frame)) fail(`${frame.title} and ${at.box.title}`);
    for (const other of frames)
      if (other.group < frame.group && (isIn(frame.group, other.group) ? !inside(frame, other) : !apart(frame, other)))
        fail(`${frame.title} and ${other.title}`);
  }
  for (const line of lines) checkLine(line, scene, whole, frames.filter(({ group }) =>
    !isIn(groupOf(boxes[line.from]), group) && !isIn(groupOf(boxes[line.to]), group)));
  for (const at of whole) checkWords(at, view);
  for (const box of boxes) if (box.inner) checkInside(box);
  for (const { ways } of scene.bands) for (const way of ways) if (!lines.includes(way)) fail("a band beside its line");
}

// What stands in an open box, in its picture and in the pictures in that.
function checkInside({ title, w, h, foot, inner, words }) {
  if (words.some(({ y }) => y > foot + 4 && y - 8 < inner.y + inner.h)) fail(`words of ${title} cross its picture`);
  const whole = inner.boxes.map(box => ({ box, x: box.x, y: box.y, right: box.x + box.w + box.tab, bottom: box.y + box.h }));
  const room = { x: 0, y: 0, right: w - inner.x, bottom: h - inner.y };
  whole.forEach((a, i) => {
    if (!inside(a, room) || inner.y < foot) fail(`${a.box.title} stands outside of ${title}`);
    whole.slice(0, i).forEach(b => { if (!apart(a, b)) fail(`${a.box.title} and ${b.box.title} overlap`); });
    if (a.box.kind === "inner") checkWords(a, { down: false });
    if (a.box.inner) checkInside(a.box);
  });
  for (const points of inner.lines) {
    const [begin] = points, end = points[points.length - 1];
    const touches = (side, [x, y]) => whole.some(({ box }) => box[side] !== undefined && y >= box.y && y <= box.y + box.h &&
        x === (side === "w" ? box.x + box.w : box.x));
    if (!touches("w", begin) || !touches("x", end)) fail(`a line in ${title} does not touch its boxes`);
  }
}

function checkLine({ points, from, to }, { boxes, view }, whole, foreign) {
  const [begin] = points, end = points[points.length - 1], a = boxes[from], b = boxes[to];
  const across = view.down ? [1, 0] : [0, 1], at = (box, i) => i === 0 ? box.x : box.y, size = (box, i) => i === 0 ?
      box.w : box.h;
  const [along, cross] = across;
  if (begin[along] !== at(a, along) + size(a, along) ||
      end[along] !== at(b, along)) fail("a line does not touch its boxes");
  for (const [point, box] of [[begin, a], [end, b]])
    if (point[cross] < at(box, cross) || point[cross] > at(box, cross) +
        size(box, cross)) fail("a line touches beside its box");
  for (let i = 1; i < points.length; ++i) {
    const [p, q] = [points[i - 1], points[i]];
    const piece = { x: Math.min(p[0], q[0]), right: Math.max(p[0], q[0]), y: Math.min(p[1], q[1]),
        bottom: Math.max(p[1], q[1]) };
    if (i % 2 === 0 && p[cross] !== q[cross]) fail("a line bends beside a box");
    whole.forEach((other, k) =>
        { if (k !== from && k !== to && !apart(piece, other)) fail(`a line runs through ${other.box.title}`); });
    for (const frame of foreign) if (!apart(piece, frame)) fail(`a line runs through the frame ${frame.title}`);
  }
}

// Words stay in their box and in the room behind it: as wide as the letters that the boxes are made for.
function checkWords({ box, x, y, right, bottom }, view) {
  const taken = [];
  for (const { kind, text, x: left, y: base, anchor } of box.words) {
    const wide = [...text].length * (kind === "title" ? 8.5 : kind === "type" || kind === "hazard" ? 6.3 : 6.8);
    const from = box.x + left - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
    if (from < x - 2 || from + wide > right + 2 || box.y + base > bottom || box.y + base - 8 < y - (view.down ? 0 : 6))
      fail(`the words ${text} of ${box.title} stand outside of it`);
    const place = { x: from, right: from + wide, y: base - 7, bottom: base };
    if (taken.some(other => !apart(other, place))) fail(`the words ${text} of ${box.title} cross others`);
    taken.push(place);
  }
}

// ---- small edits ----

// Of the pairs of boxes in one column, those that changed places when one more task reads an old one.
function flipped(random) {
  let graph = randomGraph(random);
  while (graph.size < 12) graph = randomGraph(random);
  const view = { by: "scopes", closed: new Set(), opened: new Set(), shapes: true, down: false }, before =
      makeScene(graph, view);
  const json = JSON.parse(JSON.stringify(graph.json)), from = random(0, graph.size - 1);
  json.nodes.push({ name: "new#0", scope: 0,
      in: [{ slot: "x", ref: { node: from, slot: json.nodes[from].out[0].slot } }], out: [], chain: 0 });
  json.edges.push({ kind: "future", from, to: graph.size, slot_from: json.nodes[from].out[0].slot, slot_to: "x" });
  const after = makeScene(graphOf(json), view);
  let pairs = 0, changed = 0;
  for (let i = 0; i < graph.size; ++i)
    for (let k = 0; k < i; ++k) {
      const [a, b] = [before.boxes[before.boxOf[i]], before.boxes[before.boxOf[k]]];
      if (a.x !== b.x) continue;
      ++pairs;
      const [c, d] = [after.boxes[after.boxOf[i]], after.boxes[after.boxOf[k]]];
      if (a.y < b.y !== c.y < d.y) ++changed;
    }
  return [pairs, changed];
}

// A graph too large to be laid out here stands where C++ put it.
function checkGiven() {
  const size = 20001, nodes =
      Array.from({ length: size }, (_, i) => ({ name: "t#" + i, scope: 0, in: [], out: [], chain: i }));
  const layout = { nodes: nodes.map((_, i) => [0, 100 * i, 60, 28]), edges: [[[60, 10], [100, 110]]], scopes: [null] };
  const graph = graphOf({ name: "g", scopes: [{ parent: null, name: "" }], nodes, inputs: [], results: [], agents: [],
    edges: [{ kind: "order", from: 0, to: 1, why: "WAR" }], consts: [], layout });
  const scene = makeScene(graph, { by: "scopes", closed: new Set(), opened: new Set(), shapes: true, down: false });
  const { x, y, w, h } = scene.boxes[7];
  if (scene.boxes.length !== size || [x, y, w, h].join() !== "0,700,60,28") fail("a large graph is laid out anew");
  if (scene.lines.length !== 1 || scene.lines[0].points[1].join() !== "100,110") fail("and so are its lines");
}

function main(seeds, cases) {
  checkGiven();
  const sums = [0, 0];
  for (let seed = 1; seed <= seeds; ++seed) {
    const random = randomOf(seed), graph = randomGraph(random);
    for (const by of ["scopes", "agents"])
      for (const down of [false, true]) {
        const able = groupsOf(graph, by).able, view =
            { by, down, shapes: random(0, 3) > 0, closed: new Set(), opened: someOpened(random) };
        able.forEach((_, g) => { if (random(0, 3) === 0) view.closed.add(g); });
        try {
          const scene = makeScene(graph, view);
          checkScene(scene);
          if (by === "agents" && graph.nodes.some(({ agent }, i) => agent !== undefined && scene.groups.group[i] < 0))
            fail("a task of an agent stands in no frame of it");
          if (JSON.stringify(makeScene(graph,
              view).lines) !== JSON.stringify(scene.lines)) fail("another picture the second time");
        } catch (error) {
          throw new Error(`seed ${seed}, ${by}, ${down ? "down" : "across"}: ${error.message}`);
        }
      }
    flipped(random).forEach((n, i) => { sums[i] += n; });
  }
  const share = 100 * sums[1] / sums[0];
  if (!(share < 6)) fail(`a new task changes the places of ${share.toFixed(1)} % of pairs`);
  console.log(`${seeds} graphs; a new task changes the places of ${share.toFixed(1)} % of pairs`);
  for (const [i, { nodes, edges, groups, layout }] of (cases ? JSON.parse(fs.readFileSync(cases, "utf8")) :
      []).entries()) {
    const mine = layOut(nodes, edges, groups), numbers = box => box ? [box.x, box.y, box.w, box.h] : null;
    const all = JSON.stringify([mine.nodes.map(numbers), mine.frames.map(numbers), mine.edges]);
    if (all !== JSON.stringify([layout.nodes, layout.frames,
        layout.edges])) fail(`case ${i} is laid out in another way than by C++`);
  }
  console.log("all well");
}

main(Number(process.argv[2] || 100), process.argv[3]);
