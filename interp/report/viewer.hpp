// The viewer's files as they are in the folder viewer/, put into the program when it is built (embed.py).
#pragma once
#include <string_view>

namespace taskspec {

struct Viewer {
  std::string_view page, style, script;  // page: HTML with the marks @title@ @style@ @script@ @data@ @nonce@
};
const Viewer& viewer();

}  // namespace taskspec
