#include "interp/workspace/completion.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontend/parse.hpp"
#include "interp/reference/language.hpp"
#include "interp/reference/modules.hpp"
#include "interp/reference/reference.hpp"
#include "interp/workspace/describe.hpp"
#include "ir/base/ascii.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

class Completer {
 public:
  Completer(LiveProgram& live, std::string_view before) : live_(live), before_(before) {}

  Workspace::Completion run() {
    if (std::size_t quote = open_string(); quote != std::string_view::npos) return files(quote + 1);
    std::size_t begin = before_.size();
    while (begin > 0 && is_word(before_[begin - 1])) --begin;
    prefix_ = before_.substr(begin);
    if (std::size_t module = imported(); module != std::string_view::npos) return modules(module);
    if (begin > 0 && before_[begin - 1] == '.' && !(begin > 1 && before_[begin - 2] == '.'))
      members(before_.substr(0, begin - 1));
    else
      plain_names();
    std::vector<std::string> words(own_.begin(), own_.end());
    for (const std::string& word : words_)
      if (!own_.contains(word)) words.push_back(word);
    return {begin, std::move(words), prefix_.empty() ? hint(begin) : ""};
  }

 private:
  std::size_t open_string() const {
    std::size_t open = std::string_view::npos;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i] == '\\' && open != std::string_view::npos)
        ++i;
      else if (before_[i] == '"')
        open = open == std::string_view::npos ? i : std::string_view::npos;
    }
    return open;
  }

  void add(std::string_view word) {
    if (word.starts_with(prefix_)) words_.emplace(word);
  }
  // What the value at hand has of its own, before what all of its kind have.
  void add_own(std::string_view word) {
    if (word.starts_with(prefix_)) own_.emplace(word);
  }

  // Where the path of a module begins, if that is what is written: "import data.d".
  std::size_t imported() const {
    constexpr std::string_view word = "import ";
    const std::size_t begin = std::min(before_.find_first_not_of(' '), before_.size());
    if (!before_.substr(begin).starts_with(word)) return std::string_view::npos;
    const std::size_t path = begin + word.size();
    const bool one = std::all_of(before_.begin() + static_cast<std::ptrdiff_t>(path), before_.end(),
                                 [](char c) { return is_word(c) || c == '.'; });
    return one ? path : std::string_view::npos;
  }

  // Those that come along, and the files here.
  Workspace::Completion modules(std::size_t begin) {
    prefix_ = before_.substr(begin);
    for (const ModuleRecord& record : module_records())
      if (record.form.starts_with("import ")) add(record.name);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(".", error))
      if (entry.path().extension() == ".task") add(entry.path().stem().string());
    return {begin, {words_.begin(), words_.end()}, ""};
  }

  // Behind `conv2d(`: what it takes.
  std::string hint(std::size_t begin) const {
    if (begin == 0 || before_[begin - 1] != '(') return "";
    std::size_t from = begin - 1;
    while (from > 0 && (is_word(before_[from - 1]) || before_[from - 1] == '.')) --from;
    std::string_view name = before_.substr(from, begin - 1 - from);
    for (const Checker::Known& known : live_.checker().names())
      if (known.name == name && known.function.valid()) return signature_text(live_.program(), known.function);
    for (const ModuleRecord& record : module_records())
      if (record.name == name) return record.form.substr(0, record.form.find('\n'));
    if (name.find('.') != std::string_view::npos) name = name.substr(name.rfind('.') + 1);  // x.sum(: a method
    if (const OpDef* op = live_.tools().ops.find(name)) return signature_text(*op);
    const auto builtins = live_.tools().builtins.named(name);
    return builtins.empty() ? "" : signature_text(*builtins.front());
  }

  Workspace::Completion files(std::size_t begin) {
    namespace fs = std::filesystem;
    const std::string written(before_.substr(begin));
    const std::size_t slash = written.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : written.substr(0, slash + 1);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
      std::string path = folder + entry.path().filename().string();
      if (path.starts_with(written)) words_.insert(entry.is_directory(error) ? path + "/" : path);
    }
    return {begin, {words_.begin(), words_.end()}, ""};
  }

  void plain_names() {
    for (const Checker::Known& known : live_.checker().names()) add(known.name);
    for (const OpDef* op : live_.tools().ops.all())
      if (is_word(op->name.front())) add(op->name);
    for (const Builtin* builtin : live_.tools().builtins.all()) add(builtin->name);
    for (const char* constant : {"inf", "nan", "pi"}) add(constant);
    for (const std::string& word : keywords()) {
      const LanguageRecord* record = language_record(word);
      if (!record || record->part.empty()) add(word);  // else it needs a part that is not built
    }
  }

  // Of what stands before the dot: a name, or names joined by dots. Anything longer would have to be run.
  void members(std::string_view base) {
    std::size_t begin = base.size();
    while (begin > 0 && (is_word(base[begin - 1]) || base[begin - 1] == '.')) --begin;
    std::string path(base.substr(begin));
    if (path.empty()) return;
    for (const Checker::Known& known : live_.checker().names())
      if (known.name == path && known.what == "module")
        for (const Checker::Known& member : live_.checker().names(known.module)) add(member.name);
    Result<Type> type = live_.type_of("<completion>", std::move(path));
    if (type) members_of(*type);
  }

  void members_of(const Type& type) {
    if (type.is(Kind::agent))
      for (FunctionId member : live_.program()[type.agent].members) add_own(live_.program()[member].name);
    if (type.is(Kind::task)) add_own("inputs"), add_own("outputs"), add_own("report");
    for (const std::string& name : type.names) add_own(name);
    if (type.is(Kind::invocation) && type.parts.size() == 1) return members_of(type.parts[0]);
    if (type.is_tensor()) {
      for (const char* word : {"scalar", "array", "iter", "handle", "shape", "rank", "precision"}) add_own(word);
      for (const OpDef* op : live_.tools().ops.all())
        if (!op->operands.empty() && op->operands[0].kind == OperandKind::tensor && is_word(op->name.front()))
          add(op->name);
    }
    if (type.is_tensor() || type.is(Kind::list) || type.is(Kind::string))
      for (const Builtin* builtin : live_.tools().builtins.all())
        if (builtin->method) add(builtin->name);
  }

  LiveProgram& live_;
  std::string_view before_, prefix_;
  std::set<std::string> own_, words_;
};

}  // namespace

std::vector<std::string> names_in_graph(LiveProgram& live) {
  std::vector<std::string> names;
  const Program& program = live.program();
  for (const Checker::Known& known : live.checker().names()) {
    const bool callable = known.function.valid() && program[known.function].kind != FunctionKind::fn;
    bool made = false;
    if (known.variable.valid()) {
      const Type& type = program[program.main().top_level].variables[known.variable.index()].type;
      made = type.is_tensor() || type.is(Kind::invocation);
    }
    if (callable || made) names.push_back(known.name);
  }
  return names;
}

Workspace::Completion completion(LiveProgram& live, std::string_view line, std::size_t cursor) {
  return Completer(live, line.substr(0, std::min(cursor, line.size()))).run();
}

}  // namespace taskspec
