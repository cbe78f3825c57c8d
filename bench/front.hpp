// `taskspec bench front`: how long a person waits: start-up, an answer of the prompt, long texts, big files.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// Prints a table beside the bars of the project's speed page (start-up and answers 50 ms, 10^5 lines 10 s and linear,
// JSON of 10^6 tasks 5 s; settings.tasks is the number of tasks of the JSON). Gives the exit code.
int front(const Settings& settings);

}  // namespace taskspec::bench
