// What a run takes, by layer: cores, cycles, bytes, energy, with bars of what they are for; the events that energy is
// made of, with other published figures beside; and which figures of the chip are assumed.

class ChipCosts extends ChipTables {
  redraw() {
    const run = chipChoice.run;
    this.box.replaceChildren(
      make("h3", "", "energy of all steps, idle cores included: " + energyText(run.energy)),
      run.lumped ? make("p", "faint", `${run.chip} is lumped: one published figure of the whole chip; its parts cannot be told apart`)
        : stacked(run.energy_by, run.energy, run.energy_parts, energyText, "big"),
      ...(run.lumped ? [] : [this.legend(run.energy_parts, run.energy_by)]),
      make("h3", "", "layers, of one step"), this.layers(run),
      this.legend(run.memory_parts, run.memory_parts.map((name, i) => this.sum(run.layers, i))),
      ...(run.roofline ? [make("h3", "", "roofline: what layers reach while they compute, and what the whole step does"), rooflineDrawing(run)] : []),
      make("h3", "", "events of all steps"), this.events(run),
      ...(run.assumed.length === 0 ? [] : [make("h3", "", "assumed: nothing is published"), this.assumed(run)]),
      ...(run.sources.length === 0 ? [] : [make("h3", "", "sources"), ...run.sources.map(source =>
        make("p", "", null, make("b", "", source.key), ` ${source.title}; ${source.where} (${source.kind})`))]));
  }
  sum(layers, i) { return layers.reduce((all, layer) => all + layer.bytes_by[i], 0); }
  // Of parts that there is something of.
  legend(names, values) {
    return make("p", "legend", null, ...names.map((name, i) => [name, i]).filter(([, i]) => values[i] > 0)
      .map(([name, i]) => swatch(partColour(i), name)));
  }
  layers(run) {
    const columns = layerColumns([run]);
    const table = chipTable(["layer", ...columns.map(column => column.title), "bytes", "", "energy", ""]);
    const bytes = Math.max(...run.layers.map(layer => layer.bytes)), energy = Math.max(...run.layers.map(layer => layer.energy));
    for (const layer of run.layers)
      table.append(chipRow([layer.name, ...columns.map(column => column.text(column.of(layer), layer)),
        bytesText(layer.bytes), stacked(layer.bytes_by, bytes, run.memory_parts, bytesText), energyText(layer.energy),
        stacked(layer.energy_by, energy, run.energy_parts, energyText)]));
    return wideTable(table);
  }
  events(run) {
    const table = chipTable(["event", "how often", "pJ each", "energy", "", "source"]);
    for (const event of run.events)
      table.append(chipRow([event.event, event.count.toLocaleString("en"), event.price, energyText(event.energy),
        stacked([event.energy], run.energy, [event.event], energyText), event.source]));
    for (const other of run.alternatives)
      table.append(chipRow([other.of, "instead", `${other.value} ${other.unit === "pJ" ? "" : other.unit}`,
        other.energy === undefined ? "-" : energyText(other.energy) + " in all", "",
        `${other.definition} [${other.source}]`], "faint"));
    return wideTable(table);
  }
  assumed(run) {
    return make("p", "assumed code", run.assumed.map(({ figure, value, unit }) =>
      `${figure} ${value}${unit && unit !== "1" ? " " + unit : ""}`).join(", "));
  }
}

// As bright as one another, on light and on dark.
function partColour(i) { return `oklch(0.68 0.11 ${(40 + i * 101) % 360})`; }

// A bar of parts, as long as their sum of `whole`.
function stacked(values, whole, names, text, size = "") {
  const bar = make("span", "stack " + size);
  values.forEach((value, i) => {
    if (value <= 0) return;
    const piece = make("i");
    piece.style.width = (100 * value / Math.max(whole, 1e-9)).toFixed(2) + "%";
    piece.style.background = partColour(i);
    piece.title = `${names[i]}: ${text(value)}`;
    bar.append(piece);
  });
  return bar;
}
