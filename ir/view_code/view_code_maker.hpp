// The walk behind make_view_code: typed calls of one function after the other, into steps.
#pragma once
#include <map>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/view_code/make_view_code.hpp"

namespace taskspec {

class ViewCodeMaker {
 public:
  explicit ViewCodeMaker(const ViewCodeRequest& request) : request_(request), program_(request.program) {}
  ViewCode make() &&;

 private:
  // What a call stands for while steps are made.
  struct Bound {
    enum class Kind : std::uint8_t { none, value, view, tuple, range, type, points, list, other } kind = Kind::none;
    ViewValue value = {};
    std::uint32_t view = 0;
    std::vector<Bound> parts = {};  // of a tuple, range or list of tensors; of an op on points its operands
    ViewStep step = {};             // of points: what makes an element
    std::uint64_t since = 0;        // of points that are a field: how often fields were written
    std::size_t loops = 0;          // of points that are a field: so many repeat what stood around them
    Value constant = {};            // what is known of it
  };
  struct Frame {
    const Function& function;
    std::vector<Bound> calls = {}, variables = {}, parameters = {};
    std::map<std::uint32_t, ViewValue> extents = {};                                 // by id of the symbol
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> open_extents = {};  // view and axis
    std::vector<Bound> turns = {};                                                   // of the loops around
    ViewValue result = {};                                                           // of a fn that is left early
    Bound returned = {};                                                             // of one that is not
  };

  void add_parameter(Frame& frame, const Parameter& parameter);
  void require_strips(const ViewBlock& block) const;
  void bind_extents(Frame& frame, std::size_t view);
  void finish(Frame& frame);
  Error not_built(Span span, std::string_view what, std::string help = {}) const;

  // ---- values ----
  ViewValue emit(ViewStep step, ViewValue out);
  ViewValue host(Precision precision);
  ViewValue integer(std::int64_t value);
  Bound known(const Value& value, Span span);
  ViewValue cell(Frame& frame, VariableId variable, const Type& type);
  Precision precision_of(const Type& type, Span span) const;
  const Bound& at(const Frame& frame, CallId call) const;
  ViewValue value(const Frame& frame, CallId call) const;
  Bound as(const Bound& given, const Type& type, Span span);
  Bound copied(const Bound& given, Span span);
  ViewValue beside_tensors(const Bound& number, Precision precision, Span span);

  // ---- calls ----
  void block(Frame& frame, const Block& block);
  void run(Frame& frame, CallId id);
  bool name(Frame& frame, CallId id);
  bool data(Frame& frame, CallId id);
  bool control(Frame& frame, CallId id);
  Bound number(const Frame& frame, const Call& call);
  Bound element_op(Frame& frame, const Call& call);
  ViewValue index(ViewValue number, Span span);
  Bound filled(const Frame& frame, const Call& call);
  bool is_its_element(const Frame& frame, const Call& call) const;
  void access(Frame& frame, CallId id, ViewStep::Kind kind);
  std::uint32_t field_of(const Bound& view, const std::string& name) const;

  // ---- whole fields (view_code_points.cpp) ----
  bool are_points(const Bound& bound) const;
  Bound whole_field(const Frame& frame, const Call& call);
  Bound points_op(Frame& frame, const Call& call);
  Bound points_total(const Call& call, const Bound& of);
  void store_field(const Frame& frame, const Call& call);
  std::uint32_t view_of(const Bound& points, Span span) const;
  ViewValue element_of(const Bound& points, const std::vector<ViewValue>& point, std::uint32_t view, Span span);
  void each_point(std::uint32_t view, Span span, FunctionRef<void(const std::vector<ViewValue>&)> body);

  bool has_field(const Bound& points) const;
  Bound count_of(std::uint32_t view, Span span);
  Bound mean_of(Bound sum, std::uint32_t view, Precision precision, Span span);

  // ---- whole tensors (view_code_tensors.cpp) ----
  bool is_total(const Frame& frame, const Call& call) const;
  bool goes_by_point(const Frame& frame, const Call& call) const;
  bool wants_tensors(const Frame& frame, const Call& call) const;
  Bound tensor_op(Frame& frame, const Call& call);
  ViewOperand tensor_operand(Frame& frame, const Call& call, std::size_t position);
  ViewValue tensor_of(const Bound& of, Span span);
  void write_tensor(Frame& frame, const Call& call, const Bound& given);

  Bound dimension(Frame& frame, const Dim& dim, Span span);
  Bound inlined(Frame& frame, const Call& call);
  void write(Frame& frame, const Call& call);
  void choice(Frame& frame, const Call& call);
  void loop(Frame& frame, const Call& call);
  void loop_over_view(Frame& frame, const Call& call, const Bound& view);
  bool written_out(Frame& frame, const Call& call, const Bound& range);
  void while_loop(Frame& frame, const Call& call);
  void logic(Frame& frame, CallId id);
  void leave(Frame& frame, const Call& call);
  ViewBlock inside(FunctionRef<void()> make);
  ViewBlock repeated(FunctionRef<void()> make);
  Error written_since(std::uint32_t view, std::uint32_t field, Span span) const;

  const ViewCodeRequest& request_;
  const Program& program_;
  ViewCode code_;
  ViewBlock* block_ = &code_.body;
  std::vector<const Parameter*> views_;
  std::vector<bool> enclosing_;  // what a `leave` may end: true where it is a loop of the text
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> writes_;  // by view and field: so many so far
  struct Reuse {  // of a field that was named in front of a loop, inside of it
    std::size_t loops = 0;
    std::uint32_t view = 0, field = 0;
    std::uint64_t since = 0;
    Span span = {};
  };
  std::vector<Reuse> reuses_;
  std::size_t loops_ = 0;   // that repeat what stands around, and are not over views
  std::size_t points_ = 0;  // loops over views around
  std::size_t depth_ = 0;   // fns around
};

}  // namespace taskspec
