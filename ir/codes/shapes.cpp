#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo shapes_family[] = {
    {.code = "E2001",
     .summary = "shapes differ",
     .program = R"(let a = [1.0, 2.0, 3.0, 4.0] as f32[4]
let b = [1.0, 2.0, 3.0, 4.0, 5.0] as f32[5]
print((a + b).array))",
     .cause =
         R"(Two shapes that must agree do not. Shapes are aligned from the right, and a dimension that is missing or 1
stretches; nothing else does. Dimension variables such as N and M are equal only to themselves.)",
     .fix = R"(Reshape, slice or pad one side; or use one dimension variable for both in the signature.)"},
    {.code = "E2002",
     .summary = "precision differs or does not fit the op",
     .program = R"(let a = [1, 2] as i8[2]
let b = [1.0, 2.0] as f32[2]
print((a * b).array))",
     .cause = R"(Tensors never change their precision by themselves, and some ops want floats, integers or bool. The
precisions tern, u4, i9 and i28 only store numbers: arithmetic needs another one.)",
     .fix = R"(Convert one side with `as`: (a as f32[2]) * b.)"},
    {.code = "E2003",
     .summary = "a constant does not fit the precision",
     .program = R"(let a = [1, 2, 3, 4] as i8[4]
print((a + 300).array))",
     .cause =
         R"(A number of the host takes the precision of the tensor it meets, and must be exact in an integer one.)",
     .fix = R"(Use a number within the range that the message names, or convert the tensor to a wider precision.)"},
    {.code = "E2004",
     .summary = "index outside the shape",
     .program = R"(let x = [1.0, 2.0] as f32[2]
print(x[5].scalar))",
     .cause =
         R"(An index, range, axis or size does not lie inside the shape, list or string. Indices and axes count from 0; the end
of a range is not part of it; there are no negative indices.)",
     .fix = R"(Stay within the shape that the message names. x[..n] and x[n..] leave one bound out.)"},
    {.code = "E2005",
     .summary = "a rearrangement does not fit",
     .program = R"(ir front {
  img : SI i8 [y: 28, x: 28, f: 1]
  out : SO i8 [y: 28, x: 28, f: 1]
  img -> out | rotate(45)
})",
     .cause =
         R"(What an edge does to the box that it carries cannot be done to one of these extents: a turn by other than
multiples of 90 degrees, a permutation that does not name each axis once, a shuffle or an affine map that puts two
places onto one, a matrix of another size, rows and columns of what has none.)",
     .fix =
         R"(Compare the numbers of the rearrangement with the extents that the message names. What makes a plane smaller
is a pooling block, no rearrangement.)",
     .reach = Reach::circumstance},
};
static_assert(is_family(shapes_family, 2));

}  // namespace

std::span<const CodeInfo> shape_codes() { return shapes_family; }

}  // namespace taskspec
