// What functions do, worked out over the whole program: host effects in tasks and graphs are errors (E1302), and
// the dropped result of a pure call is a warning. What was worked out before (FunctionInfo) is not looked at again: a
// program that grows pays for what is new.
#pragma once
#include "frontend/check/world.hpp"

namespace taskspec::checking {

// What of a program is new: functions from here on, and of the top level of the main file, which was there before,
// calls and sites of callees from there on. Older functions stay as they are, so nothing new is among what they call.
struct NewPart {
  std::size_t functions = 0, calls = 0, callees = 0;
};

void infer_effects(World& world, const NewPart& added = {});

// The functions that have something new.
std::vector<FunctionId> functions_of(const World& world, const NewPart& added);
// Of one of those, where its new calls begin.
std::size_t first_call(FunctionId function, const NewPart& added);

// Parts of it, for programs without errors so far.
void refuse_host_functions(World& world, const NewPart& added);   // handed.cpp
void refuse_hidden_places(World& world, const NewPart& added);    // hidden_places.cpp
void refuse_local_decisions(World& world, const NewPart& added);  // local_values.cpp
void refuse_asked_functions(World& world, const NewPart& added);  // handed.cpp; where nothing else is wrong

// It is a function, or may hold one.
bool holds_function(const Type& type);  // handed.cpp

}  // namespace taskspec::checking
