// The code of points of launches: what is the same for all points of one, and for each of them its pieces.
//
//   PointCodes codes(*plan, bodies, views);
//   std::unique_ptr<TaskCode> code = codes.make(node);
#pragma once
#include <map>

#include "interp/host/fold.hpp"
#include "interp/host/task_code.hpp"
#include "interp/host/view/view_body.hpp"
#include "interp/host/view/view_extents.hpp"
#include "ir/graph/launch.hpp"
#include "ir/plan/body_form.hpp"

namespace taskspec {

// Bodies of tasks over views, each made once, however many plans have it.
class ViewBodies {
 public:
  // That of a launch of a task; or why it cannot be run.
  Result<std::shared_ptr<const ViewBody>> get(Bodies& bodies, const TaskGraph& graph, const PointGroup& group);
  void note(BodyForm form);  // of one that is made elsewhere, too
  const std::vector<BodyForm>& forms() const { return forms_; }

 private:
  std::vector<BodyForm> forms_;
  std::map<std::string, std::shared_ptr<const ViewBody>> known_;
};

// Launches whose bodies cannot be run, each by its first point.
std::vector<Poison> refused_launches(const TaskGraph& graph, Bodies& bodies, ViewBodies& views);

// Of all points of a launch. Its operands: other arguments, fields that no contribution goes to, maps that it makes;
// then outputs of a single call and buffers of contributions, by use and field.
class LaunchCode {
 public:
  LaunchCode(const TaskGraph& graph, const PointGroup& group, Bodies& bodies, ViewBodies& views);
  void run(const PointGroup& group, std::uint32_t position, std::byte* const* operands, TaskContext& context) const;
  // Launches with equal keys are one and the same code, if they have the same pieces, too: the turns of a loop. Empty:
  // it is nothing but itself.
  static std::string key(const TaskGraph& graph, const PointGroup& group);
  static bool has_same_pieces(const PointGroup& a, const PointGroup& b);
  std::uint32_t inputs() const { return inputs_; }
  std::uint32_t outputs() const { return outputs_; }
  std::size_t scratch_bytes() const { return view_ ? view_->scratch_bytes() : 0; }
  std::string_view form() const { return view_ ? view_->form() : std::string_view(); }

  // As TaskCode::bind, of a point; may throw.
  std::unique_ptr<BoundCode> bind(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                                  TaskContext& context) const;

 private:
  struct Field {
    std::uint32_t use = 0, field = 0, operand = 0;
    std::uint32_t bytes = 0;  // of an element
    Fold fold;                // of contributions: the operand is a buffer
  };
  struct Argument {
    std::uint32_t bytes = 0;  // of one point; 0: all points have the same
  };
  class Bound;
  class BoundTransfer;
  void add_fields(const TaskGraph& graph, const PointGroup& group);
  void add_bases();
  template <class View, class Base>
  void put_views(const PointGroup& group, std::uint32_t position, std::byte* const* operands, Base* fields,
                 View* views) const;
  template <class Base>
  const PackedPlaces* put_packed(const PointGroup& group, std::size_t use, const IndexSpace& piece, Base* fields) const;
  template <class View, class Base, class Call>
  void with_views(const PointGroup& group, std::uint32_t position, std::byte* const* operands, Call&& call) const;
  void run_task(const PointGroup& group, std::uint32_t position, std::byte* const* operands,
                TaskContext& context) const;
  // What a body gets beside its views; by argument, and by output.
  struct Handed {
    std::span<const std::byte*> in;
    std::span<std::int64_t> numbers;  // those that differ from point to point
    std::span<std::byte*> out;
  };
  std::size_t handed_out() const { return own_outputs_ + maps_.size(); }
  void hand(const Launch& launch, std::uint32_t position, std::byte* const* operands, const Point& point,
            const Handed& to) const;
  void fill(const PointGroup& group, std::byte* const* operands) const;
  void read(const PointGroup& group, std::byte* const* operands) const;
  void total(const PointGroup& group, std::byte* const* operands) const;
  template <class Visit>
  void with_piece(const PointGroup& group, std::uint32_t position, std::byte* const* operands, Visit&& visit) const;
  void transfer(const PointGroup& group, std::uint32_t position, std::byte* const* operands) const;
  void fold_all(const PointGroup& group, std::byte* const* operands) const;
  void fold(const PointGroup& group, std::uint32_t position, std::byte* const* operands) const;

  std::vector<ArrayType> types_;  // of the inputs
  std::vector<Argument> arguments_;
  std::vector<Field> fields_;
  std::vector<std::uint32_t> first_field_;  // by use: in a table of all fields of its region
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> bases_;   // by entry of that table: the operand, or none
  std::vector<std::uint32_t> clears_;  // of fields_: buffers of contributions
  std::vector<Argument> maps_;         // by output
  std::vector<std::size_t> output_elements_;
  std::uint32_t first_map_ = 0, inputs_ = 0, outputs_ = 0, own_outputs_ = 0;
  std::shared_ptr<const ViewBody> view_;
  std::optional<ViewExtents> extents_;  // of its views
  const ExternBody* extern_ = nullptr;  // that of view_, if it is a C++ function
  PointTask native_;
};

class PointCode final : public TaskCode {
 public:
  PointCode(const LaunchCode& launch, const PointGroup& group, std::uint32_t position)
      : TaskCode(launch.inputs(), launch.outputs()), launch_(launch), group_(group), position_(position) {}
  bool run(std::byte* const* operands, TaskContext& context) const override;
  std::unique_ptr<BoundCode> bind(std::byte* const* operands, TaskContext& context) const override;
  std::size_t scratch_bytes() const override { return launch_.scratch_bytes(); }

 private:
  const LaunchCode& launch_;
  const PointGroup& group_;
  const std::uint32_t position_;
};

}  // namespace taskspec
