#include "ir/json/messages.hpp"

#include <doctest/doctest.h>

namespace taskspec::messages_test {

TEST_CASE("what a reader of models says comes back from its JSON [json]") {
  Messages said;
  said.notes = {"a \"note\"", "another"};
  said.diags.error("E7007", {}, "an operator\nwith a break").note("Frob: 1 node").help("export less");
  said.diags.warning("E7003", {}, "half of it");
  const Messages read = read_messages(messages_json(said));
  CHECK(read.notes == said.notes);
  REQUIRE(read.diags.size() == 2);
  const Diag &first = read.diags.items()[0], &second = read.diags.items()[1];
  CHECK(first.code == Code("E7007"));
  CHECK(first.severity == Severity::error);
  CHECK(first.message == "an operator\nwith a break");
  CHECK(first.notes == std::vector<std::string>{"Frob: 1 node"});
  CHECK(first.help_text == "export less");
  CHECK(second.severity == Severity::warning);
  CHECK(read_messages(messages_json({})).diags.empty());
}

TEST_CASE("messages that are none are an error [json] [hostile]") {
  for (const char* text : {"", "[]", "{\"notes\":[]}", "{\"notes\":[1],\"diagnostics\":[]}",
                           "{\"notes\":[],\"diagnostics\":[{\"code\":\"X1\",\"severity\":\"error\"}]}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read_messages(text), Error);
  }
}

}  // namespace taskspec::messages_test
