// NIR, the exchange format of spiking networks: https://neuroir.org. Its files leave the time step, the rule of
// integration, the kind of reset and the delay of edges backwards open; here they are options, and stand in the
// program.
#pragma once
#include "interp/import/importer.hpp"

namespace taskspec::nir {

extern const ImporterRecord importer;

// For who has the model already.
struct Model;
ModelText program_of(const Model& model, const std::string& path, const std::string& name,
                     const ImportOptions& options);

}  // namespace taskspec::nir
