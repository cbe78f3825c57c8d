// What one core of this machine can do at most, measured with plain loops: bytes copied per second, and multiply-adds.
#pragma once

namespace taskspec::bench {

// Bytes per second, read and written, of a copy between two arrays of 16 MB.
double copy_rate();

// Operations per second of f32 multiply-adds in registers, two operations each.
double multiply_add_rate();

}  // namespace taskspec::bench
