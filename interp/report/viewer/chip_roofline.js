// Layers below the two roofs of a core: the port that feeds its multiply-add units, and those. Both axes double from
// line to line.

const ROOF = { width: 560, height: 260, left: 46, right: 150, top: 24, bottom: 34 };

function rooflineDrawing(run) {
  const { width, height } = ROOF, canvas = make("canvas", "roofline"), dots = window.devicePixelRatio || 1;
  canvas.style.width = width + "px";
  canvas.width = width * dots;
  canvas.height = height * dots;
  const context = canvas.getContext("2d");
  context.scale(dots, dots);
  const points = [...run.layers.filter(layer => layer.macs > 0 && layer.port_bytes > 0).map(layer => ({
    name: layer.name, x: layer.macs / layer.port_bytes, y: layer.macs / Math.max(1, layer.cycles * layer.cores) })),
    { name: "the step", x: run.roofline.intensity, y: run.roofline.reached, isAll: true }];
  const { ridge } = run.roofline, units = run.units, port = units / ridge;
  const log = Math.log2, least = list => Math.floor(log(Math.min(...list)) - 0.5);
  const x0 = least(points.map(p => p.x).concat(ridge / 4)), x1 = Math.ceil(log(Math.max(ridge * 4, ...points.map(p => p.x))));
  const y0 = least(points.map(p => p.y).concat(units / 16)), y1 = Math.ceil(log(units) + 0.3);
  const toX = x => ROOF.left + (log(x) - x0) / (x1 - x0) * (width - ROOF.left - ROOF.right);
  const toY = y => height - ROOF.bottom - (log(y) - y0) / (y1 - y0) * (height - ROOF.top - ROOF.bottom);
  drawRoofGrid(context, { x0, x1, y0, y1, toX, toY });
  context.save();
  context.beginPath();
  context.rect(ROOF.left, 0, width, height - ROOF.bottom);
  context.clip();
  context.strokeStyle = colours.order;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(toX(2 ** x0), toY(port * 2 ** x0));
  context.lineTo(toX(ridge), toY(units));
  context.lineTo(toX(2 ** x1), toY(units));
  context.stroke();
  context.restore();
  drawRoofPoints(context, points, toX, toY);
  return make("div", "wide", null, canvas);
}

function drawRoofGrid(context, { x0, x1, y0, y1, toX, toY }) {
  const shown = power => (power < 0 ? "1/" + 2 ** -power : String(2 ** power));
  context.font = "10px system-ui, sans-serif";
  context.strokeStyle = colours.rule;
  context.fillStyle = colours.faint;
  context.textAlign = "right";
  const every = Math.ceil((y1 - y0) / 8);
  for (let power = y0; power <= y1; ++power) {
    const y = Math.round(toY(2 ** power)) + 0.5;
    line(context, toX(2 ** x0), y, toX(2 ** x1), y);
    if ((power - y0) % every === 0) context.fillText(shown(power), ROOF.left - 6, y + 3);
  }
  context.textAlign = "center";
  for (let power = x0; power <= x1; ++power) {
    const x = Math.round(toX(2 ** power)) + 0.5;
    line(context, x, toY(2 ** y0), x, toY(2 ** y1));
    context.fillText(shown(power), x, ROOF.height - ROOF.bottom + 13);
  }
  context.textAlign = "left";
  context.fillText("MAC/clk and core", 2, 9);
  context.fillText("multiply-adds per byte at the port", ROOF.left, ROOF.height - 5);
}
function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// Names one below the other at the right, so that points that are close can be told apart.
function drawRoofPoints(context, points, toX, toY) {
  context.font = "11px system-ui, sans-serif";
  const shown = [...points].sort((a, b) => b.y - a.y).slice(0, 14);
  shown.forEach((point, i) => {
    const x = toX(point.x), y = toY(point.y), colour = point.isAll ? colours.ink : hued(points.indexOf(point), "rim");
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, point.isAll ? 6 : 4.5, 0, 2 * Math.PI);
    context.fill();
    const left = ROOF.width - ROOF.right + 12, top = ROOF.top + 8 + i * 15;
    context.fillRect(left, top - 8, 9, 9);
    context.fillStyle = colours.ink;
    context.fillText(`${point.name} ${point.y.toFixed(1)}`, left + 14, top);
  });
}
