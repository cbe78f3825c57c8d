// When each core computes, sends and waits: a row per core in use, in the clock of the chip. The wheel zooms, dragging
// moves both ways.

const STAGES = [
  { title: "axon", ofSpikes: "synapses", lane: 0, colour: () => colours.accent },
  { title: "soma", ofSpikes: "neurons", lane: 0, colour: () => colours.text },
  { title: "send", lane: 1, colour: () => colours.order }, { title: "wait", lane: 2, colour: () => colours.rule },
  { title: "move", lane: 0, colour: () => colours.word },
];
function stageTitle(run, { title, ofSpikes }) { return run.spiking && ofSpikes || title; }
const CORE_ROW = { top: 26, height: 30, left: 118, lanes: [[2, 14], [17, 5], [23, 4]] };  // lanes: from, how high

class ChipPhases {
  constructor(host, view) {
    this.view = view;
    this.bar = make("div", "bar");
    this.legend = make("span", "legend");
    this.note = make("span", "faint");
    const fit = make("button", "", "fit");
    fit.addEventListener("click", () => this.fit());
    this.bar.append(this.legend, this.note, fit);
    const stage = make("div", "stage");
    host.append(this.bar, stage);
    this.sheet = new Sheet(stage, (context, sheet) => this.draw(context, sheet), { zoomY: false });
    this.sheet.least = 1e-9;
    this.sheet.most = 40;
    this.sheet.zoom = (factor, x, y) => {  // rows stay where they are
      Sheet.prototype.zoom.call(this.sheet, factor, x, y);
      this.sheet.top = 0;
    };
    this.scroll = 0;
    this.sheet.clicked = (x, y) => this.view.chooseCore(this.coreAt(y));
    this.sheet.over = (x, y, event) => this.hover(x, y, event);
    this.opened();
  }
  opened() {
    const run = chipChoice.run;
    this.byCore = run.cores.map(() => []);
    for (const stage of run.stages) this.byCore[stage.core].push(stage);
    this.seen = new Set(run.stages.map(stage => stage.stage));
    this.begin = run.stages.reduce((least, stage) => Math.min(least, stage.begin), Infinity);
    this.end = run.stages.reduce((most, stage) => Math.max(most, stage.end), 0);
    if (run.stages.length === 0) this.begin = 0, this.end = 1;
    // As data flows: by layer, then by core.
    this.order = run.cores.map(core => core.position).sort((a, b) =>
      run.cores[a].layers[0] - run.cores[b].layers[0] || run.cores[a].core - run.cores[b].core);
    this.rowOf = [];
    this.order.forEach((position, row) => { this.rowOf[position] = row; });
    const ticks = run.stages.reduce((most, stage) => Math.max(most, stage.frame + 1), 0);
    this.note.textContent = run.first_frame > 0 ? `frames from ${run.first_frame} on`
      : run.spiking && ticks < run.steps ? `the first ${plural(ticks, "tick")}` : "";
    this.fitted = false;
    this.scroll = 0;
  }
  shown() { this.redraw(); }
  redraw() {
    this.legend.replaceChildren(...STAGES.filter((stage, i) => this.seen.has(i))
      .map(stage => swatch(stage.colour(), stageTitle(chipChoice.run, stage))));
    if (!this.fitted) this.fit();
    if (chipChoice.core) this.reveal(this.rowOf[chipChoice.core.position]);
    this.sheet.redraw();
  }
  fit() {
    if (this.sheet.width === 0) return;
    this.sheet.scale = (this.sheet.width - CORE_ROW.left - 20) / Math.max(1, this.end - this.begin);
    this.sheet.left = this.begin - CORE_ROW.left / this.sheet.scale;
    this.fitted = true;
    this.sheet.redraw();
  }
  topOf(row) { return CORE_ROW.top + row * CORE_ROW.height - this.scroll; }
  reveal(row) {
    const top = this.topOf(row);
    if (top < CORE_ROW.top) this.scroll += top - CORE_ROW.top;
    else if (top + CORE_ROW.height > this.sheet.height) this.scroll += top + CORE_ROW.height - this.sheet.height;
  }
  coreAt(y) {
    const row = Math.floor((y + this.scroll - CORE_ROW.top) / CORE_ROW.height);
    return y >= CORE_ROW.top && row < this.order.length ? chipChoice.run.cores[this.order[row]] : null;
  }
  hover(x, y, event) {
    const run = chipChoice.run, core = this.coreAt(y);
    this.sheet.canvas.classList.toggle("over", Boolean(core));
    if (!core) return tip.hide();
    if (x < CORE_ROW.left) return tip.show(run.about(core), event.clientX, event.clientY);
    const at = this.sheet.fromX(x), inRow = y - this.topOf(this.rowOf[core.position]);
    const lane = CORE_ROW.lanes.findIndex(([from, high]) => inRow >= from && inRow < from + high);
    const slack = 2 / this.sheet.scale;
    const stage = this.byCore[core.position].find(s =>
      STAGES[s.stage].lane === lane && s.begin - slack <= at && at <= s.end + slack);
    if (!stage) return tip.hide();
    const when = run.spiking ? `tick ${stage.frame}` : `phase ${stage.phase}, frame ${stage.frame}`;
    tip.show(`core ${core.core}, ${when}: ${stageTitle(run, STAGES[stage.stage])}\n` +
      `${run.layerOf(core, stage.phase)}\n${clkText(stage.end - stage.begin)} from ${stage.begin.toLocaleString("en")}, ` +
      timeText(Math.round(1e9 * (stage.end - stage.begin) / run.hz)), event.clientX, event.clientY);
  }
  key(event) {
    const moves = { "+": () => this.sheet.zoom(1.5), "-": () => this.sheet.zoom(1 / 1.5), "0": () => this.fit() };
    if (moves[event.key]) return moves[event.key](), true;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], pan = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (pan) this.sheet.left += pan * 80 / this.sheet.scale, this.sheet.redraw();
    if (!by) return Boolean(pan);
    const now = chipChoice.core ? this.rowOf[chipChoice.core.position] : by > 0 ? -1 : this.order.length;
    this.view.chooseCore(chipChoice.run.cores[this.order[Math.min(this.order.length - 1, Math.max(0, now + by))]]);
    return true;
  }

  draw(context, sheet) {
    this.scroll += sheet.top * sheet.scale;  // what was dragged
    sheet.top = 0;
    const room = CORE_ROW.top + this.order.length * CORE_ROW.height - sheet.height + 8;
    this.scroll = Math.max(0, Math.min(this.scroll, Math.max(0, room)));
    const first = Math.max(0, Math.floor(this.scroll / CORE_ROW.height));
    const last = Math.min(this.order.length, Math.ceil((this.scroll + sheet.height) / CORE_ROW.height));
    context.font = "11px system-ui, sans-serif";
    for (let row = first; row < last; ++row) {
      context.fillStyle = this.ground(row);
      context.fillRect(0, this.topOf(row), sheet.width, CORE_ROW.height);
    }
    this.drawClock(context, sheet, CORE_ROW.top, sheet.height);
    for (let row = first; row < last; ++row) this.drawRow(context, sheet, row);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, sheet.width, CORE_ROW.top);
    this.drawClock(context, sheet, 18, CORE_ROW.top);
  }
  ground(row) {
    const core = chipChoice.run.cores[this.order[row]];
    return core === chipChoice.core ? colours.mark : row % 2 ? colours.paper : colours.panel;
  }
  drawRow(context, sheet, row) {
    const run = chipChoice.run, core = run.cores[this.order[row]], top = this.topOf(row);
    context.font = "11px system-ui, sans-serif";
    for (const stage of this.byCore[core.position]) {
      const x = sheet.toX(stage.begin), right = sheet.toX(stage.end);
      if (right < CORE_ROW.left || x > sheet.width) continue;
      const { lane, colour } = STAGES[stage.stage], [from, high] = CORE_ROW.lanes[lane], width = Math.max(0.7, right - x);
      context.fillStyle = colour();
      context.fillRect(x, top + from, width, high);
      if (lane === 0 && width > 26) this.name(context, `${run.layerOf(core, stage.phase)} ${stage.frame}`, x, right, top);
    }
    context.fillStyle = this.ground(row);
    context.fillRect(0, top, CORE_ROW.left - 4, CORE_ROW.height);
    context.fillStyle = colours.ink;
    context.fillText("core " + core.core, 10, top + 13);
    context.fillStyle = colours.faint;
    const names = run.layersOf(core).join(", ");
    context.fillText(names.length > 17 ? names.slice(0, 16) + "…" : names, 10, top + 26);
  }
  name(context, text, x, right, top) {
    const left = Math.max(x, CORE_ROW.left - 4);
    if (context.measureText(text).width + 8 > right - left) return;
    context.fillStyle = colours.panel;
    context.fillText(text, left + 4, top + 13);
  }
  drawClock(context, sheet, top, bottom) {
    const about = 110 / sheet.scale, power = 10 ** Math.max(0, Math.floor(Math.log10(about)));
    const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= about) || 10 * power;
    context.font = "10px system-ui, sans-serif";
    const first = Math.max(0, Math.ceil(sheet.fromX(CORE_ROW.left) / step) * step);
    for (let t = first; t < sheet.fromX(sheet.width); t += step) {
      const x = Math.round(sheet.toX(t)) + 0.5;
      context.strokeStyle = colours.rule;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, bottom);
      context.stroke();
      context.fillStyle = colours.faint;
      const text = t === 0 ? "0 clk" : t.toLocaleString("en");
      if (top < CORE_ROW.top && x + 3 + context.measureText(text).width <= sheet.width) context.fillText(text, x + 3, 14);
    }
  }
}
