#!/usr/bin/env python3
"""Clicks through reports in headless Chromium:
click_through.py SMALL.html LARGE.html EMPTY.html FAILED.html TRAINED.html CHIP.html [FOLDER for pictures].

SMALL is the report of a run of tests/browser/walk.task, LARGE that of a graph of 10,000 tasks,
EMPTY that of a program without tasks, FAILED that of a run of tests/browser/fails.task,
TRAINED that of tests/browser/trains.task, CHIP that of tests/browser/chip.task. Prints a line per thing
tried; the last line is "all well". Exit code 77: there is no Chromium.
"""
import json
import sys
from pathlib import Path

from chip import click_through_chip
from chrome import Chrome, find_chromium
from steps import check, hostile, tab, told, view


def chosen(page):
    return page.value("(s => s && { label: s.label, names: s.nodes.map(n => s.graph.pathOf(n)) })(taskspecReport.app.selection)")


def node(page, path):
    return page.value("(g => g.nodes.findIndex((n, i) => g.pathOf(i) === %s))(taskspecReport.app.graph)" % json.dumps(path))


def click_task(page, path):
    point = page.value(f"{view(page, 'graph')}.pointOf({node(page, path)})")
    page.click(point["x"], point["y"])


def tabs(page):
    titles = page.value("[...document.querySelectorAll('#tabs button')].map(b => b.firstChild.textContent)")
    check(titles == ["Source", "Graph", "Chains", "Slices", "Plan", "Timeline"], f"the tabs are there: {titles}")
    check(tab(page) == "graph", "the graph is shown first")
    for key, name in enumerate(("source", "graph", "chains", "slices", "plan", "timeline"), 1):
        page.key(str(key))
        check(tab(page) == name, f"key {key} shows {name}")
        shown = page.value("[...document.querySelectorAll('.view[id]')].filter(v => !v.hidden).map(v => v.id)")
        check(shown == ["view-" + name], f"only {name} is visible")
    page.click_on("#tab-graph")
    check(tab(page) == "graph", "a click on a tab shows it")


def marked(page, name):
    return page.value(f"[...document.querySelectorAll('#view-{name} .row.chosen')].map(r => Number(r.dataset.row))")


def click_through(page):
    click_task(page, "walk#0/inc#1")
    check(chosen(page)["names"] == ["walk#0/inc#1"], "a click on a task selects it")
    check("task inc" in page.value("document.getElementById('details').textContent"), "the panel tells what it is")
    line = page.value("taskspecReport.app.graph.placeOf(taskspecReport.app.selection.nodes[0]).line")
    page.key("1")
    check(line - 1 in marked(page, "source"), "its line of source is marked")
    page.key("3")
    chain = page.value("taskspecReport.app.graph.chainOf(taskspecReport.app.selection.nodes[0])")
    check(marked(page, "chains") == [chain], "its chain is marked")
    page.key("5")
    step = page.value("taskspecReport.app.graph.stepOf[taskspecReport.app.selection.nodes[0]]")
    check(marked(page, "plan") == [step], "its step is marked")
    page.key("6")
    bars = page.value(f"[...{view(page, 'timeline')}.chosen].map(i => taskspecReport.bars[i].step)")
    check(bars == [step], "its bar is marked")
    # And back: from a line, a chain, a step, a bar.
    page.key("1")
    page.click_on(f"#view-source .row[data-row='{line - 1}'] .line")
    check("walk#0/inc#1" in chosen(page)["names"], "a click on its line selects it")
    page.key("3")
    page.click_on("#view-chains .row[data-row='0']")
    check(chosen(page)["label"] == "chain 0", "a click on a chain selects it")
    page.key("5")
    page.click_on("#view-plan .row[data-row='1']")
    check(chosen(page)["label"] == "step 1", "a click on a step selects it")
    page.key("6")
    page.key("0")
    longest = page.value("taskspecReport.bars.reduce((m, b, i, all) => b.end - b.begin > all[m].end - all[m].begin ? i : m, 0)")
    point = page.value(f"{view(page, 'timeline')}.pointOf({longest})")
    page.click(point["x"], point["y"])
    check(chosen(page) is not None and chosen(page)["label"].startswith("step"), "a click on a bar selects its step")
    page.key("Escape")
    check(chosen(page) is None, "Esc selects nothing")


