// A conduit whose other end the test plays: messages that this rank sends are recorded, and it receives what the test
// provides.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/local_completions.hpp"

namespace gasmeter::testing {

struct Mail {
  conduit::Category category{};
  bool is_request = true;
  HandlerIndex handler{};
  std::vector<std::int32_t> words;
  std::vector<std::byte> payload;
  Rank source{1};
  void* destination = nullptr;  // for a Long: the destination it names
  const void* from = nullptr;   // source of a sent message at commit
};

class ScriptedConduit final : public conduit::Conduit {
 public:
  ScriptedConduit() {
    can_.max_request_medium = can_.max_reply_medium = Bytes{4} * 1024;
    can_.max_request_long = can_.max_reply_long = Bytes{1} << 20U;
    can_.medium_puts = Bytes{4} * 1024;
  }

  std::deque<Mail> incoming;
  std::vector<Mail> sent;
  bool is_full = false;
  bool throws_at_commit = false;
  unsigned cancelled = 0;  // buffers given back
  // Bytes that commit reads from the caller's memory.
  Bytes medium_at_commit = 0;
  Bytes long_at_commit = 0;
  Bytes long_in_place = 0;  // as the conduit reports
  Bytes packed = 0;         // payloads up to this size use a buffer, whatever it reports

  [[nodiscard]] const conduit::Capabilities& capabilities() const override {
    can_.medium_at_commit = medium_at_commit;
    can_.long_at_commit = long_at_commit;
    can_.long_in_place = long_in_place;
    return can_;
  }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes /*least*/, Bytes most,
                 conduit::AmBuffer& out) override {
    if (is_full) return Status::no_resource;
    payload_.assign(most + 1, std::byte{});
    out.header = header;
    out.data = client != nullptr && most > packed ? const_cast<void*>(client) : payload_.data();
    out.size = most;
    return Status::ok;
  }
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message,
                conduit::OperationId local) override {
    if (throws_at_commit) throw std::runtime_error("scripted conduit: told to throw");
    done_.add(local);
    const auto* const from = static_cast<const std::byte*>(buffer.data);
    sent.push_back({buffer.header.category,
                    !buffer.header.is_reply,
                    message.handler,
                    {message.arguments.begin(), message.arguments.end()},
                    {from, from + message.size},
                    buffer.header.peer,
                    message.destination,
                    from});
    return Status::ok;
  }
  void cancel(const conduit::AmBuffer& /*buffer*/) override { ++cancelled; }
  // Payloads lie at the end of memory, so that reading beyond them is detected.
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override {
    unsigned found = done_.report(sink, budget);
    while (found < budget && !incoming.empty() && filter == conduit::PollFilter::everything) {
      Mail mail = std::move(incoming.front());
      incoming.pop_front();
      const auto payload = std::make_unique<std::byte[]>(mail.payload.size());
      if (!mail.payload.empty()) std::memcpy(payload.get(), mail.payload.data(), mail.payload.size());
      conduit::AmView view;
      view.source = mail.source;
      view.category = mail.category;
      view.is_request = mail.is_request;
      view.handler = mail.handler;
      view.arguments = mail.words;
      if (mail.category == conduit::Category::medium) view.payload = payload.get();
      if (mail.category == conduit::Category::long_message) view.payload = mail.destination;
      view.size = mail.payload.size();
      ++found;
      sink.arrived(view);
    }
    return found;
  }

 private:
  mutable conduit::Capabilities can_;
  std::vector<std::byte> payload_;
  conduit::LocalCompletions done_;
};

}  // namespace gasmeter::testing
