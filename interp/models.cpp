#include "interp/models.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "interp/prelude.hpp"
#include "ir/base/at_end.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/files/files.hpp"
#include "ir/json/blocks.hpp"
#include "ir/json/messages.hpp"

extern char** environ;

namespace taskspec {

namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "taskspec-models";

// Beside this program where both are installed. A program that uses the library finds it by where the prelude is: in an
// installation below share, in a build tree below stdlib.
std::optional<fs::path> program_of_models() {
  std::error_code none;
  std::vector<fs::path> places{fs::read_symlink("/proc/self/exe", none).parent_path() / program_name};
  for (const std::string& prelude : prelude_folders()) {
    const fs::path above = fs::path(prelude).parent_path().parent_path();
    places.push_back(above / "interp/import" / program_name);
    places.push_back(above.parent_path() / "bin" / program_name);
  }
  for (const fs::path& place : places)
    if (fs::exists(place, none)) return place;
  return std::nullopt;
}

Error not_there(const std::string& path) {
  Diag diag("E7001", Severity::error, {},
            "'" + path + "' is read by the program '" + program_name + "', which is not there");
  diag.note("it is built apart, as it needs the libraries of these formats");
  diag.help("./dev build interp/import/taskspec-models");
  return Error(std::move(diag));
}

std::string all_of(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = ::read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// What it wrote to its standard output, and whether it came to its end.
struct Said {
  std::string text;
  bool ended = false;
};

Said run(const std::vector<std::string>& words) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {};
  const AtEnd close_reader([&] { ::close(pipe_ends[0]); });
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int wrong = posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  if (wrong != 0) return {};
  Said said{all_of(pipe_ends[0]), false};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  said.ended = WIFEXITED(status);
  return said;
}

}  // namespace

// Made when it is first needed.
class ModelReader::Folder {
 public:
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  // A further one in it, for one model.
  std::string next() {
    if (path_.empty()) make();
    const fs::path made = path_ / std::to_string(count_++);
    std::error_code none;
    fs::create_directory(made, none);
    return made.string();
  }

 private:
  void make() {
    std::error_code none;
    std::string name = (fs::temp_directory_path(none) / "taskspec-model-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw failure("E7004", {}, "no folder can be made in '" + fs::path(name).parent_path().string() + "'");
    path_ = name;
  }

  fs::path path_;
  int count_ = 0;
};

std::vector<std::string> read_model(const std::string& path, const std::string& folder, const std::string& name,
                                    const std::vector<std::pair<std::string, std::string>>& set) {
  std::error_code none;
  if (!fs::exists(path, none)) throw failure("E7001", {}, "no file '" + path + "'");
  const std::optional<fs::path> program = program_of_models();
  if (!program) throw not_there(path);
  std::vector<std::string> words{program->string(), "read", path, "--into", folder, "--name", name};
  for (const auto& [key, value] : set) {
    words.emplace_back("--set");
    words.push_back(key + "=" + value);
  }
  const Said said = run(words);
  if (!said.ended || said.text.empty())
    throw failure("E7003", {}, "'" + path + "' is broken: its reader ended without a word");
  Messages messages = read_messages(said.text);
  if (messages.diags.has_errors()) throw Error(std::move(messages.diags));
  return std::move(messages.notes);
}

namespace {

void run_writer(const fs::path& program, const std::string& from, const std::string& path, const std::string& dt = "") {
  std::vector<std::string> words{program.string(), "write", from, "--to", path};
  if (!dt.empty()) words.insert(words.end(), {"--dt", dt});
  const Said said = run(words);
  if (!said.ended || said.text.empty())
    throw failure("E7004", {}, "'" + path + "' was not written: its writer ended without a word");
  Messages messages = read_messages(said.text);
  if (messages.diags.has_errors()) throw Error(std::move(messages.diags));
}

// `put` writes what there is to write, and other files beside it.
void write_by_program(const std::string& path, FunctionRef<void(const std::string& folder, JsonText& text)> put) {
  const std::optional<fs::path> program = program_of_models();
  if (!program) throw not_there(path);
  const ModelReader scratch;
  const std::string folder = scratch.folder(), json = folder + "/graph.json";
  JsonText text;
  put(folder, text);
  write_text(json, text.take());
  run_writer(*program, json, path);
}

}  // namespace

void convert_traces(const std::string& from, const std::string& to, const std::string& dt) {
  const std::optional<fs::path> program = program_of_models();
  if (!program) throw not_there(from);
  run_writer(*program, from, to, dt);
}

void write_blocks(const BlockGraph& graph, const std::string& path) {
  write_by_program(path, [&](const std::string&, JsonText& text) { put_block_graph(text, graph); });
}

// {"nodes":[{"name":"fc","type":"Affine","numbers":[["weight","0"]],"words":[["padding","same"]]}],
//  "edges":[["x","fc"]]}, and graph.npz beside it with the numbers.
void write_nir(const NirNet& net, const std::string& path) {
  write_by_program(path, [&](const std::string& folder, JsonText& text) {
    std::vector<NamedArray> arrays;
    text.open('{').key("nodes").open('[');
    for (const NirNode& node : net.nodes) {
      text.open('{').member("name", node.name).member("type", node.type).key("numbers").open('[');
      for (const auto& [name, value] : node.parameters)
        if (auto* array = std::get_if<Array>(&value)) {
          const std::string number = std::to_string(arrays.size());
          text.open('[').string(name).string(number).close(']');
          arrays.push_back({number, *array});
        }
      text.close(']').key("words").open('[');
      for (const auto& [name, value] : node.parameters)
        if (auto* word = std::get_if<std::string>(&value)) text.open('[').string(name).string(*word).close(']');
      text.close(']').close('}');
    }
    text.close(']').key("edges").open('[');
    for (const auto& [from, to] : net.edges) text.open('[').string(from).string(to).close(']');
    text.close(']').close('}');
    save_arrays(folder + "/graph.npz", arrays);
  });
}

namespace {

// The words of a line between its tabs.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

FieldLayout layout_of(const std::vector<std::string>& lines) {
  FieldLayout layout;
  for (const std::string& line : lines) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() == 2 && words[0] == "other") layout.others.push_back(words[1]);
    if (words.size() < 6 || words[0] != "field") continue;
    FoundField field{words[1], precision_of(words[2]), {}, words[5], std::stoull(words[4]), words[3] == "1"};
    for (std::size_t i = 6; i < words.size(); ++i) field.extents.push_back(std::stoll(words[i]));
    layout.fields.push_back(std::move(field));
  }
  return layout;
}

