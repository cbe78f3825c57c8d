#!/usr/bin/env python3
"""Makes a C++ file of the viewer: embed.py OUT.cpp PAGE.html STYLE.css SCRIPT.js...

The scripts become one, in the order given, inside one function: their names are nobody else's.
"""
import sys
from pathlib import Path


def literal(name, text):
    # In pieces: compilers limit the length of one literal.
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    if ')viewer"' in text:
        raise SystemExit(f"{name}: holds the end of a raw string")
    return "\n".join(f'R"viewer({piece})viewer"' for piece in pieces)


def main(out, page, style, *scripts):
    script = '(() => {\n"use strict";\n' + "\n".join(Path(s).read_text(encoding="utf-8") for s in scripts) + "})();"
    if "</script" in script.lower() or "<!--" in script:
        raise SystemExit("a script holds what would end it")
    texts = {
        "page": Path(page).read_text(encoding="utf-8"),
        "style": Path(style).read_text(encoding="utf-8").rstrip(),
        "script": script,
    }
    lines = ['#include "interp/report/viewer.hpp"', "", "namespace taskspec {", "", "const Viewer& viewer() {",
             "  static constexpr Viewer parts{"]
    lines += [f"      .{name} = {literal(name, text)}," for name, text in texts.items()]
    lines += ["  };", "  return parts;", "}", "", "}  // namespace taskspec", ""]
    Path(out).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
