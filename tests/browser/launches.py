#!/usr/bin/env python3
"""Looks at the report of a run of tests/browser/launches.task in headless Chromium: launches.py RUN.html [FOLDER].
Launches are groups that open to some of their points, turns that do the same are boxes for all of them. Prints a line
per thing tried; the last line is "all well". Exit code 77: there is no Chromium.
"""
import sys
from pathlib import Path

from chrome import Chrome, find_chromium
from steps import check, view


def boxes(page, kind):
    return page.value(f"{view(page, 'graph')}.scene.boxes.filter(b => b.kind === '{kind}').map(b => b.words[0].text)")


def launches(page, pictures):
    page.key("2")
    closed = ["⊞ spread#0", "⊞ keep#0", "⊞ spread#1", "⊞ keep#1"]
    check(boxes(page, "group") == closed, f"each launch is a group, and closed: {boxes(page, 'group')}")
    counts = page.value(f"{view(page, 'graph')}.scene.boxes.filter(b => b.kind === 'group').map(b => b.words[1].text)")
    check(counts == ["12 tasks"] * 4, f"it tells how many points it has: {counts}")
    if pictures:
        page.picture(pictures / "launches_closed.png")
    names = page.value("taskspecReport.app.graph.nodes.map(n => n.name)")
    check("spread#2..99[0..12]" in names and "keep#2..99[0..12]" in names, "turns that do the same are one box each")
    all_tasks = page.value("(g => g.countOf(g.nodes.map((n, i) => i)))(taskspecReport.app.graph)")
    check(all_tasks == 2402, f"no task is lost: {all_tasks}")
    page.value(f"{view(page, 'graph')}.toggle({view(page, 'graph')}.scene.boxes.find(b => b.title === 'spread#0').group)")
    check(boxes(page, "group") == closed[1:], "a launch opens")
    inside = page.value("""(v => v.scene.boxes.filter(b => b.node >= 0).map(b => v.graph.pathOf(b.node))
        .filter(p => p.startsWith('spread#0/')))(%s)""" % view(page, "graph"))
    check(inside == [f"spread#0/spread#0[{i}]" for i in range(7)] + ["spread#0/spread#0[7..12]"],
          f"to some of its points, and a box for the rest: {inside}")
    if pictures:
        page.picture(pictures / "launches_opened.png")
    bars = page.value("taskspecReport.bars.length")
    check(bars > 2000, f"the timeline has the bars of all of them: {bars}")
    page.key("6")
    if pictures:
        page.picture(pictures / "launches_timeline.png")


def main(report, folder=None):
    if not find_chromium():
        return 77
    pictures = Path(folder) if folder else None
    with Chrome() as chrome:
        page = chrome.open(report)
        launches(page, pictures)
        check(page.requests() == [], "nothing was asked of the network")
        check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    print("all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