def slicing(page):
    page.key("4")
    code = page.value("document.getElementById('view-slices').textContent")
    check("walk" in code and "nothing for the" in code, "the two programs are shown")
    channel = "document.querySelector('#view-slices .name')"
    name = page.value(f"{channel}.textContent")
    page.value(f"{channel}.click()")
    check(page.value("taskspecReport.app.channel") == 0, f"a click on a channel chooses it: {name}")
    rows = "[...document.querySelectorAll('#view-slices .row.chosen')].map(r => r.textContent)"
    shown = page.value(rows)
    check(any("dequeue " + name in row and "enqueue " + name in row for row in shown), "both of its ends are marked")
    check("receives it" in page.value("document.getElementById('details').textContent"), "the panel tells why")
    page.key("1")
    line = page.value("document.querySelector('#view-source .row.chosen').textContent")
    check(".scalar" in line, "its line of source is marked")
    page.key("4")
    page.key("Escape")
    check(page.value("taskspecReport.app.channel") is None and page.value(rows) == [], "Esc chooses none")
    page.key("ArrowDown")
    check(page.value("taskspecReport.app.channel") == 0, "an arrow chooses the first channel")
    talking = "document.querySelector('#view-slices .talks')"
    page.key("Escape")
    page.value(f"{talking}.click()")
    check(page.value("taskspecReport.app.channel") == 0, "a click on a line with a channel chooses it")
    page.key("2")
    click_task(page, "walk#0/inc#1")
    check(page.value("taskspecReport.app.channel") is None, "a task takes the place of a channel")
    page.key("Escape")


def searching(page):
    page.key("/")
    check(page.value("document.activeElement.id") == "query", "/ goes to the search")
    page.type("add#")
    hits = page.value("[...document.querySelectorAll('#hits li')].map(l => l.textContent)")
    check(any("add#0" in hit for hit in hits), "tasks are found by name")
    page.key("Enter")
    check("walk#0/add#0" in chosen(page)["names"], "Enter selects the first")
    page.key("/")
    page.type("no such thing at all")
    check("nothing found" in page.value("document.getElementById('hits').textContent"), "what is not there is not found")
    page.key("Escape")
    check(page.value("document.getElementById('hits').hidden"), "Esc ends the search")


def keys_in_graph(page):
    page.key("2")
    click_task(page, "walk#0/src#0")
    down = page.value(f"{view(page, 'graph')}.view.down")
    page.key("ArrowDown" if down else "ArrowRight")
    after = chosen(page)["names"]
    check(after != ["walk#0/src#0"], f"an arrow walks along an edge to {after}")
    page.key("ArrowUp" if down else "ArrowLeft")
    check(chosen(page)["names"] == ["walk#0/src#0"], "and back")


def collapsing(page):
    page.key("2")
    boxes = f"{view(page, 'graph')}.scene.boxes.length"
    before = page.value(boxes)
    click_task(page, "walk#0/inc#1")
    page.key("c")
    closed = page.value(boxes)
    check(closed < before, f"c collapses the scope: {before} boxes, then {closed}")
    page.key("c")
    check(page.value(boxes) == before, "c opens it again")
    frames_are_right(page, "of open scopes")
    page.value(f"{view(page, 'graph')}.collapseAll()")
    frames_are_right(page, "with all collapsed")
    page.value(f"{view(page, 'graph')}.setCollapsed(new Set())")
    for key, what in (("v", "from top to bottom"), ("t", "without types"), ("t", "with types"), ("v", "across again")):
        page.key(key)
        frames_are_right(page, what)


