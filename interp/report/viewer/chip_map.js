// Cores where they stand, chips with their borders, and what each link carries, in one drawing.

const PLACE = { core: 44, gap: 18, chip: 34, host: 60 };  // pixels at scale 1

class ChipMap {
  constructor(host, view) {
    this.view = view;
    this.measures = MEASURES.filter(measure => measure.id !== "mac" || chipRuns.some(run => run.units > 0));
    this.measure = this.measures[0];
    this.bar = make("div", "bar");
    this.choice = make("select");
    this.choice.setAttribute("aria-label", "what colours show");
    for (const measure of this.measures) this.choice.append(make("option", "", measure.title));
    this.choice.addEventListener("change", () => { this.measure = this.measures[this.choice.selectedIndex]; this.redraw(); });
    const fit = make("button", "", "fit");
    fit.addEventListener("click", () => this.fit());
    this.legend = make("span", "legend");
    this.bar.append(this.choice, this.legend, fit);
    const stage = make("div", "stage");
    host.append(this.bar, stage);
    this.sheet = new Sheet(stage, (context, sheet) => this.draw(context, sheet));
    this.sheet.clicked = (x, y) => this.view.chooseCore(this.coreAt(x, y));
    this.sheet.over = (x, y, event) => this.hover(x, y, event);
  }
  opened() { this.fitted = false; }
  shown() {
    if (!this.fitted) this.fit();
    this.redraw();
  }
  redraw() {
    if (!this.fitted) this.fit();
    this.tellLegend();
    this.sheet.redraw();
  }
  fit() {
    const run = chipChoice.run, [right, bottom] = this.corner(run), { sheet } = this;
    if (sheet.width === 0) return;
    const left = run.links.some(link => link.host) ? -PLACE.host : 0;
    sheet.scale = Math.min(1.6, (sheet.width - 30) / (right - left + 20), (sheet.height - 30) / (bottom + 20));
    sheet.left = (left + right) / 2 - sheet.width / 2 / sheet.scale;
    sheet.top = bottom / 2 - 8 - sheet.height / 2 / sheet.scale;
    this.fitted = [sheet.left, sheet.top, sheet.scale, sheet.width, sheet.height].join();
    sheet.redraw();
  }
  // Nobody has moved it, and the room is another one.
  fitAgain({ left, top, scale, width, height }) {
    const now = [left, top, scale, ""].join();
    if (this.fitted && this.fitted.startsWith(now) && this.fitted !== now + [width, height].join()) this.fit();
  }
  // Chips stand apart from one another.
  at(run, x, y) {
    const step = PLACE.core + PLACE.gap;
    return [x * step + Math.floor(x / run.grid[0]) * PLACE.chip, y * step + Math.floor(y / run.grid[1]) * PLACE.chip];
  }
  corner(run) {
    const [x, y] = this.at(run, run.across[0] - 1, run.across[1] - 1);
    return [x + PLACE.core, y + PLACE.core];
  }
  coreAt(px, py) {
    const run = chipChoice.run, x = this.sheet.fromX(px), y = this.sheet.fromY(py);
    return run.cores.find(core => {
      const [left, top] = this.at(run, core.x, core.y);
      return x >= left && x <= left + PLACE.core && y >= top && y <= top + PLACE.core;
    }) || null;
  }
  pointOf(number) {  // for tests
    const run = chipChoice.run, core = run.coreAt.get(number), [x, y] = this.at(run, core.x, core.y);
    const page = this.sheet.canvas.getBoundingClientRect();
    return { x: page.left + this.sheet.toX(x + PLACE.core / 2), y: page.top + this.sheet.toY(y + PLACE.core / 2) };
  }
  hover(px, py, event) {
    const core = this.coreAt(px, py), link = core ? null : this.linkAt(px, py), run = chipChoice.run;
    this.sheet.canvas.classList.toggle("over", Boolean(core));
    if (core) tip.show(run.about(core), event.clientX, event.clientY);
    else if (link)
      tip.show(`${numberText(link.packets)} packets a step, ${percentText(link.load)} of the interval` +
        (link.border ? "\nacross the border of a chip" : link.host ? (link.dx > 0 ? "\nfrom the host" : "\nto the host") : ""), event.clientX, event.clientY);
    else tip.hide();
  }
  key(event) {
    const moves = { "+": () => this.sheet.zoom(1.3), "-": () => this.sheet.zoom(1 / 1.3), "0": () => this.fit() };
    if (moves[event.key]) return moves[event.key](), true;
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], cores = chipChoice.run.cores;
    if (!by) return false;
    const now = chipChoice.core ? chipChoice.core.position : by > 0 ? -1 : cores.length;
    this.view.chooseCore(cores[Math.min(cores.length - 1, Math.max(0, now + by))]);
    return true;
  }

  // ---- links: one line for each way, on its right-hand side ----
  lineOf(run, link) {
    const per = run.per_router, side = 5;
    const box = (x, y) => {
      const [left, top] = this.at(run, x * per, y), [last] = this.at(run, x * per + per - 1, y);
      return { left, top, right: last + PLACE.core, bottom: top + PLACE.core };
    };
    if (link.host) {
      const { left, top, bottom } = box(0, link.y), y = (top + bottom) / 2 + side * link.dx;
      return link.dx > 0 ? [left - PLACE.host, y, left, y] : [left, y, left - PLACE.host, y];
    }
    const a = box(link.x, link.y), b = box(link.x + link.dx, link.y + link.dy);
    if (link.dx !== 0) {
      const y = (a.top + a.bottom) / 2 + side * link.dx;
      return link.dx > 0 ? [a.right, y, b.left, y] : [a.left, y, b.right, y];
    }
    const x = (a.left + a.right) / 2 - side * link.dy;
    return link.dy > 0 ? [x, a.bottom, x, b.top] : [x, a.top, x, b.bottom];
  }
  // On to the middle of both routers: seen where no core lies over it.
  wholeLine(run, link, [x0, y0, x1, y1]) {
    const inside = PLACE.core / 2;
    if (link.host) return link.dx > 0 ? [x0, y0, x1 + inside, y1] : [x0 + inside, y0, x1, y1];
    const back = link.dx !== 0 ? (PLACE.core * run.per_router + PLACE.gap * (run.per_router - 1)) / 2 : PLACE.core / 2;
    return [x0 - link.dx * back, y0 - link.dy * back, x1 + link.dx * back, y1 + link.dy * back];
  }
  linkAt(px, py) {
    const run = chipChoice.run, x = this.sheet.fromX(px), y = this.sheet.fromY(py), near = 4;
    return run.links.find(link => {
      const [x0, y0, x1, y1] = this.lineOf(run, link);
      return x >= Math.min(x0, x1) - near && x <= Math.max(x0, x1) + near && y >= Math.min(y0, y1) - near &&
        y <= Math.max(y0, y1) + near;
    }) || null;
  }

  draw(context, sheet) {
    const run = chipChoice.run;
    this.fitAgain(sheet);
    context.save();
    context.scale(sheet.scale, sheet.scale);
    context.translate(-sheet.left, -sheet.top);
    drawChips(context, run, (x, y) => this.at(run, x, y));
    for (const link of run.links) this.drawLink(context, run, link);
    context.fillStyle = colours.faint;
    context.font = "10px system-ui, sans-serif";
    for (const y of new Set(run.links.filter(link => link.host).map(link => link.y)))
      context.fillText("host", -PLACE.host, this.at(run, 0, y)[1] + 8);
    const most = this.topOf(run);
    for (const core of run.cores) {
      const [x, y] = this.at(run, core.x, core.y);
      context.fillStyle = this.colourOf(run, core, most);
      drawCore(context, x, y, core === chipChoice.core);
      if (sheet.scale > 0.55) this.label(context, run, core, x, y, sheet);
    }
    context.restore();
  }
  // Of the scale of colours.
  topOf(run) {
    const most = run.most(this.measure);
    return this.measure.share ? [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find(top => most <= top) || 1 : most || 1;
  }
  colourOf(run, core, most) {
    if (this.measure.id === "layer") return hued(core.layers.find(layer => layer >= 0) || 0, "bar");
    return mixed(colours.panel, colours.accent, 0.08 + 0.72 * Math.min(1, this.measure.of(core, run) / most));
  }
  label(context, run, core, x, y, sheet) {
    const measure = this.measure;
    const text = measure.share ? percentText(measure.of(core, run)) : measure.id === "energy" ? energyText(core.energy) : "";
    context.fillStyle = colours.ink;
    context.textAlign = "center";
    context.save();
    context.beginPath();
    context.rect(x + 1, y, PLACE.core - 2, PLACE.core);
    context.clip();
    context.font = "7.5px system-ui, sans-serif";
    const names = run.layersOf(core), others = names.length > 1 ? ` +${names.length - 1}` : "";
    const first = this.shortened(context, names[0] || "", others, PLACE.core - 2);
    context.fillText(first + others, x + PLACE.core / 2, y + 14);
    context.font = "10px system-ui, sans-serif";
    context.fillText(text, x + PLACE.core / 2, y + 28);
    context.font = "8px system-ui, sans-serif";
    context.fillStyle = colours.faint;
    context.fillText(core.core, x + PLACE.core / 2, y + 40);
    context.restore();
    context.textAlign = "left";
  }
  // Its end, where names of a net differ: "…matmul_12".
  shortened(context, name, behind, width) {
    let shown = name;
    for (let i = 1; i < name.length && context.measureText(shown + behind).width > width; ++i) shown = "…" + name.slice(i);
    return shown;
  }
  drawLink(context, run, link) {
    const [x0, y0, x1, y1] = this.lineOf(run, link), share = run.busiest > 0 ? link.packets / run.busiest : 0;
    context.strokeStyle = context.fillStyle = mixed(colours.line, colours.order, share);
    context.lineWidth = 1 + 4 * share;
    context.beginPath();
    const [from, above, to, below] = this.wholeLine(run, link, [x0, y0, x1, y1]);
    context.moveTo(from, above);
    context.lineTo(to, below);
    context.stroke();
    const size = 3 + 2 * share;  // of the head
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - link.dx * 2 * size - link.dy * size, y1 - link.dy * 2 * size - link.dx * size);
    context.lineTo(x1 - link.dx * 2 * size + link.dy * size, y1 - link.dy * 2 * size + link.dx * size);
    context.fill();
  }
  tellLegend() {
    const run = chipChoice.run, scale = make("i", "scale"), top = this.topOf(run);
    const end = this.measure.share ? percentText(top) : energyText(top);
    const parts = this.measure.id === "layer" ? run.layers.slice(0, 12).map((layer, i) => swatch(hued(i, "bar"), layer.name))
      : [make("span", "", "0"), scale, make("span", "", end)];
    scale.style.background = `linear-gradient(to right, ${mixed(colours.panel, colours.accent, 0.08)}, ${mixed(colours.panel, colours.accent, 0.8)})`;
    this.legend.replaceChildren(...parts, make("span", "", "links: up to ", make("b", "", numberText(run.busiest)), " packets a step"));
  }
}

