// As ir/precompiled/standard.hpp, with the headers of ir that the libraries above it nearly all include.
#include "ir/base/text.hpp"
#include "ir/graph/task_graph.hpp"
#include "ir/precompiled/standard.hpp"