def types(page):
    words = page.value(f"{view(page, 'graph')}.scene.boxes.flatMap(b => b.words.map(w => w.kind + ' ' + w.text))")
    check(any(w.startswith("type f32[") for w in words), "types stand on edges")


# A link leads to a tab and a selection; what the page shows is a link.
def links(page):
    page.key("2")
    click_task(page, "walk#0/inc#1")
    check(page.value("location.hash") == "#graph/node=walk%230%2Finc%231", f"the address says what is shown: {page.value('location.hash')}")
    page.value("location.hash = '#chains/chain=1'")
    page.until("taskspecReport.app.view.id === 'chains'")
    check(chosen(page)["label"] == "chain 1", "a link leads to a tab and a chain")
    page.value("location.hash = '#graph/node=walk%230%2Fadd%230'")
    page.until("taskspecReport.app.view.id === 'graph'")
    check(chosen(page)["names"] == ["walk#0/add#0"], "and to a task")
    page.value("location.hash = '#nowhere/node=none/chain=x'")
    page.value("new Promise(done => setTimeout(done, 50))")
    check(tab(page) == "graph", "one that leads nowhere changes nothing")
    page.key("Escape")


def corner(page):
    shown = "!document.querySelector('canvas.minimap').hidden"
    page.value(f"{view(page, 'graph')}.fit()")
    page.until("!(%s)" % shown)
    page.key("+")
    page.key("+")
    page.until(shown)
    before = page.value(f"{view(page, 'graph')}.sheet.left")
    box = page.value("(r => [r.left, r.top])(document.querySelector('canvas.minimap').getBoundingClientRect())")
    page.click(box[0] + 4, box[1] + 4)
    check(page.value(f"{view(page, 'graph')}.sheet.left") < before, "all of the graph stands in a corner; a click there looks there")
    page.value(f"{view(page, 'graph')}.fit()")


# Frames are disjoint or one inside the other, hold the boxes of their scope and no others; boxes do not overlap.
def frames_are_right(page, when):
    wrong = page.value("""(({ groups, boxes, frames, view }) => {
      const apart = (a, b) =>
        a.x >= b.right - 1e-6 || b.x >= a.right - 1e-6 || a.y >= b.bottom - 1e-6 || b.y >= a.bottom - 1e-6;
      const holds = (a, b) =>
        b.x > a.x - 1e-6 && b.right < a.right + 1e-6 && b.y > a.y - 1e-6 && b.bottom < a.bottom + 1e-6;
      const all = boxes.map(box => ({ ...box, right: box.x + box.w + (view.down ? 0 : box.tab),
        bottom: box.y + box.h + (view.down ? box.tab : 0), inside: box.kind === "task" ? groups.group[box.node]
          : box.kind === "group" ? groups.parent[box.group] : -1 }));
      const isIn = (group, outer) => {
        while (group >= 0 && group !== outer) group = groups.parent[group];
        return group === outer;
      };
      for (const frame of frames) {
        for (const box of all)
          if (isIn(box.inside, frame.group) ? !holds(frame, box) : !apart(frame, box))
            return frame.title + " and " + box.title;
        for (const other of frames)
          if (other.group < frame.group &&
              (isIn(frame.group, other.group) ? !holds(other, frame) : !apart(other, frame)))
            return frame.title + " and " + other.title;
      }
      all.sort((a, b) => a.x - b.x);
      for (let i = 0; i < all.length; ++i)
        for (let k = i + 1; k < all.length && all[k].x < all[i].right; ++k)
          if (!apart(all[i], all[k])) return all[i].title + " and " + all[k].title;
      return "";
    })(%s.scene)""" % view(page, "graph"))
    check(wrong == "", f"boxes and frames {when} stand as they should {wrong}")


