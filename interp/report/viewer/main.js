// The table of tabs, the keys, and the start. A new tab is one row here and one class with the methods open(graph),
// shown(), redraw(), select(selection) and key(event); it appears when there is something to show in it.

const TABS = [
  { id: "source", title: "Source", has: () => report.sources.length > 0, View: SourceView },
  { id: "graph", title: "Graph", has: () => graphs.length > 0, View: GraphView },
  { id: "chains", title: "Chains", has: () => graphs.some(graph => graph.chains.length > 0), View: ChainsView },
  { id: "slices", title: "Slices", has: () => slices && slices.functions.some(fn => fn.graph), View: SlicesView },
  { id: "plan", title: "Plan", has: () => graphs.some(graph => graph.steps.length > 0), View: PlanView },
  { id: "timeline", title: "Timeline", has: () => bars.length > 0, View: TimelineView },
  { id: "training", title: "Training", has: () => report.training.length > 0, View: TrainingView },
  { id: "shards", title: "Shards", has: () => report.shards.length > 0, View: ShardsView },
  { id: "chip", title: "Chip", has: () => chipRuns.length > 0, View: ChipView },
];

const KEYS = [
  ["1 2 3 ...", "tabs"], ["/", "search"], ["Esc", "nothing selected"],
  ["arrows", "graph: along edges; lists: rows; timeline: dispatches; chip: cores"], ["+ - 0", "nearer, further away, all"],
  ["c", "collapse or open the group of the selection"], ["v", "graph: across or down"], ["t", "graph: types on edges"],
  ["a", "graph: boxes around calls, or around the tasks of an agent"], ["[ ]", "graph before, graph after"],
  ["e", "export the graph as SVG"], ["d", "light or dark"], ["?", "this list"],
];

function addViews() {
  const host = document.getElementById("views"), tabs = document.getElementById("tabs");
  for (const { id, title, has, View } of TABS) {
    if (!has()) continue;
    const section = make("section", "view");
    section.id = "view-" + id;
    section.hidden = true;
    host.append(section);
    const view = new View(section);
    view.id = id;
    view.host = section;
    view.tab = make("button", "", title, make("kbd", "", app.views.length + 1));
    view.tab.id = "tab-" + id;
    view.tab.setAttribute("role", "tab");
    view.tab.addEventListener("click", () => showView(view));
    tabs.append(view.tab);
    app.views.push(view);
  }
}

function addHeader() {
  const title = document.getElementById("title");
  title.textContent = report.title.slice(report.title.lastIndexOf("/") + 1);
  title.title = report.title;
  document.getElementById("notes").textContent = report.notes.join(" · ");
  const choice = document.getElementById("graphs");
  graphs.forEach((graph, i) => {
    const option = make("option", "", graph.title);
    option.value = i;
    choice.append(option);
  });
  choice.hidden = graphs.length < 2;
  choice.addEventListener("change", () => { showGraph(graphs[Number(choice.value)]); clearSelection(); });
  document.getElementById("export").addEventListener("click", exportSvg);
  document.getElementById("export").hidden = graphs.length === 0;
  document.getElementById("theme").addEventListener("click", toggleTheme);
  document.getElementById("help").addEventListener("click", showKeys);
  search.input.addEventListener("input", () => search.run());
  search.input.addEventListener("keydown", event => search.key(event));
  search.input.addEventListener("blur", () => { search.list.hidden = true; });
}

function toggleTheme() { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); }

function showKeys() {
  const dialog = document.getElementById("keys"), table = make("table");
  for (const [keys, what] of KEYS)
    table.append(make("tr", "", null, make("td", "", null, make("kbd", "", keys)), make("td", "", what)));
  const close = make("button", "", "close");
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(table, close);
  dialog.showModal();
}

function stepGraph(by) {
  const next = graphs[app.graph.number + by];
  if (!next) return;
  showGraph(next);
  clearSelection();
}

document.addEventListener("keydown", event => {
  if (event.target === search.input || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.tagName === "SELECT" || document.getElementById("keys").open) return;
  const actions = {
    "/": () => search.input.focus(), "Escape": clearSelection, "?": showKeys, "d": toggleTheme,
    "e": () => graphs.length > 0 && exportSvg(), "[": () => stepGraph(-1), "]": () => stepGraph(1),
  };
  const digit = Number(event.key);
  let used = true;
  if (digit >= 1 && digit <= app.views.length) showView(app.views[digit - 1]);
  else if (actions[event.key]) actions[event.key]();
  else used = Boolean(app.view && app.view.key(event));
  if (used) event.preventDefault();
});

addViews();
addHeader();
const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
reading = true;  // what the address says is read at the end, and not written over before
if (app.graph) showGraph(app.graph);
else for (const view of app.views) view.open(null);  // a program without tasks is its source
showView(app.views.find(view => view.id === "graph") || app.views.find(view => view.id === "chip") || app.views.find(view => view.id === "slices") || app.views[0]);
showDetails();
readLink();
addEventListener("hashchange", readLink);

// For tests and the curious.
window.taskspecReport = { app, report, graphs, bars, chipRuns, chipChoice, select, selectNode, showView, svgOf, linkOf };
