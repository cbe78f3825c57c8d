// What is chosen. Every view shows the same selection in its own way, and any of them may change it.

const app = {
  // The one in which something failed, or in which most leads on: first values of slots say little.
  graph: graphs.find(graph => graph.failed.size > 0) ||
      graphs.reduce((most, graph) => !most || graph.edges.length > most.edges.length ||
    (graph.edges.length === most.edges.length && graph.size > most.size) ? graph : most, null),
  selection: null,  // { graph, nodes, set, label, from }
  channel: null,    // of the slices, when that is what was chosen
  views: [],        // those that there is something to show in
  view: null,
};

// `nodes` of `graph`; `label` says what was chosen, `from` is the view in which that happened; `kind` and `number`:
// which chain or step of the graph they are, if any.
function select(graph, nodes, label, from, kind = null, number = -1) {
  app.channel = null;
  app.selection = nodes.length > 0 ? { graph, nodes, set: new Set(nodes), label, from, kind, number } : null;
  if (app.selection && graph !== app.graph) showGraph(graph);
  for (const view of app.views) view.select(app.selection);
  showDetails();
  writeLink();
}

function selectNode(graph, node, from) { select(graph, [node], "task " + graph.pathOf(node), from); }
function selectChain(graph, chain, from) {
  select(graph, graph.chains[chain].nodes, "chain " + chain, from, "chain", chain);
}
function selectStep(graph, step, from) { select(graph, graph.steps[step], "step " + step, from, "step", step); }
function clearSelection() { select(app.graph, [], "", null); }

function showGraph(graph) {
  app.graph = graph;
  document.getElementById("graphs").value = String(graph.number);
  for (const view of app.views) view.open(graph);
  writeLink();
}

function showView(view) {
  if (!view) return;
  app.view = view;
  for (const other of app.views) {
    other.host.hidden = other !== view;
    other.tab.setAttribute("aria-selected", String(other === view));
  }
  view.shown();
  showDetails();
  writeLink();
}

// The colours of the page, for canvases; read again when the theme changes.
const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "panel", "ink", "faint", "rule", "accent", "mark", "box", "line", "order", "chosen",
                      "word", "text", "band", "rim", "bar", "hue-strength"])
    colours[name] = style.getPropertyValue("--" + name).trim();
}
function hued(chain, lightness) { return `hsl(${hueOf(chain)} ${colours["hue-strength"]} ${colours[lightness]})`; }

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  readColours();
  for (const view of app.views) view.redraw();
}

const tip = {
  show(text, x, y) {
    const box = document.getElementById("tip");
    box.textContent = text;
    box.hidden = false;
    box.style.left = Math.min(x + 14, innerWidth - box.offsetWidth - 8) + "px";
    box.style.top = Math.min(y + 14, innerHeight - box.offsetHeight - 8) + "px";
  },
  hide() { document.getElementById("tip").hidden = true; },
};
