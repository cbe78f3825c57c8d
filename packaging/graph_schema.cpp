// Writes the schema of exported graphs, made from the records of the format.
#include <cstdio>

#include "ir/json.hpp"

int main() { std::fputs(taskspec::graph_schema().c_str(), stdout); }
