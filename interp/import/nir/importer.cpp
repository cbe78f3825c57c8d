#include "interp/import/nir/importer.hpp"

#include <algorithm>

#include "interp/import/nir/text.hpp"

namespace taskspec::nir {

namespace {

constexpr std::string_view suffixes[] = {".nir"};

// Every HDF5 file begins so: what else lies in them is another format.
bool recognises(std::span<const std::byte> head) {
  constexpr unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  return head.size() >= std::size(signature) &&
         std::ranges::equal(head.first(std::size(signature)), signature,
                            [](std::byte a, unsigned char b) { return std::to_integer<unsigned char>(a) == b; });
}

ModelText read(const std::string& path, const std::string& name, const ImportOptions& options) {
  return program_of(read_model(path), path, name, options);
}

}  // namespace

ModelText program_of(const Model& model, const std::string& path, const std::string& name,
                     const ImportOptions& options) {
  const Choices choices = choices_of(options);
  const Network net = make_network(model, path);
  return ProgramText(net, choices, name).write(path);
}

const ImporterRecord importer{
    .name = "NIR",
    .suffixes = suffixes,
    .doc =
        "Spiking networks. Options: dt (seconds), integrator (euler, exact), reset (file, zero, subtract), feedback "
        "(steps that an edge backwards takes), precision (f32, f64), like (norse, snntorch, lava, nengo, sinabs: the "
        "choices of that tool), record (outputs, all: the spikes and voltages of all populations, too).",
    .recognises = recognises,
    .read = read,
};

}  // namespace taskspec::nir