def exporting(page):
    svg = page.value(f"taskspecReport.svgOf({view(page, 'graph')}.scene)")
    parsed = page.value("new DOMParser().parseFromString(%s, 'image/svg+xml').querySelectorAll('parsererror').length"
                        % json.dumps(svg))
    check(parsed == 0 and "inc#1" in svg, "the drawing can be had as SVG")


def themes(page):
    first = page.value("document.documentElement.dataset.theme")
    page.key("d")
    second = page.value("document.documentElement.dataset.theme")
    check({first, second} == {"light", "dark"}, "d changes between light and dark")
    page.key("d")


def large(page, pictures):
    count = page.value("taskspecReport.app.graph.size")
    check(count >= 10000, f"a graph of {count} tasks")
    told(f"opens in {page.seconds_to_open:.2f} s")
    draw = page.value(f"(v => {{ const t = performance.now(); v.sheet.paint(); v.sheet.canvas.getContext('2d')"
                      f".getImageData(0, 0, 1, 1); return performance.now() - t; }})({view(page, 'graph')})")
    told(f"is drawn in {draw:.0f} ms")
    if pictures:
        page.picture(pictures / "large.png")
    begin = page.value("performance.now()")
    page.value("taskspecReport.selectNode(taskspecReport.app.graph, 7777, null)")
    took = page.value("performance.now()") - begin
    told(f"selecting takes {took:.0f} ms")
    collapsing_many(page, pictures)
    for key, name in enumerate(page.value("taskspecReport.app.views.map(v => v.id)"), 1):
        page.key(str(key))
        rows = page.value("document.querySelectorAll('.view:not([hidden]) .row').length")
        check(rows < 300, f"{name} has only the {rows} rows in sight")
        if pictures:
            page.picture(pictures / f"large_{name}.png")


def collapsing_many(page, pictures):
    graph = view(page, "graph")
    count = page.value("taskspecReport.app.graph.scopes.length")
    for what, scopes in (("all", f"{graph}.graph.scopes.map((s, i) => i)"),
                         ("a third", f"{graph}.graph.scopes.map((s, i) => i).filter(i => i % 3 === 1)")):
        begin = page.value("performance.now()")
        page.value(f"{graph}.setCollapsed(new Set({scopes}))")
        took = page.value("performance.now()") - begin
        told(f"collapsing {what} of {count} scopes takes {took:.0f} ms")
        frames_are_right(page, f"with {what} of them collapsed")
    if pictures:
        page.value(f"{graph}.fit()")
        page.picture(pictures / "large_collapsed.png")
    page.value(f"{graph}.setCollapsed(new Set())")


def failed(page):
    panel = "document.getElementById('details').textContent"
    check("the run failed" in page.value(panel), "the panel says that the run failed")
    check("E5002" in page.value(panel) and "fails.task:7:" in page.value(panel), "of what, and where")
    check("what had run" in page.value(panel) and "tasks: 0" not in page.value(panel), "and what had run")
    states = page.value("taskspecReport.app.graph.nodes.map((n, i) => [n.name.split('#')[0], "
                        f"{view(page, 'graph')}.boxOf(i).state])")
    check(sorted(states) == [["add", "poisoned"], ["ratio", "failed"], ["sub", ""]], f"boxes tell what happened: {states}")
    check("poisoned by it" in page.value(panel) and "1 of 3 tasks" in page.value(panel), "and so does the panel")
    page.value("document.querySelector('#details .failure .link').click()")
    check(tab(page) == "source", "a click on the place shows the source")
    marked = page.value("[...document.querySelectorAll('.wrong')].map(e => e.closest('.row').dataset.row)")
    check(marked == ["6"], f"where the line is marked: {marked}")


