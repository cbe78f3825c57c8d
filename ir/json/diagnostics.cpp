#include "ir/json/json.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

// A place in a text, or nulls where there is none.
void put_place(JsonText& out, const PlainLabel& label) {
  if (label.path.empty()) {
    for (const char* name : {"file", "line", "column", "end_line", "end_column"}) out.key(name).null();
    return;
  }
  out.member("file", label.path).member("line", label.begin.line).member("column", label.begin.column);
  out.member("end_line", label.end.line).member("end_column", label.end.column);
}

void put(JsonText& out, const PlainDiag& diag) {
  out.open('{').member("code", diag.code).member("severity", diag.severity).member("message", diag.message);
  put_place(out, diag.primary);
  out.member("label", diag.primary.text).key("labels").open('[');
  for (const PlainLabel& label : diag.labels) {
    out.open('{');
    put_place(out, label);
    out.member("text", label.text).close('}');
  }
  out.close(']').key("notes").open('[');
  for (const std::string& note : diag.notes) out.string(note);
  out.close(']').key("help");
  if (diag.help.empty())
    out.null();
  else
    out.string(diag.help);
  out.close('}');
}

}  // namespace

std::string diagnostics_json(const std::vector<PlainDiag>& diags) {
  JsonText out;
  out.open('{').key("diagnostics").open('[');
  for (const PlainDiag& diag : diags) put(out, diag);
  return out.close(']').close('}').take();
}

}  // namespace taskspec
