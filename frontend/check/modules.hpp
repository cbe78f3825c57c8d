// Files and their imports. Imported files come first in the program; each is read once.
#pragma once
#include "frontend/check/world.hpp"

namespace taskspec::checking {

// Parses and checks one file and all that it imports.
// `tree`: that of the main file, if it is there already.
void check_program(World& world, SourceId main, std::optional<Ast> tree = {});

// The functions of a module of the prelude that builtins use are in the program from here on.
void serve_module(World& world, std::string_view name, Span span);

// Of a module that a model file became: is it one; and the same file once more, imported with options. Invalid:
// reported.
bool is_model(const World& world, ModuleId module);
ModuleId model_with(World& world, ModuleId model, const ModelOptions& options, Span span);

// A main file that grows: an empty one to begin with, then what is written next in it.
void begin_program(World& world, SourceId main);
void check_entry(World& world, const Ast& tree);

}  // namespace taskspec::checking
