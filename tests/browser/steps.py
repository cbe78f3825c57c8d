"""What all clicks through reports share: one thing that is tried, and where the page is."""
import time


def check(condition, what):
    if not condition:
        raise AssertionError(what)
    print("ok  ", what)


def told(figure):
    """How long something takes is for who reads it: on a busy machine no bar is fair."""
    print("note", figure)


def eventually(condition, what):
    """What the page does at its next frame, which a busy machine draws late."""
    until = time.monotonic() + 10
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    check(condition(), what)


def tab(page):
    return page.value("taskspecReport.app.view.id")


def view(page, name):
    return f"taskspecReport.app.views.find(v => v.id === '{name}')"


def hostile(page):
    check(page.value("window.hurt === undefined"), "no text of the program ran as script")
    check(page.value("document.querySelectorAll('img, iframe, object').length") == 0, "nor became an element")
