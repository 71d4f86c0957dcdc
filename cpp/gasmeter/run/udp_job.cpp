#include "gasmeter/run/udp_job.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/available_memory.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/run/exchange.hpp"
#include "gasmeter/run/impairment.hpp"
#include "gasmeter/run/real_job.hpp"

namespace gasmeter::run {
namespace {

using networks::udp::AmudpConduit;
using networks::udp::Authentication;
using networks::udp::RawDatagrams;
using networks::udp::SocketDatagrams;
using networks::udp::UdpConduit;
using networks::udp::UdpSettings;

// This host's ranks reach each other over loopback; those of several hosts by the addresses they were given. The port
// is the kernel's choice: several measurements are open at once, each with sockets of its own.
std::string bind_address(const launch::RankLink& link) {
  const std::string& given = link.address();
  return given.empty() ? "127.0.0.1:0" : given.substr(0, given.rfind(':')) + ":0";
}

// What a rank tells the others.
struct Announcement {
  core::Segment segment{};
  Bytes largest = 0;          // datagram
  HashKey nonce;              // that of rank 0 counts
  std::uint32_t session = 0;  // likewise
};

// On one host the nonce is as secret as the key: it travels on socket pairs that no other process can open. Between
// hosts it can be read on its way, and the job's secret makes the key of it.
HashKey key_of(const HashKey& secret, const HashKey& nonce) {
  HashKey key;
  for (std::uint64_t* half : {&key.low, &key.high}) {
    KeyedHash hash(secret);
    hash.word(nonce.low);
    hash.word(nonce.high);
    hash.word(half == &key.low ? 0 : 1);
    *half = hash.finish() ^ (half == &key.low ? nonce.low : nonce.high);
  }
  return key;
}

// Everything that must not be guessed comes from the kernel.
template <class T>
T random_value() {
  T value{};
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) throw_errno("getrandom");
  return value;
}

}  // namespace

PrivateMemory::PrivateMemory(Bytes bytes) : bytes_(bytes) {
  const Bytes free = launch::available_memory();
  if (bytes > free) {
    throw ResourceError("no memory for " + std::to_string(bytes) + " bytes; " + std::to_string(free) + " are free");
  }
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw_errno("mmap of " + std::to_string(bytes) + " bytes");
  // Fewer pages to look up; without them it is slower and nothing else.
  (void)::madvise(data, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(data);
}

PrivateMemory::~PrivateMemory() {
  ::munmap(data_, bytes_);
}

UdpJob::UdpJob(launch::RankLink& link, const kernels::Settings& settings, Bytes segment_bytes)
    : link_(link), host_(wait_mode(link)), layout_(core::NeighbourhoodLayout::of(1, segment_bytes)) {
  std::vector<Announcement> all;
  std::vector<std::string> addresses;
  for (const std::string& blob : exchange_or_fail(link_, [&] {
         open(settings);
         Announcement own{{memory_->data() + layout_.segment_at(0), segment_bytes},
                          socket_->limits().largest,
                          random_value<HashKey>(),
                          random_value<std::uint32_t>()};
         std::string text(sizeof own, '\0');
         std::memcpy(text.data(), &own, sizeof own);
         return text + socket_->address();
       })) {
    std::memcpy(&all.emplace_back(), blob.data(), sizeof(Announcement));
    addresses.push_back(blob.substr(sizeof(Announcement)));
  }
  launch::Servant servant;
  (void)exchange_or_fail(link_, [&] {
    Bytes largest = services::kLargestDatagram;
    for (const Announcement& one : all) {
      largest = std::min(largest, one.largest);
      segments_.push_back(one.segment);
    }
    socket_->set_peers(addresses, largest);
    UdpSettings udp;
    udp.key = key_of(link_.secret(), all.front().nonce);
    udp.session = all.front().session;
    const services::Impairment plan = impairment_of(settings, link_.rank());
    // What turns bits behind the back of UDP's checksum may turn any of them.
    const bool everything = settings.text("auth") == "payload" || plan.corrupt > 0;
    udp.covers = everything ? Authentication::payload : Authentication::header;
    services::DatagramService* service = socket_.get();
    if (plan.any()) {
      impaired_ = std::make_unique<services::ImpairedDatagrams>(*socket_, plan, [this] { return host_.now(); });
      service = impaired_.get();
    }
    if (settings.text("protocol") == "amudp") {
      servant = make_conduit<AmudpConduit>(*service, udp);
    } else {
      servant = make_conduit<UdpConduit>(*service, udp);
    }
    return std::string();
  });
  // Not before every rank has its conduit: what failed on one of them would take this one with it.
  servant_ = link_.add_servant(std::move(servant));
}

template <class Conduit>
launch::Servant UdpJob::make_conduit(services::DatagramService& service, const UdpSettings& settings) {
  const core::Segment& own = segments_[index(link_.rank())];
  auto conduit = std::make_unique<Conduit>(host_, service, link_.rank(), link_.size(),
                                           std::span(own.address, layout_.segment_bytes), settings);
  Conduit* const here = conduit.get();
  conduit_ = std::move(conduit);
  return {socket_->fd(), [here] {
            here->serve();
            return here->next_deadline();
          }};
}

UdpJob::~UdpJob() {
  link_.forget_servant(servant_);
}

void UdpJob::open(const kernels::Settings& settings) {
  memory_ = std::make_unique<PrivateMemory>(layout_.total());
  networks::udp::SocketOptions options;
  options.bind = bind_address(link_);
  const std::int64_t mtu = settings.integer("mtu");
  if (mtu < 0) throw UsageError("option mtu=" + std::to_string(mtu) + ": bytes, or 0 for that of the interface");
  options.mtu = static_cast<Bytes>(mtu);
  options.offload = settings.flag("offload");
  socket_ = std::make_unique<SocketDatagrams>(options);
}

core::JobView UdpJob::view() const {
  return {link_.rank(), link_.size(), link_.rank(), layout_, memory_->data(), segments_};
}

RawUdpJob::RawUdpJob(launch::RankLink& link) : link_(link) {
  const std::vector<std::string> addresses = exchange_or_fail(link_, [&] {
    socket_ = std::make_unique<RawDatagrams>(bind_address(link_), wait_mode(link_));
    return socket_->address();
  });
  socket_->set_peers(addresses);
}

kernels::RawUdp RawUdpJob::context() {
  return {*socket_, link_.rank(), link_.size(), [this] { link_.barrier(); }};
}

}  // namespace gasmeter::run
