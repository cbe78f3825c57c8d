// The tab Source: the program, with the number of tasks beside each line that makes some. A click on such a line
// selects its tasks.

const WORDS = new Set(("agent task graph fn ir let var for in if else while return break continue import as run on " +
  "weight state table out inout true false region fields launch enqueue dequeue").split(" "));
const TOKEN = /(\/\/.*)|("(?:[^"\\]|\\.)*"?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

class SourceView {
  constructor(host) {
    this.bar = make("div", "bar");
    host.append(this.bar);
    const body = make("div", "view source");
    body.style.position = "relative";
    body.style.flex = "1";
    body.style.minHeight = "0";
    host.append(body);
    this.rows = new Rows(body, 20, i => this.row(i));
    this.rows.box.addEventListener("click", event => this.click(event));
    this.files = make("select");
    report.sources.forEach((source, i) => {
      const option = make("option", "", source.path);
      option.value = i;
      this.files.append(option);
    });
    this.files.addEventListener("change", () => this.showFile(Number(this.files.value)));
    this.bar.append(this.files, make("span", "", "tasks stand beside the lines that make them"));
    this.texts = report.sources.map(source => source.text.split("\n"));
    this.file = -1;
  }
  open(graph) {
    this.graph = graph;
    const place = graph && graph.size > 0 ? graph.placeOf(0) : null;
    this.showFile(this.file >= 0 ? this.file : place && place.source >= 0 ? place.source : 0);
  }
  showFile(file) {
    this.file = file;
    this.files.value = file;
    this.tasks = this.graph ? this.graph.nodesByLine(file) : new Map();
    this.rows.setCount(this.texts[file].length);
  }
  shown() { this.redraw(); this.select(app.selection); }
  redraw() { this.rows.fill(); }

  select(selection) {
    this.marked = new Map();  // line -> places
    const places = selection ? selection.nodes.map(node => selection.graph.placeOf(node)) : channelPlaces();
    for (const place of places) {
      if (!place || place.source < 0) continue;
      if (this.marked.size === 0 && place.source !== this.file) this.showFile(place.source);
      if (place.source !== this.file) continue;
      if (!this.marked.has(place.line)) this.marked.set(place.line, []);
      this.marked.get(place.line).push(place);
    }
    if (this.marked.size > 0 && (!selection || selection.from !== "source")) this.rows.reveal(this.marked.keys().next().value - 1);
    else this.rows.fill();
  }

  goTo(place) {
    if (place.source !== this.file) this.showFile(place.source);
    this.rows.reveal(place.line - 1);
  }

  row(i) {
    const text = this.texts[this.file][i], number = i + 1, tasks = this.tasks.get(number);
    const row = make("div", "row code");
    const line = make("span", "line");
    colourLine(line, text);
    const mark = ({ column, length }, kind) => {
      const here = make("span", kind), begin = letters(text, column - 1), end = letters(text, column - 1 + length);
      here.style.left = begin + "ch";
      here.style.width = Math.max(1, Math.min(end, text.length) - begin) + "ch";
      line.append(here);
    };
    for (const place of (this.marked && this.marked.get(number)) || []) {
      mark(place, "here");
      row.classList.add("chosen");
    }
    for (const { place, message } of failures) {
      if (!place || place.source !== this.file || place.line !== number) continue;
      mark(place, "here wrong");
      row.title = message;
    }
    row.append(make("span", "number", number), make("span", "count", tasks ? plural(tasks.length, "task") : ""), line);
    return row;
  }
  click(event) {
    const row = event.target.closest("[data-row]");
    if (row) this.choose(Number(row.dataset.row) + 1);
  }
  choose(line) {
    const tasks = this.tasks.get(line) || [];
    select(this.graph, tasks, report.sources[this.file].path + ":" + line, "source");
  }
  key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return false;
    const lines = [...this.tasks.keys()].sort((a, b) => a - b);
    if (lines.length === 0) return false;
    const now = this.marked && this.marked.size > 0 ? [...this.marked.keys()][0] : 0;
    const next = event.key === "ArrowDown" ? lines.find(line => line > now) : lines.filter(line => line < now).pop();
    if (next) { this.choose(next); this.rows.reveal(next - 1); }
    return true;
  }
}

function colourLine(line, text) {
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = match[1] ? "note" : match[2] ? "text" : match[3] ? "digit" : WORDS.has(match[4]) ? "word" : "";
    if (kind === "") continue;
    line.append(text.slice(end, match.index), make("span", kind, match[0]));
    end = match.index + match[0].length;
  }
  line.append(text.slice(end));
}

// How many letters the first `bytes` bytes of a line are.
function letters(text, bytes) {
  let count = 0;
  for (const letter of text) {
    if (bytes <= 0) break;
    bytes -= new TextEncoder().encode(letter).length;
    count += letter.length;
  }
  return count;
}
