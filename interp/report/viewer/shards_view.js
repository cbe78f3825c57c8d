// The tab Shards: a run on several shards. Its calls, and which of them all shards waited for, with the reason; the graph
// of one shard; what was sent from shard to shard; and when each of them ran and waited.

const SHARD_PARTS = ["calls", "graph", "copies", "timeline"];
const SHARD_BARS = ["run", "fences", "check", "contents", "others"];
const SHARD_WORDS = { run: "runs", fences: "waits for fences", check: "waits for the check of calls",
                      contents: "waits for contents", others: "waits for the end, or a file" };

function shardColour(what) { return getComputedStyle(document.documentElement).getPropertyValue("--shard-" + what).trim(); }

function orderOf(call) {
  if (call.replayed && call.orders.length === 0) return "replayed";
  if (call.orders.some(([, fence]) => fence)) return "fence";
  return call.orders.length > 0 ? "elided" : "";
}

class ShardsView {
  constructor(host) {
    this.run = report.shards[0];
    this.shard = 0;
    this.bar = make("div", "bar chipbar");
    host.append(this.bar);
    this.choice("run", report.shards.map((run, i) => `run ${i + 1}: ${plural(run.shards, "shard")}`),
                i => { this.run = report.shards[i]; this.shard = 0; this.fill(); }, report.shards.length > 1);
    this.facts = make("span", "facts");
    this.parts = new Map();
    const buttons = make("span", "parts");
    for (const name of SHARD_PARTS) {
      const button = make("button", "", name), part = make("div", "part");
      button.addEventListener("click", () => this.choose(name));
      buttons.append(button);
      this.parts.set(name, { button, part });
      host.append(part);
    }
    this.bar.append(buttons, this.facts);
    this.makeCalls(this.parts.get("calls").part);
    this.makeGraph(this.parts.get("graph").part);
    this.copies = make("div", "costs");
    this.parts.get("copies").part.append(this.copies);
    this.makeTimeline(this.parts.get("timeline").part);
    this.fill();
    this.choose("calls");
  }
  choice(label, names, chosen, isShown) {
    const select = make("select");
    select.setAttribute("aria-label", label);
    names.forEach((name, i) => { const option = make("option", "", name); option.value = i; select.append(option); });
    select.addEventListener("change", () => chosen(Number(select.value)));
    select.hidden = !isShown;
    this.bar.append(select);
    return select;
  }
  choose(name) {
    this.part = name;
    for (const [id, { button, part }] of this.parts) {
      part.hidden = id !== name;
      button.setAttribute("aria-pressed", String(id === name));
    }
    this.redraw();
  }
  fill() {
    const { run } = this, counts = run.counts;
    this.facts.replaceChildren(...["fences", "elided", "collectives", "replayed", "messages", "bytes"]
        .filter(name => name in counts)
        .map(name => make("span", "", name + " ", make("b", "", name === "bytes" ? bytesText(counts[name]) : counts[name]))));
    this.calls = run.calls || [];
    this.numbers = new Map(this.calls.map((call, k) => [call.number, k]));
    this.more.textContent = this.calls.length < run.all_calls ? `the first ${this.calls.length} of ${run.all_calls} calls` : "";
    this.more.hidden = this.more.textContent === "";
    this.rows.setCount(this.calls.length);
    this.drawn = run.by_shard.filter(shard => shard.bars).length;
    this.shards.replaceChildren(...Array.from({ length: this.drawn }, (_, k) => {
      const option = make("option", "", "shard " + k);
      option.value = k;
      return option;
    }));
    this.fillCopies();
    this.end = Math.max(1, ...run.by_shard.flatMap(shard => (shard.bars || []).map(bar => bar[2] + bar[3])));
    this.time.scale = 0;
    this.redraw();
  }

  // ---- calls ----
  makeCalls(host) {
    const cell = (kind, text) => make("span", kind, text);
    this.more = make("p", "faint");
    host.append(make("div", "shardcall head", null, cell("number", "call"), cell("what", "what"), cell("line", "line"),
                     cell("points", "points"), cell("order", "order"), cell("why", "why")), this.more);
    this.rows = new Rows(host, 27, i => this.row(i));
  }
  row(i) {
    const call = this.calls[i], order = orderOf(call), cell = (kind, text) => make("span", kind, text);
    const row = make("div", "row shardcall"), why = call.orders.map(one => this.reason(one)).join("; ");
    row.append(cell("number", call.number), cell("what code", call.what), this.line(call),
               cell("points", call.points > 0 ? call.points : ""), cell("order " + order, order), cell("why", why));
    row.title = why;
    return row;
  }
  reason([before, fence, why]) {
    const known = this.numbers.get(before);
    const name = known === undefined ? "" : `${before} ${this.calls[known].what}`;
    return (fence ? "fence" : "no fence") + (name ? ` behind ${name}` : "") + (why ? `: ${why}` : "");
  }
  line(call) {
    if (!call.path) return make("span", "line faint", "");
    const source = sourceNumbers.has(call.path) ? sourceNumbers.get(call.path) : -1;
    const name = call.path.slice(call.path.lastIndexOf("/") + 1) + ":" + call.line;
    const place = { path: call.path, line: call.line, column: 1, length: 1, source };
    return make("span", "line", null, source < 0 ? name : sourceLink(place, name));
  }

