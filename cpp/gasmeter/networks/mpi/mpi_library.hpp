// An MPI as gasmeter sees it: what a plug-in, which alone is linked with that MPI, hands out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/mpi/remote_window.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

// MPI's own calls, for programs without the library; tags are 0..services::kMostTag.
class RawMessages {
 public:
  struct Arrived {
    Rank source{};
    std::uint32_t tag = 0;
    Bytes bytes = 0;
  };

  RawMessages() = default;
  RawMessages(const RawMessages&) = delete;
  RawMessages& operator=(const RawMessages&) = delete;
  virtual ~RawMessages() = default;

  virtual void send(Rank to, const void* data, Bytes bytes, std::uint32_t tag) = 0;
  virtual Arrived receive(std::optional<Rank> from, void* data, Bytes most, std::uint32_t tag) = 0;
  // Requests are numbered by the caller, from 0.
  virtual void start_send(std::uint32_t request, Rank to, const void* data, Bytes bytes, std::uint32_t tag) = 0;
  // Without a tag: of any.
  virtual void start_receive(std::uint32_t request, std::optional<Rank> from, void* data, Bytes most,
                             std::optional<std::uint32_t> tag) = 0;
  virtual bool test(std::uint32_t request, Arrived& arrived) = 0;
  virtual void wait_for_all(std::uint32_t requests) = 0;  // 0..requests - 1
  // Ends a receive that nobody will match.
  virtual void withdraw(std::uint32_t request) = 0;
  virtual void barrier() = 0;
};

// What carries messages: what the MPI takes by itself (memory, between ranks of one host), or TCP over the loopback
// interface of the host.
enum class Transport : std::uint8_t { automatic, tcp };

// The MPI of this process: at most one, started once. Every call throws ResourceError with MPI's text if it fails.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  // The folder of its mpiexec where gasmeter was built.
  [[nodiscard]] virtual std::string programs() const = 0;

  virtual void start(Transport transport) = 0;
  virtual void finish() = 0;
  [[nodiscard]] virtual std::uint32_t rank() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  // Collective: each with a communicator of its own.
  [[nodiscard]] virtual std::unique_ptr<services::TwoSidedService> open_service() = 0;
  [[nodiscard]] virtual std::unique_ptr<RawMessages> open_raw() = 0;
  // Of one part of `bytes` per rank; without a window if this MPI would have to ask the owners of its parts.
  struct OpenedWindow {
    std::unique_ptr<RemoteWindow> window;
    std::string why_not;
  };
  [[nodiscard]] virtual OpenedWindow open_window(Bytes bytes) = 0;
};

// What a plug-in exports under kPluginEntry. `build` is kVersion and kCompiler of who asks; null if it is another's.
using PluginEntry = Library* (*)(const char* build);
inline constexpr const char* kPluginEntry = "gasmeter_mpi_plugin";

}  // namespace gasmeter::networks::mpi
