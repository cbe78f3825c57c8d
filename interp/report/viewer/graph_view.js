// The tab Graph: boxes and lines on a canvas, of which only what is in sight is drawn. A click selects a task, the sign
// of a group collapses or opens it. The corner shows all of it, where not all of it is in sight.

class GraphView {
  constructor(host) {
    this.views = new Map();  // by graph: how it is shown (makeScene)
    const stage = make("div", "stage");
    host.append(stage);
    this.sheet = new Sheet(stage, (context, sheet) => this.draw(context, sheet));
    this.sheet.clicked = (x, y) => this.click(x, y);
    this.sheet.over = (x, y, event) => this.hover(x, y, event);
    this.sheet.canvas.setAttribute("role", "img");
    this.sheet.canvas.setAttribute("aria-label", "the task graph; arrows walk along its edges");
    this.map = new Minimap(stage, this);
    stage.append(this.toolbar());
  }
  toolbar() {
    this.close = this.button("collapse all", "close all groups (c: that of the selection)", () => this.collapseAll());
    this.openAll = this.button("expand all", "open all groups", () => this.setCollapsed(new Set()));
    this.down = this.button("", "across or down (v)", () => this.change({ down: !this.view.down }));
    this.shapes = this.button("", "types on edges (t)", () => this.change({ shapes: !this.view.shapes }));
    this.by = this.button("", "boxes around calls, or around tasks of one agent (a)", () => this.changeGrouping());
    return make("div", "tools", null,
      this.button("fit", "everything in sight (0)", () => this.fit()),
      this.button("+", "nearer (+)", () => this.sheet.zoom(1.4)),
      this.button("−", "further away (-)", () => this.sheet.zoom(1 / 1.4)), this.close, this.openAll, this.down,
      this.shapes, this.by);
  }
  button(text, title, action) {
    const button = make("button", "", text);
    button.title = title;
    button.addEventListener("click", action);
    return button;
  }

  open(graph) {
    this.graph = graph;
    if (!this.views.has(graph)) this.views.set(graph, this.firstView(graph));
    this.showScene();
    this.fitted = false;
    if (!this.sheet.canvas.closest("[hidden]")) this.begin();
  }
  // Across, or down where more of it can be read then: long nets, narrow windows.
  firstView(graph) {
    const view = { by: "scopes", closed: new Set(graph.launches()), opened: new Set(), shapes: graph.size < 3000,
                   down: false };
    if (graph.size >= 3000) return view;
    const { clientWidth, clientHeight } = document.getElementById("views");
    const scaleOf = down => {
      const { x, y, right, bottom } = makeScene(graph, { ...view, down }).bounds;
      return { w: clientWidth / (right - x + 60), h: (clientHeight - 44) / (bottom - y + 60) };
    };
    const across = scaleOf(false);
    if (Math.min(across.w, across.h) >= 0.75) return view;
    const down = scaleOf(true);
    // What is as wide as the window is read downwards; what is as high, across.
    view.down = down.w >= 0.75 && (across.h < 0.75 || across.w < 0.4 || down.h > across.w);
    return view;
  }
  get view() { return this.views.get(this.graph); }
  showScene() {
    const { view, graph } = this;
    this.scene = makeScene(graph, view);
    this.close.hidden = this.openAll.hidden = !groupsOf(graph, view.by).able.some(able => able);
    this.by.hidden = !groupsOf(graph, "agents").able.some(able => able);
    this.down.textContent = view.down ? "across" : "down";
    this.shapes.textContent = view.shapes ? "no types" : "types";
    this.by.textContent = view.by === "scopes" ? "by agent" : "by call";
    this.map.forget();
  }
  change(what) {
    Object.assign(this.view, what);
    this.showScene();
    this.begin();
    if (app.selection && app.selection.graph === this.graph) this.reveal(app.selection.nodes[0]);
  }
  changeGrouping() { this.change({ by: this.view.by === "scopes" ? "agents" : "scopes", closed: new Set() }); }
  shown() {
    if (!this.fitted) this.begin();
    this.select(app.selection);
    this.sheet.redraw();
  }
  redraw() {
    this.map.forget();
    this.sheet.redraw();
  }
  select(selection) {
    if (selection && selection.graph === this.graph && selection.from !== "graph") this.reveal(selection.nodes[0]);
    this.sheet.redraw();
  }

