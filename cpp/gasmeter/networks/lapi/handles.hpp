// Charge the registration of memory. Each handle has a price, and a handle covers at most `handle` bytes.
#pragma once

#include <algorithm>
#include <optional>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::lapi {

inline void charge_handles(sim::ModelHost host, conduit::SharedPrice price, Bytes bytes, Bytes handle) {
  for (Bytes left = bytes; left != 0; left -= std::min(left, handle)) host.charge_shared(price, std::min(left, handle));
}

// Pinner for a registration cache.
class HandlePinner {
 public:
  struct Handle {};

  HandlePinner(sim::ModelHost host, Bytes page, Bytes handle) : host_(host), page_(page), handle_(handle) {}

  std::optional<Handle> pin(const conduit::Pages& pages) {
    charge_handles(host_, conduit::SharedPrice::registration, pages.count * page_, handle_);
    return Handle{};
  }
  void unpin(const conduit::Pages& pages, Handle /*handle*/) {
    charge_handles(host_, conduit::SharedPrice::deregistration, pages.count * page_, handle_);
  }

 private:
  sim::ModelHost host_;
  Bytes page_;
  Bytes handle_;
};

}  // namespace gasmeter::networks::lapi
