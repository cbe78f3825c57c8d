#include "interp/import/task_ir/task_ir.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "interp/import/task_ir/binary.hpp"
#include "interp/import/task_ir/from_graph.hpp"
#include "interp/import/task_ir/text_reader.hpp"
#include "interp/import/task_ir/to_graph.hpp"

namespace taskspec {

namespace {

using namespace task_ir;

constexpr std::size_t most_bytes = std::size_t{1} << 31;

Diags broken(SourceId source, std::string what) {
  Diags diags;
  diags.error("E7003", {source, 0, 0}, std::move(what));
  return diags;
}

// Tags of the fields of a graph: blocks, edges, groups, test_config.
bool begins_as_binary(std::string_view bytes) {
  return !bytes.empty() && (bytes[0] == 0x0a || bytes[0] == 0x12 || bytes[0] == 0x1a || bytes[0] == 0x22);
}

bool is_printable(std::string_view bytes) {
  return std::ranges::none_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && !(byte >= '\t' && byte <= '\r')) || byte == 0x7f;
  });
}

Result<TaskIrFile> read_binary(const tianjic_ir::TaskGraph& messages, SourceId source, const std::string& name,
                               const BlockTable& blocks) {
  Diags diags = unknown_fields(messages, {source, 0, 0});
  if (diags.has_errors()) return diags;
  Result<BlockGraph> graph = to_graph(messages, nullptr, source, name, blocks);
  diags.append(graph.diags());
  if (!graph) return diags;
  return Result<TaskIrFile>({*std::move(graph), TaskIrForm::binary}, std::move(diags));
}

Result<TaskIrFile> read_text_form(std::string_view text, SourceId source, const std::string& name,
                                  const BlockTable& blocks) {
  tianjic_ir::TaskGraph messages;
  TextReader reader(text, source);
  if (!reader.read(messages)) return reader.diags();
  Diags diags = reader.diags();
  Result<BlockGraph> graph = to_graph(messages, &reader, source, name, blocks);
  diags.append(graph.diags());
  if (!graph) return diags;
  return Result<TaskIrFile>({*std::move(graph), TaskIrForm::text}, std::move(diags));
}

}  // namespace

Result<TaskIrFile> read_task_ir(std::string_view bytes, SourceId source, const std::string& name,
                                const BlockTable& blocks) {
  if (bytes.size() >= most_bytes) return broken(source, "a Task IR file has less than 2 GiB");
  if (bytes.empty()) return broken(source, "the file is empty");
  tianjic_ir::TaskGraph messages;
  const google::protobuf::LogSilencer silence;  // it would write to the console what is wrong with texts in bytes
  if (begins_as_binary(bytes) && messages.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return read_binary(messages, source, name, blocks);
  if (is_printable(bytes)) return read_text_form(bytes, source, name, blocks);
  return broken(source, begins_as_binary(bytes) ? "this Task IR file is cut short or damaged, or nested deeper than 100"
                                                : "this is no Task IR file: neither text nor the bytes of a graph");
}

Result<std::string> write_task_ir(const BlockGraph& graph, TaskIrForm form) {
  if (Diags diags = check_sayable(graph); diags.has_errors()) return diags;
  const tianjic_ir::TaskGraph messages = from_graph(graph);
  std::string out;
  const bool written = form == TaskIrForm::binary ? messages.SerializeToString(&out)
                                                  : google::protobuf::TextFormat::PrintToString(messages, &out);
  // Not more than 2 GiB fit into messages.
  if (!written) return broken({}, fmt::format("'{}' is too large for a Task IR file", graph.name));
  return out;
}

}  // namespace taskspec
