// The timeline of a whole program, put in order: what host and graph program did beside the workers, who waits for
// whom, why a worker has nothing to do, and the way through all of it that nothing but itself could make shorter.

// Entries are [what, host, channel, number, graph, run, begin, duration] in nanoseconds.
const control = report.control.map(([what, host, channel, number, graph, run, begin, duration]) =>
  ({ what, host: host === 1, channel, number, graph, run, begin, end: begin + duration }));

class Happenings {
  constructor(control, bars, graphs, end) {
    this.bars = bars;
    this.graphs = graphs;
    this.end = Math.max(end, ...[0, ...control.slice(-1).map(entry => entry.end)],
        bars.reduce((most, bar) => Math.max(most, bar.end), 0));
    const sent = new Map();
    for (const entry of control) if (entry.what === "send") sent.set(entry.channel + "." + entry.number, entry);
    for (const entry of control)
      if (entry.what === "receive") entry.from = sent.get(entry.channel + "." + entry.number) || null;
    this.host = this.rowOf(control.filter(entry => entry.host), "host code", "host code");
    this.graph = this.rowOf(control.filter(entry => !entry.host), "records tasks", "finishes");
    this.messages = control.filter(entry => entry.what === "receive" && entry.from);
    this.runs = new Map();  // by number: its bars
    bars.forEach((bar, i) => {
      if (!this.runs.has(bar.run)) this.runs.set(bar.run, []);
      this.runs.get(bar.run).push(i);
    });
    this.before = new Map();  // by graph: by step: the steps that it waits for
  }

  // What a program did from beginning to end: its entries that took time, and what it did by itself between them.
  rowOf(entries, between, after) {
    const row = [];
    let at = 0;
    for (const entry of entries) {
      if (entry.end <= entry.begin) continue;
      if (entry.begin > at) row.push({ what: between, begin: at, end: entry.begin });
      row.push(entry);
      at = Math.max(at, entry.end);
    }
    const last = entries.length > 0 ? entries[entries.length - 1].end : 0;
    if (last > at) row.push({ what: between, begin: at, end: last });
    at = Math.max(at, last);
    if (entries.length > 0 && this.end > at) row.push({ what: after, begin: at, end: this.end });
    return row;
  }
  // The one at a time; by halves, as rows may be long.
  static at(row, time) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle].end <= time) low = middle + 1;
      else high = middle;
    }
    return row[low] && row[low].begin <= time ? row[low] : null;
  }

  stepsBefore(graph) {
    if (!this.before.has(graph)) {
      const plan = this.graphs[graph].json.plan, before = plan.steps.map(() => []);
      plan.steps.forEach((step, i) => { for (const next of step.then) before[next].push(i); });
      this.before.set(graph, before);
    }
    return this.before.get(graph);
  }
  // Bars of the same run that this one waits for.
  dependences(i) {
    const bar = this.bars[i], steps = new Set(this.stepsBefore(bar.graph)[bar.step]);
    if (steps.size === 0) return [];
    return this.runs.get(bar.run).filter(other => steps.has(this.bars[other].step) &&
        this.bars[other].graph === bar.graph);
  }
  // The one of those that ended last: what it really waited for.
  lastBefore(i) {
    const { bars } = this;
    return this.dependences(i).reduce((last, other) => last < 0 || bars[other].end > bars[last].end ? other : last, -1);
  }

  // Why a worker has nothing to do then.
  idle(worker, time) {
    const now = Happenings.at(this.graph, time);
    if (now && now.what === "receive") return "idle: the graph program waits for a message of the host program";
    if (now && now.what === "plan") return "idle: a plan and its kernels are made";
    if (!now || now.what === "finishes") return "idle: the graph program has nothing more to run";
    if (now.what !== "run") return "idle: the graph program records tasks";
    const next = (this.runs.get(now.run) || []).filter(i => this.bars[i].worker === worker &&
        this.bars[i].begin >= time)
      .reduce((first, i) => first < 0 || this.bars[i].begin < this.bars[first].begin ? i : first, -1);
    if (next < 0) return "idle: nothing in this run is left for it";
    const before = this.lastBefore(next);
    if (before >= 0 && this.bars[before].end >= time)
      return `idle: waits for step ${this.bars[before].step} on worker ${this.bars[before].worker}`;
    return "idle: wakes up for step " + this.bars[next].step;
  }

  // Of the time of all workers: how much of it they had nothing to do, and why. [[reason, share], ...], the most first.
  idleShares(workers) {
    const all = workers * this.end, sums = new Map();
    if (all === 0) return [];
    const words = { receive: "host code", plan: "plans made", "records tasks": "recording", send: "messages",
        run: "inside of runs", finishes: "the end" };
    for (const { what, begin, end, run } of this.graph) {
      const busy = what === "run" ?
          (this.runs.get(run) || []).reduce((sum, i) => sum + this.bars[i].end - this.bars[i].begin, 0) : 0;
      sums.set(words[what] || what, (sums.get(words[what] || what) || 0) + Math.max(0, workers * (end - begin) - busy));
    }
    return [...sums].map(([reason, ns]) => [reason, ns / all]).sort((a, b) => b[1] - a[1]);
  }

  // Backwards from the end: who was waited for last, and before that. Pieces { what, begin, end, bar } from first to
  // last.
  criticalPath() {
    const path = [];
    const put = (what, begin, end, more = {}) => { if (end > begin) path.push({ what, begin, end, ...more }); };
    const before = (row, time) => {  // the last piece of a row that began before
      let at = row.length - 1;
      while (at >= 0 && row[at].begin >= time) --at;
      return at;
    };
    let onHost = this.host.length > 0, time = this.end, guard = 4 * (control.length + this.bars.length) + 16;
    while (time > 0 && guard-- > 0) {
      const row = onHost ? this.host : this.graph, k = before(row, time);
      if (k < 0) break;
      const entry = row[k], end = Math.min(time, entry.end);
      if (end < time) put(onHost ? "host code" : "records tasks", end, time);
      if (entry.what === "receive" && entry.from && entry.from.end > entry.begin && entry.from.begin < end) {
        put("message", entry.from.end, end);
        time = Math.min(entry.from.end, end);
        onHost = !onHost;
      } else if (entry.what === "run") {
        this.pathInRun(entry, end, put);
        time = entry.begin;
      } else {
        put(entry.what === "send" || entry.what === "receive" ? "message" : entry.what, entry.begin, end);
        time = entry.begin;
      }
    }
    return path.reverse();
  }
  pathInRun(entry, end, put) {
    const inRun = (this.runs.get(entry.run) || []).filter(i => this.bars[i].begin < end);
    let last = inRun.reduce((most, i) => most < 0 || this.bars[i].end > this.bars[most].end ? i : most, -1), time = end;
    for (let guard = inRun.length; last >= 0 && guard >= 0; --guard) {
      const bar = this.bars[last];
      put("hand-over", Math.min(bar.end, time), time);
      put("kernels", bar.begin, Math.min(bar.end, time), { bar: last });
      time = Math.min(time, bar.begin);
      // What came before on the same worker, or what it needed: who ended last.
      const same = inRun.filter(i => this.bars[i].worker === bar.worker && this.bars[i].end <= bar.begin)
        .reduce((most, i) => most < 0 || this.bars[i].end > this.bars[most].end ? i : most, -1);
      const needed = this.lastBefore(last);
      last = same >= 0 && (needed < 0 || this.bars[same].end > this.bars[needed].end) ? same : needed;
    }
    put("hand-over", entry.begin, time);
  }
}
