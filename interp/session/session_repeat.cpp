// Batches of launches that run again without being recorded.
#include "interp/session/session.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

class Session::Repeat final : public RepeatedBatch {
 public:
  Repeat(Session& session, const Plans::Made& made) : session_(session), backend_(session.backend_), made_(made) {}
  ~Repeat() override {
    for (const Location number : numbers_) backend_.free(number);
  }

  void add_field(Ref field) {
    fields_.emplace_back(inputs_.size(), field);
    inputs_.emplace_back();
  }
  void add_number(const ArrayType& type) {
    numbers_.push_back(backend_.allocate(type));
    inputs_.push_back(numbers_.back());
  }

  void run(std::span<const std::uint64_t> numbers) override {
    find_fields();
    backend_.write_numbers(numbers_, numbers);
    const Outcome outcome = backend_.execute(*made_.executable, inputs_, {.schedule = session_.options_.schedule});
    if (outcome.lost) throw failure("E5008", {}, "no memory is left for what a batch came to");
    session_.count(made_, outcome);
    session_.sweep_if_due();  // numbers that the program made constants of
  }

 private:
  // Others may have changed the memory of some since it ran last.
  void find_fields() {
    const std::uint64_t changes = session_.live_.field_memory().changes();
    if (std::exchange(changes_, changes) == changes) return;
    for (const auto& [input, field] : fields_) inputs_[input] = session_.live_.location(field);
  }

  Session& session_;
  Backend& backend_;
  const Plans::Made made_;
  std::vector<Location> inputs_, numbers_;           // the latter among the former
  std::vector<std::pair<std::size_t, Ref>> fields_;  // likewise, by position
  std::uint64_t changes_ = UINT64_MAX;               // FieldMemory::changes() when they were looked up
};

// Whoever looks at the single tasks wants them to be there.
std::unique_ptr<RepeatedBatch> Session::run_to_repeat(std::size_t launches) {
  const bool is_seen = !options_.forget || options_.record || options_.record_ops || log_;
  if (is_seen || holds_ || options_.schedule != Schedule::push || !poisoned_.empty()) return nullptr;
  const std::vector<NodeId> nodes = needed();
  std::size_t found = 0;
  std::vector<Ref> numbers;  // of all launches, in their order
  for (const NodeId node : nodes) {
    if (!is_launch(graph, node) || graph[node].first_value) return nullptr;
    if (is_message(graph.launch(node))) continue;
    ++found;
    const auto values = graph.in(node).first(graph.launch(node).each.size());
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  if (found != launches) return nullptr;
  std::unique_ptr<Repeat> repeat;
  const bool ran = fits([&] {
    live_.field_memory().change();
    const Batch batch = pending_.take_batch(nodes);
    const Plans::Found plan = find_plan(batch);
    auto* made = std::get_if<const Plans::Made*>(&plan);
    if (!made || !batch.results.empty() || !batch.made.empty()) return;
    auto planned = std::make_unique<Repeat>(*this, **made);
    auto next = numbers.begin();
    for (const Ref ref : batch.inputs) {
      if (ref.kind == Ref::Kind::field) {
        planned->add_field(ref);
        continue;
      }
      // Each number is one of its own, which the next turn may have otherwise.
      if (ref.kind != Ref::Kind::constant || next == numbers.end() || *next++ != ref) return;
      planned->add_number(graph.constant(ref.id).array().type());
    }
    if (next != numbers.end()) return;
    run(nodes);
    if (poisoned_.empty()) repeat = std::move(planned);
  });
  return ran ? std::move(repeat) : nullptr;
}

}  // namespace taskspec
