#include "gasmeter/core/negotiated.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::core {

// An exception leaves nothing prepared, and no reply made.
template <class H>
void Prepared<H>::prepare(Link* link, Bytes least, Bytes most, Flags flags) {
  E& e = *endpoint_;
  const AmHeader header = buffer_.header;
  const bool is_long = header.category == Category::long_message;
  if (token_ != nullptr) token_->replied_ = false;
  if (header.arguments > conduit::kMaxArguments) {
    throw UsageError("prepare: " + std::to_string(header.arguments) + " arguments; at most " +
                     std::to_string(conduit::kMaxArguments) + " are allowed");
  }
  const Bytes limit = e.most_payload(header.peer, header.category, outgoing(), header.arguments,
                                     client_ != nullptr ? Flags::prepare_least_client : Flags::prepare_least_alloc);
  if (least > most || least > limit) {
    throw UsageError(std::string("prepare of a ") + (is_long ? "Long" : "Medium") + " of " + std::to_string(least) +
                     " to " + std::to_string(most) + " bytes; at least so many are allowed: 0 to " +
                     std::to_string(std::min(most, limit)));
  }
  if (client_ == nullptr && local_.leaf() != nullptr) {
    throw UsageError("prepare: local completion is of the client's buffer; none was given");
  }
  most = std::min(most, limit);
  const auto try_once = [&] { return try_prepare(link, least, most); };
  bool taken = false;
  if (is_immediate(flags)) {
    taken = try_once();
  } else if (token_ != nullptr) {
    e.wait_loop(try_once, [&e] { return e.progress_replies(); }, "prepare", {Waiting::For::prepare, header.peer});
    taken = true;
  } else {
    e.wait_for(try_once, "prepare", {Waiting::For::prepare, header.peer});
    taken = true;
  }
  if (!taken) {
    endpoint_ = nullptr;
    return;
  }
  if (token_ != nullptr) token_->replied_ = true;
  stay();
}

template <class H>
bool Prepared<H>::try_prepare(Link* link, Bytes least, Bytes most) {
  E& e = *endpoint_;
  const AmHeader header = buffer_.header;
  if (link == nullptr) {
    const std::lock_guard guard(e.conduit_lock_);
    // Whoever wants the buffer back at once gets a copy made; a conduit that could send from it would keep it.
    const void* const lent = local_.is_now() ? nullptr : client_;
    if (e.conduit_->prepare(header, lent, least, most, buffer_) != Status::ok) return false;
    way_ = Way::conduit;
    return true;
  }
  if (header.category == Category::medium && client_ == nullptr) return reserve_record(*link, most);
  // What travels is a record whose payload commit() copies. There is room for it now, and for this thread later.
  const bool is_long = header.category == Category::long_message;
  e.host_.charge(PrivatePrice::call);
  e.host_.synchronise();
  {
    const std::lock_guard guard(lock_of(*link));
    const Bytes length = is_long ? ring::record(ring::Kind::long_message, header.arguments, 0)
                                 : ring::record(ring::Kind::medium, header.arguments, most);
    if (ring_of(*link).reserve(length) == nullptr) return false;
  }
  way_ = Way::copied;
  buffer_.size = most;
  buffer_.data = nullptr;
  if (client_ != nullptr) return true;
  typename E::Staging mine;
  {
    const std::lock_guard guard(e.conduit_lock_);
    if (e.staging_.bytes >= most) mine = std::exchange(e.staging_, {});
  }
  if (mine.bytes < most || !mine.memory) {
    mine = {std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(most, 1)), most};
  }
  buffer_.slot = mine.bytes;
  buffer_.data = mine.memory.release();
  return true;
}

template <class H>
void Prepared<H>::give_back_staging() {
  if (client_ != nullptr) return;
  const std::lock_guard guard(endpoint_->conduit_lock_);
  endpoint_->staging_ = {std::unique_ptr<std::byte[]>(static_cast<std::byte*>(buffer_.data)), buffer_.slot};
}

