// The tab Plan: when which bytes are in use, and the steps one by one.

class PlanView {
  constructor(host) {
    this.bar = make("div", "bar");
    const memory = make("div", "memory");
    this.map = make("canvas");
    memory.append(this.map);
    this.memory = memory;
    host.append(this.bar, memory);
    this.rows = new Rows(host, 27, i => this.row(i));
    this.rows.box.addEventListener("click", event => {
      const row = event.target.closest("[data-row]");
      if (row) selectStep(this.graph, Number(row.dataset.row), "plan");
    });
    new ResizeObserver(() => this.drawMemory()).observe(memory);
    this.map.addEventListener("click", event => {
      const buffer = this.bufferAt(event.offsetX, event.offsetY);
      if (buffer && buffer.life[0] !== null) selectStep(this.graph, buffer.life[0], "memory");
    });
    this.map.addEventListener("pointermove", event => {
      const buffer = this.bufferAt(event.offsetX, event.offsetY);
      if (!buffer) return tip.hide();
      const place = `${buffer.type}, ${bytesText(buffer.bytes)} at byte ${buffer.offset}`;
      tip.show(`${place}\nsteps ${buffer.life[0]} to ${buffer.life[1]}`, event.clientX, event.clientY);
    });
    this.map.addEventListener("pointerleave", () => tip.hide());
  }
  open(graph) {
    this.graph = graph;
    const plan = graph.json.plan;
    if (!plan) {
      this.bar.replaceChildren(make("span", "", "no plan before the extents of its inputs are known"));
      this.memory.hidden = true;
      return this.rows.setCount(0);
    }
    this.buffers = plan.buffers.filter(buffer => buffer.home === "arena" && buffer.life[0] !== null);
    this.memory.hidden = this.buffers.length === 0;
    const fact = (name, value) => make("span", "", name + " ", make("b", "", value));
    this.bar.replaceChildren(fact("steps", plan.steps.length), fact("arena", bytesText(plan.arena)),
      fact("alive at once", bytesText(plan.peak)), fact("without chains", bytesText(plan.peak_without_chains)));
    this.bar.title = "arena: bytes that a run takes for values between steps, in whole lines of 64; " +
      "alive at once: bytes of values and results that are needed at the same time, if the steps run one by one";
    if (graph.runs) this.bar.append(fact("ran", graph.runs === 1 ? "once" : graph.runs + " times"));
    this.rows.setCount(plan.steps.length);
    this.drawMemory();
  }
  shown() { this.redraw(); this.select(app.selection); }
  redraw() { this.rows.fill(); this.drawMemory(); }
  select(selection) {
    this.chosen = new Set();
    if (selection && selection.graph === this.graph)
      for (const node of selection.nodes) if (this.graph.stepOf[node] >= 0) this.chosen.add(this.graph.stepOf[node]);
    if (this.chosen.size > 0 && selection.from !== "plan") this.rows.reveal([...this.chosen][0]);
    else this.rows.fill();
    this.drawMemory();
  }
  row(i) {
    const step = this.graph.json.plan.steps[i], ran = this.graph.bars[i];
    const row = make("div", "row step" + (this.chosen && this.chosen.has(i) ? " chosen" : ""));
    const total = ran.reduce((sum, bar) => sum + bars[bar].end - bars[bar].begin, 0);
    if (ran.length > 1) row.title = spreadText(ran);
    row.append(make("span", "n", "step " + i),
      make("span", "tasks code", this.graph.namesOf(step.nodes, ", ", 40)),
      make("span", "then faint", step.then.length > 0 ? "then " + step.then.slice(0, 20).join(", ") : ""),
      make("span", "time", ran.length > 0 ? timeText(total) : ""));
    return row;
  }
  key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return false;
    const now = this.chosen && this.chosen.size > 0 ? [...this.chosen][0] : -1;
    const next = now + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0 || next >= this.graph.steps.length) return true;
    selectStep(this.graph, next, "plan");
    this.rows.reveal(next);
    return true;
  }

  // ---- memory: steps to the right, bytes of the arena upwards ----

  boxOf(buffer) {
    const { clientWidth, clientHeight } = this.map, left = 14, bottom = 24, top = 22;
    const [first, last] = buffer.life, end = buffer.offset + buffer.bytes;
    const wide = (clientWidth - 2 * left) / this.graph.steps.length;
    const high = (clientHeight - top - bottom) / this.graph.json.plan.arena;
    return { x: left + first * wide, w: Math.max(1, (last - first + 1) * wide - 1),
             y: clientHeight - bottom - end * high, h: Math.max(1, buffer.bytes * high - 1) };
  }
  bufferAt(x, y) {
    return (this.buffers || []).find(buffer => {
      const box = this.boxOf(buffer);
      return x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
    });
  }
  drawMemory() {
    const { clientWidth, clientHeight } = this.map;
    if (this.memory.hidden || clientWidth === 0 || !this.graph || !this.graph.json.plan) return;
    const dots = window.devicePixelRatio || 1;
    this.map.width = clientWidth * dots;
    this.map.height = clientHeight * dots;
    const context = this.map.getContext("2d");
    context.scale(dots, dots);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colours.faint;
    context.fillText("arena, " + bytesText(this.graph.json.plan.arena), 14, 14);
    context.fillText("steps →", 14, clientHeight - 8);
    for (const buffer of this.buffers) {
      const box = this.boxOf(buffer), writer = this.graph.steps[buffer.life[0]][0];
      const chosen = this.chosen && this.chosen.has(buffer.life[0]);
      context.fillStyle = hued(this.graph.chainOf(writer), chosen ? "rim" : "bar");
      context.fillRect(box.x, box.y, box.w, box.h);
      if (chosen) {
        context.strokeStyle = colours.chosen;
        context.lineWidth = 2;
        context.strokeRect(box.x, box.y, box.w, box.h);
      }
    }
  }
}
