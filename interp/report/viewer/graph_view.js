// The tab Graph: boxes and lines on a canvas, of which only what is in sight is drawn. A click selects a task, the sign
// of a scope collapses or opens it.

const BOX = { title: 24, row: 14, mostRows: 16 };  // as the layout of the file assumes

class GraphView {
  constructor(host) {
    this.collapsed = new Map();  // by graph: the scopes that are closed
    const stage = make("div", "stage");
    host.append(stage);
    this.sheet = new Sheet(stage, (context, sheet) => this.draw(context, sheet));
    this.sheet.clicked = (x, y) => this.click(x, y);
    this.sheet.over = (x, y, event) => this.hover(x, y, event);
    this.sheet.canvas.setAttribute("role", "img");
    this.sheet.canvas.setAttribute("aria-label", "the task graph; arrows walk along its edges");
    this.tools = make("div", "tools", null,
      this.button("fit", "everything in sight (0)", () => this.fit()),
      this.button("+", "nearer (+)", () => this.sheet.zoom(1.4)),
      this.button("−", "further away (-)", () => this.sheet.zoom(1 / 1.4)));
    this.close = this.button("collapse all", "close all scopes (c: that of the selection)", () => this.collapseAll());
    this.openAll = this.button("expand all", "open all scopes", () => this.setCollapsed(new Set()));
    this.tools.append(this.close, this.openAll);
    stage.append(this.tools);
  }
  button(text, title, action) {
    const button = make("button", "", text);
    button.title = title;
    button.addEventListener("click", action);
    return button;
  }

  open(graph) {
    this.graph = graph;
    if (!this.collapsed.has(graph)) this.collapsed.set(graph, new Set());
    this.scene = makeScene(graph, this.collapsed.get(graph));
    this.close.hidden = this.openAll.hidden = graph.scopes.length < 2;
    this.fitted = false;
    if (!this.sheet.canvas.closest("[hidden]")) this.fit();
  }
  shown() {
    if (!this.fitted) this.fit();
    this.select(app.selection);
    this.sheet.redraw();
  }
  redraw() { this.sheet.redraw(); }
  select(selection) {
    if (selection && selection.graph === this.graph && selection.from !== "graph") this.reveal(selection.nodes[0]);
    this.sheet.redraw();
  }

  // ---- where we look ----

  fit() {
    const { x, y, right, bottom } = this.scene.bounds, { width, height } = this.sheet, room = 150;
    if (width === 0) return;
    const scale = Math.min(1.2, width / (right - x + room * 2), height / (bottom - y + 80));
    this.sheet.scale = Math.max(scale, 0.02);
    // What does not fit even so begins at its left end.
    const over = (right - x + room * 2) * this.sheet.scale > width + 1;
    this.sheet.left = over ? x - room : (x + right) / 2 - width / this.sheet.scale / 2;
    this.sheet.top = (y + bottom) / 2 - height / this.sheet.scale / 2;
    this.fitted = true;
    this.sheet.redraw();
  }
  reveal(node) {
    const box = this.boxOf(node), sheet = this.sheet;
    if (sheet.width === 0 || !this.fitted) return;
    const x = sheet.toX(box.x + box.w / 2), y = sheet.toY(box.y + box.h / 2);
    const inSight = x > 40 && y > 40 && x < sheet.width - 40 && y < sheet.height - 40;
    if (inSight && sheet.scale > 0.3) return;
    sheet.scale = Math.max(sheet.scale, 0.6);
    sheet.left = box.x + box.w / 2 - sheet.width / sheet.scale / 2;
    sheet.top = box.y + box.h / 2 - sheet.height / sheet.scale / 2;
    sheet.redraw();
  }
  boxOf(node) { return this.scene.boxes[this.scene.boxOf[node]]; }
  // Where a task stands on the page, for tests.
  pointOf(node) {
    const box = this.boxOf(node), page = this.sheet.canvas.getBoundingClientRect();
    return { x: page.left + this.sheet.toX(box.x + box.w / 2), y: page.top + this.sheet.toY(box.y + box.h / 2) };
  }

  // ---- scopes ----

  setCollapsed(scopes) {
    this.collapsed.set(this.graph, scopes);
    this.scene = makeScene(this.graph, scopes);
    this.fit();
    if (app.selection && app.selection.graph === this.graph) this.reveal(app.selection.nodes[0]);
  }
  toggle(scope) {
    const scopes = new Set(this.collapsed.get(this.graph));
    if (!scopes.delete(scope)) scopes.add(scope);
    this.setCollapsed(scopes);
  }
  collapseAll() {
    const inner = this.graph.scopes.map((scope, i) => i).filter(i => this.graph.scopes[i].parent !== null);
    this.setCollapsed(new Set(inner));
  }

