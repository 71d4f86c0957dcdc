// An endpoint as Python sees it: byte offsets instead of addresses, checks with one-line messages, Python handlers.
//
// The GIL is held while polling, since a handler needs it, and offered to other threads now and then; the same moments
// give Ctrl-C a chance.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/bindings/message.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/run/real_job.hpp"

namespace gasmeter::bindings {

namespace py = pybind11;

class Endpoint {
 public:
  using Core = core::Endpoint<RealHost>;
  using CoreToken = core::Token<RealHost>;

  // Collective; without the GIL.
  Endpoint(std::shared_ptr<launch::RankLink> link, const std::string& id, Bytes segment_bytes);

  [[nodiscard]] std::uint32_t rank() const { return index(core_.rank()); }
  [[nodiscard]] std::uint32_t size() const { return core_.ranks(); }
  [[nodiscard]] Bytes max_medium() const { return core_.max_medium(); }
  // A neighbour's segment as memory of this process; throws UsageError outside the neighbourhood.
  [[nodiscard]] std::span<std::byte> segment_of(std::int64_t rank) const;
  [[nodiscard]] bool is_mapped(std::int64_t rank) const {
    if (static_cast<std::uint64_t>(rank) >= core_.ranks()) return false;
    const Rank owner{static_cast<std::uint32_t>(rank)};
    return core_.map(owner, core_.segment(owner).address) != nullptr;
  }
  [[nodiscard]] Core& core() { return core_; }

  // ---- put and get at an offset of a rank's segment; complete when they return
  GASMETER_INLINE void put(const char* call, std::int64_t rank, std::int64_t offset, const void* from, Bytes bytes) {
    core::Event event = start_put(call, rank, offset, from, bytes);
    if (GASMETER_UNLIKELY(!event.is_done())) wait(event);
  }
  GASMETER_INLINE void get(const char* call, std::int64_t rank, std::int64_t offset, void* to, Bytes bytes) {
    core::Event event = start_get(call, rank, offset, to, bytes);
    if (GASMETER_UNLIKELY(!event.is_done())) wait(event);
  }
  GASMETER_INLINE core::Event start_put(const char* call, std::int64_t rank, std::int64_t offset, const void* from,
                                        Bytes bytes) {
    std::byte* to = locate(call, rank, offset, bytes);
    return core_.put_nb(Rank{static_cast<std::uint32_t>(rank)}, to, from, bytes);
  }
  GASMETER_INLINE core::Event start_get(const char* call, std::int64_t rank, std::int64_t offset, void* to,
                                        Bytes bytes) {
    const std::byte* from = locate(call, rank, offset, bytes);
    return core_.get_nb(Rank{static_cast<std::uint32_t>(rank)}, to, from, bytes);
  }
  // Throws UsageError unless the bytes lie inside the rank's segment.
  void check_range(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const {
    (void)locate(call, rank, offset, bytes);
  }
  // Polls once if the event is not complete yet.
  bool test(core::Event& event);
  void wait(core::Event& event);

  // ---- active messages
  // All ranks register the same handlers in the same order, before the first call that polls.
  std::uint8_t register_handler(py::function function);
  void request(std::int64_t rank, const Message& message);

  // ---- progress; not from handlers
  unsigned poll();
  void wait_until(const py::function& predicate);
  void barrier();

  // ---- for Python's collector of cycles: what a handler refers to may refer to this endpoint
  int visit_handlers(visitproc visit, void* argument) const;
  void forget_handlers();

 private:
  struct Handler {
    Endpoint* endpoint;
    py::object function;
  };

  static constexpr unsigned kTurnsBetweenChecks = 1024;

  // The owner's address of [offset, offset + bytes) of a rank's segment.
  GASMETER_INLINE std::byte* locate(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const {
    if (GASMETER_UNLIKELY(in_handler_)) refuse_in_handler(call);
    if (GASMETER_UNLIKELY(static_cast<std::uint64_t>(rank) >= core_.ranks())) refuse_rank(call, rank);
    const core::Segment& segment = core_.segment(Rank{static_cast<std::uint32_t>(rank)});
    const auto at = static_cast<std::uint64_t>(offset);  // a negative one becomes larger than any segment
    if (GASMETER_UNLIKELY(at > segment.size || bytes > segment.size - at)) refuse_range(call, rank, offset, bytes);
    return segment.address + at;
  }
  [[noreturn]] void refuse_rank(const char* call, std::int64_t rank) const;
  [[noreturn]] void refuse_range(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const;
  [[noreturn]] static void refuse_in_handler(const char* call);
  void not_in_handler(const char* call) const {
    if (in_handler_) refuse_in_handler(call);
  }

  template <class Done>
  void wait_for(Done done);
  static void look_around();
  static void run_handler(CoreToken& token);

  std::shared_ptr<launch::RankLink> link_;
  run::RealJob job_;
  Core core_;
  std::vector<std::unique_ptr<Handler>> handlers_;
  bool in_handler_ = false;
  std::uint64_t barriers_ = 0;
  std::array<std::uint64_t, core::NeighbourhoodLayout::kBarrierRounds> barrier_arrivals_{};
};

// What a Python handler is given; dead when the handler has returned.
class Token {
 public:
  explicit Token(Endpoint::CoreToken& token);

  [[nodiscard]] std::uint32_t source() const { return source_; }
  [[nodiscard]] bool is_request() const { return is_request_; }
  [[nodiscard]] const py::tuple& arguments() const { return arguments_; }
  [[nodiscard]] const py::bytes& payload() const { return payload_; }
  void reply(const Message& message);
  void end() { token_ = nullptr; }

 private:
  Endpoint::CoreToken* token_;
  std::uint32_t source_;
  bool is_request_;
  py::tuple arguments_;
  py::bytes payload_;
};

}  // namespace gasmeter::bindings
