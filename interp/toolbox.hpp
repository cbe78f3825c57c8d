// The tables that the roots hand in: which ops and builtins there are is known to their own folders and the roots only.
#pragma once
#include <span>

#include "frontend/imported_model.hpp"
#include "interp/write_blocks.hpp"
#include "ir/blocks/block.hpp"
#include "ir/files/field_file.hpp"
#include "ir/records/builtin.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

struct FormStep;

// Everything that exists of the kinds that others are handed as tables.
struct Toolbox {
  OpTable ops;
  BuiltinTable builtins;
  BlockTable blocks = {};
  std::span<const FormStep> forms = {};  // beyond those of the language, and how they run
  ImportModel import_model = {};         // who reads model files; null: nobody
  WriteBlocks write_blocks = {};         // and who writes graphs of blocks,
  WriteNir write_nir = {};               // and networks of NIR
  Hdf5Layouts hdf5_layouts = {};         // who knows where HDF5 files hold fields
};

}  // namespace taskspec
