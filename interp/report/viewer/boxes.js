// What stands in the boxes of a graph and how large they are: tasks, collapsed groups, and the inputs and results of
// the graph, which are boxes, too, so that no word stands in the way of a line. A box knows its words and where lines
// leave and enter, counted from its corner; `tab` is the room behind it in which the types of what leaves it stand.

const BOX = { title: 24, row: 14, below: 4, mostRows: 16, pill: 22, closed: 46 };
const WIDE = { title: 9, slot: 7, small: 6.5, padding: 24 };  // of a letter

function cut(text, most = 48) {
  const letters = [...text];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}
function lettersOf(text) {  // as many columns as a terminal would take
  let count = 0;
  for (const letter of cut(text)) count += letter.codePointAt(0) >= 0x1100 ? 2 : 1;
  return count;
}
const word = (kind, text, x, y, anchor = "start") => ({ kind, text: cut(text), x, y, anchor });
const sum = numbers => numbers.reduce((total, n) => total + n, 0);
const most = (numbers, least = 0) => numbers.reduce((a, b) => Math.max(a, b), least);

// What a slot of a task reads: a line leads there, or it belongs to the task: a constant, a slot of its agent, a number
// that a plan is given.
function slotsOf(graph, node) {
  const { agent } = graph.nodes[node], own = new Set();
  if (agent !== undefined) for (const slot of graph.json.agents[agent].slots || []) own.add(slot.name);
  return graph.nodes[node].in.map(({ slot, ref }) => {
    if ("const" in ref) return { slot, held: graph.json.consts[ref.const].type };
    if ("region" in ref) return { slot, held: "field" };
    const type = "input" in ref ? graph.json.inputs[ref.input].type : "[";
    if ("input" in ref && (own.has(slot) || (graph.json.name === "" && !type.includes("[")))) return { slot, held: type };
    return { slot, held: null };
  });
}

// `leaving`: by output, whether a line begins there; `orders`: words of the orders that begin at the task.
function taskBox(graph, node, view, leaving, orders) {
  const box = { nodes: [node], node, group: -1, title: graph.nameOf(node), chain: graph.chainOf(node),
                control: graph.nodes[node].control === true, words: [], kind: "task", key: String(node) };
  box.state = graph.failed.has(node) ? "failed" : graph.poisoned.has(node) ? "poisoned" : "";
  const inside = graph.insideOf(node), bodies = bodiesOf(graph, graph.nodes[node]), isOpen = view.opened.has(box.key);
  box.opens = inside !== null || bodies.length > 0;
  if (box.opens) box.title = (isOpen ? "⊟ " : "⊞ ") + box.title;
  const slots = view.plain ? graph.nodes[node].in.map(({ slot }) => ({ slot, held: null })) : slotsOf(graph, node),
      outs = graph.nodes[node].out;
  const types = outs.map(({ type }, i) => view.shapes && leaving[i] ? cut(type, 40) : "");
  if (view.down) fillDown(box, slots, outs, types, orders);
  else fillAcross(box, slots, outs, types, orders);
  if (box.opens && isOpen)
    openBox(box, bodies.length === 0 ? listInside(inside)
              : picture(graph, bodies, inside ? inside.rows : [], box.key, view.opened,
                        inside ? totalText(inside) : ""),
            view.down);
  return box;
}

// The ops and tasks that ran in a loop, a branch or a fn of which only that is known.
function listInside({ rows, ...total }) {
  const shown = [...rows].sort((a, b) => b.ms - a.ms).slice(0, 16), lines = [[totalText(total), ""]];
  for (const { task, op, makes, calls, ms } of rows.filter(row => shown.includes(row))) {
    const way = task.split(" > ").slice(1);
    const name = op === "task" ? way[way.length - 1] : op + (makes ? " " + makes : "");
    const depth = Math.max(0, op === "task" ? way.length - 1 : way.length);
    lines.push(["  ".repeat(depth) + name + " × " + calls, timeText(Math.round(1e6 * ms))]);
  }
  if (shown.length < rows.length) lines.push(["and " + plural(rows.length - shown.length, "more"), ""]);
  const names = most(lines.map(([name]) => lettersOf(name))), times = most(lines.map(([, time]) => lettersOf(time)));
  const w = Math.ceil(WIDE.slot * (names + times)) + 20, words = [];
  lines.forEach(([name, time], i) => {
    const y = BOX.row * i + 10, indent = name.length - name.trimStart().length;
    words.push(word("faint", name.trimStart(), 2 + 8 * indent, y), word("slot", time, w, y, "end"));
  });
  return { w, h: BOX.row * lines.length, words, boxes: [], lines: [] };
}

