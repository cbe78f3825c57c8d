"""The tab Chip of the report of tests/browser/chip.task: two runs on a chip of blocks, the second one on two
cores, one on crossbars, and one that waits for its packets."""
from chrome import Chrome
from steps import check, eventually, hostile, tab, view

CHIP = view(None, "chip")
PANEL = "document.getElementById('details').textContent"
SIZES = ((1400, 900, False), (1400, 900, True), (500, 900, False), (500, 900, True))


def part_of(page):
    return page.value(f"{CHIP}.part.id")


def choose(page, selector, value):
    page.value(f"(s => {{ s.value = '{value}'; s.dispatchEvent(new Event('change')); }})"
               f"(document.querySelector(\"{selector}\"))")


def painted(page, selector):
    """How many colours a canvas has, at every 97th of its points."""
    return page.value(f"""(canvas => {{
        const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
        for (let i = 0; i < data.length; i += 4 * 97) seen.add(data.slice(i, i + 4).join());
        return seen.size;
    }})(document.querySelector('{selector}'))""")


def parts(page):
    names = page.value("[...document.querySelectorAll('#view-chip .parts button')].map(b => b.textContent)")
    check(names == ["Map", "Phases", "Spikes", "Costs", "Compare"], f"the parts of a chip are there: {names}")
    for name in names:
        page.click_on("#chip-" + name.lower())
        shown = page.value("[...document.querySelectorAll('#view-chip .part')].filter(p => !p.hidden).length")
        check(part_of(page) == name.lower() and shown == 1, f"a click shows {name} alone")
    check("limits it" in page.value(PANEL) and "roofline" in page.value(PANEL) and "hash" in page.value(PANEL),
          "the panel tells of limit, roofline and hash")


def core_map(page):
    page.click_on("#chip-map")
    eventually(lambda: painted(page, "#view-chip .part:not([hidden]) canvas") > 8, "cores and links are drawn")
    cores = page.value("taskspecReport.chipRuns[0].cores.map(c => c.core)")
    point = page.value(f"{CHIP}.part.pointOf({cores[-1]})")
    page.click(point["x"], point["y"])
    check(page.value("taskspecReport.chipChoice.core.core") == cores[-1], f"a click chooses core {cores[-1]}")
    check(f"core {cores[-1]}" in page.value(PANEL) and "weights" in page.value(PANEL), "the panel tells what it holds")
    for measure in ("MAC", "busy", "energy", "layer", "memory"):
        choose(page, "#view-chip .part:not([hidden]) select", measure)
        check(page.value(f"{CHIP}.part.measure.title") == measure, f"its colours show {measure}")
    page.key("ArrowLeft")
    check(page.value("taskspecReport.chipChoice.core.core") == cores[-2], "an arrow chooses the core before")
    links = page.value("taskspecReport.chipRuns[0].links.length")
    check(links > 0 and page.value("taskspecReport.chipRuns[0].links.every(l => l.packets > 0)"), f"{links} links have traffic")
    page.key("Escape")
    check(page.value("taskspecReport.chipChoice.core") is None, "Esc chooses none")


def phases(page):
    page.click_on("#chip-phases")
    eventually(lambda: painted(page, "#view-chip .part:not([hidden]) canvas") > 5, "stages are drawn")
    before = page.value(f"{CHIP}.part.sheet.scale")
    page.key("+")
    check(page.value(f"{CHIP}.part.sheet.scale") > before, "+ goes nearer")
    page.key("0")
    page.key("ArrowDown")
    check(page.value("taskspecReport.chipChoice.core !== null"), "an arrow chooses a core")
    page.key("Escape")


def spikes(page):
    page.click_on("#chip-spikes")
    chosen = f"{CHIP}.part.chosen.length"
    before = page.value(chosen)
    check(before > 0, f"the potentials of {before} neurons are drawn")
    free = page.value(f"(p => p.population.traced.findIndex((n, i) => !p.chosen.includes(i)))({CHIP}.part)")
    point = page.value(f"{CHIP}.part.pointOf({CHIP}.part.population.traced[{free}])")
    page.click(point["x"], point["y"])
    check(page.value(f"{CHIP}.part.chosen.includes({free})"), "a click on a neuron adds its potential")
    page.click(point["x"], point["y"])
    check(page.value(chosen) == before, "another one takes it away")


