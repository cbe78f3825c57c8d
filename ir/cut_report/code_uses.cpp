#include "ir/cut_report/code_uses.hpp"

#include <algorithm>

#include "ir/cut/host_code.hpp"
#include "ir/program/host_symbols.hpp"

namespace taskspec {

namespace {

// Nobody reads deeper expressions, and a program of the C++ interface may have them 10,000 levels deep.
constexpr std::uint32_t deepest = 12;

bool is_statement(const Call& call) {
  return call.form->is_statement() || (call.type.is(Type::Kind::none) && call.form != Form::constant);
}

}  // namespace

CodeUses::CodeUses(const Function& function)
    : function_(function), entries_(function.calls.size()), writes_(function.variables.size(), 0) {
  place(function.body, {});
  for (const Parameter& parameter : function.parameters) place(parameter.default_block, {});
  note_uses();
  drop_unused();
  count_writes();
  for (const Room& room : rooms_)
    for (CallId id : room.block->calls) find_names(id);
  for (const Room& room : rooms_)
    for (CallId id : room.block->calls) find_sends(id);
  for (const Room& room : rooms_)
    for (CallId id : room.block->calls) take_apart(id);
  // Inner blocks first: `a && b` is a line when something in its block is.
  for (std::size_t r = rooms_.size(); r-- > 0;) {
    for (CallId id : rooms_[r].block->calls) decide(id);
    while (!keeps_order(static_cast<std::uint32_t>(r))) {
    }
  }
}

bool CodeUses::has_lines(const Block& block) const {
  return std::any_of(block.calls.begin(), block.calls.end(), [this](CallId id) { return of(id).line; });
}

void CodeUses::place(const Block& block, CallId owner) {
  const auto room = static_cast<std::uint32_t>(rooms_.size());
  rooms_.push_back({&block, owner});
  for (std::size_t i = 0; i < block.calls.size(); ++i) {
    Entry& entry = of(block.calls[i]);
    entry.placed = true;
    entry.block = room;
    entry.position = static_cast<std::uint32_t>(i);
    for (const Block& inner : function_[block.calls[i]].blocks) place(inner, block.calls[i]);
  }
}

void CodeUses::note_uses() {
  for (const Room& room : rooms_) {
    for (CallId id : room.block->calls)
      for (CallId in : function_[id].in)
        if (in.valid()) of(in).uses.push_back({id});
    for (CallId id : room.block->calls)  // f32[n]
      if (function_[id].form->payload == Payload::type)
        for_each_host_symbol(function_[id], [&](CallId extent) {
          if (extent.index() < entries_.size()) of(extent).in_type = true;
        });
    if (room.block->result.valid()) of(room.block->result).uses.push_back({room.owner, true});
  }
}

// Values that are taken apart for extents which are known without them: nobody reads a line for that.
void CodeUses::drop_unused() {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const Call& call = function_.calls[i];
    Entry& entry = entries_[i];
    if (!entry.placed || !entry.uses.empty() || !call.form->rearranges) continue;
    entry.placed = false;
    for (CallId in : call.in)
      if (in.valid())
        std::erase_if(of(in).uses, [i](const Use& use) { return !use.as_result && use.user.index() == i; });
  }
}

void CodeUses::count_writes() {
  for (const Room& room : rooms_)
    for (CallId id : room.block->calls) {
      const Call& call = function_[id];
      if (call.form->writes()) ++writes_[call.variable.index()];
      for (const Place& place : call.places) ++writes_[place.variable.index()];
    }
}

void CodeUses::find_names(CallId id) {
  const Call& call = function_[id];
  if (call.form != Form::write || writes_[call.variable.index()] != 1) return;
  if (call.in.empty() || !call.in[0].valid() || is_cheap(function_[call.in[0]])) return;
  Entry& value = of(call.in[0]);
  if (value.placed && value.block == of(id).block && !value.let.valid()) value.let = id;
}

// `enqueue c (v)` and one other use of v in the same block, as a condition or as the result.
void CodeUses::find_sends(CallId id) {
  const Call& call = function_[id];
  if (call.form != Form::enqueue || call.in.size() != 1) return;
  Entry& value = of(call.in[0]);
  if (!value.placed || value.block != of(id).block || value.uses.size() != 2 || value.let.valid()) return;
  const Use& other = value.uses[0].user == id && !value.uses[0].as_result ? value.uses[1] : value.uses[0];
  if (!other.as_result) {
    const Form form = function_[other.user].form;
    const bool decides = form->to_run == FormRecord::ToRun::decision || form->to_run == FormRecord::ToRun::turns;
    if (!decides || of(other.user).block != of(id).block || of(other.user).position < of(id).position) return;
  }
  value.sent_by = id;
  of(id).uses = {other};
  value.uses = {{id}};
}

void CodeUses::take_apart(CallId id) {
  Entry& tuple = of(id);
  if (!function_[id].type.is(Type::Kind::tuple) || tuple.uses.empty() || tuple.let.valid()) return;
  for (const Use& use : tuple.uses) {
    if (use.as_result || function_[use.user].form != Form::element || of(use.user).block != tuple.block) return;
  }
  const FormRecord& form = *function_[id].form;
  const bool comes_whole = form.talks || form.enters != FormRecord::Enters::nothing || form.payload == Payload::builtin;
  if (comes_whole) tuple.apart = true;
}

