// The values of scalar code while it is made (scalar_code.cpp): which registers of the processor hold them. A passing
// value (scalar_uses.hpp) is in the scratch only where a call or too many others push it there; all others are, always,
// so that a register can be taken from them at any time.
#pragma once
#include <xbyak/xbyak.h>

#include <array>
#include <utility>
#include <vector>

#include "interp/host/view/scalar_uses.hpp"

namespace taskspec {

// rbx has the scratch; r12, r13, r14, r15 and rbp are the maker's. rax and rdx hold nothing from one step to the next;
// all others hold values.
class ScalarValues : public Xbyak::CodeGenerator {
 public:
  ScalarValues(const LaneProgram& program, const ViewCode& code, std::size_t bytes);

 protected:
  using Number = int;  // of a register: those of floats, then the general ones
  using Holding = std::vector<std::pair<Register, Number>>;

  const LaneRegister& of(Register r) const { return program_.registers[r]; }
  bool is_real(Register r) const { return of(r).precision == Precision::f64 || of(r).precision == Precision::f32; }
  Xbyak::Address slot(Register r) const { return ptr[rbx + static_cast<int>(of(r).at)]; }
  static Xbyak::Xmm real(Number number) { return Xbyak::Xmm(number); }
  static Xbyak::Reg64 general(Number number) { return Xbyak::Reg64(number - reals); }
  void load(Number to, const Xbyak::Address& from, std::uint8_t width);
  void store(Number from, const Xbyak::Address& to, std::uint8_t width);

  // ---- of one step ----
  void begin_step(std::uint32_t position);
  void end_step(const LaneInstruction& i);  // forgets what nobody wants behind it
  void pin(Register r) {                    // where it is, if it is in a register
    if (where_[r] != none) held(where_[r]).used = now_;
  }
  Number hold(Register r);                // with what r is; not to be changed
  Number copy(Register r, Register out);  // with what r is, and then for `out`
  Number take(Register r, Register out);  // so, too; r may be gone
  Number room(Register out);
  void keep(Register r, Number number);  // it has what r is from now on
  // Calls use(operand) for where r lies now.
  template <class Use>
  void read(Register r, Use&& use) const {
    const Number number = where_[r];
    if (number == none) return use(slot(r));
    number < reals ? use(real(number)) : use(general(number));
  }

  // ---- around calls and jumps ----
  Holding waiting() const;  // what the scratch does not have yet
  Holding holding() const;
  Holding steady() const;  // of those that are no passing values
  void save_all();
  void forget_all();
  void become(const Holding& holding);   // as whoever jumped here made sure
  void prefer(const Holding& holding);   // where values may stay, since that is where they will be wanted
  void conform(const Holding& holding);  // before a jump to where this is so

  const LaneProgram& program_;
  const ScalarUses uses_;

 private:
  static constexpr Number none = -1, reals = 16, all = 32;
  static constexpr Register no_value = UINT32_MAX;
  struct Held {
    Register value = no_value;
    bool waits = false;
    std::uint32_t used = 0;  // by which step, last
  };
  Held& held(Number number) { return held_[static_cast<std::size_t>(number)]; }
  bool is_wanted(Register r) const { return !uses_.is_passing(r) || uses_.last(r) >= position_; }
  void put(Number number, Register r);
  void move(Number to, Register r);
  void save(Number number);
  void forget(Number number);

  std::array<Held, all> held_;
  std::vector<Number> where_;      // by value
  std::vector<Number> preferred_;  // by value: where it is at the head of a loop
  std::uint32_t now_ = 1;          // steps so far
  std::uint32_t position_ = 0;     // of the step
};

}  // namespace taskspec
