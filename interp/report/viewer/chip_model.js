// Runs on chips, indexed for drawing: cores with their place, links with their ends and load, sums and shares. What is
// chosen in the tab Chip is here, too: the run, the one that it is compared with, a core.

const MEASURES = [
  { id: "memory", title: "memory", share: true, of: (core, run) => core.bytes / run.memory,
    text: core => bytesText(core.bytes) },
  { id: "mac", title: "MAC", share: true, of: (core, run) => run.units > 0 ? core.macs / (run.units * run.clk) : 0,
    text: core => core.macs.toLocaleString("en") + " MAC a step" },
  { id: "busy", title: "busy", share: true, of: (core, run) => core.busy / run.clk,
    text: core => numberText(core.busy) + " clk a step" },
  { id: "energy", title: "energy", share: false, of: core => core.energy, text: core => energyText(core.energy) },
  { id: "layer", title: "layer", share: false, of: () => 0, text: (core, run) => run.layersOf(core).join(", ") },
];

const SIDES = [[1, 0], [-1, 0], [0, -1], [0, 1]];  // E W N S

function energyText(pj) {
  if (pj === null) return "-";  // a lumped chip's parts cannot be told apart
  if (pj >= 1e9) return (pj / 1e9).toFixed(2) + " mJ";
  if (pj >= 1e6) return (pj / 1e6).toFixed(2) + " µJ";
  return pj >= 1e3 ? (pj / 1e3).toFixed(2) + " nJ" : pj.toFixed(1) + " pJ";
}
function percentText(share) { return (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %"; }
function clkText(clk) { return clk.toLocaleString("en") + " clk"; }

class ChipRun {
  constructor(json, number) {
    Object.assign(this, json);
    this.number = number;
    this.name = `${number + 1}: ${json.title || "run"} · ${json.chip} · ${json.noc} · ` +
      `${plural(json.cores.length, "core")}`;
    this.memory = json.memory || json.cores.reduce((most, core) => Math.max(most, core.bytes), 1);
    this.spiking = json.layers.some(layer => layer.neurons > 0);
    this.clk = Math.max(1, json.interval || json.latency);  // of a step, one behind the other
    this.across = [json.grid[0] * json.chips[0], json.grid[1] * json.chips[1]];
    this.cores.forEach((core, i) => {
      core.position = i;
      core.x = core.core % this.across[0];
      core.y = Math.floor(core.core / this.across[0]);
    });
    this.coreAt = new Map(this.cores.map(core => [core.core, core]));
    const routers = this.across[0] / json.per_router;
    this.links = json.links.map(([router, side, packets]) => {
      const x = router % routers, y = Math.floor(router / routers), [dx, dy] = SIDES[side];
      const border = dx !== 0 ? Math.floor((x + dx) * json.per_router / json.grid[0]) !== Math.floor(x * json.per_router / json.grid[0])
        : Math.floor((y + dy) / json.grid[1]) !== Math.floor(y / json.grid[1]);
      return { x, y, dx, dy, packets, border, load: packets * json.link_clk / this.clk };
    });
    // Of the host, which stands west of the first core of every row.
    for (const [y, sent, taken] of json.hosts) {
      const host = (x, dx, packets) => ({ x, y, dx, dy: 0, packets, border: false, host: true, load: packets * json.link_clk / this.clk });
      if (sent > 0) this.links.push(host(-1, 1, sent));
      if (taken > 0) this.links.push(host(0, -1, taken));
    }
    this.busiest = this.links.reduce((most, link) => Math.max(most, link.packets), 0);
    this.stages = (json.stages || []).map(([core, phase, frame, stage, begin, length]) =>
      ({ core, phase, frame, stage, begin, end: begin + length }));
    this.populations = json.populations || [];
  }
  // What keeps steps apart, in words; none: nothing does.
  limitText() {
    const limit = this.limit;
    if (limit.port) return `packets: ${limit.port}, held for ${clkText(limit.port_clk)} a step`;
    return limit.layer < 0 ? "" : `core ${limit.core}: ${limit.stage} of ${this.layers[limit.layer].name}, ${clkText(limit.stage_cycles)}`;
  }
  layersOf(core) {
    return [...new Set(core.layers.filter(layer => layer >= 0).map(layer => this.layers[layer].name))];
  }
  layerOf(core, phase) { return core.layers[phase] >= 0 ? this.layers[core.layers[phase]].name : ""; }
  most(measure) { return this.cores.reduce((most, core) => Math.max(most, measure.of(core, this)), 0); }
  // What a core takes, in words.
  about(core) {
    const shares = MEASURES.filter(m => m.share && (m.id !== "mac" || this.units > 0))
      .map(m => `${m.title} ${percentText(m.of(core, this))}`);
    return `core ${core.core} (${core.x}, ${core.y})${this.spiking ? "" : ", group " + core.group}\n${this.layersOf(core).join(", ")}\n` +
      `${shares.join(", ")}\n${energyText(core.energy)} and ${numberText(core.packets)} packets a step`;
  }
}

const chipRuns = report.chips.map((json, i) => new ChipRun(json, i));
const chipChoice = { run: chipRuns[0] || null, other: null, core: null };
