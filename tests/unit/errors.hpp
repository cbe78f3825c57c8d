// What an action throws, as text: "E7001 no file 'x'", then " | " and the help where there is one.
//
//   CHECK(error_of([] { load_array("x.npy"); }).starts_with("E7001"));
#pragma once
#include <string>

#include "ir/base/diag.hpp"

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const taskspec::Error& error) {
    const taskspec::Diag& diag = error.diags().items().front();
    return diag.code.text() + " " + diag.message + (diag.help_text.empty() ? "" : " | " + diag.help_text);
  }
  return "no error";
}
