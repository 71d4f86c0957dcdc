// State that ranks of a job over a real MPI share: the MPI. Each rank has memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/launch/own_memory.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/mpi/remote_window.hpp"
#include "gasmeter/networks/mpi/two_sided_conduit.hpp"
#include "gasmeter/networks/real_network.hpp"

namespace gasmeter::networks::mpi {

class RealMpi final : public RealNetwork {
 public:
  // Start the process's MPI if no measurement has started it yet.
  explicit RealMpi(const RealJob& job);
  ~RealMpi() override;

  [[nodiscard]] std::byte* memory(Bytes bytes, Bytes segment) override;
  [[nodiscard]] conduit::Conduit* connect(std::span<std::byte> segment) override;
  [[nodiscard]] std::unique_ptr<Program> make_raw() override;
  [[nodiscard]] bench::Resolved resolved() const override;

  [[nodiscard]] static std::vector<OptionInfo> options();
  [[nodiscard]] static std::vector<OptionInfo> raw_options();

 private:
  void open_window(Bytes bytes);
  template <class H>
  [[nodiscard]] std::unique_ptr<TwoSidedConduit> make_conduit(H host);

  launch::RankLink& link_;
  Settings settings_;
  bool stamps_;
  std::optional<std::uint32_t> ammpi_depth_;  // set if the conduit speaks protocol ammpi
  RealHost host_;
  Library& library_;
  std::unique_ptr<launch::OwnMemory> memory_;
  std::unique_ptr<RemoteWindow> window_;  // holds the segment instead, if rma uses a window
  std::unique_ptr<TwoSidedConduit> conduit_;
  std::unique_ptr<services::TwoSidedService>
      service_;  // destroyed first, because it withdraws receives into the conduit's memory
  int servant_ = -1;
  std::unique_ptr<RawMessages> raw_;  // interface of a raw program
};

}  // namespace gasmeter::networks::mpi
