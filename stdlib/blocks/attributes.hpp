// The attributes of blocks, each once: name in a text, name and number in files, standard value, bounds.
//
//   constexpr const BlockAttributeDef* attributes[] = {&attribute::cmp, &attribute::shift};
#pragma once
#include "ir/blocks/block.hpp"

namespace taskspec::attribute {

inline constexpr std::int64_t least_28 = -(1 << 27), most_28 = (1 << 27) - 1;

inline constexpr BlockAttributeDef kernel_x{.name = "kernel_x",
                                            .label = "KERNEL_X",
                                            .number = 0,
                                            .least = 0,
                                            .most = 32767,
                                            .doc = "Columns of the window: as the shape's kx (0: whatever that says)."};
inline constexpr BlockAttributeDef kernel_y{.name = "kernel_y",
                                            .label = "KERNEL_Y",
                                            .number = 1,
                                            .least = 0,
                                            .most = 32767,
                                            .doc = "Rows of the window: as the shape's ky (0: whatever that says)."};
inline constexpr BlockAttributeDef stride_x{.name = "stride_x",
                                            .label = "STRIDE_X",
                                            .number = 2,
                                            .standard = 1,
                                            .least = 0,
                                            .most = 32767,
                                            .doc = "Columns from one window to the next; 0 is 1."};
inline constexpr BlockAttributeDef stride_y{.name = "stride_y",
                                            .label = "STRIDE_Y",
                                            .number = 3,
                                            .standard = 1,
                                            .least = 0,
                                            .most = 32767,
                                            .doc = "Rows from one window to the next; 0 is 1."};
inline constexpr BlockAttributeDef pad_up{.name = "pad_up",
                                          .label = "PAD_UP",
                                          .number = 4,
                                          .least = 0,
                                          .most = 32767,
                                          .doc = "Rows of zeros above the input."};
inline constexpr BlockAttributeDef pad_down{
    .name = "pad_down", .label = "PAD_DOWN", .number = 5, .least = 0, .most = 32767, .doc = "Rows of zeros below it."};
inline constexpr BlockAttributeDef pad_left{.name = "pad_left",
                                            .label = "PAD_LEFT",
                                            .number = 6,
                                            .least = 0,
                                            .most = 32767,
                                            .doc = "Columns of zeros on its left."};
inline constexpr BlockAttributeDef pad_right{.name = "pad_right",
                                             .label = "PAD_RIGHT",
                                             .number = 7,
                                             .least = 0,
                                             .most = 32767,
                                             .doc = "Columns of zeros on its right."};
inline constexpr BlockAttributeDef cmp{
    .name = "cmp", .label = "CMP", .number = 8, .doc = "The constant that outputs are compared with."};
inline constexpr BlockAttributeDef constant_a{
    .name = "constant_a", .label = "CONSTANT_A", .number = 9, .standard = 1, .doc = "The factor."};
inline constexpr BlockAttributeDef constant_b{.name = "constant_b",
                                              .label = "CONSTANT_B",
                                              .number = 10,
                                              .doc = "The bias, where it is one number for all outputs."};
inline constexpr BlockAttributeDef dilation_x{.name = "dilation_x",
                                              .label = "DILATION_X",
                                              .number = 11,
                                              .standard = 1,
                                              .least = 0,
                                              .most = 32767,
                                              .doc = "Columns from one tap of a window to the next; 0 is 1."};
inline constexpr BlockAttributeDef dilation_y{.name = "dilation_y",
                                              .label = "DILATION_Y",
                                              .number = 12,
                                              .standard = 1,
                                              .least = 0,
                                              .most = 32767,
                                              .doc = "Rows from one tap of a window to the next; 0 is 1."};
inline constexpr BlockAttributeDef shift{
    .name = "shift",
    .label = "BIT_SHIGT_NUM",
    .number = 13,
    .least = 0,
    .most = 31,
    .doc = "Bits that values are shifted to the right by, rounding down; in chip mode even."};
inline constexpr BlockAttributeDef vth0{.name = "vth0",
                                        .label = "VTH0",
                                        .number = 14,
                                        .least = least_28,
                                        .most = most_28,
                                        .doc = "Threshold of the potential."};
inline constexpr BlockAttributeDef vth_alpha{.name = "vth_alpha",
                                             .label = "VTH_ALPHA",
                                             .number = 15,
                                             .standard = 256,
                                             .least = 0,
                                             .most = 256,
                                             .doc = "What is left of the adaptive threshold after a step, in 1/256."};
inline constexpr BlockAttributeDef vth_beta{.name = "vth_beta",
                                            .label = "VTH_BETA",
                                            .number = 16,
                                            .least = least_28,
                                            .most = most_28,
                                            .doc = "Added to the adaptive threshold in each step."};
inline constexpr BlockAttributeDef vth_incre{.name = "vth_incre",
                                             .label = "VTH_INCRE",
                                             .number = 17,
                                             .least = least_28,
                                             .most = most_28,
                                             .doc = "Added to the adaptive threshold by a spike."};
inline constexpr BlockAttributeDef vr{.name = "vr",
                                      .label = "VR",
                                      .number = 18,
                                      .least = least_28,
                                      .most = most_28,
                                      .doc = "Potential after a spike, with reset mode 0."};
inline constexpr BlockAttributeDef vl{.name = "vl",
                                      .label = "VL",
                                      .number = 19,
                                      .standard = least_28,
                                      .least = least_28,
                                      .most = most_28,
                                      .doc = "The least potential, and the least threshold."};
inline constexpr BlockAttributeDef vleaky_alpha{.name = "vleaky_alpha",
                                                .label = "VLEAKY_ALPHA",
                                                .number = 20,
                                                .standard = 256,
                                                .least = 0,
                                                .most = 256,
                                                .doc = "What is left of the potential after a step, in 1/256."};
inline constexpr BlockAttributeDef vleaky_beta{.name = "vleaky_beta",
                                               .label = "VLEAKY_BETA",
                                               .number = 21,
                                               .least = least_28,
                                               .most = most_28,
                                               .doc = "Added to the potential in each step."};
inline constexpr BlockAttributeDef dv{.name = "dv",
                                      .label = "DV",
                                      .number = 22,
                                      .least = least_28,
                                      .most = most_28,
                                      .doc = "Taken from the potential by a spike, with reset mode 2."};
inline constexpr BlockAttributeDef ref_len{.name = "ref_len",
                                           .label = "REF_LEN",
                                           .number = 23,
                                           .least = 0,
                                           .most = 15,
                                           .doc = "Steps after a spike in which the input is ignored."};
inline constexpr BlockAttributeDef tw_cnt{.name = "tw_cnt",
                                          .label = "TW_CNT",
                                          .number = 24,
                                          .least = 0,
                                          .most = INT32_MAX,
                                          .doc = "Where the counter of the window begins."};
inline constexpr BlockAttributeDef vinit{.name = "vinit",
                                         .label = "VINIT",
                                         .number = 25,
                                         .least = least_28,
                                         .most = most_28,
                                         .doc = "Potential at the end of a window."};
inline constexpr BlockAttributeDef tw_len{.name = "tw_len",
                                          .label = "TW_LEN",
                                          .number = 26,
                                          .standard = 255,
                                          .least = 0,
                                          .most = INT32_MAX,
                                          .doc = "Steps of a window, less one."};
inline constexpr BlockAttributeDef seed{.name = "seed",
                                        .label = "SEED",
                                        .number = 27,
                                        .standard = 1,
                                        .doc = "Where the shift register of random thresholds begins."};
inline constexpr BlockAttributeDef lut_dw{.name = "lut_dw",
                                          .label = "LUT_DW",
                                          .number = 28,
                                          .standard = 8,
                                          .least = 4,
                                          .most = 16,
                                          .doc = "Bits of an address of the table: 4, 8, 12 or 16."};
inline constexpr BlockAttributeDef vth_adpt_en{.name = "vth_adpt_en",
                                               .label = "VTH_ADPT_EN",
                                               .number = 29,
                                               .least = 0,
                                               .most = 1,
                                               .doc = "1: the adaptive threshold decays."};
inline constexpr BlockAttributeDef vleaky_adpt_en{.name = "vleaky_adpt_en",
                                                  .label = "VLEAKY_ADPT_EN",
                                                  .number = 30,
                                                  .least = 0,
                                                  .most = 1,
                                                  .doc = "1: the potential decays."};
inline constexpr BlockAttributeDef tw_en{
    .name = "tw_en", .label = "TW_EN", .number = 31, .least = 0, .most = 1, .doc = "1: windows are counted."};
inline constexpr BlockAttributeDef reset_mode{
    .name = "reset_mode",
    .label = "RESET_MODE",
    .number = 32,
    .least = 0,
    .most = 3,
    .doc = "After a spike: 0 to vr, 1 minus the threshold, 2 minus dv, 3 unchanged."};
inline constexpr BlockAttributeDef fire_type{
    .name = "fire_type",
    .label = "FIRE_TYPE",
    .number = 33,
    .standard = 4,
    .least = 0,
    .most = 7,
    .doc =
        "The output: 0 charged potential, 1 new potential, 2 and 3 the same cut to i8, 4 spike as i8, 5 as tern, 6 "
        "random part of the threshold, 7 its low byte."};
inline constexpr BlockAttributeDef vm_const_en{.name = "vm_const_en",
                                               .label = "VM_CONST_EN",
                                               .number = 34,
                                               .standard = 1,
                                               .least = 0,
                                               .most = 1,
                                               .doc = "1: the random mask is vm_const, 0: the cluster `mask`."};
inline constexpr BlockAttributeDef vm_const{
    .name = "vm_const", .label = "VM_CONST", .number = 35, .doc = "The random mask of all neurons."};
inline constexpr BlockAttributeDef vtheta_const_en{
    .name = "vtheta_const_en",
    .label = "VTHETA_CONST_EN",
    .number = 36,
    .standard = 1,
    .least = 0,
    .most = 1,
    .doc = "1: adaptive thresholds begin at vtheta_const, 0: they are the cluster `threshold`."};
inline constexpr BlockAttributeDef vtheta_const{.name = "vtheta_const",
                                                .label = "VTHETA_CONST",
                                                .number = 37,
                                                .least = least_28,
                                                .most = most_28,
                                                .doc = "The adaptive threshold that all neurons begin with."};

// ---- ours: files have no numbers for them ------------------------------------------------------------

inline constexpr BlockAttributeDef outputs{.name = "outputs",
                                           .label = "OUTPUTS",
                                           .number = 100,
                                           .standard = 1,
                                           .least = 1,
                                           .most = UINT16_MAX,
                                           .doc = "How many outputs the block has: output, output2, ..."};
inline constexpr std::string_view port_words[] = {"and", "or"};
inline constexpr BlockAttributeDef ports{
    .name = "ports",
    .label = "PORTS",
    .number = 101,
    .least = 0,
    .most = 1,
    .doc = "What the block waits for: \"and\", all of its inputs; \"or\", those that its token takes.",
    .words = port_words};
inline constexpr std::string_view compare_words[] = {"gt", "ge", "lt", "le", "eq", "ne"};
inline constexpr BlockAttributeDef compare{.name = "compare",
                                           .label = "COMPARE",
                                           .number = 102,
                                           .least = 0,
                                           .most = 5,
                                           .doc =
                                               "How the sum is compared with cmp: \"gt\", \"ge\", \"lt\", \"le\", "
                                               "\"eq\" or \"ne\".",
                                           .words = compare_words};
inline constexpr std::string_view sparse_words[] = {"none", "bitmap", "coo"};
inline constexpr BlockAttributeDef sparse{
    .name = "sparse",
    .label = "SPARSE",
    .number = 103,
    .least = 0,
    .most = 2,
    .doc =
        "How it is stored: \"none\", every element; \"bitmap\", a bit for each, then those that are not 0; \"coo\", "
        "those that are not 0, each with its place. Blocks that it feeds leave out products with its zeros.",
    .words = sparse_words};
inline constexpr BlockAttributeDef occupancy{
    .name = "occupancy",
    .label = "OCCUPANCY",
    .number = 104,
    .standard = 1000,
    .least = 0,
    .most = 1000,
    .doc = "Of a thousand elements, how many are not 0: what its bytes are counted by where it has no data."};

// By number.
inline constexpr const BlockAttributeDef* all[] = {
    &kernel_x,       &kernel_y,        &stride_x,     &stride_y,  &pad_up,
    &pad_down,       &pad_left,        &pad_right,    &cmp,       &constant_a,
    &constant_b,     &dilation_x,      &dilation_y,   &shift,     &vth0,
    &vth_alpha,      &vth_beta,        &vth_incre,    &vr,        &vl,
    &vleaky_alpha,   &vleaky_beta,     &dv,           &ref_len,   &tw_cnt,
    &vinit,          &tw_len,          &seed,         &lut_dw,    &vth_adpt_en,
    &vleaky_adpt_en, &tw_en,           &reset_mode,   &fire_type, &vm_const_en,
    &vm_const,       &vtheta_const_en, &vtheta_const, &outputs,   &ports,
    &compare,        &sparse,          &occupancy};

}  // namespace taskspec::attribute