bool CodeUses::is_cheap(const Call& call) const {
  if (call.form->payload != Payload::part) return call.form->is_name();
  return call.in[0].valid() && (of(call.in[0]).apart || function_[call.in[0]].form == Form::loop);
}

bool CodeUses::has_effect(const Call& call) const {
  if (call.builtin) return call.builtin->effect != Effect::pure;
  const FormRecord& form = *call.form;
  return form.talks || form.enters != FormRecord::Enters::nothing || form.to_run == FormRecord::ToRun::session;
}

// A closure is written without what it takes along.
bool CodeUses::is_captured(const Entry& entry) const {
  return std::any_of(entry.uses.begin(), entry.uses.end(),
                     [this](const Use& use) { return !use.as_result && function_[use.user].form == Form::closure; });
}

bool CodeUses::must_be_line(CallId id) const {
  const Entry& entry = of(id);
  const Call& call = function_[id];
  if (!entry.placed) return false;
  if (entry.apart) return true;
  if (call.form == Form::write && call.in[0].valid() && function_[call.in[0]].form == Form::element)
    return !(of(function_[call.in[0]].in[0]).apart && of(call.in[0]).let == id);
  if (is_statement(call)) return call.form != Form::enqueue || entry.uses.empty();
  if (is_cheap(call)) return false;
  for (const Block& block : call.blocks)
    if (has_lines(block)) return true;
  if (entry.let.valid()) return false;
  if (entry.in_type || is_captured(entry)) return true;
  return entry.uses.size() != 1 || entry.height > deepest ||
         (!entry.uses[0].as_result && of(entry.uses[0].user).block != entry.block) ||
         (entry.uses[0].as_result && rooms_[entry.block].block->result != id);
}

void CodeUses::decide(CallId id) {
  Entry& entry = of(id);
  for (CallId in : function_[id].in)
    if (in.valid() && !of(in).line && !is_cheap(function_[in]))
      entry.height = std::max(entry.height, of(in).height + 1);
  entry.line = must_be_line(id);
  if (entry.line) entry.height = 0;
}

// The position in its block of the line that this call is part of; the end of the block for what is its result.
std::uint32_t CodeUses::root(CallId id) const {
  for (;;) {
    const Entry& entry = of(id);
    if (entry.line) return entry.position;
    if (entry.let.valid()) return of(entry.let).position;
    if (entry.uses.empty()) return entry.position;
    const Use& use = entry.uses[0];
    if (use.as_result) return static_cast<std::uint32_t>(rooms_[entry.block].block->calls.size());
    if (of(use.user).block != entry.block) return entry.position;
    id = use.user;
  }
}

bool CodeUses::writes(CallId id, VariableId variable) const {
  const Call& call = function_[id];
  if (call.form->writes() && call.variable == variable) return true;
  for (const Place& place : call.places)
    if (place.variable == variable) return true;
  for (const Block& block : call.blocks)
    for (CallId inner : block.calls)
      if (writes(inner, variable)) return true;
  return false;
}

// The call in block `room` that holds this one, as a position.
std::uint32_t CodeUses::ancestor(CallId id, std::uint32_t room) const {
  while (of(id).block != room && rooms_[of(id).block].owner.valid()) id = rooms_[of(id).block].owner;
  return of(id).position;
}

// A variable that is read here and written before the line in which the reading would stand.
bool CodeUses::moved_over_write(CallId id) const {
  const Entry& entry = of(id);
  const VariableId variable = function_[id].variable;
  const std::vector<CallId>& calls = rooms_[entry.block].block->calls;
  for (const Use& use : entry.uses) {
    std::uint32_t end = static_cast<std::uint32_t>(calls.size());
    if (!use.as_result) {
      const bool inside = of(use.user).block != entry.block;
      end = inside ? ancestor(use.user, entry.block) + 1 : root(use.user);
    }
    for (std::uint32_t i = entry.position + 1; i < end && i < calls.size(); ++i)
      if (writes(calls[i], variable)) return true;
  }
  return false;
}

// False when a call became a line: then others may have to.
bool CodeUses::keeps_order(std::uint32_t room) {
  const std::vector<CallId>& calls = rooms_[room].block->calls;
  std::vector<std::uint32_t> lines(calls.size() + 1, 0);  // before each position
  for (std::size_t i = 0; i < calls.size(); ++i) lines[i + 1] = lines[i] + (of(calls[i]).line ? 1 : 0);
  for (CallId id : calls) {
    Entry& entry = of(id);
    if (entry.line) continue;
    const Call& call = function_[id];
    bool moves = false;
    if (call.form == Form::variable) {
      moves = moved_over_write(id);
    } else if (has_effect(call) && !is_cheap(call)) {
      const std::uint32_t to = root(id);
      moves = to > entry.position && lines[to] > lines[entry.position];
    }
    if (!moves) continue;
    entry.line = true;
    return false;
  }
  return true;
}

}  // namespace taskspec
