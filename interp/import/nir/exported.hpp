// What the tool hands over to be written: a network as JSON, its numbers in an .npz beside it (interp/models.cpp).
#pragma once
#include "interp/import/nir/model.hpp"

namespace taskspec::nir {

// E7003 for what is no such network.
Model model_of_json(const std::string& json, const std::string& arrays);

}  // namespace taskspec::nir
