// Interface of an MPI to gasmeter. Only its plug-in is linked with that MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/mpi/remote_window.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

// MPI's own calls, for raw programs. Tags are 0..services::kMostTag.
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
  // The caller numbers requests from 0.
  virtual void start_send(std::uint32_t request, Rank to, const void* data, Bytes bytes, std::uint32_t tag) = 0;
  // Without `tag` the receive takes any tag.
  virtual void start_receive(std::uint32_t request, std::optional<Rank> from, void* data, Bytes most,
                             std::optional<std::uint32_t> tag) = 0;
  virtual bool test(std::uint32_t request, Arrived& arrived) = 0;
  virtual void wait_for_all(std::uint32_t requests) = 0;  // waits for requests 0..requests - 1
  // End a receive that no message will match.
  virtual void withdraw(std::uint32_t request) = 0;
  virtual void barrier() = 0;
};

// Path of messages: MPI's default (memory, between ranks of one host), or TCP over the host's loopback interface.
enum class Transport : std::uint8_t { automatic, tcp };

// The MPI of this process: at most one, started once. Every call throws ResourceError with MPI's text if it fails.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  // Return the folder of its mpiexec on the computer where the plug-in was built.
  [[nodiscard]] virtual std::string programs() const = 0;

  virtual void start(Transport transport) = 0;
  virtual void finish() = 0;
  [[nodiscard]] virtual std::uint32_t rank() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  // Both calls are collective. Each result has a communicator of its own.
  [[nodiscard]] virtual std::unique_ptr<services::TwoSidedService> open_service() = 0;
  [[nodiscard]] virtual std::unique_ptr<RawMessages> open_raw() = 0;
  // Result of open_window(). It has no window if this MPI would need the owners' help for accesses.
  struct OpenedWindow {
    std::unique_ptr<RemoteWindow> window;
    std::string why_not;
  };
  [[nodiscard]] virtual OpenedWindow open_window(Bytes bytes) = 0;
};

// Function that a plug-in exports under kPluginEntry. `build` is kVersion and kCompiler of the caller; null is returned
// for another build.
using PluginEntry = Library* (*)(const char* build);
inline constexpr const char* kPluginEntry = "gasmeter_mpi_plugin";

}  // namespace gasmeter::networks::mpi