  // ---- where we look ----

  // All of it where words can be read then, and of a huge graph; else from its beginning.
  begin() {
    if (this.sheet.width === 0) return;
    this.fit();
    const { sheet, scene: { bounds, view } } = this, least = 0.75;
    if (sheet.scale >= least || sheet.scale < 0.12) return;
    sheet.scale = least;
    if (view.down) sheet.top = bounds.y - 20 / least;
    else sheet.left = bounds.x - 20 / least;
    if (view.down) sheet.left = (bounds.x + bounds.right) / 2 - sheet.width / least / 2;
    else sheet.top = (bounds.y + bounds.bottom) / 2 - sheet.height / least / 2;
    // What is too large in both ways shows its first boxes.
    const first = this.scene.boxes[0];
    if (first && view.down && (bounds.right - bounds.x) * least > sheet.width)
      sheet.left = first.x + first.w / 2 - sheet.width / least / 2;
    if (first && !view.down && (bounds.bottom - bounds.y) * least > sheet.height)
      sheet.top = first.y + first.h / 2 - sheet.height / least / 2;
    sheet.redraw();
  }
  fit() {
    const { x, y, right, bottom } = this.scene.bounds, { width, height } = this.sheet, room = 30, tools = 44;
    if (width === 0) return;
    const scale = Math.min(1.4, width / (right - x + room * 2), (height - tools) / (bottom - y + room * 2));
    this.sheet.scale = Math.max(scale, 0.02);
    // What does not fit even so begins at its left end.
    const over = (right - x + room * 2) * this.sheet.scale > width + 1;
    this.sheet.left = over ? x - room : (x + right) / 2 - width / this.sheet.scale / 2;
    this.sheet.top = (y + bottom) / 2 - (height - tools) / this.sheet.scale / 2;
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

  // ---- groups ----

  setCollapsed(closed) { this.change({ closed }); }
  toggle(group) {
    const closed = new Set(this.view.closed);
    if (!closed.delete(group)) closed.add(group);
    const before = this.scene.frames.find(frame => frame.group === group) ||
        this.scene.boxes.find(box => box.group === group);
    const at = [this.sheet.toX(before.x), this.sheet.toY(before.y)];
    this.view.closed = closed;
    this.showScene();
    // What was clicked stays where it is.
    const after = this.scene.frames.find(frame => frame.group === group) ||
        this.scene.boxes.find(box => box.group === group);
    this.sheet.left = after.x - at[0] / this.sheet.scale;
    this.sheet.top = after.y - at[1] / this.sheet.scale;
    this.sheet.redraw();
  }
  collapseAll() {
    const { able } = groupsOf(this.graph, this.view.by);
    this.setCollapsed(new Set(able.map((_, g) => g).filter(g => able[g])));
  }

  // ---- mouse and keys ----

  boxAt(x, y) {
    const px = this.sheet.fromX(x), py = this.sheet.fromY(y), room = 2 / this.sheet.scale;
    return this.scene.boxes.find(box =>
      px >= box.x - room && px <= box.x + box.w + room && py >= box.y - room && py <= box.y + box.h + room);
  }
  signAt(x, y) {  // of the frame of an open group
    const selection = app.selection && app.selection.graph === this.graph ? app.selection : null;
    return this.framesNow(selection).findLast(frame => {
      const size = Math.max(14, 22 * this.sheet.scale);
      const fx = this.sheet.toX(frame.x), fy = this.sheet.toY(frame.y);
      return x >= fx && x <= fx + size && y >= fy && y <= fy + size;
    });
  }
  click(x, y) {
    const frame = this.sheet.scale > 0.12 && this.signAt(x, y);
    if (frame) return this.toggle(frame.group);
    const box = this.boxAt(x, y);
    if (!box) return clearSelection();
    if (box.kind === "task") {
      const at = innermost(box, this.sheet.fromX(x) - box.x, this.sheet.fromY(y) - box.y);
      if (at.box.opens && at.x < this.signEnd(at.box) && at.y < 34) return this.toggleTask(box.node, at.box.key);
    }
    if (box.kind === "task") return selectNode(this.graph, box.node, "graph");
    if (box.kind !== "group") return this.selectEnds(box);
    const sign = this.sheet.toX(box.x + 26);
    if (x < sign) return this.toggle(box.group);
    select(this.graph, box.nodes, box.title, "graph");
  }
  signEnd(box) {
    const title = box.words.find(({ kind }) => kind === "title");
    return (title.anchor === "middle" ? title.x - WIDE.title * lettersOf(title.text) / 2 : title.x) + 18;
  }
  // What is inside of it, or of a box in it, and not.
  toggleTask(node, key) {
    const { opened } = this.view, before = this.boxOf(node), at = [this.sheet.toX(before.x), this.sheet.toY(before.y)];
    if (!opened.delete(key)) opened.add(key);
    this.showScene();
    const after = this.boxOf(node);
    this.sheet.left = after.x - at[0] / this.sheet.scale;
    this.sheet.top = after.y - at[1] / this.sheet.scale;
    this.sheet.redraw();
  }
  // The tasks that read an input, or make a result.
  selectEnds(box) {
    const at = this.scene.boxes.indexOf(box);
    const tasks = this.scene.lines.filter(line => line.from === at || line.to === at).flatMap(line => line.tasks);
    select(this.graph, [...new Set(tasks)], box.kind + " " + box.title, "graph");
  }
  hover(x, y, event) {
    const box = this.boxAt(x, y), frame = !box && this.signAt(x, y);
    this.sheet.canvas.classList.toggle("over", Boolean(box || frame));
    if (!box) return tip.hide();
    const inner = box.kind === "task" ? innermost(box, this.sheet.fromX(x) - box.x, this.sheet.fromY(y) - box.y).box : box;
    tip.show(inner.tip || this.wordsOf(box), event.clientX, event.clientY);
  }
  wordsOf(box) {
    if (box.kind === "group") return box.title + "\n" + plural(box.nodes.length, "task");
    if (box.kind !== "task") return box.kind + " " + box.title;
    if (box.state) return this.graph.pathOf(box.node) + "\n" +
        (box.state === "failed" ? "failed" : "did not run: it reads what a task that failed should have made");
    return this.graph.pathOf(box.node) + "\nchain " + box.chain + ": " + this.graph.ends[box.chain].join("; ");
  }
  key(event) {
    const moves = { "+": () => this.sheet.zoom(1.4), "-": () => this.sheet.zoom(1 / 1.4), "0": () => this.fit() };
    if (moves[event.key]) return moves[event.key](), true;
    if (event.key === "c") return this.collapseHere(), true;
    if (event.key === "v") return this.change({ down: !this.view.down }), true;
    if (event.key === "t") return this.change({ shapes: !this.view.shapes }), true;
    if (event.key === "a" && !this.by.hidden) return this.changeGrouping(), true;
    if (event.key.startsWith("Arrow")) return this.walk(event.key.slice(5)), true;
    return false;
  }
  collapseHere() {
    if (!app.selection) return;
    const box = this.boxOf(app.selection.nodes[0]);
    if (box.opens) return this.toggleTask(box.node, box.key);
    const group = box.kind === "group" ? box.group : this.scene.groups.group[box.node];
    if (group >= 0) this.toggle(group);
  }
  // Right and left along edges, up and down to the nearest box of about the same column; where edges lead down it is
  // the other way round.
  walk(key) {
    const { graph } = this, down = this.view.down;
    const way = down ? { Right: "Down", Left: "Up", Down: "Right", Up: "Left" }[key] : key;
    if (graph.size === 0) return;
    if (!app.selection || app.selection.graph !== graph) return this.walkTo(0);
    const side = down ? "x" : "y", along = down ? ["y", "h"] : ["x", "w"];
    const node = app.selection.nodes[way === "Left" ? 0 : app.selection.nodes.length - 1], here = this.boxOf(node);
    if (way === "Right" || way === "Left") {
      const edges = way === "Right" ? graph.outOf[node] : graph.into[node];
      const next = edges.map(i => way === "Right" ? graph.edges[i].to : graph.edges[i].from)
        .filter(other => this.boxOf(other) !== here)
        .sort((a, b) => Math.abs(this.boxOf(a)[side] - here[side]) - Math.abs(this.boxOf(b)[side] - here[side]) ||
            a - b);
      if (next.length > 0) this.walkTo(next[0]);
      return;
    }
    const next = way === "Down", [at, size] = along;
    const column = this.scene.boxes.filter(box => box !== here && box.nodes.length > 0 &&
      box[at] < here[at] + here[size] && here[at] < box[at] + box[size] &&
      (next ? box[side] > here[side] : box[side] < here[side]));
    column.sort((a, b) => Math.abs(a[side] - here[side]) - Math.abs(b[side] - here[side]));
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
    this.map.draw();
  }

  // Where there are many, only those around the selection.
  framesNow(selection) {
    const { frames } = this.scene, most = 60;
    if (frames.length <= most) return frames;
    const around = new Set();
    for (const node of selection ? selection.nodes.slice(0, most) : [])
      for (let g = this.scene.groups.group[node]; g >= 0; g = this.scene.groups.parent[g]) around.add(g);
    return frames.filter(frame => around.has(frame.group));
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
      if ((this.view.down ? h : w) * sheet.scale < 40 || letters * sheet.scale < 4) continue;
      context.fillStyle = colours.faint;
      context.save();
      context.translate(frame.x, frame.y);
      if (this.view.down) context.rotate(-Math.PI / 2);
      context.textAlign = this.view.down ? "end" : "start";
      const title = cut(frame.title), down = this.view.down;
      context.fillText(down ? title + " ⊟" : "⊟ " + title, down ? -5 : 5, 4 + letters);
      context.restore();
    }
  }

