// Networks made by the tests, run by the tool as a person would run them, and what they gave.
//
//   nir::Model model = chain({{"lif", "LIF", {{"tau", numbers({0.01})}, ...}}}, {1}, {1});
//   Outputs ran = run(model, {{"precision", "f64"}}, input);      // input: f64[steps, ...]
//   ran["output"]                                                 // f64[steps, ...]
#pragma once
#include <map>
#include <string>
#include <vector>

#include "interp/import/nir/importer.hpp"
#include "interp/import/nir/model.hpp"

using Options = std::vector<std::pair<std::string, std::string>>;
using Outputs = std::map<std::string, taskspec::Array>;

taskspec::Array numbers(std::vector<double> values, taskspec::Extents shape = {});  // no shape: one axis
taskspec::Array counts(std::vector<std::int64_t> values);
taskspec::Array number(double value);  // rank 0
// Input `in` -> the nodes, one behind the other -> Output `output`.
taskspec::nir::Model chain(std::vector<taskspec::nir::Node> nodes, std::vector<std::int64_t> in,
                           std::vector<std::int64_t> out);
taskspec::nir::Model network(std::vector<taskspec::nir::Node> nodes,
                             std::vector<std::pair<std::string, std::string>> edges);
taskspec::nir::Node input(const std::string& name, std::vector<std::int64_t> shape);
taskspec::nir::Node output(const std::string& name, std::vector<std::int64_t> shape);

// All outputs in all time steps; `wanted` are their names.
Outputs run(const taskspec::nir::Model& model, const Options& options, const taskspec::Array& input,
            std::vector<std::string> wanted = {"output"});
// As a person does it: the model becomes a program by `import` with these flags, the program a file by `export`.
taskspec::nir::Model through_a_program(const taskspec::nir::Model& model, const std::string& flags = "");
// Both are one program, and their weights one.
void check_same(const taskspec::nir::Model& a, const taskspec::nir::Model& b,
                const Options& options = {{"precision", "f64"}});
// What is wrong with it: the message and its notes, a line each.
std::string refusal(const taskspec::nir::Model& model, const Options& options = {});

taskspec::Array random_numbers(taskspec::Extents shape, std::uint64_t seed, double low, double high);
double largest_difference(const taskspec::Array& a, const taskspec::Array& b);
