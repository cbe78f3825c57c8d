#!/usr/bin/env python3
"""Makes the header that says which headers tool and module of MPI share: write_stamp.py OUT.hpp HEADER..."""
import hashlib
import sys
from pathlib import Path

together = hashlib.sha256()
for name in sys.argv[2:]:
    together.update(Path(name).read_bytes() + b"\0")
Path(sys.argv[1]).write_text(
    "// Of the headers that the tool shares with its module of MPI: write_stamp.py\n"
    "#pragma once\n\n"
    "namespace taskspec {\n\n"
    f'inline constexpr char mpi_stamp[] = "taskspec-mpi {together.hexdigest()[:32]}";\n\n'
    "}  // namespace taskspec\n")