  drawBands(context, sight) {
    context.lineJoin = "round";
    context.lineWidth = BAND.ribbon;
    for (const band of this.scene.bands) {
      const first = band.boxes[0], last = band.boxes[band.boxes.length - 1];
      if (!this.view.down && (first.x - 20 > sight.right || last.x + last.w + 20 < sight.left)) continue;
      if (this.view.down && (first.y - 20 > sight.bottom || last.y + last.h + 20 < sight.top)) continue;
      context.strokeStyle = context.fillStyle = hued(band.chain, "band");
      context.beginPath();
      for (const { x, y, w, h } of band.boxes)
        context.roundRect(x - BAND.halo, y - BAND.halo, w + 2 * BAND.halo, h + 2 * BAND.halo, BAND.round);
      context.fill();
      context.beginPath();
      for (const { points } of band.ways) trace(context, points, false, this.view.down);
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
      for (const { text, x, y, end } of ruleTexts(band, this.view))
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
        else trace(context, line.points, coarse, this.view.down);
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
    for (const line of chosen) trace(context, line.points, false, this.view.down);
    context.setLineDash([]);
    context.strokeStyle = colours.chosen;
    context.lineWidth = Math.max(1.8, 1.4 / scale);
    context.stroke();
  }
  touches(line, selection) {
    const { edges } = this.graph;
    return line.edges.some(i => selection.set.has(edges[i].from) || selection.set.has(edges[i].to)) ||
      line.tasks.some(node => selection.set.has(node));
  }
  drawHeads(context, sight, order, colour) {
    context.fillStyle = colour;
    context.setLineDash([]);
    context.beginPath();
    for (const line of this.scene.lines) {
      const [x, y] = line.points[line.points.length - 1];
      if (line.order !== order || x < sight.left || x > sight.right || y < sight.top || y > sight.bottom) continue;
      traceHead(context, [x, y], this.view.down);
    }
    context.fill();
  }

  drawBox(context, box) {
    const pill = box.kind === "input" || box.kind === "result";
    context.fillStyle = pill ? colours.panel : colours.box;
    context.strokeStyle = pill ? colours.rule : box.state ? colours.chosen : box.chain < 0 ? colours.faint :
        hued(box.chain, "rim");
    context.lineWidth = box.state === "failed" ? 3 : 1.5;
    context.setLineDash(box.control ? [6, 3] : box.state === "poisoned" ? [2, 3] : []);
    context.beginPath();
    context.roundRect(box.x, box.y, box.w, box.h, pill ? box.h / 2 : 6);
    context.fill();
    context.stroke();
    context.setLineDash([]);
    if (box.line) {
      context.strokeStyle = colours.rule;
      context.lineWidth = 1;
      context.strokeRect(box.x + 8, box.y + box.line, box.w - 16, 0);
    }
    context.globalAlpha = box.state === "poisoned" ? 0.55 : 1;
    this.drawWords(context, box.words, box.x, box.y);
    context.globalAlpha = 1;
    if (box.inner) this.drawInner(context, box, box.inner);
  }
  drawWords(context, words, left, top) {
    for (const { kind, text, x, y, anchor } of words) {
      context.font = FONTS[kind];
      context.fillStyle = colours[WORD_COLOURS[kind]];
      context.textAlign = anchor === "middle" ? "center" : anchor;
      context.fillText(text, left + x, top + y);
    }
    context.textAlign = "start";
  }
  drawInner(context, box, inner) {
    context.save();
    context.translate(box.x + inner.x, box.y + inner.y);
    context.strokeStyle = context.fillStyle = colours.line;
    context.lineWidth = 1.1;
    context.beginPath();
    for (const points of inner.lines) trace(context, points, false, false);
    context.stroke();
    context.beginPath();
    for (const points of inner.lines) traceHead(context, points[points.length - 1], false);
    context.fill();
    this.drawWords(context, inner.words, 0, 0);
    for (const one of inner.boxes) this.drawBox(context, one);
    context.restore();
  }

  // Too small for words: plain rectangles, all of one colour in one go; of open boxes the rim, and what is in them.
  drawSmall(context, boxes, scale) {
    const byHue = new Map(), least = 1.5 / scale;
    for (const box of boxes.filter(({ inner }) => inner)) this.drawSmallOpen(context, box, box.x, box.y, scale);
    for (const box of boxes.filter(({ inner }) => !inner)) {
      const key = box.chain < 0 ? -1 : box.chain % HUES;
      if (!byHue.has(key)) byHue.set(key, []);
      byHue.get(key).push(box);
    }
    for (const [key, group] of byHue) {
      context.fillStyle = key < 0 ? colours.faint : hued(key, "rim");
      for (const box of group) context.fillRect(box.x, box.y, Math.max(box.w, least), Math.max(box.h, least));
    }
  }

  drawSmallOpen(context, box, x, y, scale) {
    context.fillStyle = colours.box;
    context.strokeStyle = box.chain < 0 ? colours.faint : hued(box.chain, "rim");
    context.lineWidth = 1.5 / scale;
    context.fillRect(x, y, box.w, box.h);
    context.strokeRect(x, y, box.w, box.h);
    for (const one of box.inner.boxes) {
      const left = x + box.inner.x + one.x, top = y + box.inner.y + one.y;
      if (one.inner) this.drawSmallOpen(context, one, left, top, scale);
      context.fillStyle = colours.faint;
      if (!one.inner) context.fillRect(left, top, one.w, one.h);
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

function trace(context, points, coarse, down) {
  if (coarse) {
    const last = points[points.length - 1];
    context.moveTo(points[0][0], points[0][1]);
    context.lineTo(last[0], last[1]);
    return;
  }
  tracePath(points, { move: (x, y) => context.moveTo(x, y), line: (x, y) => context.lineTo(x, y),
                      curve: (...way) => context.bezierCurveTo(...way) }, down);
}
function traceHead(context, [x, y], down) {
  context.moveTo(x, y);
  context.lineTo(...(down ? [x - 3.5, y - 7] : [x - 7, y - 3.5]));
  context.lineTo(...(down ? [x + 3.5, y - 7] : [x - 7, y + 3.5]));
}

const FONTS = { title: "600 13px system-ui, sans-serif", slot: "11px system-ui, sans-serif",
                faint: "11px system-ui, sans-serif", type: "10px system-ui, sans-serif",
                hazard: "italic 10px system-ui, sans-serif" };
const WORD_COLOURS = { title: "ink", slot: "ink", faint: "faint", type: "faint", hazard: "order" };
