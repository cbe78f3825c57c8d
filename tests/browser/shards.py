#!/usr/bin/env python3
"""Looks at the report of a run of tests/browser/shards.task in headless Chromium: shards.py RUN.html [FOLDER]. The tab
Shards has the calls with what they waited for and why, a graph of each shard, what was sent, and a timeline. Prints a
line per thing tried; the last line is "all well". Exit code 77: there is no Chromium.
"""
import sys
from pathlib import Path

from chrome import Chrome, find_chromium
from steps import check, eventually, tab, view


def part(page, name):
    page.value(f"[...document.querySelectorAll('#view-shards .parts button')].find(b => b.textContent === '{name}').click()")
    shown = "document.querySelector('#view-shards .part:not([hidden])') !== null"
    check(page.value(f"{view(page, 'shards')}.part") == name and page.value(shown), f"the part {name} opens")


def keep(page, pictures, name):
    if pictures:
        page.picture(pictures / f"shards_{name}.png")


def calls(page):
    part(page, "calls")
    rows = "[...document.querySelectorAll('#view-shards .shardcall[data-row]')].map(r => r.textContent)"
    eventually(lambda: any("launch stencil" in row for row in page.value(rows)), "calls are listed by their names")
    told = page.value("taskspecReport.report.shards[0].calls.flatMap(c => c.orders)")
    fences = {why for _, fence, why in told if fence}
    spared = {why for _, fence, why in told if not fence}
    check("flux: points of the launches are on other shards" in fences, f"a fence has its reason: {fences}")
    check("state: pieces of two partitions meet" in fences, "so has one because of ghost cells")
    check("flux: each point takes the piece that it took before, on its own shard" in spared, f"and none: {spared}")
    check(page.value("document.querySelectorAll('#view-shards .order.fence').length") > 0, "fences are marked")
    links = "[...document.querySelectorAll('#view-shards .shardcall[data-row] .line *')].map(a => a.textContent)"
    check(any(text.endswith("shards.task:19") for text in page.value(links)), f"each call has its line: {page.value(links)}")
    counts = page.value("taskspecReport.report.shards[0].counts")
    facts = page.value("document.querySelector('#view-shards .facts').textContent")
    check(f"fences {counts['fences']}" in facts and f"messages {counts['messages']}" in facts,
          f"the counts are those of the report: {facts}")


def graph(page):
    part(page, "graph")
    shards = page.value("taskspecReport.report.shards[0].by_shard.map(s => s.own.reduce((a, b) => a + b, 0))")
    check(len(shards) == 4 and all(shards), f"each shard has points of its own: {shards}")
    edges = page.value("taskspecReport.report.shards[0].by_shard.map(s => s.edges.length)")
    check(all(edges), f"and edges between them: {edges}")
    check(page.value(f"{view(page, 'shards')}.boxes().length") > 3, "they are boxes")
    page.value("(s => { s.value = '3'; s.dispatchEvent(new Event('change')); })"
               "(document.querySelector('#view-shards select[aria-label=shard]'))")
    check(page.value(f"{view(page, 'shards')}.shard") == 3, "another shard is chosen")


def copies(page):
    part(page, "copies")
    run = page.value("taskspecReport.report.shards[0]")
    sent = [sum(to[0] for to in shard["to"]) for shard in run["by_shard"]]
    check(sum(sent) == run["counts"]["messages"], f"messages from shard to shard add up: {sent}")
    check(sum(to[1] for shard in run["by_shard"] for to in shard["to"]) == run["counts"]["bytes"], "and so do bytes")
    work = page.value("taskspecReport.report.shards[0].by_shard.map(s => s.analysis)")
    check(sum(shard["fine_steps"] for shard in work) == run["counts"]["fine_steps"], f"points were looked at: {work}")
    check(all(shard["coarse_steps"] == run["counts"]["coarse_steps"] for shard in work), "and operations, by each shard")
    check(all(0 < shard["bytes"] and shard["allocations"] <= shard["allocated_bytes"] for shard in work), "memory, too")
    rows = page.value("[...document.querySelectorAll('#view-shards .analysis tr')].map(row => row.children.length)")
    check(rows == [len(work[0]) + 1] * 5, f"a table tells it, a row a shard: {rows}")
    cells = page.value("[...document.querySelectorAll('#view-shards .matrix td')].filter(c => c.textContent.includes('·')).length")
    check(cells > 3, f"a table tells who sent to whom: {cells}")


def timeline(page):
    part(page, "timeline")
    bars = page.value("taskspecReport.report.shards[0].by_shard.map(s => s.bars.length)")
    check(len(bars) == 4 and all(bars), f"each shard has bars: {bars}")
    eventually(lambda: page.value(f"{view(page, 'shards')}.time.scale") > 0, "the timeline is drawn")
    tints = page.value("""['run', 'fences', 'check', 'contents', 'others'].map(what =>
        getComputedStyle(document.documentElement).getPropertyValue('--shard-' + what).trim())""")
    check(all(tints) and len(set(tints)) == 5, f"each kind of bar has a colour: {tints}")
    painted = """(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })
        (document.querySelector('#view-shards .part:not([hidden]) canvas'))"""
    eventually(lambda: page.value(painted) > 1000, "and is not empty")


def main(report, folder=None):
    if not find_chromium():
        return 77
    pictures = Path(folder) if folder else None
    with Chrome() as chrome:
        page = chrome.open(report)
        page.value(f"taskspecReport.showView({view(page, 'shards')})")
        check(tab(page) == "shards", "there is a tab Shards")
        for look in (calls, graph, copies, timeline):
            look(page)
            keep(page, pictures, look.__name__)
        check(page.requests() == [], "nothing was asked of the network")
        check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    print("all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
