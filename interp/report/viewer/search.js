// Search over tasks, chains, scopes and lines of the source. Every word must occur.

const search = {
  most: 60,
  input: document.getElementById("query"),
  list: document.getElementById("hits"),
  hits: [],
  at: 0,

  // What there is to find, made at the first search.
  things() {
    if (this.known) return this.known;
    this.known = [];
    const add = (text, kind, choose) => this.known.push({ text, low: (kind + " " + text).toLowerCase(), kind, choose });
    for (const graph of graphs) {
      const where = graphs.length > 1 ? ", " + graph.title : "";
      graph.nodes.forEach((node, i) =>
        add(graph.pathOf(i) + ": " + node.out.map(out => out.type).join(", "), "task" + where,
            () => selectNode(graph, i, null)));
      graph.chains.forEach((chain, i) => {
        if (chain.nodes.length > 1)
          add(graph.namesOf(chain.nodes, " → "), "chain " + i + where, () => selectChain(graph, i, null));
      });
      graph.scopes.forEach((scope, i) => {
        if (scope.parent === null) return;
        add(scope.name, "scope" + where, () => select(graph, nodesIn(graph, i), "scope " + scope.name, null));
      });
    }
    for (const channel of slices ? slices.channels : [])
      add(channel.name + " " + channel.items.map(item => item.value).join(", "), "channel",
          () => selectChannel(channel.id, null));
    report.sources.forEach((source, number) => source.text.split("\n").forEach((text, i) => {
      if (text.trim() !== "") add(text.trim(), "line " + (i + 1), () => showLine(number, i + 1));
    }));
    return this.known;
  },
  run() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    this.hits = [];
    if (words.length > 0)
      for (const thing of this.things()) {
        if (!words.every(word => thing.low.includes(word))) continue;
        this.hits.push(thing);
        if (this.hits.length === this.most) break;
      }
    this.at = 0;
    this.show();
  },
  show() {
    this.list.hidden = this.input.value === "";
    this.list.replaceChildren(...this.hits.map((hit, i) => {
      const item = make("li", "", null, make("span", "", hit.text), make("small", "", hit.kind));
      item.setAttribute("aria-selected", String(i === this.at));
      item.addEventListener("pointerdown", event => { event.preventDefault(); this.choose(i); });
      return item;
    }));
    if (this.hits.length === 0) this.list.append(make("li", "faint", "nothing found"));
  },
  choose(i) {
    if (!this.hits[i]) return;
    this.hits[i].choose();
    this.close();
  },
  close() {
    this.input.value = "";
    this.list.hidden = true;
    this.input.blur();
  },
  key(event) {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter") this.choose(this.at);
    else if (event.key === "ArrowDown") this.at = Math.min(this.hits.length - 1, this.at + 1), this.show();
    else if (event.key === "ArrowUp") this.at = Math.max(0, this.at - 1), this.show();
    else return;
    event.preventDefault();
  },
};

function nodesIn(graph, scope) {
  const inside = new Set([scope]);
  graph.scopes.forEach((other, i) => { if (inside.has(other.parent)) inside.add(i); });
  return graph.nodes.map((node, i) => i).filter(i => inside.has(graph.nodes[i].scope));
}

function showLine(source, line) {
  const view = app.views.find(other => other.id === "source");
  view.showFile(source);
  showView(view);
  view.choose(line);
  view.rows.reveal(line - 1);
}
