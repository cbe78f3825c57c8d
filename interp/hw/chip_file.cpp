#include "interp/hw/chip_file.hpp"

namespace taskspec {

std::shared_ptr<const Chip> chip_named(std::string_view name_or_path) {
  Result<Chip> chip = load_chip(name_or_path);
  if (chip) return std::make_shared<const Chip>(*std::move(chip));
  Diag first = chip.diags().items().front();
  // What all of them begin with is said once.
  const std::string beginning = first.message.substr(0, first.message.find(": ") + 2);
  for (const Diag& diag : chip.diags().items()) {
    if (&diag == &chip.diags().items().front()) continue;
    first.note(diag.message.starts_with(beginning) ? diag.message.substr(beginning.size()) : diag.message);
  }
  Diags all;
  all.add(std::move(first));
  throw Error(std::move(all));
}

}  // namespace taskspec
