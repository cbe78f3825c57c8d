// Where everything stands while some scopes are collapsed: the method of ir/layout/ in short. An open scope is a
// sheet of its own that stands as one box in the sheet around it, so frames hold their own boxes and no others; lines
// that cross frames are cut there, and their pieces meet at ports.

const ROOM = { layer: 72, port: 28, box: 32, bend: 24, line: 10, side: 16, top: 32, bottom: 26 };

// ---- one sheet: `items` in topological order, `links` {from, to, fromY, toY}; y counts from the middle of an item ----

function laySheet(items, links, least) {
  const all = [...items], columns = [];
  for (const item of all) item.before = [], item.after = [], item.thin = Boolean(item.port);
  assignLayers(items, links);
  for (const link of links) addBends(link, all);
  for (const item of all) (columns[item.layer] = columns[item.layer] || []).push(item);
  for (let i = 0; i < columns.length; ++i) columns[i] = columns[i] || [];
  orderColumns(columns);
  placeMiddles(columns);
  const last = columns.length - 1, has = port => items.some(item => item.port === port);
  const [into, out] = [has("in"), has("out")];
  let x = 0;
  columns.forEach((column, i) => {
    if (i > 0) x += (into && i === 1) || (out && i === last) ? ROOM.port : ROOM.layer;
    if (out && i === last) x = Math.max(x, least);
    const wide = column.reduce((most, item) => Math.max(most, item.w), 0);
    for (const item of column) item.x = x, item.right = x + wide;
    x += wide;
  });
  const top = all.reduce((least, item) => Math.min(least, item.middle - item.h / 2), Infinity);
  for (const item of all) item.middle -= top, item.y = item.middle - item.h / 2;
  return { width: Math.max(x, least), height: all.reduce((most, item) => Math.max(most, item.y + item.h), 0) };
}

// Longest paths; who has nothing before it stands before who needs it first. Ports have a layer for themselves.
function assignLayers(items, links) {
  const into = new Map(items.map(item => [item, []])), outOf = new Map(items.map(item => [item, []]));
  items.forEach((item, i) => { item.rank = i; });
  for (const link of links) {
    if (link.from.rank >= link.to.rank) continue;
    into.get(link.to).push(link.from);
    outOf.get(link.from).push(link.to);
  }
  const first = items.some(item => item.port === "in") ? 1 : 0;
  let last = 0;
  for (const item of items) {
    item.layer = into.get(item).reduce((most, from) => Math.max(most, from.layer + 1), item.port === "in" ? 0 : first);
    if (item.port !== "out") last = Math.max(last, item.layer);
  }
  for (const item of items) if (item.port === "out") item.layer = last + 1;
  for (const item of items)
    if (!item.port && into.get(item).length === 0 && outOf.get(item).length > 0)
      item.layer = outOf.get(item).reduce((least, to) => Math.min(least, to.layer), Infinity) - 1;
}

// A place in each layer that a line crosses; not more of them than can be placed in a moment.
function addBends(link, all) {
  const { from, to } = link, most = 60000;
  link.bends = [];
  if (to.layer - from.layer > 1 && all.length + to.layer - from.layer < most)
    for (let layer = from.layer + 1; layer < to.layer; ++layer)
      link.bends.push({ w: 0, h: 0, layer, thin: true, before: [], after: [] });
  all.push(...link.bends);
  if (to.layer <= from.layer) return;
  const way = [from, ...link.bends, to];
  for (let i = 1; i < way.length; ++i) {
    const own = i === 1 ? link.fromY : 0, other = i + 1 === way.length ? link.toY : 0;
    way[i - 1].after.push({ item: way[i], y: other, own });
    way[i].before.push({ item: way[i - 1], y: own, own: other });
  }
}

function orderColumns(columns) {
  const note = column => column.forEach((item, i) => { item.rank = i - (column.length - 1) / 2; });
  columns.forEach(note);
  let tall = 1024;
  for (const column of columns) for (const item of column) tall = Math.max(tall, item.h);
  for (let sweep = 0; sweep < 10; ++sweep) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) {
      for (const item of column) {
        const near = forward ? item.before : item.after;
        item.wish = near.length === 0 ? item.rank
          : near.reduce((sum, n) => sum + n.item.rank + (n.y - n.own) / tall, 0) / near.length;
      }
      column.sort((a, b) => a.wish - b.wish || a.rank - b.rank);
      note(column);
    }
  }
}

function distance(above, below) {
  const thin = above.thin + below.thin;
  return (above.h + below.h) / 2 + (thin === 0 ? ROOM.box : thin === 1 ? ROOM.bend : ROOM.line);
}

// As level with their neighbours as order and distance allow: those of a column that get in each other's way move as
// one block to the mean of their wishes.
function placeMiddles(columns) {
  for (const column of columns)
    column.forEach((item, i) => { item.middle = i === 0 ? 0 : column[i - 1].middle + distance(column[i - 1], item); });
  const sweeps = 10;
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const forward = sweep % 2 === 0, both = sweep + 2 >= sweeps;
    for (const column of forward ? columns : [...columns].reverse()) {
      const blocks = [];
      let down = 0;
      column.forEach((item, i) => {
        if (i > 0) down += distance(column[i - 1], item);
        item.down = down;
        const near = both ? [...item.before, ...item.after] : forward ? item.before : item.after;
        let sum = 0, weights = 0;
        for (const n of near) {
          const weight = item.thin && n.item.thin ? 8 : 1;
          sum += weight * (n.item.middle + n.y - n.own), weights += weight;
        }
        const weight = weights === 0 ? 0.1 : item.thin ? 4 : 1;
        const block = { sum: weight * ((weights === 0 ? item.middle : sum / weights) - down), weight, items: [item] };
        while (blocks.length > 0 && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight >=
                                    block.sum / block.weight) {
          const above = blocks.pop();
          block.sum += above.sum, block.weight += above.weight, block.items = above.items.concat(block.items);
        }
        blocks.push(block);
      });
      for (const { sum, weight, items } of blocks) for (const item of items) item.middle = sum / weight + item.down;
    }
  }
}

