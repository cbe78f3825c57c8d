#include "interp/host/view/scalar_values.hpp"

#include <algorithm>

namespace taskspec {

ScalarValues::ScalarValues(const LaneProgram& program, const ViewCode& code, std::size_t bytes)
    : CodeGenerator(bytes, Xbyak::AutoGrow),
      program_(program),
      uses_(program, code),
      where_(program.registers.size(), none),
      preferred_(program.registers.size(), none) {}

void ScalarValues::load(Number to, const Xbyak::Address& from, std::uint8_t width) {
  if (to < reals)
    width == 8 ? movsd(real(to), from) : movss(real(to), from);
  else if (width == 8)
    mov(general(to), from);
  else if (width == 4)
    mov(general(to).cvt32(), from);
  else
    movzx(general(to).cvt32(), byte[from.getRegExp()]);
}

void ScalarValues::store(Number from, const Xbyak::Address& to, std::uint8_t width) {
  if (from < reals)
    width == 8 ? movsd(to, real(from)) : movss(to, real(from));
  else if (width == 8)
    mov(to, general(from));
  else if (width == 4)
    mov(to, general(from).cvt32());
  else
    mov(to, general(from).cvt8());
}

// ---- registers ------------------------------------------------------------------------------------

void ScalarValues::save(Number number) {
  Held& it = held(number);
  if (it.waits && is_wanted(it.value)) store(number, slot(it.value), of(it.value).width);
  it.waits = false;
}

void ScalarValues::forget(Number number) {
  Held& it = held(number);
  if (it.value != no_value) where_[it.value] = none;
  it.value = no_value;
  it.waits = false;
}

void ScalarValues::put(Number number, Register r) {
  if (where_[r] != none) forget(where_[r]);
  forget(number);
  held(number).value = r;
  where_[r] = number;
}

void ScalarValues::move(Number to, Register r) {
  const Number from = where_[r];
  if (from == none)
    load(to, slot(r), of(r).width);
  else if (from != to)
    to < reals ? movaps(real(to), real(from)) : mov(general(to), general(from));
}

// One that the step does not use: where the head of a loop has it; else the first that is free; else the one that
// nobody used for longest.
ScalarValues::Number ScalarValues::room(Register out) {
  constexpr std::array<Number, 16> for_reals = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  constexpr std::array<Number, 7> for_others = {reals + 1, reals + 6,  reals + 7, reals + 8,  // rcx, rsi, rdi, r8
                                                reals + 9, reals + 10, reals + 11};
  const std::span<const Number> candidates =
      is_real(out) ? std::span<const Number>(for_reals) : std::span<const Number>(for_others);
  const auto age = [&](Number number) {
    const Held& it = held(number);
    return it.used == now_ ? now_ : it.value == no_value ? 0 : it.used;
  };
  Number found = preferred_[out];
  if (found == none || held(found).used == now_) found = *std::ranges::min_element(candidates, {}, age);
  save(found);
  forget(found);
  held(found).used = now_;
  return found;
}

ScalarValues::Number ScalarValues::hold(Register r) {
  Number number = where_[r];
  if (number == none) {
    number = room(r);
    load(number, slot(r), of(r).width);
    put(number, r);
  }
  held(number).used = now_;
  return number;
}

ScalarValues::Number ScalarValues::copy(Register r, Register out) {
  pin(r);
  const Number made = room(out);
  move(made, r);
  return made;
}

ScalarValues::Number ScalarValues::take(Register r, Register out) {
  const Number number = where_[r];
  const bool is_last = uses_.is_passing(r) && uses_.last(r) == position_;
  if (number == none || (!is_last && r != out) || (preferred_[out] != none && preferred_[out] != number))
    return copy(r, out);
  forget(number);
  held(number).used = now_;
  return number;
}

void ScalarValues::keep(Register r, Number number) {
  put(number, r);
  held(number).used = now_;
  held(number).waits = uses_.is_passing(r);
  if (!uses_.is_passing(r)) store(number, slot(r), of(r).width);
}

// ---- steps, calls and jumps -----------------------------------------------------------------------

void ScalarValues::begin_step(std::uint32_t position) {
  position_ = position;
  ++now_;
}

void ScalarValues::end_step(const LaneInstruction& i) {
  for (Register r : i.in)
    if (where_[r] != none && uses_.is_passing(r) && uses_.last(r) <= position_) forget(where_[r]);
}

ScalarValues::Holding ScalarValues::waiting() const {
  Holding found;
  for (Number number = 0; number < all; ++number)
    if (const Held& it = held_[static_cast<std::size_t>(number)]; it.waits && is_wanted(it.value))
      found.emplace_back(it.value, number);
  return found;
}

ScalarValues::Holding ScalarValues::holding() const {
  Holding found;
  for (Number number = 0; number < all; ++number)
    if (const Held& it = held_[static_cast<std::size_t>(number)]; it.value != no_value)
      found.emplace_back(it.value, number);
  return found;
}

ScalarValues::Holding ScalarValues::steady() const {
  Holding found = holding();
  std::erase_if(found, [&](const auto& entry) { return uses_.is_passing(entry.first); });
  return found;
}

void ScalarValues::save_all() {
  for (Number number = 0; number < all; ++number) save(number);
}

void ScalarValues::forget_all() {
  for (Number number = 0; number < all; ++number) forget(number);
}

void ScalarValues::become(const Holding& holding) {
  forget_all();
  for (const auto& [value, number] : holding) put(number, value);
}

void ScalarValues::prefer(const Holding& holding) {
  for (const auto& [value, number] : holding) preferred_[value] = number;
}

// What a move overwrites is in the scratch, too: whoever wants it behind that has it from there.
void ScalarValues::conform(const Holding& holding) {
  for (const auto& [value, number] : holding) {
    if (where_[value] == number) continue;
    move(number, value);
    put(number, value);
  }
}

}  // namespace taskspec
