#include "interp/repl/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace taskspec::repl {

namespace {

std::string graph(Workspace& work, std::string_view argument) { return work.drawing(argument).text; }
std::string chains(Workspace& work, std::string_view argument) { return work.chains(argument).text; }
std::string plan(Workspace& work, std::string_view argument) { return work.plan(argument).text; }
std::string why(Workspace& work, std::string_view argument) { return work.why(argument).text; }
std::string profile(Workspace& work, std::string_view) { return work.profile().text; }

// ":slices", ":slices --metrics", ":slices f"
std::string slices(Workspace& work, std::string_view argument) {
  std::string function;
  bool metrics = false;
  while (!argument.empty()) {
    const std::string_view word = argument.substr(0, argument.find(' '));
    argument.remove_prefix(std::min(argument.size(), word.size()));
    argument.remove_prefix(std::min(argument.size(), argument.find_first_not_of(' ')));
    if (word == "--metrics")
      metrics = true;
    else if (word.starts_with("-") || !function.empty())
      return fmt::format(":slices takes --metrics and the name of one function, not '{}'", word);
    else
      function = word;
  }
  return work.slices(function, metrics).text;
}

std::string type(Workspace& work, std::string_view argument) {
  return argument.empty() ? "say of what: :type x + 1" : work.type(argument).text;
}

std::string time(Workspace& work, std::string_view argument) {
  if (argument.empty()) return "say of what: :time f(x)";
  const Workspace::Answer answer = work.enter(argument);
  std::string text = answer_text(answer);
  if (answer.status != Workspace::Status::ok) return text;
  return text + (text.empty() ? "" : "\n") + fmt::format("{:.3f} ms", 1e3 * answer.seconds);
}

std::string on(Workspace& work, std::string_view argument) {
  return argument.empty() ? "say which backend: :on host(threads: 1)" : work.use_backend(argument).text;
}

std::string load(Workspace& work, std::string_view argument) {
  if (argument.empty()) return "say which file: :load lesson.task";
  return answer_text(work.load(std::string(argument)));
}

std::string save(Workspace& work, std::string_view argument) {
  return argument.empty() ? "say where: :save session.task" : work.save(std::string(argument)).text;
}

// ":export x.json" is all that was recorded, ":export pipeline x.json" one graph.
std::string export_graph(Workspace& work, std::string_view argument) {
  const std::size_t space = argument.find(' ');
  if (argument.empty()) return "say where: :export pipeline pipeline.json";
  if (space == std::string_view::npos) return work.export_graph("", std::string(argument)).text;
  const std::size_t path = argument.find_first_not_of(' ', space);
  return work.export_graph(argument.substr(0, space), std::string(argument.substr(path))).text;
}

std::string reset(Workspace& work, std::string_view) {
  work.reset();
  return "everything is forgotten";
}

std::string help(Workspace&, std::string_view) { return help_text(); }

constexpr std::array all{
    Command{":chains", "[GRAPH]", "the chains and the rules that end them; without a name of all that was recorded",
            chains},
    Command{":export", "[GRAPH] FILE",
            "write a graph (.json .dot .svg .html), without a name all that was recorded (not as .json)", export_graph},
    Command{":graph", "[GRAPH]", "draw the chains and what leads from one to another", graph},
    Command{":help", "", "this text", help, true},
    Command{":load", "FILE", "enter a file", load},
    Command{":on", "BACKEND", "use another backend from here on: host(threads: 1)", on},
    Command{":plan", "[GRAPH]", "the plan: steps and memory", plan},
    Command{":profile", "", "what ran so far: calls, time and bytes of each chain", profile},
    Command{":quit", "", "leave, as Ctrl-D does"},
    Command{":reset", "", "forget everything", reset},
    Command{":save", "FILE", "write what was entered, for :load", save},
    Command{":slices", "[FN] [--metrics]", "the host program and the graph program; of one function, with metrics",
            slices},
    Command{":time", "ENTRY", "run it and say how long it took", time},
    Command{":type", "EXPRESSION", "its type; nothing runs", type, true},
    Command{":why", "[NAME]", "which rules end the chain of a task or value, and because of which tasks", why, true},
};

}  // namespace

std::span<const Command> commands() { return all; }

const Command* find_command(std::string_view name) {
  const Command* found = nullptr;
  for (const Command& command : all) {
    if (command.name == name) return &command;
    if (!command.name.starts_with(name)) continue;
    if (found) return nullptr;
    found = &command;
  }
  return found;
}

std::string refused_argument(const Command& command, std::string_view argument) {
  if (!command.argument.empty() || argument.empty()) return "";
  return fmt::format("{} takes nothing, and was given '{}'", command.name, argument);
}

std::string help_text() {
  std::string text =
      "an expression prints its value and is then called _; a ; at the end hides it\n"
      "a string is shown in quotes, one of several lines as these lines\n?NAME explains an op, "
      "a builtin or a name of yours\n";
  for (const Command& command : all)
    text += fmt::format("\n{:<27}{}", fmt::format("{} {}", command.name, command.argument), command.help);
  return text;
}

std::string answer_text(const Workspace::Answer& answer) {
  std::string text;
  auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  };
  add(answer.diagnostics);
  add(answer.value);
  for (const std::string& note : answer.notes) add("- " + note);
  add(answer.change.empty() ? "" : "+ " + answer.change);
  if (answer.status == Workspace::Status::interrupted && answer.diagnostics.empty()) add("interrupted");
  return text;
}

}  // namespace taskspec::repl
