// The graph of an `ir` declaration with the contents of its instance: what files hold.
#pragma once
#include <memory>

#include "interp/control/interpreter.hpp"
#include "ir/blocks/value.hpp"

namespace taskspec {

// `agent` is the instance. Storage that a text or a file fills has its data; states have them where those are not 0.
std::shared_ptr<const BlockGraph> with_contents(Interpreter& interpreter, FunctionId blocks, const Value& agent,
                                                Span span);

}  // namespace taskspec
