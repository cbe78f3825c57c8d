#include "ir/json/messages.hpp"

#include <charconv>

#include "ir/json/item.hpp"
#include "ir/json/json.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

Code code_of(const Item& item) {
  const std::string& text = item.text();
  std::uint16_t number = 0;
  const char* const end = text.data() + text.size();
  if (text.size() != 5 || text[0] != 'E' || std::from_chars(text.data() + 1, end, number).ptr != end)
    item.expected("a code such as E7003");
  return Code::of(number);
}

Diag read_diag(const Item& item) {
  const Severity severity = item["severity"].text() == "warning" ? Severity::warning : Severity::error;
  Diag diag(code_of(item["code"]), severity, {}, item["message"].text());
  const Item notes = item["notes"];
  for (std::size_t i = 0; i < notes.size(); ++i) diag.note(notes[i].text());
  if (const Item help = item["help"]; !help.is_null()) diag.help(help.text());
  return diag;
}

}  // namespace

std::string messages_json(const Messages& messages) {
  JsonText out;
  out.open('{').key("notes").open('[');
  for (const std::string& note : messages.notes) out.string(note);
  std::string text = out.close(']').take();
  // Its members follow those that are there.
  return text + "," + diagnostics_json(plain(Sources(), messages.diags)).substr(1);
}

Messages read_messages(std::string_view text) {
  const JsonFile file("<messages>", text, "list of messages");
  Messages messages;
  const Item notes = file.root()["notes"], diags = file.root()["diagnostics"];
  for (std::size_t i = 0; i < notes.size(); ++i) messages.notes.push_back(notes[i].text());
  for (std::size_t i = 0; i < diags.size(); ++i) messages.diags.add(read_diag(diags[i]));
  return messages;
}

}  // namespace taskspec
