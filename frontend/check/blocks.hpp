// `ir` declarations: Task IR blocks under one name, which is called as a task.
//
//   ir front { img : SI i8 [...]     w : SW2D i8 [...] = file("w.npy")     ...     conv -> out6 }
//
//   ->  agent front { table w: i8[6, 1, 5, 5] = file("w.npy")              its slots: what `=` says, and states
//                     task (img: i8[28, 28, 1]) -> (out6: i32[24, 24, 6])  its body: one call of the op that runs
//                     blocks
//       }
//       one instance, made where the declaration stands; front(x) calls its task
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// The name of the declaration, the agent and the task, of which nothing is known yet.
void declare_blocks(World& world, ModuleId module, const ast::IrDecl& declaration);

// In its place at the top level: what its lines say, and the instance.
void define_blocks(Body& file, const ast::IrDecl& declaration);

// The body of the task.
void check_blocks_body(Body& body);

// The instance, as the agent of a call of the task; nothing where the declaration stands further down, which is
// reported.
std::optional<Term> blocks_instance(Body& body, const Binding& blocks, const ast::Name& name);

}  // namespace taskspec::checking
