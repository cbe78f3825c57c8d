// Writes the schema of exported graphs, or of slices, made from the records of the format.
#include <cstdio>
#include <string_view>

#include "ir/json/cut_program.hpp"
#include "ir/json/json.hpp"

int main(int count, char** words) {
  const bool slices = count > 1 && std::string_view(words[1]) == "slices";
  std::fputs((slices ? taskspec::cut_schema() : taskspec::graph_schema()).c_str(), stdout);
}
