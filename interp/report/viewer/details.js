// The panel at the right: what the selection is, with links to everything beside it.

function showDetails() {
  const panel = document.getElementById("details");
  panel.replaceChildren();
  const selection = app.selection;
  if (app.view && app.view.details) return panel.append(...app.view.details());
  if (app.channel !== null) return panel.append(...channelDetails());
  if (!selection) return panel.append(...overview());
  const { graph, nodes } = selection;
  panel.append(make("h2", "", selection.label));
  if (nodes.length === 1) panel.append(...taskDetails(graph, nodes[0]));
  else panel.append(...groupDetails(graph, nodes));
}

function link(text, action) {
  const button = make("button", "link", text);
  button.addEventListener("click", action);
  return button;
}
function part(title, items) {
  if (items.length === 0) return [];
  const list = make("ul");
  for (const item of items) {
    const line = make("li");
    line.append(item);
    list.append(line);
  }
  return [make("h3", "", title), list];
}

function overview() {
  const graph = app.graph, name = report.title.slice(report.title.lastIndexOf("/") + 1);
  const parts = [make("h2", "", name), ...(name === report.title ? [] : [make("p", "faint", report.title)]),
      ...failures.map(failureDetails)];
  if (graph) parts.push(make("p", "faint", `${plural(graph.size, "task")} in ${plural(graph.chains.length, "chain")}`));
  if (graph) parts.push(...failedDetails(graph));
  parts.push(...part(failures.length > 0 ? "what had run" : "this run",
      report.facts.map(([name, value]) => `${name}: ${value}`)));
  if (graph) {
    parts.push(...part("inputs", graph.json.inputs.map(input => `${input.name}: ${input.type}`)));
    parts.push(...part("results", graph.json.results.map(result => `${result.name}: ${result.type}`)));
  }
  parts.push(make("p", "faint", "Click on a task, a line, a chain, a step or a bar: it is shown in every tab."));
  return parts;
}

// Which tasks failed, which did not run for that, which had run.
function failedDetails(graph) {
  if (graph.failed.size === 0) return [];
  const links = nodes => nodes.slice(0, 100).map(node => taskLink(graph, node));
  const ran = graph.ran(), all = name => link(name, () => select(graph, ran, "what had run", null));
  return [...part("failed", links([...graph.failed])),
      ...part("poisoned by it: it could not run", links([...graph.poisoned].sort((a, b) => a - b))),
      ...part("had run", ran.length > 0 ? [all(`${ran.length} of ${plural(graph.size, "task")}`)] :
          ["none of " + plural(graph.size, "task")])];
}

function failureDetails({ code, severity, message, place, label, notes, help }) {
  const lines = [make("h3", "", "the run failed"), make("p", "", `${severity} ${code}: ${message}`)];
  if (place) lines.push(make("p", "", null, sourceLink(place), label ? " " + label : ""));
  for (const note of notes) lines.push(make("p", "faint", note));
  if (help) lines.push(make("p", "faint", help));
  return make("div", "failure", null, ...lines);
}

function taskLink(graph, node) { return link(graph.pathOf(node), () => selectNode(graph, node, null)); }

