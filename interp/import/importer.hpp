// Model files as programs: an importer turns a file into the text of a module and the arrays that it loads. Whatever
// happens to it afterwards (check, run, train, print) is the ordinary road.
//
//   ModelText model = importer_of("net.onnx").read("net.onnx", "net", {.set = {{"batch", "1"}}});
//   model.text      // agent Net() { weight w: f32[8, 4] = file("net.npz", name: "w") ... }  graph net(...) ...
//   model.arrays    // what net.npz is to hold
//
// The text: an agent `Net` whose slots are initialised by file("NAME.npz", name: "..."), with `graph forward`; and a
// graph called identifier(NAME) that calls it. `file` finds NAME.npz beside the text.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/files/files.hpp"

namespace taskspec {

struct ImportOptions {
  std::vector<std::pair<std::string, std::string>> set;  // batch=1, dt=1e-4: as the person wrote them
};

struct ModelText {
  std::string text;
  std::vector<NamedArray> arrays;
  std::vector<std::string> notes;  // what a person should know of it: printed at the import
};

// One kind of model file. All of it is hostile until proven.
struct ImporterRecord {
  std::string_view name;                       // "ONNX"
  std::span<const std::string_view> suffixes;  // ".onnx"
  std::string_view doc;                        // a sentence
  // By its first bytes (at most `head_bytes`), where they tell; null: the name decides.
  bool (*recognises)(std::span<const std::byte> head) = nullptr;
  // `name` is what the files go by; identifier(name) that of the graph. Throws Error: E7001, E7003, E7007, E7008.
  ModelText (*read)(const std::string& path, const std::string& name, const ImportOptions& options) = nullptr;
};

inline constexpr std::size_t head_bytes = 64;

std::span<const ImporterRecord> importers();

// By the content where it tells, else by the suffix. E7001: there is no such file; E7003: no kind that is known.
const ImporterRecord& importer_of(const std::string& path);

}  // namespace taskspec
