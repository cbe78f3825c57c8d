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
    {.code = "E4021",
     .summary = "a network does not fit the way a chip works",
     .program =
         R"(// two populations of spiking neurons that feed one another, the way back delayed by one step, on a chip
// that delivers spikes one tick later)",
     .cause = R"(Something here cannot be met by any number of cores. On chips with synaptic cores each population of a
loop takes a tick, so its delays must add up to as many steps. Neurons that draw random thresholds in turn from one stream
cannot be cut over cores.)",
     .fix = R"(Add the delay that the message names, or allow it with allow_delay; make the population smaller, or do
without its random mask.)",
     .reach = Reach::circumstance},
    {.code = "E4022",
     .summary = "a network takes more cores than there are",
     .program = R"(// 10,000 spiking neurons with a million synapses on a chip of 128 cores)",
     .cause =
         R"(Each core has so many neurons, axons and bytes, and stays with what it was given: nothing is loaded again
during a run. The message has the layers that take most cores, and what limits each.)",
     .fix = R"(Take as many chips as the message says, or make the largest layer smaller.)",
     .reach = Reach::circumstance},
    {.code = "E4023",
     .summary = "a limit of a chip is exceeded by a part that cannot be cut",
     .program = R"(// a neuron that reads 300 others, on a chip whose cores hear of 256)",
     .cause =
         R"(One neuron, weight or delay alone is more than a core can hold: axons in or out, memory of synapses, width
of weights, length of delays. More cores do not help.)",
     .fix = R"(The message has the use, the limit, who contributes, and the smallest change with which it fits.)",
     .reach = Reach::circumstance},
};
static_assert(is_family(blocks_family, 4));

}  // namespace

std::span<const CodeInfo> block_codes() { return blocks_family; }

}  // namespace taskspec
