// The C++ functions behind `extern` tasks and fns: a program in C++ that embeds the runtime fills the table.
//
//   natives.define("measure", [](const NativeCall& call) { ... });                    // forward alone
//   natives.define("linear", task, "Net.c1");                                         // of one agent, by its path
//   natives.define_host("step", [](std::span<const Value> arguments) { return Value(...); });
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ir/base/source.hpp"
#include "ir/plan/extern_body.hpp"
#include "ir/records/operand.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// The task that is called, as its declaration says it.
struct NativeSite {
  struct Parameter {
    std::string name;
    bool is_tensor = false;
    bool is_place = false;    // `inout`: its new version is an output
    bool of_the_call = true;  // false: a parameter of the agent
  };
  std::string task;      // "Net.product"
  std::string instance;  // the path of its agent: "Net.c1"; empty: it is no member
  std::vector<Parameter> parameters;
  std::vector<std::string> outputs;
};

// One call. Tensors are arrays: what is read must not be changed.
struct NativeCall {
  const NativeSite& site;
  std::span<const Value> arguments;  // by parameter
  // Forward: as the site says, then a new version of each place, which holds what the old one held.
  // Backward: the gradients of those parameters that the task gives one for, in order.
  std::span<Array> outputs;
  // Backward only: the outputs of the forward call, and their gradients. An array that is not valid was not asked for,
  // or is no float.
  std::span<const Array> results = {}, upstream = {};
  std::span<const std::size_t> gives = {};  // by output: the parameter whose gradient it is
};

// A task over views, and one call of it: one point of a launch.
struct NativeViewSite {
  struct Field {
    std::uint32_t number = 0;  // in the table of its region
    std::string name;
    Precision precision = Precision::f64;
  };
  struct Parameter {
    std::string name;
    Privilege privilege = Privilege::in;
    Type::Kind kind = Type::Kind::view;  // also: a tensor, int, float, bool
    std::vector<Field> fields;           // of a view
    ArrayType type;                      // of all others
  };
  std::string task;
  std::vector<Parameter> parameters;
  std::vector<Precision> outputs;
};

// What stands behind a symbol.
class NativeTaskBody {
 public:
  virtual ~NativeTaskBody() = default;
  virtual void forward(const NativeCall& call) const = 0;
  virtual void over_views(const NativeViewSite& site, const ExternCall& call) const;

  // What its reverse reads of a forward call, and of which parameters it gives the gradients: those are floats.
  struct Reverse {
    std::vector<bool> reads, reads_output, gives;  // by parameter, output, parameter
  };
  virtual bool has_reverse() const { return false; }
  virtual Reverse reverse(const NativeSite&) const { return {}; }
  virtual void backward(const NativeCall&) const {}
};

// Of a fn of the host program: host values by parameter, and its result; none where it gives nothing.
using HostBody = std::function<Value(std::span<const Value> arguments)>;

class Natives {
 public:
  // What is not found here is looked for there.
  explicit Natives(const Natives* behind = nullptr) : behind_(behind) {}
  Natives(const Natives&) = delete;
  void define(const std::string& symbol, std::function<void(const NativeCall&)> forward);
  // `instance`: for the agent of this path alone, before what stands behind the symbol for all.
  void define(const std::string& symbol, std::shared_ptr<const NativeTaskBody> body, const std::string& instance = "");
  std::shared_ptr<const NativeTaskBody> find(const std::string& symbol, const std::string& instance = "") const;
  void define_host(const std::string& symbol, HostBody body);
  std::shared_ptr<const HostBody> find_host(const std::string& symbol) const;  // likewise null: there is none

 private:
  const Natives* const behind_;
  mutable std::mutex mutex_;  // bodies run on the threads of a backend
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const NativeTaskBody>> bodies_;  // symbol, instance
  std::map<std::string, std::shared_ptr<const HostBody>> host_bodies_;
};

// The body behind `symbol`; E7001 where there is none.
std::shared_ptr<const NativeTaskBody> native_body(const Natives* natives, const std::string& symbol,
                                                  const NativeSite& site, Span place);
enum class NativePass : std::uint8_t { forward, backward };
// E5011 when it throws; what it throws as an Error stays that. While calls are checked: E1401 when it wrote what it may
// only read, E1006 when it left a part of an output as it was. A checked call may run twice.
void call_native(const NativeTaskBody& body, NativePass pass, const NativeCall& call, Span place);
Value call_host(const Natives* natives, const std::string& symbol, std::span<const Value> arguments, Span place);

// The body of a task over views, ready to be called. E7001 where there is none.
std::shared_ptr<const ExternBody> extern_view(const Natives* natives, const Program& program, FunctionId task,
                                              std::span<const ArrayType> inputs);

// Whether calls of C++ functions are checked; at first in debug builds only.
void check_native_calls(bool on);
bool checks_native_calls();

}  // namespace taskspec
