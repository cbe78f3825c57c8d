// Graphs of lessons and samples, written in C++: what they export is compared with what the texts export.
#pragma once
#include <string>

std::string composition_json();
std::string diamond_json();
std::string hazard_json();
std::string find_edges_json();
std::string ladder_json();
std::string walk_json();
std::string act_json();
std::string many_ops_json();
std::string net_forward_json();
std::string held_json();

std::string episode_json();  // of the two programs
double episode_at_once();    // by the one interpreter of the host program
double episode_apart();      // by two
