// The tab Chip: a run on a chip. Its parts are classes of their own, with the methods shown(), redraw() and key(event);
// this one has the bar above them, what is chosen, and the panel at the right.

const CHIP_PARTS = [
  { id: "map", title: "Map", has: () => true, Part: ChipMap },
  { id: "phases", title: "Phases", has: () => chipRuns.some(run => run.stages.length > 0), Part: ChipPhases },
  { id: "spikes", title: "Spikes", has: () => chipRuns.some(run => run.populations.length > 0), Part: ChipSpikes },
  { id: "costs", title: "Costs", has: () => true, Part: ChipCosts },
  { id: "compare", title: "Compare", has: () => chipRuns.length > 1, Part: ChipCompare },
];

class ChipView {
  constructor(host) {
    const bar = make("div", "bar chipbar");
    this.runs = this.choice("run", run => this.choose(run));
    this.others = this.choice("compared with", run => { this.compareWith(run); this.redraw(); });
    this.compareWith(chipRuns[Math.min(1, chipRuns.length - 1)]);
    this.buttons = make("div", "parts");
    this.facts = make("span", "facts");
    bar.append(this.runs, this.buttons, this.others, this.facts);
    host.append(bar);
    this.parts = CHIP_PARTS.filter(part => part.has()).map(({ id, title, Part }) => {
      const frame = make("div", "part");
      host.append(frame);
      const part = new Part(frame, this), button = make("button", "", title);
      button.id = "chip-" + id;
      button.addEventListener("click", () => this.show(part));
      this.buttons.append(button);
      return Object.assign(part, { id, frame, button });
    });
    this.part = this.parts[0];
  }
  choice(label, action) {
    const select = make("select");
    select.setAttribute("aria-label", label);
    for (const run of chipRuns) {
      const option = make("option", "", run.name);
      option.value = run.number;
      select.append(option);
    }
    select.addEventListener("change", () => action(chipRuns[Number(select.value)]));
    select.hidden = chipRuns.length < 2;
    return select;
  }

  open() {}
  select(selection) {
    if (!selection && app.view === this) chipChoice.core = null;
    this.redraw();
  }
  shown() { this.show(this.part); }
  show(part) {
    this.part = part;
    for (const other of this.parts) {
      other.frame.hidden = other !== part;
      other.button.setAttribute("aria-pressed", String(other === part));
    }
    this.others.hidden = part.id !== "compare";
    this.tellFacts();
    part.shown();
    showDetails();
  }
  redraw() {
    if (app.view === this) this.part.redraw();
  }
  choose(run) {
    if (chipChoice.other === run) this.compareWith(chipChoice.run);  // they change places
    chipChoice.run = run;
    this.runs.value = String(run.number);
    chipChoice.core = chipChoice.core && run.coreAt.get(chipChoice.core.core) || null;
    for (const part of this.parts) if (part.opened) part.opened();
    this.tellFacts();
    this.redraw();
    showDetails();
  }
  compareWith(run) {
    chipChoice.other = run;
    this.others.value = String(run.number);
  }
  chooseCore(core) {
    chipChoice.core = core;
    this.redraw();
    showDetails();
  }
  tellFacts() {
    const run = chipChoice.run, fact = (name, value) => make("span", "", name + " ", make("b", "", value));
    this.facts.replaceChildren(fact("steps", run.steps.toLocaleString("en")), fact("latency", clkText(run.latency)),
      fact("interval", clkText(run.interval)), fact("energy", energyText(run.energy)));
  }
  key(event) { return this.part.key(event); }

  // ---- the panel ----
  details() { return chipChoice.core ? this.coreDetails(chipChoice.core) : this.runDetails(); }
  coreDetails(core) {
    const run = chipChoice.run, text = (name, value) => `${name}: ${value}`;
    const shares = MEASURES.filter(m => m.share && (m.id !== "mac" || run.units > 0))
      .map(m => text(m.title, `${percentText(m.of(core, run))} (${m.text(core, run)})`));
    return [make("h2", "", "core " + core.core), make("p", "faint", `at ${core.x}, ${core.y}${run.spiking ? "" : "; group " + core.group}`),
      ...part("computes", core.layers.map((layer, phase) =>
        run.spiking ? `neurons of ${run.layers[layer].name}`
          : layer < 0 ? `phase ${phase}: nothing` : `phase ${phase}: ${run.layers[layer].name}`)),
      ...part("a step", [...shares, text("energy", energyText(core.energy)), text("packets", numberText(core.packets))]),
      ...part("memory", run.memory_parts.map((name, i) => [name, core.bytes_by[i]]).filter(([, bytes]) => bytes > 0)
        .map(([name, bytes]) => text(name, bytesText(bytes)))),
      ...part("energy", run.energy_parts.map((name, i) => [name, core.energy_by[i]]).filter(([, pj]) => pj > 0)
        .map(([name, pj]) => text(name, energyText(pj))))];
  }
  runDetails() {
    const run = chipChoice.run, limit = run.limit, roof = run.roofline, lines = [];
    lines.push(make("h2", "", run.title || run.chip), make("p", "faint", `${run.chip}: ${run.about}`));
    lines.push(...part("this run", [`steps: ${run.steps.toLocaleString("en")}`, `cycles: ${run.cycles.toLocaleString("en")}`,
      `time: ${run.seconds.toPrecision(4)} s`, `latency: ${clkText(run.latency)}`, `interval: ${clkText(run.interval)}`,
      `packets a step: ${numberText(run.packets)}`, `network: ${run.noc}`,
      `cores: ${run.cores.length} of ${run.cores_there}`]));
    if (limit.port)
      lines.push(...part("what limits it", [make("span", "", null, "packets: ", limit.port_core < 0 ? limit.port
        : link(limit.port, () => this.chooseCore(run.coreAt.get(limit.port_core) || null)),
        ` is held for ${clkText(limit.port_clk)} a step, and the slowest group of cores works for ${clkText(limit.step_clk)}`)]));
    else if (limit.layer >= 0)
      lines.push(...part("what limits it", [make("span", "", null,
        link(`core ${limit.core}`, () => this.chooseCore(run.coreAt.get(limit.core) || null)),
        `, ${run.spiking ? "in an average tick" : "phase " + limit.phase}: ${limit.stage} of ${run.layers[limit.layer].name}, ${clkText(limit.stage_cycles)} ` +
        `of ${clkText(limit.cycles)}`)]));
    if (roof)
      lines.push(...part("roofline", [`${roof.intensity.toFixed(2)} MAC per byte at the port; ridge ${roof.ridge.toFixed(2)}`,
        `at most ${roof.bound.toFixed(1)} MAC a clk and core, by ${roof.intensity < roof.ridge ? "the port" : "the units"}`,
        `reached ${roof.reached.toFixed(1)}, ${percentText(roof.reached / roof.bound)}`]));
    lines.push(...part("notes", run.notes), ...part("hash", [make("span", "code", run.hash)]));
    return lines;
  }
}
