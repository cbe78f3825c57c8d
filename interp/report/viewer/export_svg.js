// The graph as it is drawn now, as an SVG file: with the scopes that are collapsed now, in the colours of now.

function svgText(text) {
  const sayable = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ");
  return sayable.replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");
}

function svgOf(scene) {
  const { x, y, right, bottom } = scene.bounds, room = 30, parts = [], { view } = scene;
  const width = right - x + 2 * room, height = bottom - y + 2 * room;
  parts.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${Math.ceil(height)}" ` +
             `viewBox="${x - room} ${y - room} ${width} ${height}" font-family="system-ui, sans-serif" font-size="11">`);
  parts.push(`<title>${svgText(scene.graph.title)}</title>`);
  parts.push(`<rect x="${x - room}" y="${y - room}" width="100%" height="100%" fill="${colours.paper}"/>`);
  for (const frame of scene.frames) parts.push(svgFrame(frame, view));
  for (const band of scene.bands) parts.push(svgBand(band, view));
  for (const line of scene.lines) parts.push(svgLine(line, view));
  for (const box of scene.boxes) parts.push(svgBox(box));
  for (const band of scene.bands) parts.push(svgRules(band, view));
  return parts.join("\n") + "\n</svg>\n";
}

function svgFrame({ x, y, right, bottom, title }, view) {
  const [left, base] = view.down ? [x + 16, y + 5] : [x + 5, y + 16];
  const turn = view.down ? ` text-anchor="end" transform="rotate(-90 ${left} ${base})"` : "";
  return `<rect x="${x}" y="${y}" width="${right - x}" height="${bottom - y}" fill="none" stroke="${colours.rule}" ` +
         `stroke-dasharray="4 4"/>` + svgWords(left, base, title, colours.faint, turn);
}

function svgWay(points, view) {
  let way = "";
  tracePath(points, {
    move: (...p) => { way += "M" + p.join(" "); }, line: (...p) => { way += "L" + p.join(" "); },
    curve: (...p) => { way += "C" + p.join(" "); },
  }, view.down);
  return way;
}

function svgBand(band, view) {
  const colour = hued(band.chain, "band");
  const halos = band.boxes.map(({ x, y, w, h }) =>
    `<rect x="${x - BAND.halo}" y="${y - BAND.halo}" width="${w + 2 * BAND.halo}" height="${h + 2 * BAND.halo}" ` +
    `rx="${BAND.round}" fill="${colour}"/>`);
  const way = band.ways.map(({ points }) => svgWay(points, view)).join("");
  return halos.join("") +
      (way ? `<path d="${way}" fill="none" stroke="${colour}" stroke-width="${BAND.ribbon}"/>` : "");
}

function svgWords(x, y, text, colour, more = "") {
  return `<text x="${x}" y="${y}" fill="${colour}"${more}>${svgText(cut(text))}</text>`;
}

function svgLine(line, view) {
  const [x, y] = line.points[line.points.length - 1], colour = line.order ? colours.order : colours.line;
  return `<path d="${svgWay(line.points, view)}" fill="none" stroke="${colour}"${line.order ? ' stroke-dasharray="5 4"' : ""}/>` +
         `<path d="M${x} ${y}${view.down ? "l-3.5 -7h7z" : "l-7 -3.5v7z"}" fill="${colour}"/>`;
}

const SVG_FONTS = { title: ' font-size="13" font-weight="600"', type: ' font-size="10"',
    hazard: ' font-size="10" font-style="italic"' };

function svgBox(box) {
  const pill = box.kind === "input" || box.kind === "result";
  const rim = pill ? colours.rule : box.state ? colours.chosen : box.chain < 0 ? colours.faint : hued(box.chain, "rim");
  const frame = `<rect x="${box.x}" y="${box.y}" width="${box.w}" height="${box.h}" rx="${pill ? box.h / 2 : 6}" ` +
    `fill="${pill ? colours.panel : colours.box}" stroke="${rim}" stroke-width="${box.state === "failed" ? 3 : 1.5}"` +
    `${box.control ? ' stroke-dasharray="6 3"' : box.state === "poisoned" ? ' stroke-dasharray="2 3"' : ""}/>`;
  return frame + svgAllWords(box.words, box.x, box.y) + (box.inner ? svgInner(box, box.inner) : "");
}
function svgAllWords(words, left, top) {
  return words.map(({ kind, text, x, y, anchor }) =>
    svgWords(left + x, top + y, text, colours[WORD_COLOURS[kind]],
             (SVG_FONTS[kind] || "") + (anchor === "start" ? "" : ` text-anchor="${anchor}"`))).join("");
}
function svgInner(box, { x, y, words, boxes, lines }) {
  return `<g transform="translate(${box.x + x} ${box.y + y})">` +
      lines.map(points => svgLine({ points, order: false }, { down: false })).join("") + svgAllWords(words, 0, 0) +
      boxes.map(svgBox).join("") + "</g>";
}

function svgRules(band, view) {
  const style = ' font-size="10" font-style="italic"';
  return ruleTexts(band, view).map(({ text, x, y, end }) =>
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
