// What the records of blocks share: axes of arrays, clusters, pairs of precisions.
#pragma once
#include "ir/blocks/block_graph.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/loop_nest.hpp"
#include "ir/blocks/numerics.hpp"
#include "ir/blocks/reverse.hpp"
#include "ir/blocks/rewrites.hpp"
#include "stdlib/blocks/attributes.hpp"
#include "stdlib/blocks/families.hpp"

namespace taskspec::block_parts {

using enum BlockAxis;

inline constexpr BlockAxis axes_yxf[] = {y, x, f};
inline constexpr BlockAxis axes_yxr[] = {y, x, r};
inline constexpr BlockAxis axes_yx[] = {y, x};
inline constexpr BlockAxis axes_f[] = {f};
inline constexpr BlockAxis axes_r[] = {r};
inline constexpr BlockAxis axes_fr[] = {f, r};
inline constexpr BlockAxis axes_kernel[] = {f, r, ky, kx};
inline constexpr BlockAxis axes_convolution[] = {y, x, f, r, ky, kx, iy, ix};
inline constexpr BlockAxis axes_pool[] = {y, x, f, ky, kx, iy, ix};
inline constexpr BlockAxis axes_pointwise[] = {y, x, f, iy, ix};

inline constexpr Precision wide[] = {Precision::i32};
inline constexpr Precision bytes[] = {Precision::i8, Precision::u8};
inline constexpr Precision narrow[] = {Precision::i8, Precision::u8, Precision::tern};
inline constexpr Precision potentials[] = {Precision::i28, Precision::i32};
inline constexpr Precision counts[] = {Precision::u4,  Precision::i8,  Precision::u8, Precision::i16,
                                       Precision::u16, Precision::i28, Precision::i32};

inline constexpr BlockPrecisions narrow_to_wide[] = {
    {Precision::i8, Precision::i32}, {Precision::u8, Precision::i32}, {Precision::tern, Precision::i32}};
inline constexpr BlockPrecisions bytes_to_wide[] = {{Precision::i8, Precision::i32}, {Precision::u8, Precision::i32}};
inline constexpr BlockPrecisions any_to_wide[] = {{Precision::i32, Precision::i32},
                                                  {Precision::i8, Precision::i32},
                                                  {Precision::u8, Precision::i32},
                                                  {Precision::tern, Precision::i32}};
// Of compares: never to a wider code of the chip (0 i32, 1 i8, 2 u8, 3 tern).
inline constexpr BlockPrecisions compared[] = {{Precision::i32, Precision::i32}, {Precision::i32, Precision::i8},
                                               {Precision::i32, Precision::u8},  {Precision::i32, Precision::tern},
                                               {Precision::i8, Precision::i8},   {Precision::i8, Precision::u8},
                                               {Precision::i8, Precision::tern}, {Precision::u8, Precision::u8},
                                               {Precision::u8, Precision::tern}, {Precision::tern, Precision::tern}};

inline constexpr bool has_vector_bias(const TaskBlock& block) { return block.bias == BiasKind::vector; }
inline constexpr ClusterDef bias{
    .name = "bias", .axes = axes_f, .optional = true, .present = has_vector_bias, .precisions = wide};

// ---- costs ----------------------------------------------------------------------------------------

inline constexpr BlockCost no_memory{};  // INPUT, OUTPUT: memory of the host

// Of storages: how their zeros are stored.
inline constexpr const BlockAttributeDef* stored[] = {&attribute::sparse, &attribute::occupancy};

// ---- cuts (cuts.cpp) ------------------------------------------------------------------------------

extern const BlockRewrites uncut;            // nowhere
extern const BlockRewrites cut_points;       // y, x, f
extern const BlockRewrites cut_sums;         // and r
extern const BlockRewrites cut_vector_sums;  // f, r
extern const BlockRewrites cut_compares;     // y, x, f, with the bytes of a constant
extern const BlockRewrites cut_neurons;      // y, x, f; not with random thresholds

// ---- gradients (reverses.cpp, real_values.cpp) ---------------------------------------------------------

extern const BlockReverse reverse_window_products;    // CC, CC2D
extern const BlockReverse reverse_matrix;             // CVM
extern const BlockReverse reverse_sums;               // CADD
extern const BlockReverse reverse_window_sums;        // CAVG
extern const BlockReverse reverse_array_products;     // CVVH
extern const BlockReverse reverse_channel_products;   // CAX
extern const BlockReverse reverse_constant_products;  // CVS
extern const BlockReverse reverse_relus;              // CCMPB
extern const BlockReverse reverse_neurons;            // CLIF
extern const BlockReverse reverse_none_of_least, reverse_none_of_tables, reverse_none_of_switches,
    reverse_none_of_tests;

// ---- as loop nests (nests.cpp) -----------------------------------------------------------------------

LoopNest nest_of_windows(const TaskBlock& block);
LoopNest nest_of_sums(const TaskBlock& block);
LoopNest nest_of_window_sums(const TaskBlock& block);
LoopNest nest_of_products(const TaskBlock& block);
LoopNest nest_of_constant_products(const TaskBlock& block);
LoopNest nest_of_most(const TaskBlock& block);
LoopNest nest_of_least(const TaskBlock& block);

// ---- checks (checks.cpp): E4001 -------------------------------------------------------------------

// Kernel attributes, strides, pads and extents belong together.
void check_windows(const TaskBlock& block, Diags& diags);
void check_compare(const TaskBlock& block, Diags& diags);
void check_table(const TaskBlock& block, Diags& diags);
void check_neurons(const TaskBlock& block, Diags& diags);  // the output is what fire_type says

// ---- stored as they come --------------------------------------------------------------------------

inline constexpr ClusterDef holds_yxf[] = {{.name = "input", .axes = axes_yxf, .optional = true}};
inline constexpr ClusterDef gives_yxf[] = {{.name = "output", .axes = axes_yxf}};
inline constexpr ClusterDef holds_yxr[] = {{.name = "input", .axes = axes_yxr, .optional = true}};
inline constexpr ClusterDef gives_yxr[] = {{.name = "output", .axes = axes_yxr}};
inline constexpr ClusterDef holds_yx[] = {{.name = "input", .axes = axes_yx, .optional = true}};
inline constexpr ClusterDef gives_yx[] = {{.name = "output", .axes = axes_yx}};
inline constexpr ClusterDef holds_f[] = {{.name = "input", .axes = axes_f, .optional = true}};
inline constexpr ClusterDef gives_f[] = {{.name = "output", .axes = axes_f}};
inline constexpr ClusterDef holds_r[] = {{.name = "input", .axes = axes_r, .optional = true}};
inline constexpr ClusterDef gives_r[] = {{.name = "output", .axes = axes_r}};
inline constexpr ClusterDef holds_fr[] = {{.name = "input", .axes = axes_fr, .optional = true}};
inline constexpr ClusterDef gives_fr[] = {{.name = "output", .axes = axes_fr}};
inline constexpr ClusterDef holds_kernel[] = {{.name = "input", .axes = axes_kernel, .optional = true}};
inline constexpr ClusterDef gives_kernel[] = {{.name = "output", .axes = axes_kernel}};

}  // namespace taskspec::block_parts
