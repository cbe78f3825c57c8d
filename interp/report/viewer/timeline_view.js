// The tab Timeline: one row per worker, one bar per dispatch of a chain. The wheel zooms, dragging moves.

const LANE = { top: 30, height: 34, gap: 8, left: 80 };

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
    this.workers = [...new Set(bars.map(bar => bar.worker))].sort((a, b) => a - b);
    this.begin = bars.reduce((least, bar) => Math.min(least, bar.begin), Infinity);
    this.end = bars.reduce((most, bar) => Math.max(most, bar.end), -Infinity);
    const busy = bars.reduce((sum, bar) => sum + bar.end - bar.begin, 0);
    const share = busy / Math.max(1, (this.end - this.begin) * this.workers.length);
    const fact = (name, value) => make("span", "", name + " ", make("b", "", value));
    this.bar.append(fact("dispatches", bars.length), fact("workers", this.workers.length),
      fact("span", timeText(this.end - this.begin)), fact("busy", (100 * share).toFixed(0) + " %"));
    const fit = make("button", "", "fit");
    fit.addEventListener("click", () => this.fit());
    this.bar.append(fit);
  }
  open() { this.sheet.redraw(); }
  shown() {
    if (!this.fitted) this.fit();
    this.select(app.selection);
  }
  redraw() { this.sheet.redraw(); }
  fit() {
    if (this.sheet.width === 0) return;
    this.sheet.scale = (this.sheet.width - LANE.left - 30) / Math.max(1, this.end - this.begin);
    this.sheet.left = this.begin - LANE.left / this.sheet.scale;
    this.fitted = true;
    this.sheet.redraw();
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
  laneOf(bar) { return LANE.top + this.workers.indexOf(bar.worker) * (LANE.height + LANE.gap); }
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
    if (i < 0) return clearSelection();
    this.choose(i);
  }
  choose(i) {
    selectStep(graphs[bars[i].graph], bars[i].step, "timeline");
    this.focus = i;
  }
  hover(x, y, event) {
    const i = this.barAt(x, y);
    this.sheet.canvas.classList.toggle("over", i >= 0);
    if (i < 0) return tip.hide();
    const bar = bars[i], graph = graphs[bar.graph];
    const times = timeText(bar.end - bar.begin) + ", from " + timeText(bar.begin - this.begin);
    tip.show(graph.namesOf(graph.steps[bar.step]) + "\n" + times, event.clientX, event.clientY);
  }
  key(event) {
    const moves = { "+": () => this.sheet.zoom(1.5), "-": () => this.sheet.zoom(1 / 1.5), "0": () => this.fit() };
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
    this.workers.forEach((worker, lane) => {
      const y = LANE.top + lane * (LANE.height + LANE.gap);
      context.fillStyle = colours.panel;
      context.fillRect(0, y, sheet.width, LANE.height);
    });
    let shown = 0;
    for (let i = 0; i < bars.length; ++i) shown += this.drawBar(context, sheet, i);
    context.fillStyle = colours.ink;
    this.workers.forEach((worker, lane) => {
      const y = LANE.top + lane * (LANE.height + LANE.gap);
      context.fillStyle = colours.paper;
      context.fillRect(0, y, LANE.left - 8, LANE.height);
      context.fillStyle = colours.faint;
      context.fillText("worker " + worker, 12, y + LANE.height / 2 + 4);
    });
    return shown;
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
    if (width < 40) return 1;
    context.save();
    context.beginPath();
    context.rect(x, y, width - 4, LANE.height);
    context.clip();
    context.fillStyle = colours.ink;
    context.fillText(graph.namesOf(nodes), Math.max(x, LANE.left - 8) + 6, y + LANE.height / 2 + 4);
    context.restore();
    return 1;
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
      const x = Math.round(sheet.toX(this.begin + t)) + 0.5;
      context.beginPath();
      context.moveTo(x, 20);
      context.lineTo(x, sheet.height);
      context.stroke();
      context.fillText(timeText(Math.round(t)), x + 3, 14);
    }
  }
}