  // ---- the graph of a shard: a box for each operation that it has points of, edges that no fence stands for ----
  makeGraph(host) {
    const bar = make("div", "bar");
    this.shards = make("select");
    this.shards.setAttribute("aria-label", "shard");
    this.shards.addEventListener("change", () => { this.shard = Number(this.shards.value); this.redraw(); });
    bar.append(this.shards, make("span", "legend", null, make("span", "", "boxes: own points of all; lines: points of this shard wait for points; "),
                                 make("span", "", "red: all shards wait")));
    const stage = make("div", "stage");
    host.append(bar, stage);
    this.sheet = new Sheet(stage, context => this.drawGraph(context));
    this.sheet.most = 2;
    this.sheet.over = (x, y, event) => {
      const k = this.boxes()[Math.floor(this.sheet.fromY(y) / 44)], call = this.calls[k];
      call && call.orders.length > 0 ? tip.show(call.orders.map(one => this.reason(one)).join("\n"), event.clientX, event.clientY)
                                     : tip.hide();
    };
  }
  boxes() {
    const own = (this.run.by_shard[this.shard] || {}).own || [];
    return this.calls.map((call, k) => k).filter(k => this.calls[k].points > 0 && (own[k] > 0 || orderOf(this.calls[k]) === "fence"));
  }
  drawGraph(context) {
    const { sheet } = this, shard = this.run.by_shard[this.shard];
    if (!shard || !shard.own) return;
    const boxes = this.boxes(), at = new Map(boxes.map((k, i) => [k, i])), left = 170, wide = 330, high = 44;
    const x = value => sheet.toX(value), y = value => sheet.toY(value);
    context.font = `${Math.max(4, 13 * sheet.scale)}px sans-serif`;
    context.textBaseline = "middle";
    for (const [k, from, count] of shard.edges) {
      const source = this.numbers.get(from), a = at.get(source), b = at.get(k);
      if (a === undefined || b === undefined) continue;
      const far = Math.min(150, 16 + 9 * (b - a));
      context.strokeStyle = colours.line;
      context.lineWidth = Math.min(4, 1 + Math.log2(1 + count) / 2) * sheet.scale;
      context.beginPath();
      context.moveTo(x(left), y(high * a + 24));
      context.bezierCurveTo(x(left - far), y(high * a + 24), x(left - far), y(high * b + 24), x(left), y(high * b + 24));
      context.stroke();
    }
    boxes.forEach((k, i) => {
      const call = this.calls[k], order = orderOf(call), top = high * i + 9;
      if (y(top + high) < 0 || y(top - high) > sheet.height) return;
      if (order === "fence") {
        context.fillStyle = shardColour("fences");
        context.fillRect(x(20), y(top - 6), 500 * sheet.scale, Math.max(1, 2 * sheet.scale));
      }
      context.fillStyle = colours.box;
      context.strokeStyle = order === "fence" ? shardColour("fences") : colours.rule;
      context.lineWidth = sheet.scale;
      context.fillRect(x(left), y(top), wide * sheet.scale, 30 * sheet.scale);
      context.strokeRect(x(left), y(top), wide * sheet.scale, 30 * sheet.scale);
      context.fillStyle = colours.ink;
      context.fillText(`${call.number}  ${call.what}`, x(left + 8), y(top + 15), 230 * sheet.scale);
      context.fillStyle = colours.faint;
      context.fillText(`${shard.own[k]} of ${call.points}`, x(left + 248), y(top + 15), 78 * sheet.scale);
      if (order && order !== "elided") {
        context.fillStyle = order === "fence" ? shardColour("fences") : shardColour("run");
        const reason = call.orders.find(([, fence]) => fence);
        context.fillText(reason ? "fence: " + reason[2] : order, x(left + wide + 12), y(top + 15));
      }
    });
  }

