// A module in one file, checked and ready to be linked: NAME.tasklib. It holds every function with its signature, its
// typed body, the programs that it is cut into, what it uses, and a hash of all that; there is no main graph in it.
//
//   LibraryFile file = write_library(program, module, {});       // file.text goes into nn.tasklib
//   Library library("nn.tasklib", file.text);
//   library.link(*library.find("linear"), host);                 // `linear` and what it uses, nothing else
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/hash.hpp"
#include "ir/blocks/block.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

// A function or an agent; the top level of a module stands for its lets.
struct Declared {
  FunctionId function = {};
  AgentId agent = {};
  friend auto operator<=>(const Declared&, const Declared&) = default;
};

// What a declaration says, apart from where it stands and how it is laid out: its signature and typed body, and the
// same of everything that it uses.
class ContentHashes {
 public:
  ContentHashes(const Program& program, const Sources& sources) : program_(program), sources_(sources) {}

  Hash128 of(Declared what);
  std::vector<Declared> used(Declared what);  // directly or not, in order of first use
  std::string name(Declared what) const;      // "nn.Linear.forward"; of a top level "nn"

 private:
  struct Own {
    Hash128 hash;
    std::vector<Declared> refs;  // directly
  };
  const Own& own(Declared what);
  Own make_own(Declared what) const;
  bool is_inner(Declared what) const;

  const Program& program_;
  const Sources& sources_;
  std::map<Declared, Own> own_;
};

// What is written after `=` of an agent's parameter; empty without a default.
std::string default_text(const Sources& sources, const Parameter& parameter);

// ---- making one -----------------------------------------------------------------------------------

// The programs that a function is cut into, as text; empty where there is none.
struct PartTexts {
  std::string host, graph;
  std::vector<Declared> host_uses, graph_uses;  // what each of them reaches
};

struct LibraryOptions {
  std::function<std::string(ModuleId)> import_name;  // by which `import` a module is found: "models.policy"
  std::function<PartTexts(FunctionId)> parts = nullptr;
};

struct LibraryFile {
  struct Entry {
    std::string name;
    std::string_view kind;  // "fn", "task", "graph", "agent"
    std::string hash;
    std::vector<std::string> uses;
  };
  std::string text;
  std::vector<Entry> entries;  // in order of declaration, agents last
};

LibraryFile write_library(const Program& program, ModuleId module, const LibraryOptions& options);

// ---- using one ------------------------------------------------------------------------------------

inline constexpr std::int64_t library_version = 1;

class Library {
 public:
  // Throws E7003 for what is no library. What is in it is looked at when it is linked.
  Library(std::string path, std::string_view text);
  ~Library();
  Library(const Library&) = delete;

  struct Entry {
    std::string name;  // "linear", "Linear", "Linear.forward"
    std::string_view kind;
    std::size_t def = 0;
    std::string hash;
  };
  const std::string& path() const;
  const std::string& name() const;
  const std::string& source_name() const;  // "nn.task"
  const std::string& source() const;       // the text it was made of
  const std::vector<std::string>& imports() const;
  const std::vector<Entry>& entries() const;
  const Entry* find(std::string_view name) const;
  const Entry* entry_of(std::size_t def) const;
  bool has_lets() const;
  std::uint32_t symbols() const;  // how many its functions have together
  // Hash of the whole file, as stored and as it is.
  const std::string& stored_hash() const;
  const std::string& actual_hash() const;

  // The program that it is linked to, and how that grows.
  struct Host {
    Program& program;
    const OpTable& ops;
    const BuiltinTable& builtins;
    BlockTable blocks;
    ModuleId module;
    SourceId source;  // holds source()
    std::uint32_t first_symbol = 0;
    std::function<FunctionId(Function)> add_function;
    std::function<AgentId(AgentDef)> add_agent;
    // A declaration of another module by its name there; an empty name is its top level. Throws where there is none.
    std::function<Declared(const std::string& module, const std::string& name)> foreign;
  };
  struct Foreign {
    Declared what;
    std::string name;  // "policy.act"
    std::string hash;  // when the library was built
  };
  struct Linked {
    std::vector<std::pair<Declared, std::size_t>> defs;  // new in the program
    std::vector<std::pair<std::uint32_t, FunctionId>> symbols;
    std::vector<Foreign> foreign;
  };
  // Brings a definition and all that it refers to into the program, what is not there yet. Throws E7003; the program
  // is then good for nothing but messages.
  Linked link(std::size_t def, const Host& host);
  Linked link_lets(const Host& host);
  Declared at(std::size_t def) const;  // invalid: not linked
  // After the program has lost all functions and agents from these counts on.
  void forget(std::size_t functions, std::size_t agents);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace taskspec
