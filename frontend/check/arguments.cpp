#include "frontend/check/arguments.hpp"

#include <fmt/format.h>

#include "frontend/check/foreign.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

namespace {

class Placement {
 public:
  Placement(Diags& diags, const Callable& callable, Span call)
      : diags_(diags), callable_(callable), call_(call), from_(callable.parameters.size()) {
    for (std::size_t i = 0; i < callable.given; ++i) from_[i] = call;
  }

  std::optional<std::vector<std::size_t>> run(std::span<const ast::Arg> args) {
    std::vector<std::size_t> places;
    std::size_t next = callable_.given;
    bool named = false;
    for (const ast::Arg& arg : args) {
      named = named || arg.name;
      std::optional<std::size_t> place = arg.name ? by_name(arg) : named ? after_named(arg) : by_position(arg, next);
      if (!place) return std::nullopt;
      if (!arg.name) ++next;
      places.push_back(*place);
    }
    if (!complete()) return std::nullopt;
    return places;
  }

 private:
  bool variadic() const { return !callable_.parameters.empty() && callable_.parameters.back().variadic; }

  Diag& wrong(Span span, std::string message) {
    Diag& diag = diags_.error("E1003", span, std::move(message));
    if (callable_.declared.valid()) diag.label(callable_.declared, "declared here");
    return diag;
  }

  std::optional<std::size_t> by_position(const ast::Arg& arg, std::size_t place) {
    std::size_t count = callable_.parameters.size();
    if (place >= count && variadic()) return place;
    if (place >= count) {
      wrong(arg.span, fmt::format("{} takes {}", callable_.text, takes()));
      return std::nullopt;
    }
    if (!callable_.parameters[place].variadic) from_[place] = arg.span;
    return place;
  }

  std::string takes() const {
    std::size_t most = callable_.parameters.size() - callable_.given, least = 0;
    for (std::size_t i = callable_.given; i < callable_.parameters.size(); ++i)
      if (!callable_.parameters[i].optional) ++least;
    if (most == 0) return "no arguments";
    return (least < most ? "at most " : "") + plural(most, "argument");
  }

  std::optional<std::size_t> after_named(const ast::Arg& arg) {
    wrong(arg.span, "positional arguments come before named ones");
    return std::nullopt;
  }

  std::optional<std::size_t> by_name(const ast::Arg& arg) {
    const std::string& name = arg.name->text;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < callable_.parameters.size(); ++i) {
      const ParameterName& parameter = callable_.parameters[i];
      if (parameter.variadic) continue;
      if (parameter.name == name) {
        if (from_[i].valid()) {
          wrong(arg.span, fmt::format("argument '{}' of {} is given twice", name, callable_.text))
              .label(from_[i], "first here");
          return std::nullopt;
        }
        from_[i] = arg.span;
        return i;
      }
      names.emplace_back(parameter.name);
    }
    Diag& diag = wrong(arg.name->span, fmt::format("{} has no parameter '{}'", callable_.text, name));
    if (const std::string_view known = foreign_argument(name, names.empty()); !known.empty())
      diag.help(std::string(known));
    else if (std::optional<std::string> best = nearest(name, names))
      diag.help(fmt::format("did you mean '{}'?", *best));
    else if (!names.empty())
      diag.help(fmt::format("it has {}", joined(names, ", ")));
    return std::nullopt;
  }

  bool complete() {
    std::vector<std::string> missing;
    for (std::size_t i = callable_.given; i < callable_.parameters.size(); ++i) {
      const ParameterName& parameter = callable_.parameters[i];
      if (!from_[i].valid() && !parameter.optional && !parameter.variadic)
        missing.push_back(fmt::format("'{}'", parameter.name));
    }
    if (missing.empty()) return true;
    std::string_view name = callable_.text;  // 'range', with its quotes
    if (name.size() > 2 && name.front() == '\'') name = name.substr(1, name.size() - 2);
    wrong(call_, fmt::format("{} needs {} {}", callable_.text, missing.size() == 1 ? "argument" : "arguments",
                             joined(missing, ", ")))
        .help(std::string(foreign_call(name)));
    return false;
  }

  Diags& diags_;
  const Callable& callable_;
  Span call_;
  std::vector<Span> from_;  // by parameter: the argument that it has
};

}  // namespace

std::optional<std::vector<std::size_t>> place_arguments(Diags& diags, const Callable& callable,
                                                        std::span<const ast::Arg> args, Span call) {
  return Placement(diags, callable, call).run(args);
}

}  // namespace taskspec::checking
