// How an op is executed on arrays in host memory: a call with everything known, and the kernel made ready for it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// One call with everything known. `attributes` has one entry per operand, none for tensors.
struct OpInstance {
  const struct OpDef* op = nullptr;
  std::vector<ArrayType> in;  // of the tensor operands, in order (those of a `tensors` list one after another)
  std::vector<Value> attributes;
  std::vector<ArrayType> out;
};

// Splits work over the backend's workers: calls body(begin, end) on disjoint parts of [0, count), each
// `grain` long but the last, and returns when all are done. The parts depend on count and grain only, so
// that results do not depend on the number of threads.
class Parallel {
 public:
  virtual ~Parallel() = default;
  using Body = void (*)(void* context, std::int64_t begin, std::int64_t end);
  virtual void run(std::int64_t count, std::int64_t grain, Body body, void* context) = 0;

  template <class F>
  void for_each(std::int64_t count, std::int64_t grain, F&& f) {
    run(
        count, grain,
        [](void* c, std::int64_t b, std::int64_t e) { (*static_cast<std::remove_reference_t<F>*>(c))(b, e); }, &f);
  }
};

// Runs the parts one after another on the calling thread.
class Serial final : public Parallel {
 public:
  void run(std::int64_t count, std::int64_t grain, Body body, void* context) override;
};

struct KernelArgs {
  std::span<const std::byte* const> in;
  std::span<std::byte* const> out;
  std::byte* scratch;  // Kernel::scratch_bytes() bytes, 64-byte aligned, contents undefined
  Parallel& parallel;
};

// What went wrong while a kernel ran: it poisons the outputs.
struct Fault {
  Code code;
  std::string message;
  Span span = {};  // inside of the task, where that is known
};

// An op made ready for one OpInstance: everything that can be decided before the data is (weights layout,
// strides, primitive objects). `run` is const, allocates nothing and may run on several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t scratch_bytes() const { return 0; }
  virtual std::optional<Fault> run(const KernelArgs& args) const = 0;

  // Element-wise kernels also work on strips, so that a chain of them is one pass over the data: the first
  // `count` elements at pointers that the caller advances. Bytes from one element to the next per input, 0
  // for an input of one element; empty when this instance has no strip form (general broadcasting).
  virtual std::span<const std::uint8_t> strip_steps() const { return {}; }
  virtual std::optional<Fault> run_strip(std::span<const std::byte* const>, std::span<std::byte* const>,
                                         std::int64_t) const {
    bug("this kernel has no strip form");
  }
};

using KernelMaker = std::unique_ptr<Kernel> (*)(const OpInstance&);

// How the output may share memory with inputs.
enum class Sharing : std::uint8_t {
  none,
  in_place,    // may overwrite any input of equal byte size: element i is read before it is written
  same_bytes,  // has the bytes of input 0, only the shape differs (reshape, drop, lift)
};

enum class Fusion : std::uint8_t { pointwise, reduction, movement, opaque };

struct Work {
  double operations = 0;  // arithmetic operations
  double bytes = 0;       // read and written once
};

}  // namespace taskspec