function taskDetails(graph, node) {
  const json = graph.nodes[node], def = graph.defOf(node), parts = [];
  parts.push(make("p", "faint", `${def.kind} ${def.name}`));
  const place = graph.placeOf(node);
  if (place) parts.push(make("p", "", null, placeLink(graph, node, place)));
  if (graph.failed.has(node)) parts.push(make("p", "wrong", "failed"));
  if (graph.poisoned.has(node))
    parts.push(make("p", "wrong", "did not run: it reads what a task that failed should have made"));
  const args = Object.entries(json.args).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  parts.push(...part("arguments", args));
  if (json.launch) parts.push(...part("launch", launchLines(graph, json.launch)));
  parts.push(...part("inputs", json.in.map(({ slot, ref }) => inputLine(graph, slot, ref))));
  parts.push(...part("outputs", json.out.map(({ slot, type }) => `${slot}: ${type}`)));
  const orders = [...graph.into[node], ...graph.outOf[node]].filter(i => graph.edges[i].kind === "order");
  parts.push(...part("orders", orders.map(i => orderLine(graph, node, graph.edges[i]))));
  parts.push(...part("read by", [...new Set(graph.outOf[node].map(i => graph.edges[i].to))].slice(0, 50)
    .map(other => taskLink(graph, other))));
  return parts.concat(insideDetails(graph, node), chainDetails(graph, node), runDetails(graph, [node]));
}
function placeLink(graph, node, place) { return sourceLink(place); }
function sourceLink(place, text = `${place.path}:${place.line}:${place.column}`) {
  if (place.source < 0) return text;
  return link(text, () => {
    const source = app.views.find(view => view.id === "source");
    showView(source);
    source.goTo(place);
  });
}
function rectText({ lo, hi }) {
  const axes = lo.map((from, i) => `${from}..${hi[i]}`);
  return axes.length === 1 ? axes[0] : `(${axes.join(", ")})`;
}
// Over what it runs, and which piece each point takes of what.
function launchLines(graph, { domain, single, uses }) {
  const piece = ({ name, projection }) => !projection ? name :
      projection.kind === "identity" ? name + "[i]" :
      projection.kind === "affine" ? `${name}[${JSON.stringify(projection.factors)} i + ${JSON.stringify(projection.offsets)}]` :
      name + "[f(i)]";
  const lines = uses.map(use => `${use.priv}${use.reduce ? `(${use.reduce})` : ""} ${piece(use)}.{${use.fields.join(", ")}}`);
  return single ? lines : [`points ${rectText(domain)}`, ...lines];
}
function fieldName(graph, { region, view }) {
  const { name, fields } = graph.json.regions[region];
  return `${name || fields}.${view}`;
}
function inputLine(graph, slot, ref) {
  if ("region" in ref) return `${slot} ← field ${fieldName(graph, ref)}`;
  if ("node" in ref) return make("span", "", slot + " ← ", taskLink(graph, ref.node), "." + ref.slot);
  if ("input" in ref) return `${slot} ← input ${graph.json.inputs[ref.input].name}`;
  if ("const" in ref) return `${slot} ← constant ${graph.json.consts[ref.const].type}`;
  return slot;
}
function orderLine(graph, node, edge) {
  const after = edge.to === node, other = after ? edge.from : edge.to;
  return make("span", "", (after ? "after " : "before "), taskLink(graph, other), ` (${edge.why} ${edge.place})`);
}
// What ran in a loop, a branch or a fn.
function insideDetails(graph, node) {
  const inside = graph.insideOf(node);
  if (!inside) return [];
  const hint = make("span", "faint",
      "control flow in a graph is one task; a fn that is called outside of graphs unrolls, and its tasks chain");
  const total = totalText(inside), totals = total ? [total] : [];
  const slowest = [...inside.rows].sort((a, b) => b.ms - a.ms).slice(0, 40);
  const rows = slowest.map(({ task, op, makes, place, calls, ms, bytes }) => {
    const way = task.split(" > ").slice(1), made = op + (makes ? " " + makes : "");
    const name = op === "task" ? "task " + way[way.length - 1] : [...way, made].join(" > ");
    return make("span", "", null, place ? sourceLink(numbered(place), name) : name,
        ` × ${calls}, ${timeText(Math.round(1e6 * ms))}${bytes > 0 ? ", " + bytesText(bytes) + " moved" : ""}`);
  });
  return part("inside", [...totals, ...rows, hint]);
}
function numbered(place) {
  return { ...place, source: sourceNumbers.has(place.path) ? sourceNumbers.get(place.path) : -1 };
}
function chainDetails(graph, node) {
  const chain = graph.chainOf(node), [first, last] = graph.ends[chain];
  const title = link(`chain ${chain}`, () => selectChain(graph, chain, null));
  const place = `, task ${graph.nodes[node].steps} of ${graph.chains[chain].nodes.length}`;
  return [make("h3", "", "chain"), make("p", "", null, title, place), make("p", "faint", first),
          make("p", "faint", last)];
}
function runDetails(graph, nodes) {
  const steps = [...new Set(nodes.map(node => graph.stepOf[node]).filter(step => step >= 0))];
  const parts = part("plan", steps.slice(0, 20).map(step => link("step " + step, () => selectStep(graph, step, null))));
  const ran = graph.barsOf(nodes);
  if (ran.length === 0) return parts;
  const total = ran.reduce((sum, i) => sum + bars[i].end - bars[i].begin, 0);
  const count = ran.length === 1 ? "1 dispatch" : ran.length + " dispatches";
  return parts.concat(part("time", [`${count}, ${timeText(total)}`, ...(ran.length > 1 ? [spreadText(ran)] : [])]));
}

// The first dispatch touches memory that nobody had touched; the later ones are what it takes.
function spreadText(ran) {
  const times = ran.map(i => bars[i].end - bars[i].begin), later = times.slice(1).sort((a, b) => a - b);
  return `first ${timeText(times[0])}, then least ${timeText(later[0])}, median ${timeText(later[Math.floor(later.length / 2)])}`;
}

function groupDetails(graph, nodes) {
  const chains = [...new Set(nodes.map(node => graph.chainOf(node)))], parts = [];
  parts.push(make("p", "faint", plural(nodes.length, "task")));
  if (chains.length === 1) parts.push(...graph.ends[chains[0]].map(why => make("p", "faint", why)));
  parts.push(...part("tasks", nodes.slice(0, 200).map(node => taskLink(graph, node))));
  const chainLink = chain => link("chain " + chain, () => selectChain(graph, chain, null));
  if (chains.length > 1) parts.push(...part("chains", chains.slice(0, 50).map(chainLink)));
  return parts.concat(runDetails(graph, nodes));
}
