// The tab Slices: for each function its host part and its graph part side by side, with what goes from one to the other
// in between. A click on a line with a channel, or on a channel, shows both ends, the source and why the message is
// needed.

const slices = report.slices;
// "scalar float"; some carry nothing.
const carried = item => (["order", "passed"].includes(item.kind) ? item.kind : `${item.kind} ${item.type}`);

class SlicesView {
  constructor(host) {
    this.bar = make("div", "bar");
    this.bar.append(...this.facts());
    host.append(this.bar);
    this.list = this.entries();
    this.rows = new Rows(host, 22, i => this.row(i));
    this.rows.setCount(this.list.length);
    this.rows.box.addEventListener("click", event => {
      const row = event.target.closest("[data-row]");
      if (row) this.click(this.list[Number(row.dataset.row)], event.target);
    });
  }
  facts() {
    const { metrics } = slices, bold = (count, noun) => make("b", "", plural(count, noun));
    const turns = ({ all, each_turn }, noun) =>
      make("span", "", null, bold(all, noun), each_turn > 0 ? ` (${each_turn} each turn)` : "");
    return [turns(metrics.sends, "send"), turns(metrics.receives, "receive"), turns(metrics.round_trips, "round trip"),
      make("span", "", null, bold(metrics.segments.length, "segment"), " of ", bold(metrics.operations, "operation")),
      ...slices.advice.map(advice => make("span", "", advice.text))];
  }

  // Headings, lines of code, and one line for each channel.
  entries() {
    const list = [];
    for (const fn of slices.functions) {
      if (!fn.cut) continue;
      const kind = fn.kind === "module" ? "top level" : fn.kind;
      list.push({ heading: `${kind} ${fn.name}`, host: fn.host, graph: fn.graph });
      for (const [host, graph] of fn.rows) list.push({ host, graph, channels: this.joined(host, graph), code: true });
      for (const channel of slices.channels) if (channel.function === fn.id) list.push({ channel, channels: [channel.id] });
      list.push({ heading: "" });
    }
    for (const fn of slices.functions)
      if (!fn.cut) list.push({ note: `${fn.kind} ${fn.name}: as written, nothing for the ${fn.host ? "graph" : "host"}` });
    return list;
  }
  joined(host, graph) { return [...new Set([...(host ? host.channels : []), ...(graph ? graph.channels : [])])]; }

  open() { this.rows.fill(); }
  shown() { this.redraw(); }
  redraw() { this.rows.fill(); }
  select() {
    const first = this.list.findIndex(entry => entry.channels && entry.channels.includes(app.channel));
    if (first >= 0 && app.channelFrom !== "slices") this.rows.reveal(first);
    else this.rows.fill();
  }

  row(i) {
    const entry = this.list[i], chosen = app.channel !== null && entry.channels && entry.channels.includes(app.channel);
    const row = make("div", "row slices" + (chosen ? " chosen" : ""));
    if (entry.code) this.code(row, entry);
    else if (entry.channel) this.channel(row, entry.channel);
    else if (entry.note) row.append(make("span", "faint", entry.note));
    else if (entry.heading)
      row.append(make("b", "side", entry.heading), make("span", "between"),
                 make("span", "side faint", entry.graph ? "graph" : "nothing for the graph"));
    if (entry.heading && !entry.host) row.firstChild.append(make("span", "faint", "  nothing for the host"));
    return row;
  }
  code(row, { host, graph }) {
    const shared = host && graph ? host.channels.find(id => graph.channels.includes(id)) : undefined;
    const sign = shared === undefined ? "" : slices.channels[shared].to === "host" ? "←" : "→";
    row.append(this.line(host), make("span", "between", sign), this.line(graph));
  }
  line(line) {
    const element = make("span", "side code");
    if (!line) return element;
    element.title = line.text;
    colourLine(element, "  ".repeat(line.depth) + line.text);
    if (line.channels.length > 0) element.classList.add("talks");
    return element;
  }
  channel(row, channel) {
    const way = channel.to === "host" ? "← to the host" : "→ to the graph";
    const what = channel.items.map(carried).join(", ");
    const often = channel.loops > 0 ? ", each turn" : "", trip = channel.round_trip ? ", a round trip" : "";
    row.append(make("span", "code name", channel.name), make("span", "faint", `${way}: ${what}${often}${trip}`));
    row.title = channel.items.map(item => item.why).join("\n");
  }

  click(entry, target) {
    if (entry.channel) return selectChannel(entry.channel.id, "slices");
    const side = target.closest(".side"), line = side && side.parentNode.lastChild === side ? entry.graph : entry.host;
    const channels = entry.code && line && line.channels.length > 0 ? line.channels : entry.channels || [];
    if (channels.length > 0) selectChannel(channels[0], "slices");
  }
  key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return false;
    const next = (app.channel === null ? -1 : app.channel) + (event.key === "ArrowDown" ? 1 : -1);
    if (slices.channels[next]) selectChannel(next, null);
    return true;
  }
}

// ---- a channel as what is chosen ----

function selectChannel(id, from) {
  select(app.graph, [], "", null);
  app.channel = id;
  app.channelFrom = from;
  for (const view of app.views) view.select(app.selection);
  showDetails();
}

// Where the values of the chosen channel stand in the text.
function channelPlaces() {
  if (app.channel === null) return [];
  return slices.channels[app.channel].items.filter(item => item.at).map(({ at: [file, line, column, length] }) => {
    const path = slices.files[file];
    return { path, source: sourceNumbers.has(path) ? sourceNumbers.get(path) : -1, line, column, length };
  });
}

function channelDetails() {
  const channel = slices.channels[app.channel];
  const parts = [make("h2", "", "channel " + channel.name),
    make("p", "faint", "to the " + channel.to + (channel.loops > 0 ? ", each turn of its loop" : ""))];
  for (const item of channel.items) {
    parts.push(make("h3", "", carried(item)), make("p", "", item.why));
  }
  for (const place of channelPlaces()) parts.push(make("p", "", null, sourceLink(place)));
  if (channel.round_trip)
    parts.push(make("p", "", "A round trip: the host waits for the graph, and the graph for what the host makes of it."));
  return parts;
}
