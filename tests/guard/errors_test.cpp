// tests/errors holds a program for every code that a user can meet, and beside it the whole text that it gives.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include "ir/codes/codes.hpp"
#include "tests/guard/paths.hpp"

namespace taskspec::errors_test {

namespace {

// What no file can bring about by itself; their tests are tests/cli/hostile_test.cpp, tests/unit/session_test.cpp,
// tests/cli/check_error_send, tests/unit/op_list_test.cpp, tests/unit/detect_nan_test.cpp,
// tests/property/edges_prop_test.cpp, tests/unit/check_blocks_test.cpp and tests/unit/task_ir_test.cpp.
bool needs_more_than_a_file(const std::string& code) {
  return code == "E1304"     // takes an option of check
         || code == "E3005"  // only told to who wants an op list
         || code == "E5009"  // takes a signal
         || code == "E5011"  // takes a task written in C++
         || code == "E5012"  // takes a mapped program that was damaged
         || code == "E5014"  // takes an option of run
         // Of block graphs. Until `ir` declarations are checked only files have them, and files are no programs.
         || code == "E2005" || code == "E3002" ||
         code.starts_with("E40")
         // Of model files.
         || code == "E7007" ||
         code == "E7008"
         // Of shards: a difference that is planted, ranks and signals. tests/unit/shard_programs_test.cpp,
         // tests/shards/ranks_test.cpp.
         || code == "E6001" || code == "E6002" || code == "E6003" || code == "E6004";
}

}  // namespace

TEST_CASE("every code that a file can give has a program and its whole text under tests/errors") {
  std::set<std::string> shown;
  for (const std::string& path : files_below("tests/errors", {".err"})) {
    const std::string code = std::filesystem::path(path).stem().string().substr(0, 5);
    const std::string program = read_file(path.substr(0, path.size() - 3) + "task"), text = read_file(path);
    CHECK_MESSAGE(program.find("// error " + code + " @") != std::string::npos,
                  path << " has no program that expects it");
    CHECK_MESSAGE(("\n" + text).find("\nerror " + code + ": ") != std::string::npos, path);
    shown.insert(code);
  }
  for (const CodeInfo* info : all_codes()) {
    const std::string code = info->code.text();
    if (info->reach == Reach::later || needs_more_than_a_file(code)) continue;
    CHECK_MESSAGE(shown.contains(code), code << " has no .task with its .err under tests/errors");
  }
}

TEST_CASE("a program under tests/errors is named after its code") {
  for (const std::string& path : files_below("tests/errors", {".task"})) {
    if (path.starts_with("tests/errors/modules/")) continue;
    const std::string name = std::filesystem::path(path).stem().string();
    CHECK_MESSAGE(read_file(path).find("// error " + name.substr(0, 5) + " @") != std::string::npos, path);
  }
}

}  // namespace taskspec::errors_test
