#!/usr/bin/env python3
"""Searches the reference in headless Chromium: reference.py MANUAL.html [FOLDER for pictures].

MANUAL is what `taskspec doc --format html` prints. Prints a line per thing tried; the last line is "all well".
Exit code 77: there is no Chromium.
"""
import sys
from pathlib import Path

from chrome import Chrome, find_chromium


def check(condition, what):
    if not condition:
        raise AssertionError(what)
    print("ok  ", what)


# What a reader sees, not what is marked as hidden.
def seen(page, selector):
    return page.value(f"[...document.querySelectorAll('{selector}')].filter(e => e.getClientRects().length > 0)"
                      ".map(e => e.textContent)")


def write(page, text):
    page.value("(f => { f.value = ''; f.focus(); f.dispatchEvent(new Event('input')); })"
               "(document.getElementById('find'))")
    page.type(text)


def searching(page):
    everything = seen(page, "nav a")
    check(len(everything) > 200, f"{len(everything)} names are there")
    write(page, "  SoftMax ")
    names = seen(page, "nav a")
    check("softmax" in names and all("softmax" in name for name in names), f"only what fits is left: {names}")
    chapters = seen(page, "nav h2")
    check(0 < len(chapters) < 3, f"of the chapters, too: {chapters}")
    page.key("Enter")
    check(page.value("location.hash").endswith(names[0]), "Enter goes to the first")
    write(page, "no such thing at all")
    check(seen(page, "nav a, nav h2") == [], "what is not there is not shown")
    check(seen(page, "#none") != [], "but said")
    write(page, "")
    check(seen(page, "nav a") == everything and seen(page, "#none") == [], "without a word all are there again")


def main(manual, pictures=None):
    if not find_chromium():
        print("skipped: there is no chromium")
        return 77
    for dark in (False, True):
        with Chrome(dark=dark) as chrome:
            page = chrome.open(manual, "Boolean(document.getElementById('find'))")
            searching(page)
            if pictures:
                write(page, "soft")
                page.picture(Path(pictures) / f"reference_{'dark' if dark else 'light'}.png")
            check(page.requests() == [], "nothing was asked of the network")
            check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
    print("all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
