// Model files as modules: what the program `taskspec-models` makes of one, in a folder of its own.
//
//   ModelReader reader;
//   ImportedModel net = reader.module("nets/lenet.onnx", "lenet");     // net.text, a file beside lenet.npz
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/imported_model.hpp"
#include "interp/control/nir/net.hpp"
#include "ir/blocks/block_graph.hpp"
#include "ir/files/field_file.hpp"

namespace taskspec {

// Copies share one folder for all that they read; it goes with the last of them.
class ModelReader {
 public:
  ModelReader();
  // Throws Error: what the reader says of the file; E7001 where there is no such program, with the command that builds
  // it.
  ImportedModel module(const std::string& path, const std::string& name, const ModelOptions& options = {}) const;
  std::string folder() const;  // a new one, empty

 private:
  class Folder;
  std::shared_ptr<Folder> folder_;
};

// The same into a folder that is there: NAME.task, and NAME.npz if it has arrays. Gives the notes.
std::vector<std::string> read_model(const std::string& path, const std::string& folder, const std::string& name,
                                    const std::vector<std::pair<std::string, std::string>>& set = {});

// A graph of Task IR blocks as a file of another format, by its suffix: .task.txt, .task.pb. E4008, E7003, E7004; E7001
// where there is no such program.
void write_blocks(const BlockGraph& graph, const std::string& path);
void write_nir(const NirNet& net, const std::string& path);  // E7004; E7001
// Traces of a NIR file as an .npz of arrays by step, and the other way. `dt`: the seconds of a step; empty: not said.
void convert_traces(const std::string& from, const std::string& to, const std::string& dt);

// HDF5 files of fields: what is in one, and a new one, with the places of the elements. E7003, E7004; E7001 where there
// is no such program.
Hdf5Layouts hdf5_layouts();

}  // namespace taskspec