# A loop that is one task opens to a picture of its body, with what ran in it; so does the task in that.
def opening(page):
    page.key("2")
    page.key("[")
    loop = page.value("taskspecReport.app.graph.nodes.findIndex(n => n.control)")
    box = f"{view(page, 'graph')}.boxOf({loop})"
    point = page.value(f"(v => {{ v.fit(); const b = v.boxOf({loop}), p = v.sheet.canvas.getBoundingClientRect(), "
                       f"w = b.words.find(w => w.kind === 'title'), left = w.anchor === 'middle' ? b.w / 2 - 40 : 14; "
                       f"return [p.left + v.sheet.toX(b.x + left), p.top + v.sheet.toY(b.y + w.y - 4)]; }})({view(page, 'graph')})")
    before = page.value(f"{box}.h")
    page.click(*point)
    words = page.value(f"{box}.inner.words.map(w => w.text)")
    check(words[0].startswith("3 turns, ") and words[0].endswith(" each, 32 B at once") and page.value(f"{box}.h") > before,
          f"a click on its sign opens a loop: {words}")
    inner = f"{box}.inner.boxes.find(b => b.kind === 'inner')"
    names = page.value(f"{box}.inner.boxes.map(b => [b.kind, b.title])")
    check(names == [["input", "s: i32[N]"], ["inner", "⊞ inc#0"], ["result", "s"]], f"to what stands in its body: {names}")
    check(page.value(f"{inner}.words.some(w => w.text.startsWith('× 3, '))"), "and what ran there how often")
    small = page.value(f"{box}.h")
    page.click(*page.value(f"(v => {{ const b = v.boxOf({loop}), i = b.inner, o = {inner}, "
                           f"p = v.sheet.canvas.getBoundingClientRect(); return [p.left + v.sheet.toX(b.x + i.x + o.x + 14), "
                           f"p.top + v.sheet.toY(b.y + i.y + o.y + 13)]; }})({view(page, 'graph')})"))
    names = page.value(f"{inner}.inner.boxes.map(b => b.title)")
    check("add#0" in names and page.value(f"{box}.h") > small, f"a task in it opens in turn: {names}")
    check("add#0" in page.value(f"taskspecReport.svgOf({view(page, 'graph')}.scene)"), "and stands in the exported drawing")
    frames_are_right(page, "with an open loop")
    page.value(f"taskspecReport.selectNode(taskspecReport.app.graph, {loop}, null)")
    check("3 turns, " in page.value("document.getElementById('details').textContent"), "the panel knows its turns")
    page.key("c")
    check(page.value(f"{box}.h") == before, "c closes it again")


def whole_timeline(page):
    rows = page.value(f"{view(page, 'timeline')}.rows.map(r => r.name)")
    check(rows[:2] == ["host program", "graph program"] and rows[2].startswith("worker"), f"the timeline has all rows: {rows}")
    entries = page.value(f"{view(page, 'timeline')}.rows[1].entries.map(e => e.what)")
    check({"plan", "run", "records tasks"} <= set(entries), f"the graph program makes plans and runs them: {set(entries)}")
    waits = page.value(f"{view(page, 'timeline')}.happened.messages.map(m => [m.from.begin, m.end, m.host])")
    check(len(waits) > 0 and all(begin <= end for begin, end, _ in waits), f"{len(waits)} messages lead from who sends to who waits")
    path = page.value(f"{view(page, 'timeline')}.path")
    end = page.value(f"{view(page, 'timeline')}.end")
    ends = [(a["begin"], a["end"]) for a in path]
    together = all(abs(b[0] - a[1]) < 1 for a, b in zip(ends, ends[1:]))
    check(together and abs(ends[-1][1] - end) < 1 and ends[0][0] < 0.05 * end, f"the critical path is whole: {len(path)} pieces")
    # Where the graph program was done before the host asked, nobody waited for kernels.
    waited = any(p["what"] in ("plan", "records tasks", "hand-over") for p in path)
    check(not waited or any(p["what"] == "kernels" for p in path), f"and leads through kernels: {waited}")


def rows_of_training(page):
    return page.value("[...document.querySelectorAll('#view-training .row')].map(row => "
                      "Object.fromEntries([...row.children].map(cell => [cell.className.split(' ')[0], cell.textContent])))")


