#include "gasmeter/networks/aries/offered_atomics.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::aries {

using conduit::AtomicOp;
using conduit::AtomicOps;
using conduit::AtomicType;
using conduit::RemoteAtomic;

namespace {

// Sums and bits of unsigned integers are those of signed ones.
AmoType type_of(AtomicType type) {
  switch (type) {
    case AtomicType::i32:
    case AtomicType::u32:
      return AmoType::i32;
    case AtomicType::f32:
      return AmoType::f32;
    case AtomicType::f64:
      return AmoType::f64;
    default:
      return AmoType::i64;
  }
}

bool is_unsigned(AtomicType type) {
  return type == AtomicType::u32 || type == AtomicType::u64;
}

// Aries has no MULT.
bool has_command(AtomicOp op, AmoCommand& command) {
  switch (op) {
    case AtomicOp::set:
    case AtomicOp::swap:
      command = AmoCommand::swap;
      return true;
    case AtomicOp::cas:
    case AtomicOp::fcas:
      command = AmoCommand::compare_swap;
      return true;
    case AtomicOp::add:
    case AtomicOp::fadd:
    case AtomicOp::sub:
    case AtomicOp::fsub:
    case AtomicOp::inc:
    case AtomicOp::finc:
    case AtomicOp::dec:
    case AtomicOp::fdec:
      command = AmoCommand::add;
      return true;
    case AtomicOp::min:
    case AtomicOp::fmin:
      command = AmoCommand::min;
      return true;
    case AtomicOp::max:
    case AtomicOp::fmax:
      command = AmoCommand::max;
      return true;
    case AtomicOp::get:
    case AtomicOp::bit_and:
    case AtomicOp::fbit_and:
      command = AmoCommand::bit_and;
      return true;
    case AtomicOp::bit_or:
    case AtomicOp::fbit_or:
      command = AmoCommand::bit_or;
      return true;
    case AtomicOp::bit_xor:
    case AtomicOp::fbit_xor:
      command = AmoCommand::bit_xor;
      return true;
    default:
      return false;
  }
}

bool is_offered(AtomicType type, AtomicOp op) {
  AmoCommand command{};
  if (!has_command(op, command)) return false;
  if (op == AtomicOp::get) return true;  // a get moves bits of any type
  if (is_unsigned(type) && (command == AmoCommand::min || command == AmoCommand::max)) return false;
  return is_supported(command, type_of(type));
}

// Return the value that an addition needs for this operation. Integers wrap around: to subtract is to add the
// complement.
AmoOperand added(const RemoteAtomic& atomic, AmoType type) {
  const bool is_float = type == AmoType::f32;
  switch (atomic.op) {
    case AtomicOp::inc:
    case AtomicOp::finc:
      return is_float ? bits_of(1.0F) : 1;
    case AtomicOp::dec:
    case AtomicOp::fdec:
      return is_float ? bits_of(-1.0F) : ~AmoOperand{0};
    case AtomicOp::sub:
    case AtomicOp::fsub:
      return is_float ? bits_of(-value_of<float>(atomic.a)) : 0 - atomic.a;
    default:
      return atomic.a;
  }
}

}  // namespace

bool is_offered(AtomicType type, AtomicOps ops) {
  for (unsigned each = 0; each < static_cast<unsigned>(AtomicOp::count_); ++each) {
    const auto op = static_cast<AtomicOp>(each);
    if (ops.holds(op) && !is_offered(type, op)) return false;
  }
  return true;
}

AmoRequest amo_for(const RemoteAtomic& atomic) {
  if (!is_offered(atomic.type, atomic.op)) {
    throw UsageError(std::string("aries: Aries does no ") + name_of(atomic.op) + " on values of this type");
  }
  AmoRequest request;
  (void)has_command(atomic.op, request.command);
  request.type = type_of(atomic.type);
  request.fetches = conduit::fetches(atomic.op) || atomic.op == AtomicOp::cas;
  request.operands = {atomic.a, atomic.b};
  if (atomic.op == AtomicOp::get) {
    request.type = atomic.bytes() == 4 ? AmoType::i32 : AmoType::i64;
    request.operands[0] = ~AmoOperand{0};
  } else if (request.command == AmoCommand::add) {
    request.operands[0] = added(atomic, request.type);
  }
  if (atomic.bytes() == 4) {
    for (AmoOperand& operand : request.operands) operand &= 0xffffffffU;
  }
  return request;
}

}  // namespace gasmeter::networks::aries
