// Checkpoints: an .npz of named arrays with one more, that says what it is and seals it. numpy reads them:
//
//   z = numpy.load("net.npz");  z["c1.w"];  bytes(z["taskspec.checkpoint"]).decode()
//   'taskspec checkpoint 1 xxh3 6c78e0e3bd51d358d01e758642b85fb8'
//
//   save_checkpoint("net.npz", {{"c1.w", w}, {"c1.b", b}});
//   std::vector<Array> arrays = fitting("net.npz", "Net", wanted, load_checkpoint("net.npz").arrays);
//
// The hash is XXH3 of names, types and contents, by name, so the order in the file does not count.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/files/files.hpp"

namespace taskspec {

inline constexpr std::string_view checkpoint_seal = "taskspec.checkpoint";  // no array of anybody else has this name

// The arrays without the seal. Precisions that are narrower than what holds them come back as the wider ones.
struct Checkpoint {
  std::vector<NamedArray> arrays;
  bool sealed = false;  // else somebody else wrote it, numpy for example
};

void save_checkpoint(const std::string& path, std::vector<NamedArray> arrays);  // E7004
// E7003 also for a seal that does not fit what is there, or is of a later version.
Checkpoint load_checkpoint(const std::string& path);

// What somebody wants to read: an array of this name and type.
struct WantedArray {
  std::string name;
  ArrayType type;
};

// Those that are wanted, in that order. Everything that is missing, that is there beside them, or of another type is
// said in one E7003; `what` is who wants them, for its message.
std::vector<Array> fitting(const std::string& path, const std::string& what, std::span<const WantedArray> wanted,
                           std::span<const NamedArray> found);

}  // namespace taskspec
