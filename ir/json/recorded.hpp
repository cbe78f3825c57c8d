// Graphs that stand in no text: that of a step of training is made of op lists, and of tasks of its forward graph. Such
// a file is read back from its nodes; there is no definition to make them of. Internal to ir/json/.
//
//   {"id":1,"kind":"task","name":"sgd","pass":"update","params":[{"name":"w","type":"f32[2]","priv":"inout"}, ...],
//    "outputs":[{"name":"w","type":"f32[2]","version":true}],"constants":[...],
//    "ops":[{"op":"mul","in":[1,2],"out":[3],"attrs":[null,null],"types":["f32[2]"]}, ...],"results":[4]}
#pragma once
#include <memory>
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/json/defs.hpp"
#include "ir/json/item.hpp"
#include "ir/json/read.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

// All of a definition of kind listed or embedded but its id and the brackets.
void put_recorded(JsonText& out, const Defs& defs, const Definition& definition);
// The functions in which the embedded tasks of a graph stand.
std::vector<FunctionId> embedded_functions(const TaskGraph& graph);
// Of an op list, by line.
std::vector<Span> line_spans(const Definition& definition);

// Whether a file holds such a graph.
bool is_recorded(const Item& root);
// Its functions and places are read already.
std::shared_ptr<const TaskGraph> read_recorded(const ImportContext& context, const Item& root, const GraphSpans& spans);

}  // namespace taskspec
