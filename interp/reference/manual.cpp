// The manual as Markdown and as one HTML page: the same chapters out of the same records.
#include <fmt/format.h>

#include <map>
#include <span>

#include "interp/reference/blocks.hpp"
#include "interp/reference/language.hpp"
#include "interp/reference/modules.hpp"
#include "interp/reference/reference.hpp"
#include "interp/reference/types.hpp"
#include "ir/base/ascii.hpp"
#include "ir/codes/codes.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/show/svg.hpp"

namespace taskspec {

namespace {

struct Article {
  std::string name, heading;
  std::vector<std::string> paragraphs;
  std::string code;  // an example; empty: none
  std::vector<std::string> after;
};

struct Chapter {
  std::string title, introduction;
  std::vector<Article> articles;
};

Article op_article(const OpDef& op) {
  Article article{std::string(op.name), signature_text(op), {std::string(op.doc)}, std::string(op.example), {}};
  if (!op.symbol.empty()) article.paragraphs.push_back(fmt::format("Written as the operator {}.", op.symbol));
  article.after.push_back(op.gradient.build ? "It has a gradient."
                                            : fmt::format("No gradient: {}.", op.gradient.why_none));
  if (op.tolerance > 0)
    article.after.push_back(fmt::format("Implementations agree within a relative {:g}.", op.tolerance));
  else
    article.after.push_back("All implementations give the same bits.");
  return article;
}

Chapter ops_chapter(const Toolbox& tools, Fusion fusion, std::string title, std::string introduction) {
  Chapter chapter{std::move(title), std::move(introduction), {}};
  for (const OpDef* op : tools.ops.all())
    if (op->fusion == fusion) chapter.articles.push_back(op_article(*op));
  return chapter;
}

Chapter tour_chapter() {
  Chapter chapter{"Language", "A tour of an hour. Each program runs as it stands: taskspec run FILE, or taskspec.", {}};
  for (const TourStop& stop : tour())
    chapter.articles.push_back(
        {std::string(stop.title), std::string(stop.title), {std::string(stop.text)}, std::string(stop.program), {}});
  return chapter;
}

Chapter language_chapter(const LanguageChapter& from) {
  Chapter chapter{std::string(from.title), std::string(from.introduction), {}};
  for (const LanguageRecord& record : from.records) {
    Article article{
        std::string(record.name), std::string(record.form), {std::string(record.doc)}, std::string(record.example), {}};
    if (!record.part.empty()) article.after.push_back(fmt::format("Not built yet: it needs {}.", record.part));
    chapter.articles.push_back(std::move(article));
  }
  return chapter;
}

Chapter modules_chapter() {
  Chapter chapter{"Modules", "They come along; import one, and its members stand behind its name.", {}};
  for (const ModuleRecord& record : module_records())
    if (record.form.starts_with("import "))  // what it says is laid out by lines
      chapter.articles.push_back({record.name, record.form, {}, "", {}}), chapter.articles.back().code = record.doc;
    else
      chapter.articles.push_back({record.name, record.name, {record.doc}, record.form, {}});
  return chapter;
}

// Of one backend, and of all.
Chapter reports_chapter(const Toolbox& tools) {
  Chapter chapter{"Reports", "Fields of r.report, where r is what `run .. on` gives.", {}};
  auto add = [&](std::span<const ReportField> fields, std::string_view whose) {
    for (const ReportField& field : fields)
      chapter.articles.push_back({std::string(field.name),
                                  fmt::format(".report.{}", field.name),
                                  {fmt::format("Of {}: {}.", whose, field.doc)},
                                  "",
                                  {}});
  };
  add(common_report(), "every run .. on");
  for (const Builtin* builtin : tools.builtins.all())
    if (builtin->backend) add(builtin->backend->report, fmt::format("run .. on {}", builtin->name));
  return chapter;
}

Chapter prompt_chapter(std::span<const PromptCommand> commands) {
  Chapter chapter{"Prompt", "taskspec without a file is the prompt; ?NAME shows a record of this manual.", {}};
  for (const PromptCommand& command : commands)
    chapter.articles.push_back({std::string(command.name),
                                fmt::format("{} {}", command.name, command.argument),
                                {std::string(command.help)},
                                "",
                                {}});
  return chapter;
}

std::vector<Chapter> chapters(const Toolbox& tools, std::span<const PromptCommand> commands) {
  std::vector<Chapter> all{tour_chapter()};
  for (const LanguageChapter& chapter : language_chapters()) all.push_back(language_chapter(chapter));
  if (!commands.empty()) all.push_back(prompt_chapter(commands));
  all.push_back(ops_chapter(tools, Fusion::pointwise, "Element-wise ops",
                            "x.op(...) is op(x, ...). A chain of these is one pass over the data."));
  all.push_back(ops_chapter(tools, Fusion::reduction, "Reductions", "They keep a reduced axis with extent 1."));
  all.push_back(ops_chapter(tools, Fusion::movement, "Movement", "They rearrange elements and compute nothing."));
  all.push_back(ops_chapter(tools, Fusion::opaque, "Other ops", "Products, windows, makers and random numbers."));
  Chapter builtins{"Builtins", "Functions of the host program: they run at once, in order.", {}};
  for (const Builtin* builtin : tools.builtins.all())
    builtins.articles.push_back({std::string(builtin->name),
                                 signature_text(*builtin),
                                 {std::string(builtin->doc)},
                                 std::string(builtin->example),
                                 {}});
  all.push_back(std::move(builtins));
  all.push_back(reports_chapter(tools));
  if (Chapter modules = modules_chapter(); !modules.articles.empty()) all.push_back(std::move(modules));
  Chapter blocks{"Blocks", "Of Task IR, in `ir` declarations: what a many-core chip computes with.", {}};
  for (const BlockDef* block : tools.blocks.all())
    blocks.articles.push_back({std::string(block->name),
                               signature_text(*block),
                               {std::string(block->doc), clusters_text(*block)},
                               std::string(block->example),
                               {}});
  all.push_back(std::move(blocks));
  Chapter moves{"Rearrangements", "What an edge between blocks does to the values that it carries.", {}};
  for (const RearrangeDef* move : all_rearrangements())
    moves.articles.push_back({std::string(move->name), signature_text(*move), {std::string(move->doc)}, "", {}});
  all.push_back(std::move(moves));
  Chapter types{"Types", "Of the host program, and the precisions of tensors.", {}};
  for (const TypeRecord& type : type_records()) types.articles.push_back({type.name, type.name, {type.doc}, "", {}});
  all.push_back(std::move(types));
  Chapter errors{"Errors", "What each code means, a text that gives it, and its cure.", {}};
  for (const CodeInfo* info : all_codes())
    errors.articles.push_back({info->code.text(),
                               fmt::format("{}: {}", info->code.text(), info->summary),
                               {std::string(info->cause)},
                               std::string(info->program),
                               {std::string(info->fix)}});
  all.push_back(std::move(errors));
  return all;
}

std::string trimmed(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

// Letters, digits and a few signs as they are, others by their numbers: an operator is no part of an address.
std::string anchor(std::string_view name) {
  std::string id;
  for (const char c : name)
    if (is_word(c) || c == '-' || (c == '.' && name.back() != '.'))
      id += c;
    else
      id += c == ' ' ? "-" : fmt::format("x{:02x}", static_cast<unsigned char>(c));
  return id;
}

// A paragraph may hold characters that Markdown would take for markup.
std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("\\`*_<>[]#|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

constexpr std::string_view page_begin = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>taskspec reference</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: light-dark(#0b57d0, #8ab4f8); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 16rem 1fr; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; border-right: 1px solid var(--line); padding: 1rem; box-sizing: border-box; }
nav a { display: block; font-size: 14px; padding: 1px 4px; }
nav h2 { font-size: 14px; margin: 1em 0 .2em; }
main { padding: 1rem 2rem; max-width: 52rem; min-width: 0; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h3 { font: 600 16px/1.4 ui-monospace, monospace; margin: 2em 0 .3em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .7em 1em; overflow: auto; font: 14px/1.45 ui-monospace, monospace; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .3em .5em; }
p.small { font-size: 14px; opacity: .8; }
[hidden] { display: none !important; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; } }
</style></head><body>
<nav><input id="find" type="search" placeholder="find a name" aria-label="find a name">
<p id="none" class="small" hidden>no such name</p>
)";

constexpr std::string_view page_end = R"html(<script>
const find = document.getElementById("find"), none = document.getElementById("none");
// A chapter without a name that fits is hidden with its names.
find.addEventListener("input", () => {
  const wanted = find.value.trim().toLowerCase();
  let chapter = null;
  none.hidden = false;
  for (const line of document.querySelectorAll("nav h2, nav a")) {
    const fits = line.textContent.toLowerCase().includes(wanted);
    line.hidden = line.tagName === "H2" || !fits;
    if (line.tagName === "H2") chapter = line;
    else if (fits) chapter.hidden = false, none.hidden = true;
  }
});
find.addEventListener("keydown", event => {
  const first = document.querySelector("nav a:not([hidden])");
  if (event.key === "Enter" && first) first.click();
});
</script></body></html>
)html";

}  // namespace

std::string manual_markdown(const Toolbox& tools, std::span<const PromptCommand> commands) {
  std::string text = "# taskspec reference\n";
  for (const Chapter& chapter : chapters(tools, commands)) {
    text += fmt::format("\n## {}\n\n{}\n", chapter.title, markdown_escaped(chapter.introduction));
    for (const Article& article : chapter.articles) {
      text += fmt::format("\n### {}\n", markdown_escaped(article.heading));
      for (const std::string& paragraph : article.paragraphs) text += "\n" + markdown_escaped(paragraph) + "\n";
      if (!article.code.empty()) text += "\n```task\n" + trimmed(article.code) + "\n```\n";
      for (const std::string& paragraph : article.after) text += "\n" + markdown_escaped(paragraph) + "\n";
    }
  }
  return text;
}

std::string manual_html(const Toolbox& tools, std::span<const PromptCommand> commands) {
  std::string links, text;
  std::map<std::string, int> names;  // several of one name are numbered
  for (const Chapter& chapter : chapters(tools, commands)) {
    links += fmt::format("<h2>{}</h2>\n", xml_text(chapter.title));
    text += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", xml_text(chapter.title), xml_text(chapter.introduction));
    for (const Article& article : chapter.articles) {
      std::string id = anchor(chapter.title.substr(0, chapter.title.find(' ')) + "-" + article.name);
      if (const int number = ++names[id]; number > 1) id += fmt::format("-{}", number);
      links += fmt::format("<a href=\"#{}\">{}</a>\n", id, xml_text(article.name));
      text += fmt::format("<section id=\"{}\"><h3>{}</h3>\n", id, xml_text(article.heading));
      for (const std::string& paragraph : article.paragraphs) text += fmt::format("<p>{}</p>\n", xml_text(paragraph));
      if (!article.code.empty()) text += fmt::format("<pre>{}</pre>\n", xml_text(trimmed(article.code)));
      for (const std::string& paragraph : article.after)
        text += fmt::format("<p class=\"small\">{}</p>\n", xml_text(paragraph));
      text += "</section>\n";
    }
  }
  return std::string(page_begin) + links + "</nav>\n<main><h1>taskspec reference</h1>\n" + text + "</main>\n" +
         std::string(page_end);
}

}  // namespace taskspec
