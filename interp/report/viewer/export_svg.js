// The graph as it is drawn now, as an SVG file: with the scopes that are collapsed now, in the colours of now.

function svgText(text) {
  const sayable = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ");
  return sayable.replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");
}

function svgOf(scene) {
  const { x, y, right, bottom } = scene.bounds, room = 150, parts = [];
  const width = right - x + 2 * room, height = bottom - y + 80;
  parts.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${Math.ceil(height)}" ` +
             `viewBox="${x - room} ${y - 40} ${width} ${height}" font-family="system-ui, sans-serif" font-size="11">`);
  parts.push(`<title>${svgText(scene.graph.title)}</title>`);
  parts.push(`<rect x="${x - room}" y="${y - 40}" width="100%" height="100%" fill="${colours.paper}"/>`);
  for (const frame of scene.frames)
    parts.push(svgFrame(frame));
  for (const band of scene.bands)
    parts.push(svgBand(band));
  for (const line of scene.lines) parts.push(svgLine(line));
  for (const box of scene.boxes) parts.push(svgBox(scene, box));
  for (const band of scene.bands) parts.push(svgRules(band));
  return parts.join("\n") + "\n</svg>\n";
}

function svgFrame({ x, y, right, bottom, title }) {
  return `<rect x="${x}" y="${y}" width="${right - x}" height="${bottom - y}" fill="none" stroke="${colours.rule}" ` +
         `stroke-dasharray="4 4"/>` + svgWords(x + 5, y + 16, title, colours.faint);
}

function svgBand(band) {
  const colour = hued(band.chain, "band"), way = bandWay(band).map(point => point.join(",")).join(" ");
  const halos = band.boxes.map(({ x, y, w, h }) =>
    `<rect x="${x - BAND.halo}" y="${y - BAND.halo}" width="${w + 2 * BAND.halo}" height="${h + 2 * BAND.halo}" ` +
    `rx="${BAND.round}" fill="${colour}"/>`);
  return halos.join("") + `<polyline points="${way}" fill="none" stroke="${colour}" stroke-width="${BAND.ribbon}"/>`;
}

function svgWords(x, y, text, colour, more = "") {
  return `<text x="${x}" y="${y}" fill="${colour}"${more}>${svgText(cut(text))}</text>`;
}

function svgLine(line) {
  let way = "";
  tracePath(line.points, {
    move: (...p) => { way += "M" + p.join(" "); }, line: (...p) => { way += "L" + p.join(" "); },
    curve: (...p) => { way += "C" + p.join(" "); },
  });
  const [x, y] = line.points[line.points.length - 1], colour = line.order ? colours.order : colours.line;
  return `<path d="${way}" fill="none" stroke="${colour}"${line.order ? ' stroke-dasharray="5 4"' : ""}/>` +
         `<path d="M${x} ${y}l-7 -3.5v7z" fill="${colour}"/>`;
}

function svgBox(scene, box) {
  const rim = box.chain < 0 ? colours.faint : hued(box.chain, "rim"), parts = [];
  parts.push(`<rect x="${box.x}" y="${box.y}" width="${box.w}" height="${box.h}" rx="6" fill="${colours.box}" ` +
             `stroke="${rim}" stroke-width="1.5"${box.control ? ' stroke-dasharray="6 3"' : ""}/>`);
  const title = ' font-size="13" font-weight="600"';
  parts.push(svgWords(box.x + 10, box.y + 17, (box.scope >= 0 ? "⊞ " : "") + box.title, colours.ink, title));
  if (box.scope >= 0) {
    parts.push(svgWords(box.x + 28, box.y + 35, plural(box.nodes.length, "task"), colours.faint));
    return parts.join("");
  }
  const node = scene.graph.nodes[box.node], middle = slot => box.y + BOX.title + BOX.row * slot + BOX.row / 2 + 4;
  const end = ' text-anchor="end"';
  node.in.slice(0, BOX.mostRows).forEach(({ slot, ref }, i) => {
    parts.push(svgWords(box.x + 10, middle(i), slot, colours.ink));
    if (!("input" in ref) || "node" in ref) return;
    const input = scene.graph.json.inputs[ref.input];
    parts.push(svgWords(box.x - STUB, middle(i), inputText(scene, box, input), colours.faint, end));
  });
  node.out.slice(0, BOX.mostRows).forEach(({ slot }, i) => {
    parts.push(svgWords(box.x + box.w - 10, middle(i), slot, colours.ink, end));
  });
  for (const result of scene.graph.resultsOf.get(box.node) || []) {
    const slot = Math.max(0, node.out.findIndex(out => out.slot === result.ref.slot));
    parts.push(svgWords(box.x + box.w + STUB, middle(slot), resultText(scene, box, result), colours.faint));
  }
  return parts.join("");
}

function svgRules(band) {
  const style = ' font-size="10" font-style="italic"';
  return ruleTexts(band).map(({ text, x, y, end }) =>
    svgWords(x, y, text, colours.faint, style + (end ? ' text-anchor="end"' : ""))).join("");
}

function exportSvg() {
  const view = app.views.find(other => other.id === "graph");
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([svgOf(view.scene)], { type: "image/svg+xml" }));
  link.download = (app.graph.title.replace(/[^\w.-]+/g, "_") || "graph") + ".svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
