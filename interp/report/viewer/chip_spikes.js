// Spikes of a population: who spikes in which step, how many per neuron and per step, and the potentials of neurons
// that are chosen by a click.

const RASTER = { left: 56, top: 24, right: 90, sum: 46, trace: 64, bottom: 10 };

class ChipSpikes {
  constructor(host, view) {
    this.view = view;
    this.bar = make("div", "bar");
    this.choice = make("select");
    this.choice.setAttribute("aria-label", "population");
    this.choice.addEventListener("change", () => this.open(this.choice.selectedIndex));
    this.facts = make("span", "facts");
    this.bar.append(this.choice, this.facts);
    const stage = make("div", "stage");
    this.canvas = make("canvas");
    stage.append(this.canvas);
    host.append(this.bar, stage);
    new ResizeObserver(() => this.redraw()).observe(stage);
    this.canvas.addEventListener("click", event => this.toggle(this.neuronAt(event.offsetY)));
    this.canvas.addEventListener("pointermove", event => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => tip.hide());
    this.opened();
  }
  opened() {
    const list = chipChoice.run.populations;
    this.choice.replaceChildren(...list.map(population => make("option", "", population.name)));
    this.choice.hidden = list.length < 2;
    this.open(0);
  }
  open(number) {
    const population = this.population = chipChoice.run.populations[number] || null;
    this.chosen = [];
    this.facts.replaceChildren();
    if (!population) return;
    const fact = (name, value) => make("span", "", name + " ", make("b", "", value));
    const spikes = population.per_step.reduce((sum, n) => sum + n, 0);
    const rate = spikes / Math.max(1, population.neurons * population.steps);
    this.facts.append(fact("neurons", population.neurons.toLocaleString("en")), fact("steps", population.steps),
      fact("spikes", spikes.toLocaleString("en")), fact("rate", rate.toFixed(3) + " a step"));
    const shown = population.spikes.length / 2;
    if (shown < spikes) this.facts.append(make("span", "faint", `the first ${shown.toLocaleString("en")} are drawn`));
    // The busiest of those whose potentials were kept.
    const counts = population.per_neuron;
    this.chosen = population.traced.map((neuron, i) => i)
      .sort((a, b) => (counts[population.traced[b]] || 0) - (counts[population.traced[a]] || 0) || a - b).slice(0, 3);
    this.redraw();
  }
  shown() { this.redraw(); }
  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], traced = this.population ? this.population.traced.length : 0;
    if (!by || traced === 0) return false;
    const last = this.chosen.length > 0 ? this.chosen[this.chosen.length - 1] : -1;
    this.chosen = [(last + by + traced) % traced];
    this.redraw();
    return true;
  }
  // The neuron nearest to it whose potential was kept.
  toggle(neuron) {
    const { traced } = this.population;
    if (neuron < 0 || traced.length === 0) return;
    let near = 0;
    traced.forEach((other, i) => { if (Math.abs(other - neuron) < Math.abs(traced[near] - neuron)) near = i; });
    this.chosen = this.chosen.includes(near) ? this.chosen.filter(i => i !== near) : [...this.chosen, near].slice(-4);
    this.redraw();
  }

  // ---- where things are ----
  measure() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, traces = this.chosen.length * RASTER.trace;
    const x = RASTER.left, w = Math.max(20, width - RASTER.left - RASTER.right);
    const room = height - RASTER.top - RASTER.sum - traces - 3 * RASTER.bottom - 18;
    const h = Math.max(40, Math.min(room, Math.max(120, 26 * this.population.neurons)));
    this.box = { x, y: RASTER.top, w, h, width, height, step: w / Math.max(1, this.population.steps),
                 row: h / Math.max(1, this.population.neurons) };
    return this.box;
  }
  neuronAt(y) {
    if (!this.box || y < this.box.y || y >= this.box.y + this.box.h) return -1;
    return Math.floor((y - this.box.y) / this.box.row);
  }
  pointOf(neuron) {  // for tests
    const page = this.canvas.getBoundingClientRect();
    return { x: page.left + this.box.x + this.box.w / 2, y: page.top + this.box.y + (neuron + 0.5) * this.box.row };
  }
  hover(event) {
    if (!this.population || !this.box) return;
    const neuron = this.neuronAt(event.offsetY), step = Math.floor((event.offsetX - this.box.x) / this.box.step);
    const count = this.population.per_neuron[neuron];
    this.canvas.classList.toggle("over", neuron >= 0);
    if (neuron < 0) return tip.hide();
    const where = step >= 0 && step < this.population.steps ? `, step ${step}` : "";
    const rate = count === undefined ? "" : `\n${plural(count, "spike")}, ${(count / this.population.steps).toFixed(3)} a step`;
    tip.show(`neuron ${neuron}${where}${rate}`, event.clientX, event.clientY);
  }

  redraw() {
    if (this.canvas.clientWidth === 0) return;
    const dots = window.devicePixelRatio || 1, context = this.canvas.getContext("2d");
    this.canvas.width = Math.round(this.canvas.clientWidth * dots);
    this.canvas.height = Math.round(this.canvas.clientHeight * dots);
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.font = "11px system-ui, sans-serif";
    if (!this.population) {
      context.fillStyle = colours.faint;
      return context.fillText("no neurons in this run", 20, 30);
    }
    this.measure();
    this.drawRaster(context);
    this.drawRates(context);
    this.drawSums(context);
    this.chosen.forEach((i, k) => this.drawTrace(context, i, k));
  }
  drawRaster(context) {
    const { x, y, w, h, step, row } = this.box, { spikes, neurons, steps } = this.population;
    context.fillStyle = colours.panel;
    context.fillRect(x, y, w, h);
    this.chosen.forEach((i, k) => {
      context.fillStyle = hued(k, "band");
      context.fillRect(x, y + this.population.traced[i] * row, w, Math.max(1, row));
    });
    context.fillStyle = colours.ink;
    const wide = Math.max(1, Math.min(step - 1, 10)), high = Math.max(1, Math.min(row - 1, 10));
    for (let i = 0; i < spikes.length; i += 2)
      context.fillRect(x + spikes[i] * step + (step - wide) / 2, y + spikes[i + 1] * row + (row - high) / 2, wide, high);
    context.strokeStyle = colours.rule;
    context.strokeRect(x + 0.5, y + 0.5, w, h);
    context.fillStyle = colours.faint;
    context.textAlign = "right";
    const every = Math.max(1, Math.ceil(16 / row / (10 ** Math.floor(Math.log10(Math.max(1, 16 / row)))))) *
      10 ** Math.floor(Math.log10(Math.max(1, 16 / row)));
    for (let n = 0; n < neurons; n += every) context.fillText(n, x - 6, y + (n + 0.5) * row + 4);
    context.textAlign = "left";
    context.fillText("neuron", 6, 15);
    context.fillText(`steps 0 to ${steps - 1} →`, x, 15);
  }
  drawRates(context) {
    const { x, y, w, row } = this.box, counts = this.population.per_neuron, most = Math.max(1, ...counts.slice(0, 20000));
    if (counts.length === 0) return;
    context.fillStyle = colours.faint;
    context.fillText("per neuron", x + w + 8, 15);
    context.fillStyle = colours.accent;
    counts.forEach((count, n) => {
      const long = (RASTER.right - 24) * count / most;
      if (long > 0) context.fillRect(x + w + 8, y + n * row + row * 0.15, long, Math.max(0.7, row * 0.7));
    });
  }
  drawSums(context) {
    const { x, y, w, h, step } = this.box, top = y + h + RASTER.bottom, sums = this.population.per_step;
    const most = sums.reduce((a, b) => Math.max(a, b), 1);
    context.fillStyle = colours.panel;
    context.fillRect(x, top, w, RASTER.sum);
    context.fillStyle = colours.accent;
    sums.forEach((count, t) => {
      const high = (RASTER.sum - 4) * count / most;
      context.fillRect(x + t * step, top + RASTER.sum - high, Math.max(0.7, step - 1), high);
    });
    context.fillStyle = colours.faint;
    context.fillText(most, 6, top + 10);
    context.fillText("a step", 6, top + RASTER.sum - 2);
  }
  drawTrace(context, i, k) {
    const { x, y, w, h, step } = this.box, values = this.population.potentials[i];
    const top = y + h + 2 * RASTER.bottom + RASTER.sum + 10 + k * RASTER.trace, high = RASTER.trace - 14;
    const least = values.reduce((a, b) => Math.min(a, b), 0), most = values.reduce((a, b) => Math.max(a, b), least + 1);
    const toY = value => top + high - 2 - (high - 4) * (value - least) / (most - least);
    context.fillStyle = colours.panel;
    context.fillRect(x, top, w, high);
    context.strokeStyle = colours.rule;
    context.beginPath();
    context.moveTo(x, toY(0));
    context.lineTo(x + w, toY(0));
    context.stroke();
    context.strokeStyle = hued(k, "rim");
    context.lineWidth = 1.6;
    context.beginPath();
    values.forEach((value, t) => context.lineTo(x + (t + 0.5) * step, toY(value)));
    context.stroke();
    context.lineWidth = 1;
    context.fillStyle = hued(k, "rim");
    context.fillText("n " + this.population.traced[i], 6, top + 12);
    context.fillStyle = colours.faint;
    context.fillText(most.toLocaleString("en"), x + w + 6, top + 10);
    context.fillText(least.toLocaleString("en"), x + w + 6, top + high);
    if (k === 0) context.fillText("potential after each step; a click on a neuron adds it", x, top - 3);
  }
}
