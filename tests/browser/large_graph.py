#!/usr/bin/env python3
"""Prints a program whose graph `large` has exactly 10,000 tasks: blocks, joins and single tasks, each fed by one of the
last few."""
import random

random.seed(5)
print("""task a(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
task b(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }
task j(in p: f32[N], in q: f32[N]) -> (y: f32[N]) { y = p + q }
graph pair(x: f32[N]) -> (y: f32[N]) { y = b(b(x).y).y }
graph block(x: f32[N]) -> (y: f32[N]) {
  let s = a(x).y
  y = j(pair(s).y, a(a(s).y).y).y
}
graph large(x: f32[64]) -> (y: f32[64]) {
  let v0 = a(x).y""")
names, tasks = ["v0"], 1


def recent():
    return names[-1 - min(len(names) - 1, int(random.expovariate(0.08)))]


while tasks < 10000:
    choice = random.random() if tasks + 6 <= 10000 else 1.0
    name = f"v{len(names)}"
    if choice < 0.5:
        print(f"  let {name} = block({recent()}).y")
        tasks += 6
    elif choice < 0.75:
        print(f"  let {name} = j({recent()}, {recent()}).y")
        tasks += 1
    else:
        print(f"  let {name} = b({recent()}).y")
        tasks += 1
    names.append(name)
print(f"  y = {names[-1]}\n}}")
