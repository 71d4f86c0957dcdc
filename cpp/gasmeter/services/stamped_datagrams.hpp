// Datagrams whose calls leave time stamps, for ranks that are traced.
#pragma once

#include "gasmeter/base/stamped_call.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::services {

// Wraps another service, which must outlive this object.
class StampedDatagrams final : public DatagramService {
 public:
  explicit StampedDatagrams(DatagramService& inner) : inner_(inner) {}

  [[nodiscard]] const DatagramLimits& limits() const override { return inner_.limits(); }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override {
    return stamped_send([&] { return inner_.send(to, parts, segment); });
  }
  bool receive(Inbox& inbox) override {
    return stamped_receive([&] { return inner_.receive(inbox); });
  }
  [[nodiscard]] Bytes bytes_waiting() override { return inner_.bytes_waiting(); }
  [[nodiscard]] SimTime look_price() const override { return inner_.look_price(); }
  [[nodiscard]] SimTime next_deadline() const override { return inner_.next_deadline(); }
  [[nodiscard]] Bytes reserved_bytes() const override { return inner_.reserved_bytes(); }

 private:
  DatagramService& inner_;
};

}  // namespace gasmeter::services