FieldLayout run_layout(std::vector<std::string> words, const std::string& path, const char* undone) {
  const std::optional<fs::path> program = program_of_models();
  if (!program)
    throw failure("E7001", {},
                  "'" + path + "' is HDF5, for which the program '" + program_name +
                      "' is needed, which is not there; ./dev build interp/import/taskspec-models builds it");
  words.insert(words.begin(), program->string());
  const Said said = run(words);
  if (!said.ended || said.text.empty()) throw failure("E7003", {}, "'" + path + undone);
  Messages messages = read_messages(said.text);
  if (messages.diags.has_errors()) throw Error(std::move(messages.diags));
  return layout_of(messages.notes);
}

FieldLayout find_fields(const std::string& path, std::span<const FileField> fields) {
  auto unpacked = std::make_shared<const ModelReader>();
  std::vector<std::string> words{"find", path, "--into", unpacked->folder()};
  for (const FileField& field : fields) words.insert(words.end(), {"--field", field.name});
  FieldLayout layout = run_layout(std::move(words), path, "' is broken: its reader ended without a word");
  layout.keeps = std::move(unpacked);
  return layout;
}

FieldLayout make_fields(const std::string& path, const std::string& old, std::span<const FileField> fields,
                        const Extents& extents) {
  std::vector<std::string> words{"make", path, "--old", old};
  for (const std::int64_t extent : extents) words.insert(words.end(), {"--extent", std::to_string(extent)});
  for (const FileField& field : fields)
    words.insert(words.end(), {"--field", field.name + ":" + std::string(info(field.precision).name)});
  try {
    return run_layout(std::move(words), old, "' was not written: its writer ended without a word");
  } catch (const Error& error) {
    const Diag& why = error.diags().items().front();
    if (why.code == Code("E7001")) throw;
    throw failure("E7004", {}, "cannot write '" + old + "': " + why.message);
  }
}

}  // namespace

Hdf5Layouts hdf5_layouts() { return {find_fields, make_fields}; }

ModelReader::ModelReader() : folder_(std::make_shared<Folder>()) {}

std::string ModelReader::folder() const { return folder_->next(); }

ImportedModel ModelReader::module(const std::string& path, const std::string& name, const ModelOptions& options) const {
  const std::string folder = folder_->next();
  read_model(path, folder, name, options);
  return {read_text(folder + "/" + name + ".task"), folder};
}

}  // namespace taskspec
