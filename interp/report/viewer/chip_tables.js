// What parts of the tab Chip that are tables share: their box, rows, and the columns that tell of a layer.

class ChipTables {
  constructor(host, view) {
    this.view = view;
    this.box = make("div", "costs");
    this.box.tabIndex = 0;
    host.append(this.box);
  }
  shown() { this.redraw(); }
  key() { return false; }
}

function chipTable(heads) { return make("table", "chiptable", null, make("tr", "", null, ...heads.map(head => make("th", "", head)))); }
function chipRow(cells, kind = "") {
  return make("tr", kind, null, ...cells.map(cell => cell instanceof Element ? make("td", "bars", null, cell) : make("td", "", cell)));
}
// Wider than the page: it moves by itself.
function wideTable(table) { return make("div", "wide", null, table); }

// Whole, or the average of steps that differ.
function numberText(value) { return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 }); }

// Of layers of these runs: blocks have phases and multiply-adds, populations neurons and spikes.
const LAYER_COLUMNS = [
  { title: "cores", of: layer => layer.cores, text: numberText },
  { title: "neurons", spiking: true, of: layer => layer.neurons, text: numberText },
  { title: "phase", spiking: false, of: layer => layer.phase, text: numberText },
  { title: "ticks late", spiking: true, of: layer => layer.phase, text: numberText },
  { title: "spikes", spiking: true, of: layer => layer.spikes, text: numberText },
  { title: "cycles", of: layer => layer.cycles, text: numberText },
  { title: "MAC", spiking: false, of: layer => layer.utilisation, text: (share, layer) => layer.macs > 0 ? percentText(share) : "-" },
  { title: "packets", of: layer => layer.packets, text: numberText },
];
function layerColumns(runs) {
  return LAYER_COLUMNS.filter(column => column.spiking === undefined || runs.some(run => run.spiking === column.spiking));
}
