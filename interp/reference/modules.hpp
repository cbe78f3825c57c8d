// The modules that come along, in the reference: what they declare, out of their texts and the comments above.
//
//   module_record("nn.linear")->form        // "fn linear(x: f32[B, I], ...) -> f32[B, O]"
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace taskspec {

// Their texts, put into the program when it is built.
struct ModuleSource {
  std::string_view name, text;
};
std::span<const ModuleSource> module_sources();

struct ModuleRecord {
  std::string name;  // "nn", "nn.linear", "data.digits.batches"
  std::string form;
  std::string doc;
};

// In order of their names, each module before what it declares.
std::span<const ModuleRecord> module_records();
std::string module_text(const ModuleRecord& record);  // form and doc; no line end

}  // namespace taskspec
