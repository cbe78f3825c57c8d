// The tab Timeline: rows of the host program, of the graph program and of each worker. Bars are dispatches of chains,
// messages are arrows from who sends to who waits, the way that decides how long it all takes is underlined. The wheel
// zooms, dragging moves.

const LANE = { top: 30, height: 34, gap: 8, left: 116 };

class TimelineView {
  constructor(host) {
    this.bar = make("div", "bar");
    const stage = make("div", "stage");
    host.append(this.bar, stage);
    this.sheet = new Sheet(stage, (context, sheet) => this.draw(context, sheet), { zoomY: false });
    this.sheet.least = 1e-9;
    this.sheet.most = 10;
    this.sheet.clicked = (x, y) => this.click(x, y);
    this.sheet.over = (x, y, event) => this.hover(x, y, event);
    this.happened = new Happenings(control, bars, graphs, report.end);
    this.workers = [...new Set(bars.map(bar => bar.worker))].sort((a, b) => a - b);
    this.rows = [];
    if (control.length > 0) this.rows.push({ name: "host program", entries: this.happened.host },
        { name: "graph program", entries: this.happened.graph });
    for (const worker of this.workers) this.rows.push({ name: "worker " + worker, worker });
    const whole = control.length > 0;
    this.begin = whole ? 0 : bars.reduce((least, bar) => Math.min(least, bar.begin), Infinity);
    this.end = this.happened.end;
    this.path = whole ? this.happened.criticalPath() : [];
    this.onPath = new Set(this.path.map(piece => piece.bar).filter(bar => bar !== undefined));
    this.bar.append(...this.facts());
    const fit = make("button", "", "fit");
    fit.title = "all of it (0)";
    fit.addEventListener("click", () => this.fit());
    this.bar.append(fit);
    if (whole) {
      const steady = make("button", "", "steady");
      steady.title = "what comes after the last plan was made (s)";
      steady.addEventListener("click", () => this.showSteady());
      this.bar.append(steady);
    }
  }
  facts() {
    const fact = (name, value) => make("span", "", name + " ", make("b", "", value));
    const span = Math.max(1, this.end - this.begin);
    const busy = bars.reduce((sum, bar) => sum + bar.end - bar.begin, 0);
    const facts = [fact("dispatches", bars.length), fact("workers", this.workers.length), fact("span", timeText(span)),
                   fact("busy", (100 * busy / (span * Math.max(1, this.workers.length))).toFixed(0) + " %")];
    const idle = this.happened.idleShares(this.workers.length).filter(([, share]) => share >= 0.005).slice(0, 4);
    if (idle.length > 0) {
      const why = fact("idle for", idle.map(([reason, share]) => `${reason} ${(100 * share).toFixed(0)} %`).join(", "));
      why.title = "of the time of all workers: what the graph program did, or waited for, while they had nothing to do";
      facts.push(why);
    }
    const shares = new Map();
    for (const { what, begin, end } of this.path) shares.set(what, (shares.get(what) || 0) + end - begin);
    const parts = [...shares].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([what, ns]) =>
        `${PATH_WORDS[what] || what} ${timeText(Math.round(ns))}`);
    if (parts.length > 0) {
      const path = fact("critical path", parts.join(", "));
      path.title = "what would have to be shorter for the program to be: whoever was waited for last, from the end backwards";
      facts.push(path);
    }
    return facts;
  }
  open() { this.sheet.redraw(); }
  shown() {
    if (!this.fitted) this.fit();
    this.select(app.selection);
  }
  redraw() { this.sheet.redraw(); }
  look(begin, end) {
    if (this.sheet.width === 0) return;
    this.sheet.scale = (this.sheet.width - LANE.left - 70) / Math.max(1, end - begin);
    this.sheet.left = begin - LANE.left / this.sheet.scale;
    this.fitted = true;
    this.sheet.redraw();
  }
  fit() { this.look(this.begin, this.end); }
  showSteady() {
    const plans = this.happened.graph.filter(entry => entry.what === "plan"), last = plans[plans.length - 1];
    this.look(last ? last.end : this.begin, this.end);
  }
  select(selection) {
    this.chosen = new Set(selection ? selection.graph.barsOf(selection.nodes) : []);
    if (this.fitted && this.chosen.size > 0 && selection.from !== "timeline") this.reveal(bars[[...this.chosen][0]]);
    this.sheet.redraw();
  }
  reveal(bar) {
    const x = this.sheet.toX(bar.begin);
    if (x < LANE.left || x > this.sheet.width - 20)
      this.sheet.left = bar.begin - this.sheet.width / 2 / this.sheet.scale;
  }
  topOf(row) { return LANE.top + row * (LANE.height + LANE.gap); }
  laneOf(bar) { return this.topOf(this.rows.length - this.workers.length + this.workers.indexOf(bar.worker)); }
  rowAt(y) {
    const row = Math.floor((y - LANE.top) / (LANE.height + LANE.gap));
    return y >= LANE.top && y - this.topOf(row) <= LANE.height ? this.rows[row] : undefined;
  }
  barAt(x, y) {
    return bars.findIndex(bar => {
      const top = this.laneOf(bar), left = this.sheet.toX(bar.begin);
      const right = Math.max(this.sheet.toX(bar.end), left + 2);
      return y >= top && y <= top + LANE.height && x >= left - 1 && x <= right + 1;
    });
  }
  pointOf(i) {  // for tests
    const page = this.sheet.canvas.getBoundingClientRect(), bar = bars[i];
    const x = this.sheet.toX((bar.begin + bar.end) / 2), y = this.laneOf(bar) + LANE.height / 2;
    return { x: page.left + x, y: page.top + y };
  }
  click(x, y) {
    const i = this.barAt(x, y);
    if (i >= 0) return this.choose(i);
    const row = this.rowAt(y), entry = row && row.entries && Happenings.at(row.entries, this.sheet.fromX(x));
    if (!entry) return clearSelection();
    if (entry.what === "run" || entry.what === "plan") {
      const graph = graphs[entry.graph];
      return select(graph, graph.nodes.map((_, node) => node), graph.title, "timeline");
    }
    if (entry.channel !== undefined && slices && slices.channels[entry.channel])
      return selectChannel(entry.channel, "timeline");
    clearSelection();
  }
  choose(i) {
    selectStep(graphs[bars[i].graph], bars[i].step, "timeline");
    this.focus = i;
  }
  hover(x, y, event) {
    const i = this.barAt(x, y), row = this.rowAt(y), time = this.sheet.fromX(x);
    const inside = x >= LANE.left && time >= this.begin && time <= this.end;
    this.sheet.canvas.classList.toggle("over", i >= 0);
    const text = i >= 0 ? this.wordsOfBar(i) : !row || !inside ? ""
      : row.entries ? this.wordsOf(Happenings.at(row.entries, time))
      : control.length > 0 ? this.happened.idle(row.worker, time) : "";
    if (!text) return tip.hide();
    tip.show(text, event.clientX, event.clientY);
  }
  wordsOfBar(i) {
    const bar = bars[i], graph = graphs[bar.graph], waited = this.happened.lastBefore(i);
    const times = timeText(bar.end - bar.begin) + ", from " + timeText(bar.begin - this.begin);
    const after = waited < 0 ? "" :
        `\nafter step ${bars[waited].step} (${graph.namesOf(graph.steps[bars[waited].step])}) on worker ${bars[waited].worker}`;
    return graph.namesOf(graph.steps[bar.step]) + "\n" + times + after +
        (this.onPath.has(i) ? "\non the critical path" : "");
  }
  wordsOf(entry) {
    if (!entry) return "";
    const times = timeText(entry.end - entry.begin) + ", from " + timeText(entry.begin - this.begin);
    return this.titleOf(entry) + "\n" + times;
  }
  titleOf({ what, channel, graph }) {
    const name = channel === undefined || !slices || !slices.channels[channel] ? "a message" :
        slices.channels[channel].name;
    if (what === "receive") return "waits for " + name;
    if (what === "send") return "sends " + name;
    if (what === "plan") return "makes the plan and its kernels: " + graphs[graph].title;
    return what === "run" ? "runs " + graphs[graph].title : what;
  }
  key(event) {
    const moves = { "+": () => this.sheet.zoom(1.5), "-": () => this.sheet.zoom(1 / 1.5), "0": () => this.fit(),
                    "s": () => this.showSteady() };
    if (moves[event.key]) return moves[event.key](), true;
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return false;
    const now = this.focus === undefined ? -1 : this.focus;
    const next = Math.min(bars.length - 1, Math.max(0, now + (event.key === "ArrowRight" ? 1 : -1)));
    this.choose(next);
    this.reveal(bars[next]);
    return true;
  }

  draw(context, sheet) {
    this.drawScale(context, sheet);
    context.font = "11px system-ui, sans-serif";
    this.rows.forEach((row, i) => {
      context.fillStyle = colours.panel;
      context.fillRect(0, this.topOf(i), sheet.width, LANE.height);
    });
    this.rows.forEach((row, i) => { if (row.entries) this.drawEntries(context, sheet, row.entries, this.topOf(i)); });
    let shown = 0;
    for (let i = 0; i < bars.length; ++i) shown += this.drawBar(context, sheet, i);
    this.drawPath(context, sheet);
    this.drawArrows(context, sheet);
    this.rows.forEach((row, i) => {
      context.fillStyle = colours.paper;
      context.fillRect(0, this.topOf(i), LANE.left - 8, LANE.height);
      context.fillStyle = colours.faint;
      context.fillText(row.name, 12, this.topOf(i) + LANE.height / 2 + 4);
    });
    return shown;
  }
  // What a program does by itself is plain, a wait is a thin line, plans and runs are blocks.
  drawEntries(context, sheet, entries, y) {
    let last = -Infinity;
    for (const entry of entries) {
      const x = Math.max(sheet.toX(entry.begin), LANE.left - 10);
      const right = Math.min(sheet.toX(entry.end), sheet.width + 10);
      if (right < LANE.left - 10 || x > sheet.width || (right - x < 0.5 && x - last < 0.5)) continue;
      last = x;
      const width = Math.max(1, right - x), waits = entry.what === "receive" || entry.what === "send";
      context.fillStyle = entry.what === "plan" ? colours.order : entry.what === "run" ? colours.accent : colours.line;
      context.globalAlpha = waits ? 0.7 : entry.what === "plan" || entry.what === "run" ? 0.45 : 0.25;
      context.fillRect(x, waits ? y + LANE.height / 2 - 1 : y + 5, width, waits ? 2 : LANE.height - 10);
      context.globalAlpha = 1;
      if (width <= 60) continue;
      this.words(context, this.titleOf(entry), x, width, y - (waits ? 8 : 0), waits ? colours.faint : colours.ink);
    }
  }
  words(context, text, x, width, y, colour) {
    context.save();
    context.beginPath();
    context.rect(x, y, width - 4, LANE.height + 8);
    context.clip();
    context.fillStyle = colour;
    context.fillText(text, Math.max(x, LANE.left - 8) + 6, y + LANE.height / 2 + 4);
    context.restore();
  }
  drawBar(context, sheet, i) {
    const bar = bars[i], x = sheet.toX(bar.begin), right = sheet.toX(bar.end);
    if (right < LANE.left - 10 || x > sheet.width) return 0;
    const y = this.laneOf(bar), width = Math.max(1.5, right - x);
    const graph = graphs[bar.graph], nodes = graph.steps[bar.step];
    context.fillStyle = hued(graph.chainOf(nodes[0]), "bar");
    context.fillRect(x, y, width, LANE.height);
    if (this.chosen && this.chosen.has(i)) {
      context.strokeStyle = colours.chosen;
      context.lineWidth = 2.5;
      context.strokeRect(x, y, width, LANE.height);
    }
    if (width >= 40) this.words(context, graph.namesOf(nodes), x, width, y, colours.ink);
    return 1;
  }
  drawPath(context, sheet) {
    const low = row => this.topOf(row) + LANE.height - 2;
    context.fillStyle = colours.chosen;
    for (const { what, begin, end, bar } of this.path) {
      const x = Math.max(sheet.toX(begin), LANE.left - 10), right = Math.min(sheet.toX(end), sheet.width + 10);
      if (right < LANE.left || x > sheet.width) continue;
      const y = bar !== undefined ? this.laneOf(bars[bar]) + LANE.height - 2 : low(what === "host code" ? 0 : 1);
      context.fillRect(x, y, Math.max(1, right - x), 3);
    }
  }
  // From who sends to who takes, where it was waited for; between the bars of one run, of the chosen bar or of few.
  drawArrows(context, sheet) {
    const most = 150, arrow = (fromTime, fromY, toTime, toY) => {
      const x = sheet.toX(fromTime), right = sheet.toX(toTime);
      if (Math.max(x, right) < LANE.left || Math.min(x, right) > sheet.width) return;
      context.moveTo(x, fromY);
      context.bezierCurveTo(x + 10, (fromY + toY) / 2, right - 10, (fromY + toY) / 2, right, toY);
      const side = toY > fromY ? -6 : 6;
      context.moveTo(right - 3, toY + side);
      context.lineTo(right, toY);
      context.lineTo(right + 3, toY + side);
    };
    const inSight = (begin, end) => sheet.toX(end) >= LANE.left && sheet.toX(begin) <= sheet.width;
    const messages = this.happened.messages.filter(({ from, end }) => inSight(Math.min(from.begin, end), end));
    if (messages.length > most) messages.sort((a, b) => b.end - b.begin - a.end + a.begin);
    context.lineWidth = 1.2;
    context.strokeStyle = colours.accent;
    context.beginPath();
    for (const { host, from, end } of messages.slice(0, most)) {
      const [up, down] = [this.topOf(0) + LANE.height, this.topOf(1)];
      arrow(from.end, host ? down : up, end, host ? up : down);
    }
    context.stroke();
    const shown = bars.map((bar, i) => i).filter(i => inSight(bars[i].begin, bars[i].end) &&
        sheet.toX(bars[i].end) - sheet.toX(bars[i].begin) > 3);
    context.strokeStyle = colours.line;
    context.beginPath();
    for (const i of shown.length <= most ? shown : shown.filter(k => this.chosen && this.chosen.has(k)))
      for (const before of this.happened.dependences(i)) {
        const [a, b] = [this.laneOf(bars[before]), this.laneOf(bars[i])];
        if (a !== b) arrow(bars[before].end, a < b ? a + LANE.height : a, bars[i].begin, a < b ? b : b + LANE.height);
      }
    context.stroke();
  }
  drawScale(context, sheet) {
    const about = 110 / sheet.scale, power = 10 ** Math.floor(Math.log10(about));
    const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= about);
    context.strokeStyle = colours.rule;
    context.fillStyle = colours.faint;
    context.font = "10px system-ui, sans-serif";
    context.lineWidth = 1;
    const first = Math.ceil((sheet.fromX(LANE.left) - this.begin) / step) * step;
    for (let t = Math.max(0, first); this.begin + t < sheet.fromX(sheet.width); t += step) {
      const x = Math.round(sheet.toX(this.begin + t)) + 0.5, words = timeText(Math.round(t));
      context.beginPath();
      context.moveTo(x, 20);
      context.lineTo(x, sheet.height);
      context.stroke();
      if (x + 3 + context.measureText(words).width < sheet.width) context.fillText(words, x + 3, 14);
    }
  }
}

const PATH_WORDS = { plan: "plans made", "records tasks": "recording", message: "messages", "hand-over": "hand-over",
    kernels: "kernels" };
