// All of a graph in a corner, with a frame around what is in sight. A click or a drag there looks elsewhere.

class Minimap {
  constructor(stage, view) {
    this.view = view;
    this.canvas = make("canvas", "minimap");
    this.canvas.hidden = true;
    stage.append(this.canvas);
    const look = event => this.lookAt(event.offsetX, event.offsetY);
    this.canvas.addEventListener("pointerdown", event => {
      this.canvas.setPointerCapture(event.pointerId);
      look(event);
    });
    this.canvas.addEventListener("pointermove", event => { if (event.buttons > 0) look(event); });
  }
  forget() { this.picture = null; }

  // As large as the shape of the graph allows within a fifth of the stage.
  measure() {
    const { bounds } = this.view.scene, { width, height } = this.view.sheet;
    const w = bounds.right - bounds.x + 40, h = bounds.bottom - bounds.y + 40;
    this.scale = Math.min(Math.min(220, width * 0.3) / w, Math.min(160, height * 0.4) / h);
    this.size = [Math.max(24, Math.round(w * this.scale)), Math.max(24, Math.round(h * this.scale))];
  }
  draw() {
    const { sheet, scene: { bounds } } = this.view;
    const inSight = sheet.fromX(0) <= bounds.x && sheet.fromY(0) <= bounds.y &&
        sheet.fromX(sheet.width) >= bounds.right &&
      sheet.fromY(sheet.height) >= bounds.bottom;
    this.canvas.hidden = inSight || sheet.width < 240;
    if (this.canvas.hidden) return;
    this.measure();
    if (!this.picture || this.picture.width !== this.size[0] || this.picture.height !== this.size[1]) this.paint();
    const [w, h] = this.size, context = this.canvas.getContext("2d");
    this.canvas.width = w, this.canvas.height = h;
    context.drawImage(this.picture, 0, 0);
    const x = this.toX(sheet.fromX(0)), y = this.toY(sheet.fromY(0));
    const right = this.toX(sheet.fromX(sheet.width)), bottom = this.toY(sheet.fromY(sheet.height));
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.12;
    context.fillRect(x, y, right - x, bottom - y);
    context.globalAlpha = 1;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.strokeRect(Math.max(0.75, x), Math.max(0.75, y), Math.min(w - 0.75, right) - Math.max(0.75, x),
                       Math.min(h - 0.75, bottom) - Math.max(0.75, y));
  }
  toX(x) { return (x - this.view.scene.bounds.x + 20) * this.scale; }
  toY(y) { return (y - this.view.scene.bounds.y + 20) * this.scale; }
  paint() {
    this.picture = make("canvas");
    [this.picture.width, this.picture.height] = this.size;
    const context = this.picture.getContext("2d"), { boxes, frames } = this.view.scene;
    context.strokeStyle = colours.rule;
    if (frames.length <= 60)
      for (const { x, y, right, bottom } of frames)
        context.strokeRect(this.toX(x), this.toY(y), (right - x) * this.scale, (bottom - y) * this.scale);
    for (const { x, y, w, h, chain } of boxes) {
      context.fillStyle = chain < 0 ? colours.faint : hued(chain, "rim");
      context.fillRect(this.toX(x), this.toY(y), Math.max(1, w * this.scale), Math.max(1, h * this.scale));
    }
  }
  lookAt(x, y) {
    const { sheet, scene: { bounds } } = this.view;
    sheet.left = x / this.scale + bounds.x - 20 - sheet.width / sheet.scale / 2;
    sheet.top = y / this.scale + bounds.y - 20 - sheet.height / sheet.scale / 2;
    sheet.redraw();
  }
}
