// Limits and record words that both halves of the mpi conduit use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/networks/mpi/wire.hpp"

namespace gasmeter::networks::mpi {

using conduit::AmHeader;
using conduit::OperationId;

inline constexpr std::array kBothFlows{Flow::request, Flow::reply};
inline constexpr Bytes kMostTransfer = 1U << 30;
inline constexpr unsigned kMostFound = 32;  // per look at the network

constexpr std::size_t at(Flow flow) {
  return static_cast<std::size_t>(flow);
}
constexpr Flow flow_of(const AmHeader& header) {
  return header.is_reply ? Flow::reply : Flow::request;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

// An operation and a number share a word.
inline std::uint64_t packed(OperationId operation, std::uint32_t beside) {
  return static_cast<std::uint64_t>(operation) | (std::uint64_t{beside} << 32);
}
inline OperationId operation_of(std::uint64_t word) {
  return OperationId{static_cast<std::uint32_t>(word)};
}
inline std::uint32_t beside(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

inline std::uint64_t word_of(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}
inline std::byte* address_of(std::uint64_t word) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(word));
}

}  // namespace gasmeter::networks::mpi
