// The address of the page says which tab, graph and selection it shows, so that a link leads there:
// "#graph/node=network%230%2Fscores%230", "#plan/graph=2/step=3", "#chains/chain=0".

function linkOf() {
  const parts = [app.view ? app.view.id : ""], { selection } = app;
  if (app.graph && graphs.length > 1) parts.push("graph=" + (app.graph.number + 1));
  if (selection && selection.nodes.length === 1 && !selection.kind)
    parts.push("node=" + encodeURIComponent(selection.graph.pathOf(selection.nodes[0])));
  else if (selection && selection.kind) parts.push(selection.kind + "=" + selection.number);
  return "#" + parts.join("/");
}

function writeLink() {
  if (reading || !app.view || location.hash === linkOf()) return;
  history.replaceState(null, "", linkOf());
}

// What it names and is not there is left out.
let reading = false;
function readLink() {
  const [tab, ...parts] = location.hash.slice(1).split("/");
  const said = new Map(parts.map(part =>
      [part.slice(0, part.indexOf("=")), decoded(part.slice(part.indexOf("=") + 1))]));
  const view = app.views.find(other => other.id === tab);
  const graph = said.has("graph") ? graphs[Number(said.get("graph")) - 1] : app.graph;
  reading = true;
  if (graph && graph !== app.graph) showGraph(graph);
  if (view) showView(view);
  if (graph) {
    const node = said.has("node") ? graph.nodes.findIndex((_, i) => graph.pathOf(i) === said.get("node")) : -1;
    if (node >= 0) selectNode(graph, node, null);
    if (graph.chains[said.get("chain")]) selectChain(graph, Number(said.get("chain")), null);
    if (graph.steps[said.get("step")]) selectStep(graph, Number(said.get("step")), null);
  }
  reading = false;
}
function decoded(text) {
  try { return decodeURIComponent(text); } catch (error) { return text; }
}
