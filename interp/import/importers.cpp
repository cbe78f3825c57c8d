// The kinds of model files that this program reads. A new one is a row here, and its reader.
#include <array>
#include <fstream>

#include "interp/import/importer.hpp"
#include "interp/import/nir/importer.hpp"
#include "interp/import/onnx/importer.hpp"
#include "interp/import/task_ir/importer.hpp"

namespace taskspec {

namespace {

const std::array all{nir::importer, onnx::importer, task_ir::importer};

std::vector<std::byte> head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw failure("E7001", {}, "no file '" + path + "'");
  std::vector<std::byte> head(head_bytes);
  file.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Error unknown_kind(const std::string& path) {
  Diag diag("E7003", Severity::error, {}, "'" + path + "' is no model file of a known kind");
  for (const ImporterRecord& record : all) {
    std::string suffixes;
    for (const std::string_view suffix : record.suffixes) suffixes += " " + std::string(suffix);
    diag.note(std::string(record.name) + ":" + suffixes);
  }
  return Error(std::move(diag));
}

}  // namespace

std::span<const ImporterRecord> importers() { return all; }

const ImporterRecord& importer_of(const std::string& path) {
  const std::vector<std::byte> head = head_of(path);
  for (const ImporterRecord& record : all)
    if (record.recognises && record.recognises(head)) return record;
  const std::string lower = in_lower_case(path);
  for (const ImporterRecord& record : all)
    for (const std::string_view suffix : record.suffixes)
      if (lower.ends_with(suffix)) return record;
  throw unknown_kind(path);
}

}  // namespace taskspec
