#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

// All of them are of block graphs, which come from files and, once `ir` declarations are checked, from programs.
constexpr CodeInfo blocks_family[] = {
    {.code = "E4001",
     .summary = "a block's shape and attributes do not fit together",
     .program = R"(ir pool {
  img : SI i32 [y: 9, x: 8, f: 4]
  max : CCMPB i32 [y: 4, x: 4, f: 4, ky: 2, kx: 2, iy: 9, ix: 8] (stride_y: 3, stride_x: 2)
  z   : SO i32 [y: 4, x: 4, f: 4]
  img -> max
  max -> z
})",
     .cause = R"(Extents, kernel, strides, pads and dilations of a block describe one window that moves over its input,
and here they disagree; or an extent or attribute is missing, given twice, or outside its bounds.)",
     .fix =
         R"(outputs = floor((input + pads - ((kernel - 1) * dilation + 1)) / stride) + 1, for y and for x. The message
says which side gives what; taskspec doc BLOCK lists extents and attributes.)"},
    {.code = "E4002",
     .summary = "a block cannot be split there",
     .program = R"(// a block graph that is cut into parts of a size which one of its blocks does not allow)",
     .cause = R"(Blocks are split along y, x, f or r so that each part fits one core. This one cannot be cut along that
axis or at that place.)",
     .fix = R"(Split along another axis: the message names those that this block has.)",
     .reach = Reach::circumstance},
    {.code = "E4003",
     .summary = "a cluster is not filled exactly",
     .program = R"(ir join {
  a    : SI i8 [y: 4, x: 4, f: 2]
  b    : SI i8 [y: 4, x: 4, f: 2]
  both : SI i8 [y: 4, x: 4, f: 4]
  z    : SO i8 [y: 4, x: 4, f: 4]
  a -> both[0..4, 0..4, 0..2]
  b -> both[0..4, 0..4, 1..3]
  both -> z
})",
     .cause =
         R"(Each place of an input of a block is filled by exactly one edge. Here two edges fill the same place, none
fills it, a box reaches beyond its block, or the two ends of an edge differ in size.)",
     .fix = R"(Correct the boxes of the edges at the place that the message names. Ends of different shapes and equal
size are joined by a rearrangement: a -> b | reshape().)"},
    {.code = "E4004",
     .summary = "one block cannot feed the other",
     .program = R"(ir two {
  x   : SIC i8 [y: 1, x: 1, r: 4]
  w   : SW i8 [f: 4, r: 4] = fill(1)
  c   : CC i32 [y: 1, x: 1, f: 4, r: 4]
  m   : CCMPB i8 [y: 1, x: 1, f: 4]
  z   : SO i8 [y: 1, x: 1, f: 4]
  x -> c.input
  w -> c.weight
  c -> m
  m -> z
})",
     .cause =
         R"(Storage and compute blocks alternate: compute blocks read storage of their own kind (SIC feeds CC, SIC2D
CC2D, SIFC CVM, SI most others) and write into storage or outputs. Storage may feed storage.)",
     .fix = R"(Put a storage block of the kind that the message names between the two.)"},
    {.code = "E4005",
     .summary = "a block does not compute with these precisions",
     .program = R"(ir wide {
  x   : SI i16 [f: 4]
  m   : CCMPB i8 [f: 4] (shift: 8)
  h   : SI i8 [f: 4]
  z   : SO i8 [f: 4]
  x -> m
  m -> h
  h -> z
})",
     .cause = R"(Each kind of block takes certain pairs of precisions, those of its hardware: sums of products make i32
of i8, u8 or tern; a compare makes i8, u8, tern or i32 of i32. All other precisions are for storage.)",
     .fix = R"(Use one of the pairs that the message lists: a CCMPB or CLUT cuts i32 to i8 on the way.)"},
    {.code = "E4006",
     .summary = "data that do not fit their block",
     .program = R"(ir cut {
  x : SI i32 [f: 4]
  m : CCMPB i8 [f: 4] = fill(1)
  z : SO i8 [f: 4]
  x -> m
  m -> z
})",
     .cause = R"(The contents of a storage block have its extents and its precision, and each value lies within that
