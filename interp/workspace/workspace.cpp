#include "include/taskspec/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "frontend/dsl/errors.hpp"
#include "frontend/foreign_word.hpp"
#include "frontend/parse.hpp"
#include "interp/backends/read.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/embed/extern_bodies.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/live_program.hpp"
#include "interp/reference/reference.hpp"
#include "interp/session/plan_of_points.hpp"
#include "interp/session/profile_text.hpp"
#include "interp/workspace/changes.hpp"
#include "interp/workspace/completion.hpp"
#include "interp/workspace/contents.hpp"
#include "interp/workspace/describe.hpp"
#include "interp/workspace/saved_session.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/show/cut_text.hpp"
#include "ir/show/draw.hpp"
#include "ir/show/graph_text.hpp"

namespace taskspec {

using Text = Workspace::Text;

namespace {

// A tensor, or the one output of an invocation, which goes through to it; none for everything else.
Value tensor_of(const Value& value) {
  if (auto* invocation = value.as<Invocation>(); invocation && invocation->outputs.size() == 1)
    return tensor_of(invocation->outputs[0]);
  return value.as<Tensor>() ? value : Value();
}

std::string chain_lines(const TaskGraph& graph, const Chains& chains, NodeId node) {
  const ChainId chain = chains.chain_of(node);
  return fmt::format("{} is step {} of {} in {}\n  {}\n  {}", graph.path(node), chains.steps(node),
                     chains.members(chain).size(), chain_text(graph, chains, chain), first_text(graph, chains, chain),
                     last_text(graph, chains, chain));
}

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// A string as an answer: a text of several lines, such as m.explain(unit), as these lines; all others in quotes, and
// those of which lines would not show all: empty ones at the end, what moves the cursor or rings.
std::string string_text(const std::string& text) {
  const std::string_view lines = std::string_view(text).substr(0, text.size() - (text.ends_with('\n') ? 1 : 0));
  const bool is_plain = std::ranges::none_of(lines, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
  const bool has_lines = lines.find('\n') != std::string_view::npos && !lines.ends_with('\n');
  return is_plain && has_lines ? std::string(lines) : in_quotes(text);
}

}  // namespace

struct Workspace::State {
  Options options;
  Toolbox tools = standard_toolbox();
  std::atomic<bool> interrupted{false};
  std::shared_ptr<const BackendChoice> backend;
  std::unique_ptr<LiveProgram> live;
  GraphChanges changes;
  std::vector<SavedEntry> entered;  // that ran, also those that failed then
  std::size_t entries = 0;

  BackendChoice read(const std::string& written) {
    Sources sources;
    return std::move(read_backend(written, tools, sources)).value_or_throw();
  }

  void start() {
    RunSettings settings;
    settings.on = backend;
    settings.record = true;
    settings.arguments = options.arguments;
    settings.output = options.output;
    settings.screen = {static_cast<int>(columns()), options.colour};
    settings.interrupted = &interrupted;
    settings.natives = &dsl::detail::extern_bodies();
    live.reset();
    live = std::make_unique<LiveProgram>(tools, LoadOptions{{}, options.search_path}, settings);
    live->session().graph.name = "session";
    changes = GraphChanges();
    entered.clear();
  }

  std::size_t columns() const {
    const int columns = options.columns ? options.columns() : 80;
    return static_cast<std::size_t>(std::max(columns, 20));
  }

  std::string rendered(const Diags& diags) const {
    return without_end(render(live->sources(), diags, {.colour = options.colour}));
  }

  // What the prompt shows of a value; runs what a tensor needs.
  std::string shown(const Value& value) {
    if (const Value tensor = tensor_of(value); !tensor.is_none())
      return contents_text(live->contents(tensor), columns());
    auto* invocation = value.as<Invocation>();
    if (invocation && invocation->outputs.empty()) return "";  // the task that it added is told
    return value.is_string() ? string_text(value.string()) : print(value);
  }

