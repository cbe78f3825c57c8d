// Two things that views share: a list of which only the rows in sight exist, and a canvas that is drawn at most once a
// frame and can be moved and zoomed.

class Rows {
  // `render(i)` makes the element of row i; all rows are equally high.
  constructor(host, height, render) {
    this.height = height;
    this.render = render;
    this.count = 0;
    this.box = make("div", "rows");
    this.room = make("div", "room");
    this.box.append(this.room);
    this.box.tabIndex = 0;
    host.append(this.box);
    this.box.addEventListener("scroll", () => this.fill());
  }
  setCount(count) {
    this.count = count;
    this.room.style.height = count * this.height + "px";
    this.fill();
  }
  fill() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 10);
    const last = Math.min(this.count, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 10);
    const rows = [];
    for (let i = first; i < last; ++i) {
      const row = this.render(i);
      row.style.top = i * this.height + "px";
      row.style.height = this.height + "px";
      row.dataset.row = i;
      rows.push(row);
    }
    this.room.replaceChildren(...rows);
  }
  reveal(i) {
    const top = i * this.height, box = this.box;
    if (top < box.scrollTop || top + this.height > box.scrollTop + box.clientHeight)
      box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    this.fill();
  }
}

class Sheet {
  // `draw(context, sheet)` draws in pixels of the page; `x` and `y` of the sheet go through toX, toY.
  constructor(host, draw, { zoomY = true } = {}) {
    this.draw = draw;
    this.zoomY = zoomY;
    this.scale = 1;
    this.left = this.top = 0;  // of what is drawn, at the corner of the canvas
    this.canvas = make("canvas");
    this.canvas.tabIndex = 0;
    host.append(this.canvas);
    new ResizeObserver(() => this.redraw()).observe(host);
    this.listen();
  }
  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }
  toX(x) { return (x - this.left) * this.scale; }
  toY(y) { return this.zoomY ? (y - this.top) * this.scale : y; }
  fromX(x) { return x / this.scale + this.left; }
  fromY(y) { return this.zoomY ? y / this.scale + this.top : y; }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }
  paint() {
    const { width, height } = this;
    if (width === 0 || height === 0) return;
    const dots = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * dots) || this.canvas.height !== Math.round(height * dots)) {
      this.canvas.width = Math.round(width * dots);
      this.canvas.height = Math.round(height * dots);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.clearRect(0, 0, width, height);
    this.draw(context, this);
  }
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(this.most || 4, Math.max(this.least || 0.005, this.scale * factor));
    this.left += x / this.scale - x / scale;
    this.top += y / this.scale - y / scale;
    this.scale = scale;
    this.redraw();
  }
  listen() {
    const canvas = this.canvas;
    let grip = null;
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      grip = { x: event.clientX, y: event.clientY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (!grip) return this.over && this.over(event.offsetX, event.offsetY, event);
      const dx = event.clientX - grip.x, dy = event.clientY - grip.y;
      if (!grip.moved && Math.hypot(dx, dy) < 4) return;
      tip.hide();
      this.left -= dx / this.scale;
      this.top -= dy / this.scale;
      grip = { x: event.clientX, y: event.clientY, moved: true };
      this.redraw();
    });
    canvas.addEventListener("pointerup", event => {
      if (grip && !grip.moved && this.clicked) this.clicked(event.offsetX, event.offsetY, event);
      grip = null;
    });
    canvas.addEventListener("pointercancel", () => { grip = null; });
    canvas.addEventListener("pointerleave", () => tip.hide());
  }
}
