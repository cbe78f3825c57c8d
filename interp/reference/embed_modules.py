#!/usr/bin/env python3
"""Makes a C++ file of the texts of modules, for the reference: embed_modules.py OUT.cpp ROOT MODULE.task...

An installed program has the modules as libraries, which hold neither their comments nor their layout.
"""
import sys
from pathlib import Path


def literal(path):
    text = path.read_text(encoding="utf-8")
    if ')module"' in text:
        raise SystemExit(f"{path}: holds the end of a raw string")
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]  # compilers limit the length of one literal
    return "\n".join(f'R"module({piece})module"' for piece in pieces)


def main(out, root, *modules):
    lines = ['#include "interp/reference/modules.hpp"', "", "namespace taskspec {", "",
             "std::span<const ModuleSource> module_sources() {", "  static constexpr ModuleSource all[] = {"]
    for path in sorted(Path(m) for m in modules):
        name = ".".join(path.resolve().relative_to(Path(root).resolve()).with_suffix("").parts)
        lines.append(f'      {{"{name}", {literal(path)}}},')
    lines += ["  };", "  return all;", "}", "", "}  // namespace taskspec", ""]
    Path(out).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