template <class H>
Status Prepared<H>::send(HandlerIndex handler, Bytes bytes, void* destination, Flags flags,
                         std::span<const std::int32_t> arguments) {
  E& e = *endpoint_;
  leave();
  Status status = Status::ok;
  if (way_ == Way::conduit) {
    status = send_by_conduit({handler, bytes, destination, arguments}, flags);
  } else {
    const AmHeader& header = buffer_.header;
    const void* const from = client_ != nullptr ? client_ : buffer_.data;
    const typename E::Message message{header.category, handler, from, bytes, destination, arguments};
    status = token_ == nullptr ? e.request_slow(header.peer, message, flags) : e.reply(*token_, message, flags);
    if (status == Status::ok) {
      local_.complete_now();
      give_back_staging();
    }
  }
  if (status == Status::ok) {
    if (token_ != nullptr) token_->replied_ = true;
    endpoint_ = nullptr;
  } else {
    stay();
  }
  return status;
}

template <class H>
Status Prepared<H>::send_by_conduit(const AmCommit& message, Flags flags) {
  E& e = *endpoint_;
  const bool is_copied = client_ != nullptr && buffer_.data != client_;
  if (is_copied && message.size != 0) {
    e.host_.synchronise();  // the payload may lie where neighbours write
    e.host_.copy(buffer_.data, client_, message.size);
  }
  // A conduit that sends from the client's buffer tells when that is over.
  OperationId local = conduit::kNoOperation;
  if (client_ != nullptr && !is_copied) {
    ImplicitGroup* const group = local_.leaf() == nullptr ? &e.implicit_group() : nullptr;
    const std::lock_guard guard(e.operations_lock_);
    local = e.operations_.start(OperationKind::am, 1, group);
  }
  const auto try_once = [&] {
    const std::lock_guard guard(e.conduit_lock_);
    return e.conduit_->commit(buffer_, message, local) == Status::ok;
  };
  bool sent = true;
  if (is_immediate(flags)) {
    sent = try_once();
  } else {
    const Waiting waiting{Waiting::For::room, buffer_.header.peer, index(message.handler)};
    if (token_ != nullptr) {
      e.wait_loop(try_once, [&e] { return e.progress_replies(); }, "commit", waiting);
    } else {
      e.wait_for(try_once, "commit", waiting);
    }
  }
  if (local == conduit::kNoOperation) {
    if (sent) local_.complete_now();
  } else {
    const std::lock_guard guard(e.operations_lock_);
    if (!sent) {
      e.operations_.withdraw(local);
    } else if (local_.leaf() != nullptr) {
      *local_.leaf() = e.operations_.event_of(local);
    }
  }
  return sent ? Status::ok : Status::no_resource;
}

template <class H>
void Prepared<H>::cancel() {
  check_use("cancel");
  E& e = *endpoint_;
  leave();
  if (way_ == Way::conduit) {
    const std::lock_guard guard(e.conduit_lock_);
    e.conduit_->cancel(buffer_);
  } else if (way_ == Way::ring) {
    Link& link = *e.near_.link(buffer_.header.peer);
    e.host_.synchronise();
    const auto prefix =
        static_cast<Bytes>(static_cast<std::byte*>(buffer_.data) - reinterpret_cast<std::byte*>(buffer_.slot));
    ring_of(link).take_back(prefix, prefix + buffer_.size);
    lock_of(link).unlock();
  } else {
    give_back_staging();
  }
  if (token_ != nullptr) token_->replied_ = false;
  endpoint_ = nullptr;
}

template <class H>
void Prepared<H>::refuse_use(const char* call) {
  throw UsageError(std::string(call) +
                   " of a message that is not prepared: it was refused, or it is committed or "
                   "cancelled already");
}

template <class H>
void Prepared<H>::refuse_commit(const char* call, Category category, Bytes bytes, std::size_t arguments) const {
  const AmHeader& header = buffer_.header;
  const char* const prepared = header.category == Category::medium ? "Medium" : "Long";
  std::string text = "rank " + std::to_string(index(endpoint_->rank_)) + ": " + call + " of a " + prepared +
                     " prepared for rank " + std::to_string(index(header.peer)) + ": ";
  if (header.category != category) {
    text += category == Category::medium ? "commit_long sends a Long" : "commit sends a Medium";
  } else if (bytes > buffer_.size) {
    text += std::to_string(bytes) + " bytes; room is for " + std::to_string(buffer_.size);
  } else if (arguments != header.arguments) {
    text += std::to_string(arguments) + " arguments; prepare was told " + std::to_string(header.arguments);
  } else {
    text += "the destination is not the one that prepare was told";
  }
  throw UsageError(text);
}

template class Prepared<RealHost>;
template class Prepared<ThreadedHost>;
template class Prepared<sim::ModelHost>;

}  // namespace gasmeter::core