def trained(page):
    check("training" in page.value("taskspecReport.app.views.map(v => v.id)"), "a program that trains has a tab for it")
    page.click_on("#tab-training")
    bar = page.value("document.querySelector('#view-training .bar').textContent")
    check(all(part in bar for part in ("forward", "backward", "update", "estimated")), f"its bar has the sums: {bar}")
    rows = rows_of_training(page)
    check({row["pass"] for row in rows} >= {"forward", "backward"}, f"rows of all parts of a step: {len(rows)} in sight")
    layers = {(row["task"], row["name"]) for row in rows if row["pass"] == "forward"}
    check(("Net.a.forward", "relu") in layers and ("Net.b.forward", "relu") not in layers, "layers of one kind do not mix")
    check(all(row["ms"] and row["calls"] for row in rows), "each has its calls and times")
    check(page.value("[...document.querySelectorAll('#view-training .share i')].every(i => i.offsetWidth > 0)"),
          "two bars for each: measured and estimated")
    page.value("(o => { o.value = 'slowest first'; o.dispatchEvent(new Event('change')); })"
               "(document.querySelector('#view-training select'))")
    times = page.value(f"{view(page, 'training')}.ops.map(op => op.ms)")
    check(times == sorted(times, reverse=True), "they can be put in order")
    page.value("document.querySelector('#view-training .link').click()")
    check(tab(page) == "source", "a click on a line shows the source")


def main(small, big, empty, failing, training, chip, pictures=None):
    if not find_chromium():
        print("skipped: there is no chromium")
        return 77
    pictures = Path(pictures) if pictures else None
    for dark in (False, True):
        with Chrome(dark=dark) as chrome:
            page = chrome.open(small)
            if pictures:
                page.picture(pictures / f"small_{'dark' if dark else 'light'}.png")
            check(page.value("document.documentElement.dataset.theme") == ("dark" if dark else "light"),
                  "the theme is that of the system")
            if pictures:
                page.key("4")
                page.key("ArrowDown")
                page.picture(pictures / f"slices_{'dark' if dark else 'light'}.png")
                page.key("Escape")
                page.key("2")
            if not dark:
                for part in (tabs, click_through, slicing, searching, keys_in_graph, types, collapsing, corner, links,
                             exporting, themes, hostile):
                    part(page)
            check(page.requests() == [], "nothing was asked of the network")
            check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    with Chrome() as chrome:
        page = chrome.open(small, link="#chains/chain=1")
        check(tab(page) == "chains" and chosen(page)["label"] == "chain 1", "a page that a link opens shows what it says")
        page = chrome.open(big)
        large(page, pictures)
        check(page.requests() == [], "nothing was asked of the network")
        check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    for dark in (False, True):
        with Chrome(dark=dark) as chrome:
            page = chrome.open(failing)
            if pictures:
                page.picture(pictures / f"failed_{'dark' if dark else 'light'}.png")
            failed(page)
            opening(page)
            whole_timeline(page)
            if pictures:
                page.key("6")
                page.picture(pictures / f"timeline_{'dark' if dark else 'light'}.png")
                page.key("1")
            if pictures:
                page.picture(pictures / f"failed_source_{'dark' if dark else 'light'}.png")
            check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    for dark in (False, True):
        with Chrome(dark=dark) as chrome:
            page = chrome.open(training)
            if pictures:
                page.click_on("#tab-training")
                page.picture(pictures / f"training_{'dark' if dark else 'light'}.png")
            trained(page)
            check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    click_through_chip(chip, pictures)
    with Chrome() as chrome:
        page = chrome.open(empty)
        check(tab(page) == "source", "a program without tasks shows its source")
        check("print(1)" in page.value("document.getElementById('view-source').textContent"), "all of it")
        check(page.requests() == [], "nothing was asked of the network")
        check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    print("all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
