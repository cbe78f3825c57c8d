// The tab Chains: every chain with its members and, for each end, the sentence that says which rule stopped it.

class ChainsView {
  constructor(host) {
    this.bar = make("div", "bar");
    host.append(this.bar);
    this.rows = new Rows(host, 76, i => this.row(i));
    this.rows.box.addEventListener("click", event => {
      const row = event.target.closest("[data-row]");
      if (row) selectChain(this.graph, Number(row.dataset.row), "chains");
    });
  }
  open(graph) {
    this.graph = graph;
    const longest = graph.chains.reduce((most, chain) => Math.max(most, chain.nodes.length), 0);
    this.bar.replaceChildren(
      make("span", "", null, make("b", "", plural(graph.chains.length, "chain")), " of ",
           make("b", "", plural(graph.size, "task"))),
      make("span", "", "the longest has " + plural(longest, "task")));
    this.rows.setCount(graph.chains.length);
  }
  shown() { this.redraw(); this.select(app.selection); }
  redraw() { this.rows.fill(); }
  select(selection) {
    this.chosen = new Set();
    if (selection && selection.graph === this.graph)
      for (const node of selection.nodes) this.chosen.add(this.graph.chainOf(node));
    if (this.chosen.size > 0 && selection.from !== "chains") this.rows.reveal([...this.chosen][0]);
    else this.rows.fill();
  }
  row(i) {
    const chain = this.graph.chains[i], [first, last] = this.graph.ends[i];
    const row = make("div", "row chain" + (this.chosen && this.chosen.has(i) ? " chosen" : ""));
    const swatch = make("span", "swatch");
    swatch.style.background = hued(i, "rim");
    const names = this.graph.namesOf(chain.nodes, " → ", 40);
    row.append(make("div", "", null, swatch, make("b", "", "chain " + i), "  ", make("code", "", names)),
               make("p", "", first), make("p", "", last));
    row.title = first + "\n" + last;
    return row;
  }
  key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return false;
    const now = this.chosen && this.chosen.size > 0 ? [...this.chosen][0] : -1;
    const next = now + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0 || next >= this.graph.chains.length) return true;
    selectChain(this.graph, next, "chains");
    this.rows.reveal(next);
    return true;
  }
}
