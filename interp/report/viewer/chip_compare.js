// Two runs side by side: what changed in all, by layer, and where layers lie. Layers are the same if their names are.

class ChipCompare extends ChipTables {
  redraw() {
    const a = chipChoice.run, b = chipChoice.other;
    if (!b) return;
    const maps = make("div", "maps");
    this.box.replaceChildren(make("h3", "", `${a.name} → ${b.name}`), this.totals(a, b), ...this.limits(a, b),
      make("h3", "", "layers"),
      this.layers(a, b), make("h3", "", "where layers lie; a ring: another layer, or none, in the other run"), maps);
    this.hues = new Map();
    for (const run of [a, b]) for (const layer of run.layers) if (!this.hues.has(layer.name)) this.hues.set(layer.name, this.hues.size);
    maps.append(this.map(a, b), this.map(b, a));
    this.box.append(make("p", "legend", null, ...[...this.hues].slice(0, 16).map(([name, hue]) => swatch(hued(hue, "bar"), name))));
  }
  totals(a, b) {
    const table = chipTable(["", "from", "to", "change"]);
    const row = (name, of, text) => table.append(chipRow([name, text(of(a)), text(of(b)), byText(of(a), of(b))]));
    row("steps", run => run.steps, numberText);
    row("cores", run => run.cores.length, numberText);
    row("latency", run => run.latency, clkText);
    row("interval", run => run.interval, clkText);
    row("fullest core", run => Math.max(0, ...run.cores.map(core => core.bytes)), bytesText);
    row("packets a step", run => run.packets, numberText);
    row("busiest link, packets a step", run => run.busiest, numberText);
    row("energy a step", run => run.energy / Math.max(1, run.steps), energyText);
    table.append(chipRow(["hash", a.hash.slice(0, 12), b.hash.slice(0, 12), a.hash === b.hash ? "the same" : "another"]));
    return wideTable(table);
  }
  limits(a, b) {
    const words = [...new Set([a.limitText(), b.limitText()])].filter(text => text !== "");
    return words.length === 0 ? [] : [make("h3", "", "what limits them"), make("p", "", words.join(" → "))];
  }
  layers(a, b) {
    const columns = [...layerColumns([a, b]), { title: "bytes", of: layer => layer.bytes, text: bytesText },
      { title: "energy", of: layer => layer.energy, text: energyText }];
    const table = chipTable(["layer", ...columns.map(column => column.title)]);
    table.classList.add("figures");
    const names = [...new Set([...a.layers, ...b.layers].map(layer => layer.name))];
    for (const name of names) {
      const x = a.layers.find(layer => layer.name === name), y = b.layers.find(layer => layer.name === name);
      if (x && y) table.append(chipRow([name, ...columns.map(({ of, text }) => stepText(text(of(x), x), text(of(y), y)))]));
      else table.append(chipRow([name, x ? "only in the first" : "only in the second", ...columns.slice(1).map(() => "")], "faint"));
    }
    return wideTable(table);
  }
  map(run, other) {
    const canvas = make("canvas"), step = PLACE.core + PLACE.gap, at = (x, y) =>
      [x * step + Math.floor(x / run.grid[0]) * PLACE.chip, y * step + Math.floor(y / run.grid[1]) * PLACE.chip];
    const [right, bottom] = at(run.across[0] - 1, run.across[1] - 1), width = right + PLACE.core + 30, height = bottom + PLACE.core + 30;
    const scale = Math.min(1, 480 / width), dots = window.devicePixelRatio || 1;
    canvas.style.width = width * scale + "px";
    canvas.width = width * scale * dots;
    canvas.height = height * scale * dots;
    const context = canvas.getContext("2d");
    context.scale(scale * dots, scale * dots);
    context.translate(15, 15);
    drawChips(context, run, at);
    const elsewhere = core => {
      const there = other.coreAt.get(core.core);
      return !there || other.layersOf(there).join() !== run.layersOf(core).join();
    };
    for (const core of run.cores) {
      const [x, y] = at(core.x, core.y), layer = core.layers.find(number => number >= 0);
      context.fillStyle = layer === undefined ? colours.panel : hued(this.hues.get(run.layers[layer].name), "bar");
      drawCore(context, x, y, elsewhere(core));
    }
    return make("figure", "", null, canvas, make("figcaption", "faint", run.name));
  }
}

function stepText(a, b) { return a === b ? a : `${a} → ${b}`; }
function byText(a, b) {
  if (a === b) return "the same";
  return a > 0 ? `${b > a ? "+" : ""}${(100 * (b - a) / a).toFixed(1)} %` : "";
}