// ---- sheets in sheets ----

// `boxes` with w, h, group and first (a task); `lines` {from, to, fromY, toY}: boxes by number, y from their top;
// `parentOf` by group: the one around it, or -1; `widthOf`: what its title needs. Gives boxes their x and y and lines
// their points, and returns the frames.
function relayout(boxes, lines, parentOf, widthOf) {
  const sheets = new Map();
  const sheetOf = group => {
    if (!sheets.has(group)) {
      const sheet = { group, items: [], links: [], in: new Map(), out: new Map(), first: Infinity };
      sheets.set(group, sheet);
      if (group >= 0) sheetOf(parentOf[group]).items.push(sheet);
    }
    return sheets.get(group);
  };
  for (const box of boxes) {
    sheetOf(box.group).items.push(box);
    for (let g = box.group; ; g = parentOf[g]) {
      sheets.get(g).first = Math.min(sheets.get(g).first, box.first);
      if (g < 0) break;
    }
  }
  for (const line of lines) line.pieces = cutLine(line, boxes, sheetOf, parentOf);
  for (const sheet of [...sheets.values()].sort((a, b) => b.group - a.group)) layInside(sheet, sheet.group < 0 ? 0 : widthOf(sheet.group));
  const whole = sheetOf(-1);
  whole.left = whole.top = 0;
  const order = [...sheets.values()].sort((a, b) => a.group - b.group);
  for (const sheet of order) {
    if (sheet.group >= 0) sheet.left = sheet.x + sheet.begin[0], sheet.top = sheet.y + sheet.begin[1];
    for (const item of sheet.items) item.x += sheet.left, item.y += sheet.top;
  }
  for (const line of lines) line.points = line.pieces.flatMap(pointsOf);
  return order.filter(sheet => sheet.group >= 0);
}

function portOf(sheet, port, key) {
  const known = sheet[port].get(key), fresh = known || { w: 0, h: 0, port };
  sheet[port].set(key, fresh);
  return [fresh, !known];
}

// Out of the frames around its source, then into those around its target. Lines from one end share their ports.
function cutLine(line, boxes, sheetOf, parentOf) {
  const from = boxes[line.from], to = boxes[line.to], key = line.from + " " + line.fromY, pieces = [];
  const around = new Set();
  for (let g = to.group; g >= 0; g = parentOf[g]) around.add(g);
  let end = { item: from, y: line.fromY - from.h / 2 }, g = from.group;
  const add = (sheet, piece) => { piece.sheet = sheet; sheet.links.push(piece); return piece; };
  for (; g >= 0 && !around.has(g); g = parentOf[g]) {
    const [port, fresh] = portOf(sheetOf(g), "out", key);
    if (fresh) port.piece = add(sheetOf(g), { start: end, end: { item: port, y: 0 } });
    pieces.push(port.piece);
    end = { item: sheetOf(g), port };
  }
  const inwards = [];
  for (let inner = to.group; inner !== g; inner = parentOf[inner]) inwards.unshift(inner);
  for (const inner of inwards) {
    const [port, fresh] = portOf(sheetOf(inner), "in", key);
    if (fresh) port.piece = add(sheetOf(parentOf[inner]), { start: end, end: { item: sheetOf(inner), port } });
    pieces.push(port.piece);
    end = { item: port, y: 0 };
  }
  pieces.push(add(sheetOf(to.group), { start: end, end: { item: to, y: line.toY - to.h / 2 } }));
  return pieces;
}

function layInside(sheet, least) {
  const y = ({ item, port, y }) => port ? item.begin[1] + port.middle - item.h / 2 : y;
  for (const link of sheet.links) {
    link.from = link.start.item, link.to = link.end.item;
    link.fromY = y(link.start), link.toY = y(link.end);
  }
  const into = [...sheet.in.values()], out = [...sheet.out.values()];
  sheet.items.sort((a, b) => a.first - b.first);
  const left = into.length > 0 ? 0 : ROOM.side, right = out.length > 0 ? 0 : ROOM.side;
  const { width, height } = laySheet([...into, ...sheet.items, ...out], sheet.links, least - left - right);
  sheet.begin = [left, ROOM.top];
  sheet.w = left + width + right;
  sheet.h = height + ROOM.top + ROOM.bottom;
}

function pointsOf({ sheet, from, to, fromY, toY, bends }) {
  const at = (x, y) => [x + sheet.left, y + sheet.top];
  const begin = at(endX(from, true, sheet), from.middle + fromY), past = at(from.right, from.middle + fromY);
  return [begin, ...(past[0] > begin[0] ? [begin, past] : []), ...bends.flatMap(bend =>
    [at(bend.x, bend.middle), at(bend.right, bend.middle)]), at(endX(to, false, sheet), to.middle + toY)];
}

// Of an item of this sheet, whose x is on the whole one by now; ports and bends stay where they are in theirs.
function endX(item, leaves, sheet) { return (item.port ? item.x : item.x - sheet.left) + (leaves ? item.w : 0); }