precision. Other blocks hold no data.)",
     .fix = R"(Compare with the type that the message names: give the block a wider precision, or convert the data.)"},
    {.code = "E4007",
     .summary = "a chip cannot shift by an odd number of bits",
     .program = R"(ir cut {
  x   : SI i32 [f: 4]
  m   : CCMPB i8 [f: 4] (shift: 7)
  h   : SI i8 [f: 4]
  z   : SO i8 [f: 4]
  x -> m
  m -> h
  h -> z
})",
     .cause =
         R"(When a chip cuts a sum to few bits it shifts by units of two bits. The arithmetic of `rabbit` mode, in which
the files of the reference are run, shifts by any number.)",
     .fix =
         R"(A CLUT with lut_dw: 12, a shift that is smaller by one and the table floor(a / 2) does it exactly; or shift
by an even number, or run in rabbit mode.)"},
    {.code = "E4008",
     .summary = "a block graph says more than a Task IR file can hold",
     .program = R"(// exporting a block graph with a delayed edge as .task.txt)",
     .cause = R"(Task IR files know the blocks, edges and rearrangements of version 1. Delays, triggers, switches and
approximate groups are ours.)",
     .fix = R"(Export the graph as .json or as text, which hold everything; or unroll what is delayed.)",
     .reach = Reach::circumstance},
    {.code = "E4011",
     .summary = "an op that no Task IR block does",
     .program = R"(task t(in x: i8[1, 4]) -> (y: i32[1, 1]) { y = (x as i32[1, 4]).prod(1) })",
     .cause = R"(Blocks multiply bytes by weights, add, compare, look up in tables and fire; storage and edges move what
they make. Some ops are none of it: what sorts, picks by data or divides by data, what belongs to training. Others are,
but not with these operands: a block holds weights as data, one sample at a time, and at most three extents.)",
     .fix =
         R"(The message has the nearest thing that works. What is left runs on the host: end the graph in front of it.)",
     .reach = Reach::circumstance},
    {.code = "E4012",
     .summary = "a sum that blocks may saturate and the host wraps around",
     .program = R"(task t(in x: i8[4]) -> (y: i8[4]) { y = x + x })",
     .cause =
         R"(Integers of the host wrap around, those of blocks stay at the largest or smallest number. A graph of integers
becomes blocks only where it is proven that no number leaves its precision, from the weights and from what is known of
inputs: their precision, and the bounds of shifts, relu, clamp and tables on the way. The bound and the limit are in the
message.)",
     .fix =
         R"(Cut the numbers before, with shift_right and `as i8`, take smaller weights, or add in a wider precision.)",
     .reach = Reach::circumstance},
    {.code = "E4031",
     .summary = "a block waits for a value that does not come",
     .program = R"(ir g {
  a : SI i8 [f: 1]
  b : SI i8 [f: 1]
  t : SS i8 [y: 1, x: 2] = [[0, 1]] as i8[1, 2]
  s : SWITCH i8 [f: 1] (outputs: 2)
  taken : SI i8 [f: 1]
  sum : CADD i32 [f: 1]
  z : SO i32 [f: 1]
  a -> s.input; t -> s.token
  s.output -> taken
  taken -> sum.input; b -> sum.input2
  sum -> z
}
print(g([1] as i8[1], [2] as i8[1]).z.array))",
     .cause = R"(A SWITCH gives values to the outputs that its token names. What is behind the others does not run in
this step; but a block that gets a value from there and one from elsewhere has half of what it needs, and nothing more
can come: it would wait for ever.)",
     .fix = R"(Let a SWITCH with ports: "or" join what comes from several sides, or send the other value through a
