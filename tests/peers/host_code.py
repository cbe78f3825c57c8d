#!/usr/bin/env python3
"""Random host programs against CPython: ints, floats, bools and lists in loops, branches and calls.

    host_code.py TOOL [first seed] [how many]

Each program is written twice, in our language and in Python with functions for what differs (ints of 64 bits, division
towards zero, IEEE division). Both print what they compute on the way; what fails must fail at the same place with the
same code. Ends with 1 and the program when two differ.
"""
import math
import random
import subprocess
import sys
import tempfile


class Fault(Exception):
    pass


class TooLong(Exception):
    pass


class Steps:
    left = 0


def step():
    Steps.left -= 1
    if Steps.left < 0:
        raise TooLong


def checked(value):
    step()
    if not -(2**63) <= value < 2**63:
        raise Fault("E5001")
    return value


def add(a, b):
    return checked(a + b) if type(a) is int and type(b) is int else float(a) + float(b)


def sub(a, b):
    return checked(a - b) if type(a) is int and type(b) is int else float(a) - float(b)


def mul(a, b):
    return checked(a * b) if type(a) is int and type(b) is int else float(a) * float(b)


def div(a, b):
    if type(a) is int and type(b) is int:
        if b == 0:
            raise Fault("E5002")
        return checked(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
    a, b = float(a), float(b)
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def mod(a, b):
    if type(a) is int and type(b) is int:
        if b == 0:
            raise Fault("E5002")
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


def to_int(a):
    if math.isnan(a):
        return 0
    if math.isinf(a):
        return 2**63 - 1 if a > 0 else -(2**63)
    return min(max(round(a), -(2**63)), 2**63 - 1)


def neg(a):
    return checked(-a) if type(a) is int else -a


def compare(sign, a, b):
    step()
    if type(a) is not type(b):
        a, b = float(a), float(b)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[sign]


def item(values, index):
    if not 0 <= index < len(values):
        raise Fault("E5003")
    return values[index]


def store(values, index, value):
    item(values, index)
    values[index] = value


class Writer:
    """One program, as text of both languages: `ours` and `python` have the same lines."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ours, self.python = [], []
        self.depth = 0
        self.names = 0
        self.scopes = [[]]  # of (name, type)
        self.functions = []  # of (name, parameter types, result)
        self.loops = 0
        self.result = None

    def line(self, ours, python=None):
        self.ours.append("  " * self.depth + ours)
        if python is None or python:
            self.python.append("  " * self.depth + (ours if python is None else python))

    def name(self, kind):
        self.names += 1
        self.scopes[-1].append((f"v{self.names}", kind))
        return f"v{self.names}"

    def known(self, kind):
        return [name for scope in self.scopes for name, its in scope if its == kind]

    # ---- expressions: pairs of texts. What has no variable in it would be folded when it is checked.

    def literal(self, kind):
        if kind == "int":
            value = self.random.randint(1, 9)
            if self.random.random() < 0.01:
                value = self.random.choice([1 << 62, 3037000500])
            return str(value), str(value)
        if kind == "float":
            value = self.random.choice(["0.5", "2.0", "0.1", "1e300", "3.25"])
            return value, value
        value = self.random.choice([True, False])
        return ("true" if value else "false"), str(value)

    def leaf(self, kind):
        if kind == "int" and self.random.random() < 0.15 and self.known("[int]"):
            name = self.random.choice(self.known("[int]"))
            index = self.random.choice(self.known("int"))
            if self.random.random() < 0.98:  # mostly inside
                small = f"(({index} % 7) * ({index} % 7))"
                return (f"{name}[{small} % len({name})]",
                        f"item({name}, mod(mul(mod({index}, 7), mod({index}, 7)), len({name})))")
            return f"{name}[{index}]", f"item({name}, {index})"
        if kind == "int" and self.random.random() < 0.05 and self.known("[int]"):
            name = self.random.choice(self.known("[int]"))
            return f"len({name})", f"len({name})"
        name = self.random.choice(self.known(kind))
        return name, name

    def value(self, kind, deep=3):
        if kind == "bool":
            return self.condition(deep)
        if deep == 0 or self.random.random() < 0.25:
            return self.leaf(kind)
        if self.random.random() < 0.12:
            fitting = [f for f in self.functions if f[2] == kind]
            if fitting:
                name, parameters, _ = self.random.choice(fitting)
                values = [self.value(parameter, deep - 1) for parameter in parameters]
                return f"{name}({', '.join(v[0] for v in values)})", f"{name}({', '.join(v[1] for v in values)})"
        if self.random.random() < 0.08:
            inner = self.value(kind, deep - 1)
            return f"(-{inner[0]})", f"neg({inner[1]})"
        if self.random.random() < 0.08:
            inner = self.value(self.random.choice(["int", "float"]), deep - 1)
            return f"({inner[0]} as {kind})", f"{'to_int' if kind == 'int' else 'float'}({inner[1]})"
        signs = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"}
        sign = self.random.choice(list(signs) + ["+", "-"])
        kinds = (kind, kind)
        if kind == "float":
            kinds = self.random.choice([("float", "float"), ("int", "float"), ("float", "int")])
        left = self.value(kinds[0], deep - 1)
        if sign in "/%":
            right = self.leaf(kinds[1]) if self.random.random() < 0.05 else self.literal(kinds[1])
        else:
            right = self.value(kinds[1], deep - 1) if self.random.random() < 0.5 else self.literal(kinds[1])
        if self.random.random() < 0.2 and sign in "+-*":
            left, right = self.literal(kinds[0]), self.value(kinds[1], deep - 1)
        return f"({left[0]} {sign} {right[0]})", f"{signs[sign]}({left[1]}, {right[1]})"

    def condition(self, deep=2):
        choice = self.random.random()
        if choice < 0.1 and self.known("bool"):
            return self.leaf("bool")
        if choice < 0.35 and deep > 0:
            left, right = self.condition(deep - 1), self.condition(deep - 1)
            ours, python = self.random.choice([("&&", "and"), ("||", "or")])
            return f"({left[0]} {ours} {right[0]})", f"({left[1]} {python} {right[1]})"
        if choice < 0.45 and deep > 0:
            inner = self.condition(deep - 1)
            return f"(!{inner[0]})", f"(not {inner[1]})"
        sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        left = self.value(self.random.choice(["int", "float"]), 1)
        right = self.random.choice([self.literal, self.leaf])(self.random.choice(["int", "float"]))
        if self.random.random() < 0.2:
            left, right = right, left
        return f"({left[0]} {sign} {right[0]})", f"compare('{sign}', {left[1]}, {right[1]})"

    # ---- statements

    def block(self, count, head=None):
        self.scopes.append([])
        self.depth += 1
        if head:
            head()
        else:
            self.python.append("  " * self.depth + "pass")
        for _ in range(count):
            self.statement()
        self.depth -= 1
        self.scopes.pop()

    def statement(self):
        kinds = [self.declare, self.assign, self.assign, self.show, self.change_list]
        if self.depth < (3 if self.result else 4):
            kinds += [self.branch, self.count, self.repeat, self.each]
        if self.loops:
            kinds += [self.jump]
        if self.result and self.random.random() < 0.1:
            kinds = [self.give_maybe]
        self.random.choice(kinds)()

    def declare(self):
        kind = self.random.choice(["int", "int", "float", "bool"])
        value = self.value(kind)
        name = self.name(kind)
        self.line(f"var {name} = {value[0]}", f"{name} = {value[1]}")

    def assign(self):
        kind = self.random.choice(["int", "int", "float", "bool"])
        names = [n for n in self.known(kind) if n not in self.fixed]
        if not names:
            return self.declare()
        name = self.random.choice(names)
        value = self.value(kind)
        self.line(f"{name} = {value[0]}", f"{name} = {value[1]}")

    def show(self):
        values = [self.value(self.random.choice(["int", "float", "bool"]), 1) for _ in range(2)]
        self.line(f"print({values[0][0]}, {values[1][0]})", f"show({values[0][1]}, {values[1][1]})")

    def change_list(self):
        names = [n for n in self.known("[int]") if n not in self.fixed]
        value = self.value("int", 1)
        if not names or self.random.random() < 0.2:
            more = self.value("int", 1)
            name = self.name("[int]")
            self.line(f"var {name} = [{value[0]}, {more[0]}]", f"{name} = [{value[1]}, {more[1]}]")
            return
        name = self.random.choice(names)
        if self.random.random() < 0.5:
            self.line(f"{name} += [{value[0]}]", f"{name} = {name} + [{value[1]}]")
        else:
            index = "2" if self.random.random() < 0.05 else self.random.choice("01")
            self.line(f"{name}[{index}] = {value[0]}", f"{name} = list({name}); store({name}, {index}, {value[1]})")

    def branch(self):
        condition = self.condition()
        self.line(f"if {condition[0]} {{", f"if {condition[1]}:")
        self.block(self.random.randint(1, 3))
        if self.random.random() < 0.5:
            self.line("} else {", "else:")
            self.block(self.random.randint(1, 2))
        self.line("}", "")

    def loop(self, ours, python, names, count, first=None):
        def head():
            self.scopes[-1] += names
            self.fixed.update(name for name, _ in names)
            self.python.append("  " * self.depth + "pass")
            if first:
                self.line(first)

        self.line(ours, python)
        self.loops += 1
        self.block(count, head)
        self.loops -= 1
        self.line("}", "")

    def count(self):
        self.names += 1
        turn = f"v{self.names}"
        end = self.random.randint(0, 5)
        self.loop(f"for {turn} in 0..{end} {{", f"for {turn} in range({end}):", [(turn, "int")],
                  self.random.randint(1, 4))

    def repeat(self):
        self.names += 1
        turn = f"v{self.names}"
        self.fixed.add(turn)
        self.line(f"var {turn} = 0", f"{turn} = 0")
        condition = self.condition(1)
        self.scopes[-1].append((turn, "int"))
        self.loop(f"while {turn} < 4 && {condition[0]} {{", f"while {turn} < 4 and {condition[1]}:", [],
                  self.random.randint(1, 4), f"{turn} = {turn} + 1")

    def each(self):
        lists = self.known("[int]")
        if not lists:
            return self.change_list()
        self.names += 1
        turn, values = f"v{self.names}", self.random.choice(lists)
        self.loop(f"for {turn} in {values} {{", f"for {turn} in {values}:", [(turn, "int")],
                  self.random.randint(1, 2), None)

    def jump(self):
        condition = self.condition(0)
        jump = self.random.choice(["break", "continue"])
        self.line(f"if {condition[0]} {{ {jump} }}", f"if {condition[1]}: {jump}")

    def give_maybe(self):
        condition, value = self.condition(0), self.value(self.result, 1)
        self.line(f"if {condition[0]} {{ return {value[0]} }}", f"if {condition[1]}: return {value[1]}")

    # ---- the whole

    def function(self, number):
        kinds = [self.random.choice(["int", "float", "bool"]) for _ in range(self.random.randint(1, 3))]
        result = self.random.choice(["int", "float"])
        self.scopes, self.fixed, self.result = [[]], set(), result
        names = [self.name(kind) for kind in kinds]
        self.fixed.update(names)
        parameters = ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds))
        self.line(f"fn f{number}({parameters}) -> {result} {{", f"def f{number}({', '.join(names)}):")
        self.depth = 1
        for kind in ("int", "float", "bool"):
            value = self.literal(kind)
            name = self.name(kind)
            self.line(f"var {name} = {value[0]}", f"{name} = {value[1]}")
        self.depth = 0
        self.block(self.random.randint(2, 6))
        self.depth = 1
        value = self.value(result)
        self.line(f"return {value[0]}", f"return {value[1]}")
        self.depth = 0
        self.line("}", "")
        self.functions.append((f"f{number}", kinds, result))

    def write(self):
        for number in range(self.random.randint(1, 3)):
            self.function(number)
        self.scopes, self.fixed, self.result = [[]], set(), None
        in_function = self.random.random() < 0.5  # the top level is run as well
        if in_function:
            self.line("fn work() {", "def work():")
            self.depth = 1
        for kind in ("int", "float", "bool"):
            value = self.literal(kind)
            name = self.name(kind)
            self.line(f"var {name} = {value[0]}", f"{name} = {value[1]}")
        for _ in range(10):
            self.statement()
        if in_function:
            self.depth = 0
            self.line("}", "")
            self.line("work()")
        return "\n".join(self.ours) + "\n", "\n".join(self.python) + "\n"


def expected(python):
    lines = []
    names = {f.__name__: f for f in (add, sub, mul, div, mod, neg, to_int, compare, item, store)}
    names["show"] = lambda *values: lines.append(list(values))
    Steps.left = 200_000
    try:
        exec(compile(python, "program", "exec"), names)
    except Fault as fault:
        return lines, str(fault)
    return lines, ""


def same(text, value):
    if type(value) is bool:
        return text == ("true" if value else "false")
    if type(value) is int:
        return text == str(value)
    if math.isnan(value):
        return text == "nan"
    return float(text) == value and (value != 0 or text.startswith("-") == (math.copysign(1, value) < 0))


def differs(tool, ours, lines, fault):
    """What is wrong, or nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".task") as file:
        file.write(ours)
        file.flush()
        ran = subprocess.run([tool, "run", file.name], capture_output=True, text=True, timeout=60)
    if "overflow while multiplying extents" in ran.stderr:
        return ""  # the checker works out what an extent would be
    if ran.returncode != (3 if fault else 0) or (fault and f"error {fault}" not in ran.stderr):
        return f"code {ran.returncode}, expected {fault or 'none'}\n{ran.stderr}"
    said = [line.split(" ") for line in ran.stdout.splitlines()]
    if len(said) != len(lines):
        return f"{len(said)} lines, expected {len(lines)}"
    for words, values in zip(said, lines):
        if len(words) != len(values) or not all(map(same, words, values)):
            return f"{words}, expected {values}"
    return ""


def main():
    tool, first, count = sys.argv[1], int((sys.argv + ["", "1"])[2] or 1), int((sys.argv + ["", "", "150"])[3] or 150)
    failed = skipped = 0
    for seed in range(first, first + count):
        ours, python = Writer(seed).write()
        try:
            lines, fault = expected(python)
        except TooLong:
            skipped += 1
            continue
        wrong = differs(tool, ours, lines, fault)
        failed += bool(fault)
        if wrong:
            print(f"seed {seed}: {wrong}\n{ours}")
            sys.exit(1)
    print(f"{count - skipped} programs agree, {failed} of them fail")


main()