  // ---- mouse and keys ----

  boxAt(x, y) {
    const px = this.sheet.fromX(x), py = this.sheet.fromY(y), room = 2 / this.sheet.scale;
    return this.scene.boxes.find(box =>
      px >= box.x - room && px <= box.x + box.w + room && py >= box.y - room && py <= box.y + box.h + room);
  }
  signAt(x, y) {  // of the frame of an open scope
    return this.framesNow(app.selection && app.selection.graph === this.graph ? app.selection : null).findLast(frame => {
      const fx = this.sheet.toX(frame.x), fy = this.sheet.toY(frame.y);
      const size = Math.max(14, 22 * this.sheet.scale);
      return x >= fx && x <= fx + size && y >= fy && y <= fy + size;
    });
  }
  click(x, y) {
    const frame = this.sheet.scale > 0.12 && this.signAt(x, y);
    if (frame) return this.toggle(frame.scope);
    const box = this.boxAt(x, y);
    if (!box) return clearSelection();
    if (box.scope < 0) return selectNode(this.graph, box.node, "graph");
    const sign = this.sheet.toX(box.x + 26);
    if (x < sign) return this.toggle(box.scope);
    select(this.graph, box.nodes, "scope " + box.title, "graph");
  }
  hover(x, y, event) {
    const box = this.boxAt(x, y), frame = !box && this.signAt(x, y);
    this.sheet.canvas.classList.toggle("over", Boolean(box || frame));
    if (!box) return tip.hide();
    const text = box.scope >= 0 ? box.title + "\n" + plural(box.nodes.length, "task")
                                : this.graph.pathOf(box.node) + "\nchain " + box.chain;
    tip.show(text, event.clientX, event.clientY);
  }
  key(event) {
    const moves = { "+": () => this.sheet.zoom(1.4), "-": () => this.sheet.zoom(1 / 1.4), "0": () => this.fit() };
    if (moves[event.key]) return moves[event.key](), true;
    if (event.key === "c") return this.collapseHere(), true;
    if (event.key.startsWith("Arrow")) return this.walk(event.key.slice(5)), true;
    return false;
  }
  collapseHere() {
    if (!app.selection) return;
    const box = this.boxOf(app.selection.nodes[0]);
    const scope = box.scope >= 0 ? box.scope : this.graph.nodes[box.node].scope;
    if (this.graph.scopes[scope].parent !== null) this.toggle(scope);
  }
  // Right and left along edges, up and down to the nearest box of about the same column.
  walk(way) {
    const { graph } = this;
    if (graph.size === 0) return;
    if (!app.selection || app.selection.graph !== graph) return this.walkTo(0);
    const node = app.selection.nodes[way === "Left" ? 0 : app.selection.nodes.length - 1], here = this.boxOf(node);
    if (way === "Right" || way === "Left") {
      const edges = way === "Right" ? graph.outOf[node] : graph.into[node];
      const next = edges.map(i => way === "Right" ? graph.edges[i].to : graph.edges[i].from)
        .filter(other => this.boxOf(other) !== here)
        .sort((a, b) => Math.abs(this.boxOf(a).y - here.y) - Math.abs(this.boxOf(b).y - here.y) || a - b);
      if (next.length > 0) this.walkTo(next[0]);
      return;
    }
    const down = way === "Down", column = this.scene.boxes.filter(box =>
      box !== here && box.x < here.x + here.w && here.x < box.x + box.w && (down ? box.y > here.y : box.y < here.y));
    column.sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y));
    if (column.length > 0) this.walkTo(column[0].nodes[0]);
  }
  walkTo(node) {
    selectNode(this.graph, node, "graph");
    this.reveal(node);
  }

  // ---- drawing ----

  draw(context, sheet) {
    const { scene } = this, selection = app.selection && app.selection.graph === this.graph ? app.selection : null;
    const sight = { left: sheet.fromX(0), right: sheet.fromX(sheet.width), top: sheet.fromY(0),
                    bottom: sheet.fromY(sheet.height) };
    context.save();
    context.scale(sheet.scale, sheet.scale);
    context.translate(-sheet.left, -sheet.top);
    const near = sheet.scale > 0.4;
    const seen = box => box.x < sight.right && box.x + box.w > sight.left && box.y < sight.bottom &&
                        box.y + box.h > sight.top;
    this.drawBands(context, sight);
    this.drawFrames(context, sheet, seen, selection);
    this.drawLines(context, sight, sheet.scale, selection);
    const boxes = scene.boxes.filter(seen);
    if (near) this.drawRules(context, sight);
    if (near) for (const box of boxes) this.drawBox(context, box);
    else this.drawSmall(context, boxes, sheet.scale);
    if (selection) this.drawSelection(context, selection, sheet.scale, seen);
    context.restore();
  }

  // Where there are many, only those around the selection.
  framesNow(selection) {
    const { frames } = this.scene, most = 60;
    if (frames.length <= most) return frames;
    const around = new Set();
    for (const node of selection ? selection.nodes.slice(0, most) : [])
      for (let s = this.graph.nodes[node].scope; s !== null; s = this.graph.scopes[s].parent) around.add(s);
    return frames.filter(frame => around.has(frame.scope));
  }
  drawFrames(context, sheet, seen, selection) {
    context.lineWidth = 1 / sheet.scale;
    const letters = Math.min(18, 11 / sheet.scale);  // the line above what a frame holds has room for no more
    context.font = `${letters}px system-ui, sans-serif`;
    for (const frame of this.framesNow(selection)) {
      const w = frame.right - frame.x, h = frame.bottom - frame.y;
      if (!seen({ x: frame.x, y: frame.y, w, h })) continue;
      context.setLineDash([4 / sheet.scale, 4 / sheet.scale]);
      context.strokeStyle = colours.line;
      context.globalAlpha = 0.6;
      context.strokeRect(frame.x, frame.y, w, h);
      context.globalAlpha = 1;
      context.setLineDash([]);
      if (w * sheet.scale < 40 || letters * sheet.scale < 4) continue;
      context.fillStyle = colours.faint;
      context.fillText("⊟ " + frame.title, frame.x + 5, frame.y + 4 + letters);
    }
  }

  drawBands(context, sight) {
    context.lineJoin = "round";
    context.lineWidth = BAND.ribbon;
    for (const band of this.scene.bands) {
      const first = band.boxes[0], last = band.boxes[band.boxes.length - 1];
      if (first.x - 20 > sight.right || last.x + last.w + 20 < sight.left) continue;
      context.strokeStyle = context.fillStyle = hued(band.chain, "band");
      context.beginPath();
      for (const { x, y, w, h } of band.boxes)
        context.roundRect(x - BAND.halo, y - BAND.halo, w + 2 * BAND.halo, h + 2 * BAND.halo, BAND.round);
      context.fill();
      context.beginPath();
      bandWay(band).forEach(([x, y], i) => i === 0 ? context.moveTo(x, y) : context.lineTo(x, y));
      context.stroke();
    }
    context.lineJoin = "miter";
  }
  // The rules that stopped a chain, below its ends.
  drawRules(context, sight) {
    context.font = "italic 10px system-ui, sans-serif";
    context.fillStyle = colours.faint;
    for (const band of this.scene.bands) {
      const first = band.boxes[0], last = band.boxes[band.boxes.length - 1];
      if (first.x > sight.right || last.x + last.w < sight.left) continue;
      for (const { text, x, y, end } of ruleTexts(band))
        context.fillText(text, end ? x - context.measureText(text).width : x, y);
    }
  }

  // All lines of one kind are one path: strokes cost per path, not per line.
  drawLines(context, sight, scale, selection) {
    const coarse = scale < 0.12;
    const kinds = [[false, colours.line, []], [true, colours.order, [5, 4]]];
    const chosen = [];
    for (const [order, colour, dash] of kinds) {
      context.beginPath();
      for (const line of this.scene.lines) {
        if (line.order !== order || line.left > sight.right || line.right < sight.left || line.top > sight.bottom ||
            line.bottom < sight.top)
          continue;
        if (selection && this.touches(line, selection)) chosen.push(line);
        else this.trace(context, line.points, coarse);
      }
      context.strokeStyle = colour;
      context.globalAlpha = selection || coarse ? 0.5 : 1;
      context.lineWidth = Math.max(1.1, 0.5 / scale);
      context.setLineDash(dash);
      context.stroke();
      if (scale > 0.4) this.drawHeads(context, sight, order, colour);
    }
    context.globalAlpha = 1;
    context.beginPath();
    for (const line of chosen) this.trace(context, line.points, false);
    context.setLineDash([]);
    context.strokeStyle = colours.chosen;
    context.lineWidth = Math.max(1.8, 1.4 / scale);
    context.stroke();
  }
  touches(line, selection) {
    const { edges } = this.graph;
    return line.edges.some(i => selection.set.has(edges[i].from) || selection.set.has(edges[i].to));
  }
  trace(context, points, coarse) {
    if (coarse) {
      const last = points[points.length - 1];
      context.moveTo(points[0][0], points[0][1]);
      context.lineTo(last[0], last[1]);
      return;
    }
    tracePath(points, { move: (x, y) => context.moveTo(x, y), line: (x, y) => context.lineTo(x, y),
                        curve: (...way) => context.bezierCurveTo(...way) });
  }
  drawHeads(context, sight, order, colour) {
    context.fillStyle = colour;
    context.setLineDash([]);
    context.beginPath();
    for (const line of this.scene.lines) {
      const [x, y] = line.points[line.points.length - 1];
      if (line.order !== order || x < sight.left || x > sight.right || y < sight.top || y > sight.bottom) continue;
      context.moveTo(x, y);
      context.lineTo(x - 7, y - 3.5);
      context.lineTo(x - 7, y + 3.5);
    }
    context.fill();
  }

  drawBox(context, box) {
    context.fillStyle = colours.box;
    context.strokeStyle = box.chain < 0 ? colours.faint : hued(box.chain, "rim");
    context.lineWidth = 1.5;
    context.setLineDash(box.control ? [6, 3] : []);
    context.beginPath();
    context.roundRect(box.x, box.y, box.w, box.h, 6);
    context.fill();
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colours.ink;
    context.font = "600 13px system-ui, sans-serif";
    if (box.scope >= 0) {
      context.fillText("⊞ " + box.title, box.x + 10, box.y + 19);
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = colours.faint;
      context.fillText(plural(box.nodes.length, "task"), box.x + 28, box.y + 35);
      return;
    }
    context.fillText(cut(box.title), box.x + 10, box.y + 17);
    this.drawSlots(context, box);
  }
  drawSlots(context, box) {
    const node = this.graph.nodes[box.node];
    context.font = "11px system-ui, sans-serif";
    const middle = slot => box.y + BOX.title + BOX.row * Math.min(slot, BOX.mostRows - 1) + BOX.row / 2;
    node.in.slice(0, BOX.mostRows).forEach(({ slot, ref }, i) => {
      const y = middle(i);
      context.fillStyle = colours.ink;
      context.fillText(cut(slot), box.x + 10, y + 4);
      if (!("input" in ref) || "node" in ref) return;
      const input = this.graph.json.inputs[ref.input], text = cut(inputText(this.scene, box, input));
      this.drawStub(context, box.x - STUB, box.x, y);
      context.fillText(text, box.x - STUB - 4 - context.measureText(text).width, y + 4);
    });
    node.out.slice(0, BOX.mostRows).forEach(({ slot }, i) => {
      context.fillStyle = colours.ink;
      const text = cut(slot);
      context.fillText(text, box.x + box.w - 10 - context.measureText(text).width, middle(i) + 4);
    });
    for (const result of this.graph.resultsOf.get(box.node) || []) {
      const y = middle(Math.max(0, node.out.findIndex(out => out.slot === result.ref.slot)));
      this.drawStub(context, box.x + box.w, box.x + box.w + STUB, y);
      context.fillText(cut(resultText(this.scene, box, result)), box.x + box.w + STUB + 4, y + 4);
    }
  }
  drawStub(context, from, to, y) {
    context.strokeStyle = context.fillStyle = colours.faint;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(from, y);
    context.lineTo(to, y);
    context.stroke();
  }

  // Too small for words: plain rectangles, all of one colour in one go.
  drawSmall(context, boxes, scale) {
    const byHue = new Map(), least = 1.5 / scale;
    for (const box of boxes) {
      const key = box.chain < 0 ? -1 : box.chain % HUES;
      if (!byHue.has(key)) byHue.set(key, []);
      byHue.get(key).push(box);
    }
    for (const [key, group] of byHue) {
      context.fillStyle = key < 0 ? colours.faint : hued(key, "rim");
      for (const box of group) context.fillRect(box.x, box.y, Math.max(box.w, least), Math.max(box.h, least));
    }
  }

  drawSelection(context, selection, scale, seen) {
    context.strokeStyle = colours.chosen;
    context.lineWidth = Math.max(2.5, 2 / scale);
    context.setLineDash([]);
    for (const i of new Set(selection.nodes.map(node => this.scene.boxOf[node]))) {
      const box = this.scene.boxes[i], room = 2 + 1 / scale;
      if (!seen(box)) continue;
      context.strokeRect(box.x - room, box.y - room, box.w + 2 * room, box.h + 2 * room);
    }
  }
}

function cut(text) {
  const letters = [...text];
  return letters.length > 48 ? letters.slice(0, 47).join("") + "…" : text;
}