SWITCH with the same token.)"},
    {.code = "E4032",
     .summary = "a value came to a switch that does not take it",
     .program = R"(ir g {
  a : SI i8 [f: 1]
  b : SI i8 [f: 1]
  t : SS i8 [y: 2, x: 1] = [[1], [0]] as i8[2, 1]
  s : SWITCH i8 [f: 1] (ports: "or")
  z : SO i8 [f: 1]
  a -> s.input; b -> s.input2; t -> s.token
  s -> z
}
print(g([1] as i8[1], [2] as i8[1]).z.array))",
     .cause = R"(A SWITCH with ports: "or" waits for those inputs that its token takes. In this step a value came to
another one, too: it would stay there, and come out in a step to which it does not belong.)",
     .fix = R"(With ports: "and", which is the standard, the switch waits for all of its inputs and drops those that its
token does not take. Or keep the value from being made: a switch in front of its block, with the same token.)"},
    {.code = "E4033",
     .summary = "a token that is none",
     .program = R"(ir g {
  a : SI i8 [f: 1]
  b : SI i8 [f: 1]
  t : SS i8 [y: 2, x: 1] = [[1], [1]] as i8[2, 1]
  s : SWITCH i8 [f: 1]
  z : SO i8 [f: 1]
  a -> s.input; b -> s.input2; t -> s.token
  s -> z
}
print(g([1] as i8[1], [2] as i8[1]).z.array))",
     .cause = R"(The token of a SWITCH is a matrix of zeros and ones, a row for each of its inputs and a column for each
of its outputs. At most one input can go to an output: a column has no more than one 1.)",
     .fix = R"(A PREDICATE makes tokens that are right. Of one that is given look at its columns.)"},
    {.code = "E4035",
     .summary = "a block graph whose gradients no blocks compute",
     .program = R"(// the reverse of a graph with a CLUT)",
     .cause = R"(The reverse of a graph is made of the reverses of its blocks. A table has no slope, of a window's
maximum no block says which place it came from, and a switch goes another way in each step.)",
     .fix = R"(The message names the blocks. Leave them out, or put what has a slope in their place: CCMPB with windows
of one place for a relu, CAVG for a pool.)",
     .reach = Reach::circumstance},
    {.code = "E4036",
     .summary = "an approximate group that cannot be measured",
     .program = R"(// approximate() of a group whose metric is "median")",
     .cause = R"(Blocks of an approximate group may be changed as long as what leaves the group differs from what it was
by no more than its limit. That is measured on samples, by "max", "mean" or "l2".)",
     .fix = R"(Give samples, a limit of 0 or more and one of these metrics; and let something leave the group.)",
     .reach = Reach::circumstance},
    {.code = "E4037",
     .summary = "a graph that is no network of NIR",
     .program = R"(graph g(x: f32[2]) -> (y: f32[2]) { y = tanh(x) }
export(g, "g.nir"))",
     .cause = R"(A file of NIR knows neurons, products with weights, convolutions, sums and means of windows, scales and
delays. A graph that goes there is one time step, written in these words: neurons of module nir, `w @ x + b`, conv2d,
and what is written when a .nir file is imported.)",
     .fix = R"(The message names the tasks that NIR has no node for. Export the part of the graph without them; or write
.json, which holds everything.)",
     .reach = Reach::circumstance},
    {.code = "E4038",
     .summary = "a nest of loops that no block computes",
     .program = R"(ir g {
  x : SI i8 [f: 4]
  n : NEST i32 [f: 4] (sum: 2 * input[f] + input2[f])
  z : SO i32 [f: 4]
  x -> n.input; x -> n.input2
  n -> z
})",
     .cause =
         R"(A NEST is a compute block written as loops over y, x, f and r, ky, kx around one sum of products, or the
most or least of a window. It becomes the block whose own loops are the same; there are as many as a chip has
primitives, with their order of additions.)",
     .fix =
         R"(taskspec doc CC, CVM, CADD and so on have the formulas. What they read goes by the names of their clusters;
rows and columns that windows read are iy and ix.)"},
};
static_assert(is_family(blocks_family, 4));

}  // namespace

std::span<const CodeInfo> block_codes() { return blocks_family; }

}  // namespace taskspec
