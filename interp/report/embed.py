#!/usr/bin/env python3
"""Makes a C++ file of the viewer: embed.py OUT.cpp PAGE.html STYLE.css... SCRIPT.js...

The styles become one. The scripts become one, too, in the order given, inside one function: their names are nobody else's.
"""
import re
import sys
from pathlib import Path


def literal(name, text):
    # In pieces: compilers limit the length of one literal.
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    if ')viewer"' in text:
        raise SystemExit(f"{name}: holds the end of a raw string")
    return "\n".join(f'R"viewer({piece})viewer"' for piece in pieces)


def check_names(script):
    """All scripts share one scope: there the later one of two functions with one name takes its place unseen."""
    names = re.findall(r"^(?:function|class|const|let) (\w+)", script, re.MULTILINE)
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SystemExit(f"names of several scripts: {', '.join(sorted(twice))}")


def main(out, page, *files):
    styles, scripts = ([f for f in files if f.endswith(ending)] for ending in (".css", ".js"))
    style = "\n".join(Path(s).read_text(encoding="utf-8").rstrip() for s in styles)
    script = '(() => {\n"use strict";\n' + "\n".join(Path(s).read_text(encoding="utf-8") for s in scripts) + "})();"
    check_names(script)
    if "</script" in script.lower() or "<!--" in script:
        raise SystemExit("a script holds what would end it")
    texts = {
        "page": Path(page).read_text(encoding="utf-8"),
        "style": style,
        "script": script,
    }
    lines = ['#include "interp/report/viewer.hpp"', "", "namespace taskspec {", "", "const Viewer& viewer() {",
             "  static constexpr Viewer parts{"]
    lines += [f"      .{name} = {literal(name, text)}," for name, text in texts.items()]
    lines += ["  };", "  return parts;", "}", "", "}  // namespace taskspec", ""]
    Path(out).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
