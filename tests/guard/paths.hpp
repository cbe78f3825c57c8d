// Where the tests find the tree they belong to and the tool that was built from it.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

std::filesystem::path source_root();
std::filesystem::path taskspec_binary();

// All files below a folder of the tree with one of the endings, as paths from the root, sorted.
std::vector<std::string> files_below(std::string_view folder, std::initializer_list<std::string_view> endings);

// All C++ files of our own (product, tests, benchmarks), as paths from the root, sorted.
std::vector<std::string> cpp_files();

// The text of a file, given by its path from the root; empty if there is none.
std::string read_file(const std::filesystem::path& path);
