// A program written line by line while it runs: what the prompt of `taskspec repl` and notebooks stand on.
//
//   taskspec::Workspace work;
//   work.enter("task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }");
//   work.enter("let a = inc(fill(f32[3], 1.0))").change     // "new task inc#0 in a chain of its own: [inc]"
//   work.enter("a.y").value                                  // "[2, 2, 2]"
//
// Texts come back without a line end unless they have several lines. Nothing here throws but the constructor.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taskspec {

class Workspace {
 public:
  struct Options {
    std::string backend = "host";                       // as after `on`: "host(threads: 2)"
    std::vector<std::string> arguments = {};            // what args() gives
    std::vector<std::string> search_path = {};          // folders of imported modules
    std::function<void(std::string_view)> output = {};  // what the program prints; none: standard output
    bool colour = false;                                // of diagnostics
    bool unicode = true;                                // drawings may use box characters
    std::function<int()> columns = [] { return 80; };   // width of drawings and contents
  };
  explicit Workspace(Options options);  // Error when the backend is not one
  Workspace() : Workspace(Options()) {}
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();

  enum class Status { ok, wrong, failed, interrupted };
  struct Answer {
    Status status = Status::ok;
    std::string diagnostics;         // errors and warnings, rendered
    std::string value;               // of an expression at the end, unless a `;` follows it
    std::string change;              // what became of the graph, in one line; empty: nothing
    std::vector<std::string> notes;  // declarations checked again, or not valid any more
    std::optional<int> exit;         // exit(code) was called
    double seconds = 0;
  };
  // Checks and runs one entry: a statement, a declaration or several. An entry that is wrong changes nothing.
  Answer enter(std::string_view text);
  // The same for a file; places in diagnostics are then those of the file. What `save` wrote is entered entry by entry.
  Answer load(const std::string& path);
  // True if the text can only be a beginning: an open bracket or block, an operator at its end.
  static bool needs_more(std::string_view text);

  // Texts about the state, or why there is none.
  struct Text {
    bool found = true;
    std::string text;
  };
  Text describe(std::string_view name);    // a name of the program, else the record of an op or builtin
  Text type(std::string_view expression);  // "f32[4]"
  Text why(std::string_view name);  // which rules end the chain of a task, of a value or of all chains of a graph
  Text chains(std::string_view graph = {});  // of a graph of the program; without a name: of all that was recorded
  Text plan(std::string_view graph = {});
  Text drawing(std::string_view graph = {});  // the chains and their edges, drawn with characters
  // The host program and the graph program of what was entered, and what goes between them; of one function its part.
  Text slices(const std::string& function = "", bool metrics = false);
  Text profile() const;

  // Ends what is written: names, members after a dot, ops, modules behind `import`. `begin` is where the replaced word
  // starts.
  struct Completion {
    std::size_t begin = 0;
    std::vector<std::string> words;  // those that are the value's own first, then the others; each sorted
    std::string hint;                // behind an open bracket: what is called, with its parameters
  };
  Completion complete(std::string_view line, std::size_t cursor);
  // What has a chain: tasks and graphs, and values that some gave. Sorted.
  std::vector<std::string> names_in_graph();

  Text export_graph(std::string_view graph, const std::string& path);  // empty name: all that was recorded
  Text save(const std::string& path) const;                            // the entries that ran, for `load`
  Text use_backend(std::string_view written);                          // from here on: "host(threads: 1)"
  void reset();
  // Stops what runs; may be called from a signal handler or another thread.
  void interrupt();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taskspec