  // ---- what was sent ----
  fillCopies() {
    const { run } = this, shards = run.by_shard, cell = (kind, text) => make(kind, "", text);
    const sums = make("table", "chiptable"), bars = ["run", "fences", "check", "contents", "others"];
    sums.append(make("tr", "", null, ...["shard", "rank", "messages", "bytes", ...bars].map(name => cell("th", name))));
    shards.forEach((shard, k) => sums.append(make("tr", "", null, cell("td", k), cell("td", shard.rank),
        cell("td", shard.messages), cell("td", bytesText(shard.bytes)),
        ...bars.map(bar => cell("td", timeText(shard.spent[bar]))))));
    const looked = make("table", "chiptable analysis"), names = Object.keys((shards[0] || {}).analysis || {});
    const words = name => name.replaceAll("_", " "), told = (name, n) => name.endsWith("bytes") ? bytesText(n) : n;
    looked.append(make("tr", "", null, ...["shard", ...names.map(words)].map(name => cell("th", name))));
    shards.forEach((shard, k) => looked.append(make("tr", "", null, cell("td", k),
        ...names.map(name => cell("td", told(name, shard.analysis[name]))))));
    this.copies.replaceChildren(make("h3", "", "messages with contents, and time"), make("div", "wide", null, sums),
                                make("h3", "", "what the analysis looked at, and asked of memory"),
                                make("div", "wide", null, looked));
    const few = shards.slice(0, 32).filter(shard => shard.to);
    if (few.length < 2) return;
    const table = make("table", "chiptable matrix");
    table.append(make("tr", "", null, cell("th", "from \\ to"), ...few.map((_, k) => cell("th", "shard " + k))));
    few.forEach((shard, k) => table.append(make("tr", "", null, cell("td", "shard " + k),
        ...few.map((_, to) => cell("td", shard.to[to][0] > 0 ? `${shard.to[to][0]} · ${bytesText(shard.to[to][1])}` : "")))));
    this.copies.append(make("h3", "", few.length < shards.length ? "from shard to shard, of the first 32" : "from shard to shard"),
                       make("div", "wide", null, table));
  }

  // ---- when ----
  makeTimeline(host) {
    const legend = make("div", "bar legend");
    for (const what of SHARD_BARS) {
      const swatch = make("i", "swatch");
      swatch.style.background = `var(--shard-${what})`;
      legend.append(make("span", "", null, swatch, SHARD_WORDS[what]));
    }
    const stage = make("div", "stage");
    host.append(legend, stage);
    this.time = new Sheet(stage, context => this.drawTimeline(context), { zoomY: false });
    this.time.most = 1;
    this.time.least = 1e-9;
    this.time.over = (x, y, event) => {
      const found = this.barAt(x, y);
      if (!found) return tip.hide();
      const known = this.numbers.get(found[1]);
      tip.show(`${SHARD_WORDS[SHARD_BARS[found[0]]]}, ${timeText(found[3])}, at call ${found[1]}` +
               (known === undefined ? "" : " " + this.calls[known].what), event.clientX, event.clientY);
    };
  }
  lane() { return Math.max(14, Math.min(40, (this.time.height - 40) / Math.max(1, this.drawn))); }
  barAt(x, y) {
    const shard = this.run.by_shard[Math.floor((y - 24) / this.lane())], at = this.time.fromX(x - 80);
    const here = (shard && shard.bars || []).filter(bar => at >= bar[2] && at <= bar[2] + bar[3]);
    return here.find(bar => bar[0] > 0) || here[0];
  }
  drawTimeline(context) {
    const sheet = this.time, lane = this.lane();
    if (sheet.scale === 0) { sheet.scale = Math.max(1e-9, (sheet.width - 100) / this.end); sheet.left = 0; }
    context.font = "12px sans-serif";
    context.textBaseline = "middle";
    const tints = SHARD_BARS.map(shardColour);
    context.save();
    context.beginPath();
    context.rect(80, 0, sheet.width, sheet.height);
    context.clip();
    for (let k = 0; k < this.drawn; ++k) {
      // What a batch waited for stands before it.
      const bars = this.run.by_shard[k].bars, runs = bars.filter(bar => bar[0] === 0), waits = bars.filter(bar => bar[0] > 0);
      for (const [what, , begin, length] of [...runs, ...waits]) {
        const from = 80 + sheet.toX(begin), wide = Math.max(0.6, length * sheet.scale);
        if (from > sheet.width || from + wide < 80) continue;
        context.fillStyle = tints[what];
        context.fillRect(from, 24 + k * lane + (what === 0 ? 2 : 5), wide, lane - (what === 0 ? 4 : 10));
      }
    }
    context.restore();
    for (let k = 0; k < this.drawn; ++k) {
      context.fillStyle = colours.ink;
      context.fillText("shard " + k, 14, 24 + (k + 0.5) * lane);
    }
    context.fillStyle = colours.faint;
    context.fillText(timeText(Math.round(sheet.fromX(0))), 80, 12);
    context.fillText(timeText(Math.round(sheet.fromX(sheet.width - 160))), sheet.width - 70, 12);
  }

  open() {}
  shown() { this.redraw(); }
  redraw() { this.rows.fill(); this.sheet.redraw(); this.time.redraw(); }
  select() {}
  key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return false;
    this.choose(SHARD_PARTS[(SHARD_PARTS.indexOf(this.part) + by + SHARD_PARTS.length) % SHARD_PARTS.length]);
    return true;
  }
}