function swatch(colour, text) {
  const box = make("i", "swatch");
  box.style.background = colour;
  return make("span", "", null, box, text);
}
function mixed(from, to, share) { return `color-mix(in oklab, ${to} ${(100 * share).toFixed(1)}%, ${from})`; }

// Every chip, and its cores: those that nothing runs on are outlines.
function drawChips(context, run, at) {
  for (let cy = 0; cy < run.chips[1]; ++cy)
    for (let cx = 0; cx < run.chips[0]; ++cx) {
      const [x0, y0] = at(cx * run.grid[0], cy * run.grid[1]);
      const [x1, y1] = at((cx + 1) * run.grid[0] - 1, (cy + 1) * run.grid[1] - 1);
      context.strokeStyle = colours.faint;
      context.lineWidth = 1.5;
      context.beginPath();
      context.roundRect(x0 - 12, y0 - 12, x1 - x0 + PLACE.core + 24, y1 - y0 + PLACE.core + 24, 8);
      context.fillStyle = colours.panel;
      context.fill();
      context.stroke();
    }
  context.strokeStyle = colours.rule;
  context.lineWidth = 1;
  context.beginPath();
  for (let y = 0; y < run.across[1]; ++y)
    for (let x = 0; x < run.across[0]; ++x) {
      const [left, top] = at(x, y);
      context.rect(left, top, PLACE.core, PLACE.core);
    }
  context.stroke();
}
function drawCore(context, x, y, isChosen) {
  context.fillRect(x, y, PLACE.core, PLACE.core);
  context.strokeStyle = isChosen ? colours.chosen : colours.line;
  context.lineWidth = isChosen ? 3 : 1;
  context.strokeRect(x, y, PLACE.core, PLACE.core);
}
