// Operations of ping-pong and flood, by conduits and raw: messages of three categories, puts, gets.
#pragma once

#include <cstdint>
#include <string>

namespace gasmeter::bench {

enum class TransferOp : std::uint8_t { am_short, am_medium, am_long, put, get, call };  // call: ping-pong alone

[[nodiscard]] inline TransferOp parse_transfer_op(const std::string& name) {
  if (name == "am-short") return TransferOp::am_short;
  if (name == "am-medium") return TransferOp::am_medium;
  if (name == "am-long") return TransferOp::am_long;
  if (name == "put") return TransferOp::put;
  if (name == "get") return TransferOp::get;
  return TransferOp::call;
}

[[nodiscard]] inline bool is_am(TransferOp op) {
  return op == TransferOp::am_short || op == TransferOp::am_medium || op == TransferOp::am_long;
}

}  // namespace gasmeter::bench