  Answer enter(const std::string& path, std::string text, bool show) {
    Answer answer;
    interrupted = false;
    const auto begin = std::chrono::steady_clock::now();
    LiveProgram::Step step = live->enter(path, text);
    answer.exit = step.ended;
    if (step.exit_code == 0 && show && step.entry->value.valid() && !step.ended) {
      try {
        answer.value = shown(live->value(step.entry->value));
      } catch (const Error& error) {
        step.diags = error.diags();
        step.exit_code = interrupted ? 130 : 3;
      }
      live->tell_failed_effects(step);
    }
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    answer.status = step.exit_code == 0     ? Status::ok
                    : step.exit_code == 1   ? Status::wrong
                    : step.exit_code == 130 ? Status::interrupted
                                            : Status::failed;
    if (step.entry) {
      if (answer.status != Status::interrupted) {
        std::vector<std::string> broken;
        for (const Checker::Broken& gone : step.entry->broken) broken.push_back(gone.name);
        entered.push_back({std::move(text), step.entry->value.valid(), !step.taken_back, std::move(broken)});
      }
      if (!step.taken_back) note(*step.entry, answer);
      Session& session = live->session();
      answer.change = changes.since_last(session.graph, session.received());
    }
    answer.diagnostics = rendered(step.diags);
    return answer;
  }

  // Of a saved session the answers of all entries, one after the other; it goes on after one that is wrong.
  Answer load(const std::string& path, const std::string& text) {
    live->read_beside(path);
    if (!is_session(text)) return enter(path, text, false);
    Answer all;
    for (const std::string& entry : entries_of(text)) {
      Answer answer = enter(path, entry, false);
      all.seconds += answer.seconds;
      for (auto [part, whole] :
           {std::pair(&answer.diagnostics, &all.diagnostics), std::pair(&answer.change, &all.change)})
        if (!part->empty()) *whole += (whole->empty() ? "" : "\n") + *part;
      all.notes.insert(all.notes.end(), answer.notes.begin(), answer.notes.end());
      if (answer.status != Status::ok) all.status = answer.status;
      if (answer.exit) all.exit = answer.exit;
      if (answer.exit || answer.status == Status::interrupted) break;
    }
    return all;
  }

  void note(const Checker::Entry& entry, Answer& answer) const {
    if (!entry.again.empty()) answer.notes.push_back("checked again: " + joined(entry.again, ", "));
    for (const Checker::Broken& broken : entry.broken) {
      std::string text = fmt::format("{} is not valid any more: {}", broken.name, broken.why);
      if (!broken.diags.empty()) text += "\n" + rendered(broken.diags);
      answer.notes.push_back(std::move(text));
    }
  }

  // Calls `use` with what `name` means as a graph: one of the program, or all that was recorded.
  Text with_graph(std::string_view name, FunctionRef<std::string(const TaskGraph&, const Chains&, FunctionId)> use) {
    try {
      if (name.empty()) {
        Session& session = live->session();
        if (session.graph.size() == 0) return {false, "no tasks yet"};
        Chains chains = aggregate(session.graph, {.received = session.received()});
        return {true, without_end(use(session.graph, chains, live->program().main().top_level))};
      }
      FunctionId graph = function(name);
      if (graph.valid() && live->program()[graph].kind == FunctionKind::task)
        return {false, fmt::format("'{}' is a task, of which no call was recorded{}", name, graphs_hint())};
      if (!graph.valid() || live->program()[graph].kind != FunctionKind::graph)
        return {false, fmt::format("no graph is called '{}'{}", name, graphs_hint())};
      std::unique_ptr<GraphView> view = live->view(graph);
      return {true, without_end(use(view->graph, aggregate(view->graph), graph))};
    } catch (const Error& error) {
      return {false, rendered(error.diags())};
    }
  }

  FunctionId function(std::string_view name) const {
    for (const Checker::Known& known : live->checker().names())
      if (known.name == name) return known.function;
    return {};
  }

  std::string graphs_hint() const {
    std::vector<std::string> names;
    for (const Checker::Known& known : live->checker().names())
      if (known.function.valid() && live->program()[known.function].kind == FunctionKind::graph)
        names.push_back(known.name);
    return names.empty() ? "" : "; graphs: " + joined(names, ", ");
  }