function fillAcross(box, slots, outs, types, orders) {
  const shown = list => list.slice(0, BOX.mostRows);
  const middle = i => BOX.title + BOX.row * Math.min(i, BOX.mostRows - 1) + BOX.row / 2;
  const textOf = ({ slot, held }) => held === null ? slot : slot + ": " + held;
  const left = most(shown(slots).map(slot => lettersOf(textOf(slot))));
  const right = most(shown(outs).map(({ slot }) => lettersOf(slot)));
  box.w = Math.ceil(WIDE.padding + Math.max(WIDE.title * lettersOf(box.title), WIDE.slot * (left + right)));
  box.h = BOX.title + BOX.row * Math.min(Math.max(slots.length, outs.length), BOX.mostRows) + BOX.below;
  box.foot = box.h;
  box.words.push(word("title", box.title, 10, 17));
  shown(slots).forEach((slot, i) =>
      box.words.push(word(slot.held === null ? "slot" : "faint", textOf(slot), 10, middle(i) + 4)));
  shown(outs).forEach(({ slot }, i) => box.words.push(word("slot", slot, box.w - 10, middle(i) + 4, "end")));
  shown(types).forEach((type, i) => { if (type) box.words.push(word("type", type, box.w + 8, middle(i) - 3)); });
  if (orders) box.words.push(word("hazard", orders, box.w + 8, BOX.title / 2 - 3));
  const widest = most([...types, orders].map(text => lettersOf(text)));
  box.tab = widest > 0 ? Math.ceil(WIDE.small * widest) + 12 : 0;
  box.portIn = i => i < 0 ? BOX.title / 2 : middle(i);
  box.portOut = box.portIn;
}

// Inputs above the title, outputs below it, each in a cell of its own.
function fillDown(box, slots, outs, types, orders) {
  const shown = list => list.slice(0, BOX.mostRows), lead = 14;  // room of the lines that orders are
  const cells = (list, begin) => {
    let x = begin;
    const at = list.map(([name, type]) => {
      const wide = WIDE.slot * lettersOf(name) + 14, port = x + wide / 2;
      x += Math.max(wide, 24, type ? wide / 2 + 8 + WIDE.small * lettersOf(type) : 0);
      return Math.round(port);
    });
    return { at, wide: x };
  };
  const isPort = slots.map(({ held }) => held === null), ports = shown(slots.filter(({ held }) => held === null));
  const held = shown(slots.filter(({ held }) => held !== null)).map(({ slot, held }) => slot + ": " + held);
  const above = cells(ports.map(({ slot }) => [slot, ""]), lead);
  const below = cells(shown(outs).map(({ slot }, i) => [slot, types[i]]), lead + WIDE.small * lettersOf(orders));
  box.w = Math.ceil(Math.max(WIDE.padding + WIDE.title * lettersOf(box.title), above.wide, below.wide,
                             WIDE.padding + WIDE.slot * most(held.map(lettersOf))));
  const title = ports.length > 0 ? 16 : 4, rows = title + 20 + BOX.row * held.length;
  box.h = rows + (outs.length > 0 ? 16 : BOX.below);
  box.foot = rows;
  box.words.push(word("title", box.title, box.w / 2, title + 14, "middle"));
  ports.forEach(({ slot }, i) => box.words.push(word("slot", slot, above.at[i], 13, "middle")));
  held.forEach((text, i) => box.words.push(word("faint", text, box.w / 2, title + 20 + BOX.row * i + 10, "middle")));
  shown(outs).forEach(({ slot }, i) => {
    box.words.push(word("slot", slot, below.at[i], rows + 10, "middle"));
    if (types[i]) box.words.push(word("type", types[i], below.at[i] + 5, box.h + 13));
  });
  if (orders) box.words.push(word("hazard", orders, 12, box.h + 13));
  box.tab = orders || types.some(type => type) ? 18 : 0;
  const numberOf = [];
  isPort.forEach((port, i) => { numberOf[i] = port ? sum(isPort.slice(0, i).map(Number)) : 0; });
  box.portIn = i => i < 0 || above.at.length === 0 ? 8 : above.at[Math.min(numberOf[i], above.at.length - 1)];
  box.portOut = i => i < 0 || below.at.length === 0 ? 8 : below.at[Math.min(i, below.at.length - 1)];
}

// All tasks of a collapsed group as one box; lines enter and leave in its middle.
function closedBox(graph, group, title, view) {
  const box = { nodes: [], node: -1, group, title, chain: -1, words: [], kind: "group", tab: 0 };
  box.w = Math.max(44 + WIDE.title * lettersOf(title), 110), box.h = BOX.closed;
  box.finish = () => {
    const chains = new Set(box.nodes.map(node => graph.chainOf(node)));
    if (chains.size === 1) box.chain = [...chains][0];
    box.words = [word("title", "⊞ " + title, 10, 19), word("faint", plural(graph.countOf(box.nodes), "task"), 28, 35)];
  };
  box.portIn = box.portOut = () => Math.floor((view.down ? box.w : box.h) / 2);
  return box;
}

// An input or a result of the graph.
function pillBox(kind, text, view) {
  const w = WIDE.slot * lettersOf(text) + 20, h = BOX.pill;
  const box = { nodes: [], node: -1, group: -1, title: text, chain: -1, kind, w, h, tab: 0,
                words: [word("slot", text, w / 2, 15, "middle")] };
  box.portIn = box.portOut = () => Math.floor((view.down ? w : h) / 2);
  return box;
}
