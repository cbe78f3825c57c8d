// Passes over the two parts of one function that make them meet less often. Internal to ir/cut/.
#pragma once

#include "ir/base/function_ref.hpp"
#include "ir/cut/build.hpp"

namespace taskspec {

// A receive moves down in its block, past host computations, to where its value is first needed: meanwhile the graph
// works. Never past an effect, whose order against an error could be seen. `quiet`: a function without effects and
// channels.
void sink_receives(Function& host, FunctionRef<bool(FunctionId)> quiet);

// Messages of one direction with nothing but cheap calls between them on either side become one. Channels without
// messages are gone afterwards.
void merge_messages(FunctionCut& cut);

}  // namespace taskspec
