// Work that continues while the caller does something else: a step after every poll outside handlers. The object wraps
// the endpoint's conduit. An endpoint without such work therefore pays nothing.
#pragma once

#include "gasmeter/conduit/conduit.hpp"

namespace gasmeter::core {

class Background final : public conduit::Conduit {
 public:
  // Do a step without waiting; return the amount of work done.
  using StepFunction = unsigned (*)(void* context);

  // `inner` may be null: ranks that are all neighbours have no conduit.
  Background(conduit::Conduit* inner, StepFunction step, void* context)
      : inner_(inner), step_(step), context_(context) {}

  // Remove this object from the chain in front of an endpoint's conduit, whose head is `first`.
  void leave(conduit::Conduit*& first) {
    conduit::Conduit** at = &first;
    while (*at != this) at = &static_cast<Background*>(*at)->inner_;
    *at = inner_;
  }
  [[nodiscard]] const conduit::Capabilities& capabilities() const override {
    return inner_ != nullptr ? inner_->capabilities() : none_;
  }
  // attach() is not forwarded: the endpoint has attached the conduit already.
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override {
    return inner_->prepare(header, client, least, most, out);
  }
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message,
                conduit::OperationId local) override {
    return inner_->commit(buffer, message, local);
  }
  void cancel(const conduit::AmBuffer& buffer) override { inner_->cancel(buffer); }
  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override {
    return inner_->put(peer, to, from, bytes, root, local);
  }
  Status get(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root) override {
    return inner_->get(peer, to, from, bytes, root);
  }
  [[nodiscard]] bool offloads(conduit::AtomicType type, conduit::AtomicOps ops) const override {
    return inner_ != nullptr && inner_->offloads(type, ops);
  }
  Status atomic(Rank peer, const conduit::RemoteAtomic& atomic, conduit::OperationId root) override {
    return inner_->atomic(peer, atomic, root);
  }
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) override {
    return inner_ != nullptr ? inner_->pin(memory, pinned) : Conduit::pin(memory, pinned);
  }
  void unpin(conduit::Pin pinned) override { inner_ != nullptr ? inner_->unpin(pinned) : Conduit::unpin(pinned); }
  void forget(std::span<const std::byte> memory) override {
    if (inner_ != nullptr) inner_->forget(memory);
  }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override {
    unsigned handled = inner_ != nullptr ? inner_->poll(sink, budget, filter) : 0;
    if (filter == conduit::PollFilter::everything) handled += step_(context_);
    return handled;
  }
  [[nodiscard]] SimTime next_deadline() const override { return inner_ != nullptr ? inner_->next_deadline() : kNever; }

 private:
  conduit::Conduit* inner_;
  StepFunction step_;
  void* context_;
  conduit::Capabilities none_;
};

}  // namespace gasmeter::core