def costs(page):
    page.click_on("#chip-costs")
    text = page.value("document.querySelector('#view-chip .part:not([hidden])').textContent")
    check(all(word in text for word in ("energy of all steps", "layers", "mac_i8", "derived:", "clock/hz", "sources")),
          "costs tell of layers, events, sources and assumed figures")
    eventually(lambda: painted(page, "#view-chip canvas.roofline") > 4, "layers stand below the roofs")
    bars = page.value("[...document.querySelectorAll('#view-chip .stack')].filter(b => b.children.length > 0)"
                      ".every(b => b.firstChild.getBoundingClientRect().width > 0)")
    check(bars, "bars have a length")


def compare(page):
    page.click_on("#chip-compare")
    text = page.value("document.querySelector('#view-chip .part:not([hidden])').textContent")
    check("fullest core" in text and "another" in text, "two runs are compared")
    check(page.value("document.querySelectorAll('#view-chip .maps canvas').length") == 2, "and drawn beside one another")


def crossbars(page):
    """The run whose layers are populations: the same parts, filled."""
    choose(page, "#view-chip .chipbar select[aria-label='run']", "2")
    run = "taskspecReport.chipChoice.run"
    check(page.value(f"{run}.spiking"), "the third run is one of populations")
    page.click_on("#chip-map")
    check(page.value(f"{run}.links.length") > 0 and page.value(f"{run}.links.every(l => l.packets > 0)"), "its links have traffic")
    cores = page.value(f"{run}.cores.map(c => c.core)")
    point = page.value(f"{CHIP}.part.pointOf({cores[0]})")
    page.click(point["x"], point["y"])
    check("neurons of" in page.value(PANEL), "a click on a core tells whose neurons it holds")
    page.key("Escape")
    page.click_on("#chip-phases")
    check(page.value(f"{CHIP}.part.seen.has(3)"), "cores wait in phases of one length")
    page.click_on("#chip-spikes")
    check(page.value(f"{run}.populations.length") == page.value(f"{run}.layers.length"), "each population has a raster")
    page.click_on("#chip-costs")
    text = page.value("document.querySelector('#view-chip .part:not([hidden])').textContent")
    check(all(word in text for word in ("lumped", "neurons", "ticks late", "mac_i8")), "costs tell of neurons")
    choose(page, "#view-chip .chipbar select[aria-label='run']", "0")


def held_up(page):
    """The run whose steps are apart for as long as packets hold a port: it and no core is what limits."""
    page.click_on("#chip-map")
    choose(page, "#view-chip .chipbar select[aria-label='run']", "3")
    run = "taskspecReport.chipChoice.run"
    limit = page.value(f"{run}.limit.port")
    check(limit and f"packets: {limit} is held for" in page.value(PANEL), f"the panel tells what limits: {limit}")
    check("soma1" not in page.value(PANEL), "and no stage of a core")
    check(page.value(f"{run}.links.filter(l => l.host).reduce((sum, l) => sum + l.packets, 0)") == page.value(f"{run}.packets"),
          "all of its packets come from the host or go there")
    page.click_on("#chip-compare")
    text = page.value("document.querySelector('#view-chip .part:not([hidden])').textContent")
    check(limit in text, "two runs are compared by what limits them, too")
    choose(page, "#view-chip .chipbar select[aria-label='run']", "0")


def click_through_chip(path, pictures):
    for width, height, dark in SIZES:
        with Chrome(width=width, height=height, dark=dark) as chrome:
            page = chrome.open(path)
            page.click_on("#tab-chip")
            check(tab(page) == "chip", f"a run on a chip has a tab for it, at {width} x {height}")
            parts(page)
            if width > 1000 and not dark:
                for step in (core_map, phases, spikes, costs, compare, crossbars, held_up, hostile):
                    step(page)
            wide = page.value("document.documentElement.scrollWidth")
            check(wide <= width, f"the page is not wider than the window: {wide}")
            if pictures:
                for name in ("map", "phases", "spikes", "costs", "compare"):
                    page.click_on("#chip-" + name)
                    page.picture(pictures / f"chip_{name}_{width}_{'dark' if dark else 'light'}.png")
            check(page.requests() == [], "nothing was asked of the network")
            check(page.complaints() == [], f"the page complains of nothing {page.complaints()}")