  // The tensors that `x` or `x.y` names.
  std::vector<NodeId> nodes_of(std::string_view name) const {
    const std::size_t dot = name.find('.');
    std::vector<NodeId> nodes;
    for (const Checker::Known& known : live->checker().names()) {
      if (known.name != name.substr(0, dot) || !known.variable.valid()) continue;
      const Value value = live->value(known.variable);
      auto add = [&](const Value& part) {
        auto* map = part.as<LaunchMap>();
        const Tensor* tensor = map ? map->all.get() : part.as<Tensor>();
        if (tensor && tensor->ref.is_future() && tensor->is_of(live->session())) nodes.push_back(tensor->ref.node());
      };
      add(value);
      auto* invocation = value.as<Invocation>();
      for (std::size_t i = 0; invocation && i < invocation->outputs.size(); ++i)
        if (dot == std::string_view::npos || invocation->names[i] == name.substr(dot + 1)) add(invocation->outputs[i]);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  // stencil#3[2], or m[2] of its map: a point of a launch, which is one task as long as it has not run.
  Text why_point(std::string_view name) {
    const TaskGraph& graph = live->session().graph;
    const std::string_view called = name.substr(0, name.find('['));
    const std::vector<NodeId> named = nodes_of(called);
    for (std::size_t i = graph.size(); i > 0; --i) {
      const NodeId node(i - 1);
      const std::string launch = graph.path(node);
      const bool is_meant = launch == called || std::ranges::find(named, node) != named.end();
      if (!is_meant || graph.definition(node).kind != Definition::Kind::launch) continue;
      const Rect& domain = graph.launch(node).domain;
      if (const auto point = point_of(name.substr(called.size()));
          !point || point->rank != domain.rank || !domain.contains(*point))
        return {false,
                fmt::format("{} has no point {}: they are {}", launch, name.substr(called.size()), domain.text())};
      const std::string said = fmt::format("{} is one of {} of {}, which are chained when they run; until then", name,
                                           plural(graph.launch(node).points(), "point"), launch);
      return {true, said + "\n" + why(launch).text};
    }
    return {false, fmt::format("no task, value or graph of this backend is called '{}'", name)};
  }

  // [2] or [2, 0].
  static std::optional<Point> point_of(std::string_view text) {
    Point point;
    const char* at = text.data() + 1;
    const char* const end = text.data() + text.size();
    for (point.rank = 0; point.rank < point.at.size();) {
      while (at != end && *at == ' ') ++at;
      const auto [next, error] = std::from_chars(at, end, point.at[point.rank++]);
      if (error != std::errc() || next == end) return std::nullopt;
      if (*next == ']' && next + 1 == end) return point;
      if (*next != ',') return std::nullopt;
      at = next + 1;
    }
    return std::nullopt;
  }

  Text why(std::string_view name) {
    const TaskGraph& graph = live->session().graph;
    std::vector<NodeId> nodes = nodes_of(name);
    for (std::size_t i = graph.size(); nodes.empty() && i > 0; --i) {  // a task by its path, else the last of its name
      const NodeId node(i - 1);
      if (graph.path(node) == name || graph.definition(node).title() == name) nodes.push_back(node);
    }
    if (nodes.empty() && name.ends_with(']')) return why_point(name);
    if (nodes.empty()) {
      Text whole = with_graph(name, [](const TaskGraph& g, const Chains& c, FunctionId) { return chains_text(g, c); });
      const bool known = name.empty() || whole.found || function(name).valid();
      return known ? whole : Text{false, fmt::format("no task, value or graph of this backend is called '{}'", name)};
    }
    Chains chains = aggregate(graph, {.received = live->session().received()});
    std::string text;
    for (NodeId node : nodes) text += (text.empty() ? "" : "\n") + chain_lines(graph, chains, node);
    return {true, text};
  }
};

Workspace::Workspace(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  if (!state_->options.output)
    state_->options.output = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  Sources sources;
  Result<BackendChoice> backend = read_backend(state_->options.backend, state_->tools, sources);
  if (!backend) throw dsl::detail::error_of(sources, backend.diags());
  state_->backend = std::make_shared<BackendChoice>(std::move(*backend));
  state_->start();
}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;

Workspace::Answer Workspace::enter(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const bool hidden = last != std::string_view::npos && text[last] == ';';
  return state_->enter(fmt::format("<{}>", ++state_->entries), std::string(text), !hidden);
}

Workspace::Answer Workspace::load(const std::string& path) {
  try {
    return state_->load(path, read_text(path));
  } catch (const Error& error) {
    Answer answer;
    answer.status = Status::wrong;
    answer.diagnostics = state_->rendered(error.diags());
    return answer;
  }
}

bool Workspace::needs_more(std::string_view text) { return taskspec::needs_more(text); }

Text Workspace::describe(std::string_view name) {
  std::optional<std::string> text = description(*state_->live, name);
  if (text) return {true, *text};
  std::vector<std::string> names = record_names(state_->tools);
  for (const Checker::Known& known : state_->live->checker().names()) names.push_back(known.name);
  if (const std::string_view help = foreign_word(name); !help.empty())
    return {false, fmt::format("'{}' is no word of this language: {}", name, help)};
  std::optional<std::string> near = nearest(name, names);
  return {false, fmt::format("nothing is called '{}'", name) + (near ? "; did you mean '" + *near + "'?" : "")};
}

Text Workspace::type(std::string_view expression) {
  Result<Type> type = state_->live->type_of("<type>", std::string(expression));
  return type ? Text{true, type->text()} : Text{false, state_->rendered(type.diags())};
}

Text Workspace::why(std::string_view name) { return state_->why(name); }

Text Workspace::chains(std::string_view graph) {
  return state_->with_graph(graph, [](const TaskGraph& g, const Chains& c, FunctionId) { return chains_text(g, c); });
}

Text Workspace::plan(std::string_view graph) {
  return state_->with_graph(graph, [](const TaskGraph& g, const Chains& c, FunctionId) {
    const std::shared_ptr<const Plan> plan = plan_of_view(g, c);
    const std::shared_ptr<const Plan> points = plan ? nullptr : plan_of_points(g);
    return plan ? plan_text(*plan) : points ? plan_text(*points) : why_no_plan(g);
  });
}

Text Workspace::drawing(std::string_view graph) {
  return state_->with_graph(graph, [this](const TaskGraph& g, const Chains& c, FunctionId) {
    return taskspec::drawing(g, c, {.columns = state_->columns(), .unicode = state_->options.unicode});
  });
}

Text Workspace::slices(const std::string& function, bool metrics) {
  Program program = state_->live->program();
  program.sources = state_->live->sources();
  const CutProgram cut = cut_program(program);
  const CutReport report = report_cut(cut);
  const CutTextOptions options{.columns = state_->columns(), .metrics = metrics, .function = function};
  if (!function.empty() && !find_function(report, function))
    return {false, fmt::format("no function '{}' is part of the two programs", function)};
  return {true, without_end(cut_text(cut.program, report, options))};
}

Text Workspace::profile() const {
  const SessionReport report = state_->live->session().report();
  if (report.profile.empty()) return {false, "nothing has run yet"};
  return {true, without_end(profile_text(report, state_->live->sources()))};
}

Workspace::Completion Workspace::complete(std::string_view line, std::size_t cursor) {
  return completion(*state_->live, line, cursor);
}

std::vector<std::string> Workspace::names_in_graph() { return taskspec::names_in_graph(*state_->live); }

Text Workspace::export_graph(std::string_view graph, const std::string& path) {
  try {
    FunctionId function = state_->function(graph);
    if (graph.empty() && path.ends_with(".json"))
      return {false, "JSON holds a graph of the program; say which: :export GRAPH " + path + state_->graphs_hint()};
    if (graph.empty()) {
      Session& session = state_->live->session();
      const Program& program = state_->live->program();
      taskspec::export_graph(program, program.main().top_level, session.graph,
                             aggregate(session.graph, {.received = session.received()}), path);
    } else if (!function.valid() || state_->live->program()[function].kind != FunctionKind::graph) {
      return {false, fmt::format("no graph is called '{}'{}", graph, state_->graphs_hint())};
    } else {
      taskspec::export_graph(state_->live->program(), *state_->live->view(function, {}, contents_for(path)), path);
    }
    return {true, "wrote " + path};
  } catch (const Error& error) {
    return {false, state_->rendered(error.diags())};
  }
}

Text Workspace::save(const std::string& path) const {
  try {
    write_text(path, session_text(state_->entered));
    return {true, fmt::format("wrote {} to {}", plural(state_->entered.size(), "entry", "entries"), path)};
  } catch (const Error& error) {
    return {false, state_->rendered(error.diags())};
  }
}

Text Workspace::use_backend(std::string_view written) {
  Sources sources;
  Result<BackendChoice> choice = read_backend(std::string(written), state_->tools, sources);
  if (!choice) return {false, without_end(render(sources, choice.diags(), {.colour = state_->options.colour}))};
  try {
    state_->live->change_backend(*choice);
  } catch (const Error& error) {  // the one before stays
    return {false, state_->rendered(error.diags())};
  }
  state_->backend = std::make_shared<BackendChoice>(std::move(*choice));
  state_->live->session().graph.name = "session";
  state_->changes = GraphChanges();
  return {true, fmt::format("from here on {}", written)};
}

void Workspace::reset() { state_->start(); }
void Workspace::interrupt() { state_->interrupted.store(true, std::memory_order_relaxed); }

}  // namespace taskspec
