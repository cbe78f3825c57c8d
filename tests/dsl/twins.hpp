// Graphs of lessons and samples, written in C++: what they export is compared with what the texts export.
#pragma once
#include <string>
#include <vector>

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

// tests/dsl/regions.task: the two programs of each fn, and what it gives.
std::string heat_json();
std::string plane_json();
std::string circuit_json();
std::string ring_json();
double heat_result();
std::vector<double> plane_result();
std::vector<double> circuit_result();
std::vector<double> ring_result();

std::string episode_json();  // of the two programs
double episode_at_once();    // by the one interpreter of the host program
double episode_apart();      // by two
