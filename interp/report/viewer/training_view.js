// The tab Training: what each op of the steps took in this run, beside what its record and the rates of the machine let
// expect. Two bars per row, on one scale: measured above, estimated below. A click shows the line of source.

const PASSES = ["forward", "backward", "update"];
const ORDERS = { "as in a step": () => 0, "slowest first": (a, b) => b.ms - a.ms,
                 "furthest from its estimate first": (a, b) => strayed(b) - strayed(a) };

function milliseconds(ms) { return timeText(Math.round(1e6 * ms)); }

// How many times more, or less, than expected.
function strayed(op) { return op.ms > 0 && op.estimate > 0 ? Math.abs(Math.log(op.ms / op.estimate)) : 0; }

class TrainingView {
  constructor(host) {
    this.bar = make("div", "bar");
    this.order = make("select");
    this.order.setAttribute("aria-label", "order");
    for (const name of Object.keys(ORDERS)) this.order.append(make("option", "", name));
    this.order.addEventListener("change", () => this.sort());
    this.bar.append(...PASSES.map(pass => this.total(pass)), this.order);
    host.append(this.bar, this.head());
    this.rows = new Rows(host, 27, i => this.row(i));
    this.rows.box.addEventListener("click", event => {
      const row = event.target.closest("[data-row]");
      if (row) this.choose(Number(row.dataset.row));
    });
    this.longest = Math.max(...report.training.map(op => Math.max(op.ms, op.estimate)));
    this.chosen = -1;
    this.sort();
  }
  total(pass) {
    const ops = report.training.filter(op => op.pass === pass), sum = what => ops.reduce((all, op) => all + op[what], 0);
    return make("span", "", pass + " ", make("b", "", milliseconds(sum("ms"))),
                ` (estimated ${milliseconds(sum("estimate"))})`);
  }
  head() {
    const cell = (kind, text) => make("span", kind, text);
    return make("div", "op head", null, cell("pass", "pass"), cell("name", "op"), cell("makes", "makes"),
                cell("task", "task"), cell("place", "line"), cell("calls", "calls"), cell("ms", "measured"),
                cell("ms estimate", "estimate"), cell("share", ""));
  }
  sort() {
    this.ops = [...report.training].sort(ORDERS[this.order.value]);
    this.chosen = -1;
    this.rows.setCount(this.ops.length);
  }

  open() { this.rows.fill(); }
  shown() { this.redraw(); }
  redraw() { this.rows.fill(); }
  select() { this.rows.fill(); }

  row(i) {
    const op = this.ops[i];
    const row = make("div", "row op" + (i === this.chosen ? " chosen" : ""));
    const cell = (kind, text) => make("span", kind, text);
    const bars = make("span", "share", null, this.length(op.ms), this.length(op.estimate));
    row.append(cell("pass", op.pass), cell("name code", op.op), cell("makes code", op.makes), cell("task", op.task),
               this.place(op), cell("calls", op.calls), cell("ms", milliseconds(op.ms)),
               cell("ms estimate", milliseconds(op.estimate)), bars);
    row.title = `${bytesText(op.bytes)} read and written; measured ${(op.ms / op.estimate).toFixed(2)} times its estimate`;
    return row;
  }
  length(ms) {
    const bar = make("i");
    bar.style.width = Math.max(1, Math.round(110 * ms / this.longest)) + "px";
    return bar;
  }
  place(op) {
    if (!op.place) return make("span", "place faint", "-");
    const { path, line } = op.place, source = sourceNumbers.has(path) ? sourceNumbers.get(path) : -1;
    const name = path.slice(path.lastIndexOf("/") + 1) + ":" + line;
    return make("span", "place", null, source < 0 ? name : sourceLink({ ...op.place, source }, name));
  }
  choose(i) {
    this.chosen = i;
    this.rows.reveal(i);
  }
  key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return false;
    const next = this.chosen + (event.key === "ArrowDown" ? 1 : -1);
    if (this.ops[next]) this.choose(next);
    return true;
  }
}
