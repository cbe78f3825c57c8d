#include "interp/host/code_maker.hpp"

#include <algorithm>
#include <unordered_map>

#include "interp/host/watched_code.hpp"

namespace taskspec {

CodeMaker::CodeMaker(std::shared_ptr<const Plan> plan, Bodies& bodies, ViewBodies& views)
    : plan_(std::move(plan)),
      bodies_(bodies),
      views_(views),
      places_(places_of(*plan_)),
      natives_(plan_->graph->definitions().size(), nullptr) {
  count_readers();
}

void CodeMaker::count_readers() {
  readers_.resize(plan_->buffers.size());
  if (readers_.empty()) return;
  for (std::size_t task = 0; task < plan_->tasks.size(); ++task)
    for (BufferId buffer : inputs(task)) ++readers_[buffer.index()];
  for (BufferId buffer : plan_->results) ++readers_[buffer.index()];
}

std::span<const BufferId> CodeMaker::inputs(std::size_t task) const {
  const PlanTask& t = plan_->tasks[task];
  return std::span(plan_->operands).subspan(t.first_in, t.first_out - t.first_in);
}

std::span<const BufferId> CodeMaker::outputs(std::size_t task) const {
  std::size_t end = task + 1 < plan_->tasks.size() ? plan_->tasks[task + 1].first_in : plan_->operands.size();
  return std::span(plan_->operands).subspan(plan_->tasks[task].first_out, end - plan_->tasks[task].first_out);
}

OpInstance CodeMaker::instance(std::size_t task) const {
  NodeId node = plan_->tasks[task].node;
  OpInstance instance{plan_->graph->definition(node).op, {}, plan_->graph->arguments(node), {}};
  for (BufferId buffer : inputs(task)) instance.in.push_back(type(buffer));
  for (BufferId buffer : outputs(task)) instance.out.push_back(type(buffer));
  return instance;
}

// A kernel may write where it reads if it promises to; else the body compiler finds a way round.
bool CodeMaker::writes_safely(std::size_t task) const {
  const OpDef& op = *plan_->graph->definition(plan_->tasks[task].node).op;
  for (BufferId out : outputs(task))
    for (BufferId in : inputs(task)) {
      if (bytes_of(in) != bytes_of(out)) continue;
      if (op.sharing == Sharing::none) return false;
      if (op.sharing == Sharing::in_place && type(in).elements() != type(out).elements()) return false;
    }
  return true;
}

// Two tasks with equal keys do the same with operands of equal types, in bytes that coincide alike.
std::string CodeMaker::key(std::size_t task, bool with_bytes) const {
  const TaskNode& node = (*plan_->graph)[plan_->tasks[task].node];
  std::string key;
  put_number(key, node.definition.value);
  put_number(key, node.agent.value);
  put_number(key, node.arguments);
  put_number(key, inputs(task).size());
  for (BufferId buffer : inputs(task)) put_type(key, type(buffer));
  for (BufferId buffer : outputs(task)) put_type(key, type(buffer));
  if (!with_bytes) return key;
  std::size_t count = inputs(task).size() + outputs(task).size();
  auto operands = std::span(plan_->operands).subspan(plan_->tasks[task].first_in, count);
  for (BufferId buffer : operands) {
    auto same = std::ranges::find(operands, bytes_of(buffer), [this](BufferId b) { return bytes_of(b); });
    put_number(key, static_cast<std::uint64_t>(same - operands.begin()));
  }
  return key;
}

// A body that has none runs all the same: the interpreter meets the error that kept it from one, if it was one.
std::shared_ptr<const OpList> CodeMaker::list(std::size_t task) {
  auto [known, fresh] = lists_.emplace(key(task, false), nullptr);
  if (fresh)
    if (Result<OpList> made = bodies_.list(*plan_->graph, plan_->tasks[task].node))
      known->second = std::make_shared<OpList>(*std::move(made));
  return known->second;
}

bool CodeMaker::is_straight(std::size_t task) {
  return kind(task) == Definition::Kind::op || (has_list(task) && list(task));
}

std::vector<std::uint32_t> CodeMaker::append(FusedBody& body, std::size_t task, std::span<const std::uint32_t> given) {
  std::vector<std::uint32_t> made =
      kind(task) == Definition::Kind::op ? body.append(instance(task), given) : body.append(*list(task), given);
  if (made.size() != outputs(task).size()) bug("the op list of a task has another number of outputs than its node");
  return made;
}

const TaskCode& CodeMaker::make(std::size_t first, std::size_t last, std::vector<BufferId>& operands) {
  std::size_t count = 0;
  if (last - first > 1 && !bodies_.detects_nan())
    while (first + count < last && is_straight(first + count)) ++count;
  if (count > 1) return make_chain(first, count, operands);
  std::span<const BufferId> in = inputs(first), out = outputs(first);
  operands.insert(operands.end(), in.begin(), in.end());
  operands.insert(operands.end(), out.begin(), out.end());
  if (kind(first) == Definition::Kind::launch) return make_point(first);
  if (kind(first) == Definition::Kind::native) return make_native(first);
  if (bodies_.detects_nan() && is_straight(first)) return make_watched(first);
  if (kind(first) == Definition::Kind::op && writes_safely(first)) return make_kernel(first);
  if (is_straight(first)) return make_body(first);
  return make_interpreted(first);
}

const TaskCode& CodeMaker::make_interpreted(std::size_t task) {
  std::vector<ArrayType> in, out;
  for (BufferId buffer : inputs(task)) in.push_back(type(buffer));
  for (BufferId buffer : outputs(task)) out.push_back(type(buffer));
  NodeId node = plan_->tasks[task].node;
  return keep(std::make_unique<InterpretedCode>(bodies_, plan_, node, std::move(in), std::move(out)));
}

const TaskCode& CodeMaker::make_native(std::size_t task) {
  NodeId node = plan_->tasks[task].node;
  const TaskCode*& code = natives_[(*plan_->graph)[node].definition.index()];
  if (code && code->inputs == inputs(task).size() && code->outputs == outputs(task).size()) return *code;
  const std::string& symbol = plan_->graph->definition(node).symbol;
  const NativeTask native = bodies_.native(symbol);
  if (!native.run) bug("no C++ function is called " + symbol);
  return *(code = &keep(std::make_unique<NativeCode>(native, inputs(task).size(), outputs(task).size())));
}

// Those of a loop are equal in each of its turns: then the points of all turns lie in the first cache.
CodeMaker::Points& CodeMaker::points(const PointGroup& group) {
  const std::vector<PointGroup>& groups = plan_->graph->point_groups();
  points_of_.resize(groups.size());
  Points*& points = points_of_[static_cast<std::size_t>(&group - groups.data())];
  if (points) return *points;
  const std::string key = LaunchCode::key(*plan_->graph, group);
  std::vector<Points*>* const alike = key.empty() ? nullptr : &known_points_[key];
  if (alike) {
    const auto known = std::ranges::find_if(
        *alike, [&](const Points* one) { return LaunchCode::has_same_pieces(*one->group, group); });
    if (known != alike->end()) return *(points = *known);
  }
  set_.launches.push_back(std::make_unique<LaunchCode>(*plan_->graph, group, bodies_, views_));
  points = &points_.emplace_back(&group, set_.launches.back().get(), std::vector<const TaskCode*>(group.count));
  if (alike) alike->push_back(points);
  return *points;
}

const TaskCode& CodeMaker::make_point(std::size_t task) {
  const NodeId node = plan_->tasks[task].node;
  const PointGroup& group = *plan_->graph->points(node);
  Points& all = points(group);
  const std::uint32_t position = node.value - group.first.value;
  const TaskCode*& code = all.codes[position];
  if (!code) code = &keep(std::make_unique<PointCode>(*all.launch, *all.group, position));
  return *code;
}

const TaskCode& CodeMaker::make_kernel(std::size_t task) {
  const TaskCode*& code = known_[key(task, true)];
  if (!code) {
    OpInstance op = instance(task);
    code = &keep(std::make_unique<KernelCode>(kernels_.get(op), op));
  }
  return *code;
}

const TaskCode& CodeMaker::make_body(std::size_t task) {
  const TaskCode*& code = known_[key(task, true)];
  if (code) return *code;
  FusedBody body;
  std::vector<std::uint32_t> given;
  for (BufferId buffer : inputs(task)) given.push_back(body.input(type(buffer), bytes_of(buffer)));
  std::vector<std::uint32_t> made = append(body, task, given);
  std::span<const BufferId> out = outputs(task);
  for (std::size_t k = 0; k < out.size(); ++k) body.output(made[k], bytes_of(out[k]));
  return *(code = &compile(std::move(body)));
}

const TaskCode& CodeMaker::make_watched(std::size_t task) {
  FusedBody body;
  std::vector<std::uint32_t> given;
  for (BufferId buffer : inputs(task)) given.push_back(body.input(type(buffer), 0));
  for (std::uint32_t made : append(body, task, given)) body.output(made, 0);
  std::vector<Span> spans(body.numbers);
  if (kind(task) == Definition::Kind::op)
    spans.push_back((*plan_->graph)[plan_->tasks[task].node].span);
  else
    for (const OpList::Line& line : list(task)->lines) spans.push_back(line.span);
  std::vector<std::shared_ptr<const Kernel>> kernels = kernels_of(body);
  return keep(std::make_unique<WatchedCode>(std::move(body), std::move(kernels), std::move(spans)));
}

// What comes from outside, and what somebody else reads. What only the chain itself reads stays inside.
CodeMaker::Chain CodeMaker::chain(std::size_t first, std::size_t count) const {
  struct Inside {
    std::uint64_t number = 0;
    std::uint32_t reads = 0;
  };
  Chain chain;
  std::unordered_map<std::uint32_t, Inside> inside;  // by buffer
  auto number = [&](BufferId buffer) {
    auto [known, fresh] = inside.emplace(buffer.value, Inside{inside.size(), 0});
    put_number(chain.key, known->second.number);
    if (fresh) chain.inputs.push_back(buffer);
    ++known->second.reads;
  };
  std::vector<BufferId> written;
  for (std::size_t task = first; task < first + count; ++task) {
    chain.key += key(task, false);
    for (BufferId buffer : inputs(task)) number(buffer);
    for (BufferId buffer : outputs(task)) {
      inside[buffer.value] = {inside.size(), 0};
      written.push_back(buffer);
    }
  }
  for (BufferId buffer : written) {
    const bool seen = readers_[buffer.index()] != inside[buffer.value].reads;
    chain.key += seen ? 'o' : '-';
    if (seen) chain.outputs.push_back(buffer);
  }
  std::unordered_map<std::uint32_t, std::uint64_t> bytes;  // which operands lie in the same ones
  for (const std::vector<BufferId>* operands : {&chain.inputs, &chain.outputs})
    for (BufferId buffer : *operands)
      put_number(chain.key, bytes.emplace(bytes_of(buffer), bytes.size()).first->second);
  return chain;
}

const TaskCode& CodeMaker::make_chain(std::size_t first, std::size_t count, std::vector<BufferId>& operands) {
  const Chain chain = this->chain(first, count);
  operands.insert(operands.end(), chain.inputs.begin(), chain.inputs.end());
  operands.insert(operands.end(), chain.outputs.begin(), chain.outputs.end());
  const TaskCode*& code = chains_[chain.key];
  if (code) return *code;
  FusedBody body;
  std::unordered_map<std::uint32_t, std::uint32_t> values;  // by buffer
  for (BufferId buffer : chain.inputs) values[buffer.value] = body.input(type(buffer), bytes_of(buffer));
  for (std::size_t task = first; task < first + count; ++task) {
    std::vector<std::uint32_t> given;
    for (BufferId buffer : inputs(task)) given.push_back(values.at(buffer.value));
    std::vector<std::uint32_t> made = append(body, task, given);
    std::span<const BufferId> out = outputs(task);
    for (std::size_t k = 0; k < out.size(); ++k) values[out[k].value] = made[k];
  }
  for (BufferId buffer : chain.outputs) body.output(values.at(buffer.value), bytes_of(buffer));
  return *(code = &compile(std::move(body)));
}

std::vector<std::shared_ptr<const Kernel>> CodeMaker::kernels_of(const FusedBody& body) {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const FusedOp& op : body.ops) kernels.push_back(op.number ? op.number : kernels_.get(op.instance));
  return kernels;
}

const TaskCode& CodeMaker::compile(FusedBody body) {
  std::vector<std::shared_ptr<const Kernel>> kernels = kernels_of(body);
  return keep(std::make_unique<FusedCode>(std::move(body), std::move(kernels)));
}

const TaskCode& CodeMaker::keep(std::unique_ptr<TaskCode> code) {
  set_.scratch_bytes = std::max(set_.scratch_bytes, code->scratch_bytes());
  set_.most_operands = std::max<std::size_t>(set_.most_operands, code->inputs + code->outputs);
  set_.codes.push_back(std::move(code));
  return *set_.codes.back();
}

}  // namespace taskspec
