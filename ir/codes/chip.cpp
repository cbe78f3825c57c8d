// What mapping a network on a chip may fail for: the end of family E4, behind block graphs.
#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo chip_family[] = {
    {.code = "E4040",
     .summary = "a number that is of no use to the mapper",
     .program = R"(// hw(slabs: 500) for an image of 224 rows; hw(a2s2: true) without depth: 2)",
     .cause =
         R"(Rows come in one batch or more, and in no more than there are (slabs); a receive buffer has room for one
item or for two (depth), and only with two do cores fetch ahead (a2s2); step groups are none or more.)",
     .fix = R"(The message has what is possible. Without the option the mapper chooses.)",
     .reach = Reach::circumstance},
    {.code = "E4041",
     .summary = "a part of a network fits no core of a chip",
     .program = R"(// a table of 64 KB for a chip whose cores have 80 KB, beside the values that it is for)",
     .cause = R"(A layer is cut into pieces, and a core holds what its piece reads, makes and keeps: weights, tables,
states, inputs, sums, results. Here the smallest piece is too large, or the piece cannot be cut: neurons that draw random
thresholds in turn stay together, and in a loop of populations each takes a tick of delay.)",
     .fix =
         R"(The message has the layer, what it needs and what is there: make the layer smaller, or take another chip.)",
     .reach = Reach::circumstance},
    {.code = "E4042",
     .summary = "a network takes more cores than there are",
     .program = R"(// 200 layers on a chip of four cores)",
     .cause = R"(Weights stay where they are: nothing is loaded again during a run. Even with cores that several layers
share there are too few.)",
     .fix = R"(Take as many chips as the message says: hw(chips: [2, 1]); or make the largest layer smaller.)",
     .reach = Reach::circumstance},
    {.code = "E4043",
     .summary = "a limit of a chip is exceeded",
     .program = R"(// more chips than can be joined, or cores than these have; more bytes than a receive area holds)",
     .cause =
         R"(Chips count phases, groups of cores, bytes of the receive area, axons in and out, delays. The limits stand
in the chip's file.)",
     .fix = R"(The message has the use and the limit: cut the layer, or use fewer layers a core.)",
     .reach = Reach::circumstance},
    {.code = "E4044",
     .summary = "values that no packet can bring there",
     .program =
         R"(// ternary values that an edge brings to other parts of their bytes; an edge with a delay behind one)",
     .cause = R"(Packets carry bytes from one core's memory to another's. What an edge does to values within bytes, a
precision that changes on the way, and a delay behind another delay are none of it.)",
     .fix = R"(Let a block do it: a compare changes precisions, storage between two delays makes one of them.)",
     .reach = Reach::circumstance},
    {.code = "E4045",
     .summary = "a chip has not what a network asks for",
     .program = R"(// ternary inputs times bytes without sign, on a chip that multiplies bytes with signs)",
     .cause = R"(The file of a chip says which pairs of precisions it multiplies and whether it runs blocks or spiking
neurons alone.)",
     .fix = R"(Take a precision that the message names, or another chip.)",
     .reach = Reach::circumstance},
    {.code = "E4046",
     .summary = "rows of a stream take more phases than a core has",
     .program = R"(// an image of 224 rows in 40 batches, on cores of 32 phases)",
     .cause = R"(What fits no receive area as a whole comes in batches of rows, one per phase, and a core has so many
phases in a step. Where branches meet, those that come early take phases, too.)",
     .fix = R"(Fewer batches (slabs), so that more rows come in each.)",
     .reach = Reach::circumstance},
    {.code = "E4048",
     .summary = "a mapping has no unit or core of that name",
     .program = R"(// m.split("conv9", y: 2) where the network has conv1 and conv2; m.move(3, 500) on 160 cores)",
     .cause =
         R"(Units go by the names of their blocks, cores by numbers: y times the width of all chips, plus x. Actions
on a core want one that does something.)",
     .fix = R"(print(m) lists both.)",
     .reach = Reach::circumstance},
    {.code = "E4049",
     .summary = "an action that a mapping refuses",
     .program = R"(// m.set_phase("conv2", 0) where conv1, which it reads, computes in that phase)",
     .cause = R"(A core computes one unit in each phase, cores of a group begin their phases together, and nobody can
wait for what comes behind it. Units are cut where their blocks allow it. What would break such a rule changes nothing.)",
     .fix = R"(The message says which rule; m.explain(unit) what is possible.)",
     .reach = Reach::circumstance},
    {.code = "E4050",
     .summary = "a mapping of another network",
     .program = R"(// let m = map(small, chip: "tiny"); run large(x) on hw(mapping: m))",
     .cause = R"(A mapping says of each unit, an axon with its soma, where it lies. Another network has other units, or
others in another order.)",
     .fix = R"(Map the network that runs: map(large, chip: "tiny").)",
     .reach = Reach::circumstance},
    {.code = "E4051",
     .summary = "what a crossbar cannot compute",
     .program =
         R"(// graph net(x: i8[16]) -> (y: i8[16]) { let a = x.shift_right(4) as i8[16]; y = a * a },  run on tianjic)",
     .cause = R"(A core of a crossbar adds up products of what its axons bring with weights that it keeps, and looks at
each sum by itself: it cuts it, compares it with a constant, or looks it up. The notes name all blocks that are more:
a product of two tensors that a run makes, a potential that no neuron keeps. The largest of a window of bytes it can
make of sums.)",
     .fix =
         R"(Cut to 8 bits what goes on to another layer or into a pool, or run the net on a chip of kind primitive,
tianjicx say, which computes all blocks. partial: true leaves to the host what has no blocks at all.)",
     .reach = Reach::circumstance},
    {.code = "E4052",
     .summary = "neurons that a chip has not",
     .program = R"(// an imported neuron whose potential leaks by a share of it, on a chip that takes off a constant)",
     .cause = R"(Chips of spiking cores have one model of neurons each, with its ways to leak, to decay and to be reset.
What it cannot say, number by number for blocks, up to rounding for neurons of real numbers, is not approximated.)",
     .fix = R"(The notes name all populations with what they would need: another reset, one time constant for all of a
population, or a chip whose neurons have it.)",
     .reach = Reach::circumstance},
    {.code = "E4055",
     .summary = "an input of spiking cores that is no spike",
     .program = R"(// 0.5 for a neuron of a chip that takes spikes, 0 or 1)",
     .cause = R"(Between cores that hold spiking neurons go spikes. Chips that run other networks, too, take bytes.)",
     .fix = R"(Turn the numbers into spikes before: by a threshold, or as a rate over the steps.)",
     .reach = Reach::circumstance},
};
static_assert(is_family(chip_family, 4));

}  // namespace

std::span<const CodeInfo> chip_codes() { return chip_family; }

}  // namespace taskspec
