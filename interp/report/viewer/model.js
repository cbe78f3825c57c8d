// What the report holds, indexed so that everything finds everything else: a task its chain, step, bars and line of
// source, and back. Positions in lists are ids, as in the JSON.

const report = JSON.parse(document.getElementById("data").textContent);

// An element with text and children; text is never read as markup.
function make(tag, classes, text, ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== undefined && text !== null) element.textContent = text;
  element.append(...children);
  return element;
}

function plural(count, noun) { return count + " " + noun + (count === 1 ? "" : "s"); }

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < 3) { bytes /= 1024; ++unit; }
  return (unit === 0 ? bytes : bytes.toFixed(1)) + " " + units[unit];
}

function timeText(ns) {
  if (ns >= 1e9) return (ns / 1e9).toFixed(3) + " s";
  if (ns >= 1e6) return (ns / 1e6).toFixed(3) + " ms";
  return ns >= 1e3 ? (ns / 1e3).toFixed(2) + " µs" : ns + " ns";
}

// Neighbouring chains get hues far apart; the same numbers as in the SVG of the tool.
const HUES = 12;
function hueOf(chain) { return chain % HUES * 150 % 360; }

class Graph {
  constructor(entry, number) {
    const json = entry.graph;
    this.number = number;
    this.json = json;
    this.title = entry.title || json.name;
    this.runs = entry.runs;
    this.nodes = json.nodes;
    this.size = json.nodes.length;
    this.edges = json.edges;
    this.chains = json.chains;
    this.ends = entry.ends;
    this.scopes = json.scopes;
    this.insides = json.insides || [];  // bodies of loops, branches, fns and tasks, by number
    this.spans = json.spans.nodes;
    this.into = this.nodes.map(() => []);
    this.outOf = this.nodes.map(() => []);
    this.edges.forEach((edge, i) => { this.outOf[edge.from].push(i); this.into[edge.to].push(i); });
    this.steps = json.plan ? json.plan.steps.map(step => step.nodes) : [];
    this.stepOf = new Array(this.size).fill(-1);
    this.steps.forEach((nodes, step) => nodes.forEach(node => { this.stepOf[node] = step; }));
    this.resultsOf = new Map();
    for (const result of json.results)
      if ("node" in result.ref) {
        if (!this.resultsOf.has(result.ref.node)) this.resultsOf.set(result.ref.node, []);
        this.resultsOf.get(result.ref.node).push(result);
      }
    this.bars = this.steps.map(() => []);  // by step: positions in the timeline
    this.failed = new Set(entry.failed);
    this.stands = new Map(entry.stands);  // tasks that are drawn as one, by its number: how many they are
    this.poisoned = this.behind(this.failed);
  }

  // All that reads, straight or by others, what these should have made.
  behind(nodes) {
    const found = new Set(), next = [...nodes];
    while (next.length > 0)
      for (const i of this.outOf[next.pop()]) {
        const { kind, to } = this.edges[i];
        if (kind !== "future" || found.has(to) || nodes.has(to)) continue;
        found.add(to);
        next.push(to);
      }
    return found;
  }
  // Those of which nothing kept them from running: in a report of a run.
  ran() {
    return this.nodes.map((_, node) => node).filter(node =>
      !this.failed.has(node) && !this.poisoned.has(node) && this.stepOf[node] >= 0 &&
          this.bars[this.stepOf[node]].length > 0);
  }

  // What ran inside of a loop, a branch or a fn that is one task here: rows { task, op, makes, place, calls, ms }, and
  // the turns of a loop, the time and the memory of all of it. Tasks that stand at the same place of the text share them.
  insideOf(node) {
    const place = this.nodes[node].control ? this.placeOf(node) : null;
    if (!place) return null;
    const rows = inner.get(innerKey(place));
    if (!rows) return null;
    const all = rows.find(({ op }) => op === "turn" || op === "run") || { op: "", makes: "", ms: 0 };
    return { rows: rows.filter(row => row !== all), turns: all.op === "turn" ? all.calls : 0, ms: all.ms,
             alive: all.makes };
  }

  // Tasks that these stand for, most of them for themselves.
  countOf(nodes) { return nodes.reduce((all, node) => all + (this.stands.get(node) || 1), 0); }
  // Scopes that are launches: they open to their points.
  launches() { return this.scopes.flatMap(({ def, parent }, i) => def === null && parent !== null ? [i] : []); }

  nameOf(node) { return this.nodes[node].name; }
  namesOf(nodes, between = ", ", most = 12) {
    return nodes.slice(0, most).map(node => this.nameOf(node)).join(between) + (nodes.length > most ? " ..." : "");
  }
  defOf(node) { return this.json.defs[this.nodes[node].def]; }

  // "pipeline#0/energy#0"; the outermost scope is the graph itself.
  pathOf(node) {
    const names = [this.nodes[node].name];
    for (let s = this.nodes[node].scope; s !== null && this.scopes[s].parent !== null; s = this.scopes[s].parent)
      names.push(this.scopes[s].name);
    return names.reverse().join("/");
  }

  chainOf(node) { return this.nodes[node].chain; }

  // Which source a task stands in (position in report.sources, or -1), and its line there.
  placeOf(node) {
    const span = this.spans[node];
    if (!span) return null;
    const path = this.json.spans.files[span[0]];
    return { path, source: sourceNumbers.has(path) ? sourceNumbers.get(path) : -1, line: span[1], column: span[2],
             length: span[3] };
  }

  // Tasks by line of a source.
  nodesByLine(source) {
    this.byLine = this.byLine || new Map();
    if (!this.byLine.has(source)) {
      const lines = new Map();
      for (let node = 0; node < this.size; ++node) {
        const place = this.placeOf(node);
        if (!place || place.source !== source) continue;
        if (!lines.has(place.line)) lines.set(place.line, []);
        lines.get(place.line).push(node);
      }
      this.byLine.set(source, lines);
    }
    return this.byLine.get(source);
  }

  barsOf(nodes) {
    const steps = new Set(nodes.map(node => this.stepOf[node]).filter(step => step >= 0));
    return [...steps].flatMap(step => this.bars[step]);
  }
}

const sourceNumbers = new Map(report.sources.map((source, i) => [source.path, i]));
const innerKey = ({ path, line, column }) => [path, line, column].join(":");
const inner = new Map();
for (const row of report.inside) {
  if (!row.inside) continue;
  if (!inner.has(innerKey(row.inside))) inner.set(innerKey(row.inside), []);
  inner.get(innerKey(row.inside)).push(row);
}
const graphs = report.graphs.map((entry, i) => new Graph(entry, i));

// What ended the run, if it failed: diagnostics with the place in a source, if they have one.
const failures = report.failures.diagnostics.map(diagnostic => {
  const { code, message, file, line, column, end_line, end_column, ...more } = diagnostic;
  const length = end_line === line ? end_column - column : 1e6;
  const place = file === null ? null
    : { path: file, source: sourceNumbers.has(file) ? sourceNumbers.get(file) : -1, line, column, length };
  return { ...more, code, message, place };
});

// Bars are [graph, step, worker, begin, duration, run] in nanoseconds.
const bars = report.timeline.map(([graph, step, worker, begin, duration, run]) =>
  ({ graph, step, worker, run, begin, end: begin + duration }));
bars.forEach((bar, i) => graphs[bar.graph].bars[bar.step].push(i));
