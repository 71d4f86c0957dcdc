#include "gasmeter/networks/udp/real_udp.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/exchange.hpp"
#include "gasmeter/launch/wait_mode.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/impairment_options.hpp"
#include "gasmeter/networks/udp/raw/programs.hpp"

namespace gasmeter::networks::udp {
namespace {

using launch::exchange_or_fail;

// Return the address to bind: loopback on one host, else the address that the rank was given. The kernel chooses the
// port, because several measurements are open at once, each with its own sockets.
std::string bind_address(const launch::RankLink& link) {
  const std::string& given = link.address();
  return given.empty() ? "127.0.0.1:0" : given.substr(0, given.rfind(':')) + ":0";
}

// Data that each rank announces to the others.
struct Announcement {
  Bytes largest = 0;          // bytes of a datagram
  HashKey nonce;              // rank 0's is used
  std::uint32_t session = 0;  // rank 0's is used
};

// Derive the run's key. On one host the nonce is as secret as the key, since no other process can open the socket pairs
// it travels on. Between hosts strangers can read the nonce, so the key also needs the job's secret.
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

// Return a value that no stranger can guess, from the kernel.
template <class T>
T random_value() {
  T value{};
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) throw_errno("getrandom");
  return value;
}

}  // namespace

RealUdp::RealUdp(const RealJob& job)
    : link_(job.link), settings_(job.settings), stamps_(job.stamps), host_(launch::wait_mode(job.link)) {}

RealUdp::~RealUdp() {
  if (servant_ >= 0) link_.forget_servant(servant_);
}

std::byte* RealUdp::memory(Bytes bytes, Bytes /*segment*/) {
  (void)exchange_or_fail(link_, [&] {
    memory_ = std::make_unique<launch::OwnMemory>(bytes);
    return std::string();
  });
  return memory_->data();
}

conduit::Conduit* RealUdp::connect(std::span<std::byte> segment) {
  std::vector<Announcement> all;
  std::vector<std::string> addresses;
  for (const std::string& blob : exchange_or_fail(link_, [&] {
         open();
         const Announcement announcement{socket_->limits().largest, random_value<HashKey>(),
                                         random_value<std::uint32_t>()};
         std::string text(sizeof announcement, '\0');
         std::memcpy(text.data(), &announcement, sizeof announcement);
         return text + socket_->address();
       })) {
    std::memcpy(&all.emplace_back(), blob.data(), sizeof(Announcement));
    addresses.push_back(blob.substr(sizeof(Announcement)));
  }
  launch::Servant servant;
  (void)exchange_or_fail(link_, [&] {
    Bytes largest = services::kLargestDatagram;
    for (const Announcement& one : all) largest = std::min(largest, one.largest);
    socket_->set_peers(addresses, largest);
    UdpSettings chosen;
    chosen.key = key_of(link_.secret(), all.front().nonce);
    chosen.session = all.front().session;
    const services::Impairment plan = impairment_of(settings_, link_.rank());
    // A plan that turns bits behind UDP's checksum may turn any of them, so the hash covers all.
    const bool everything = settings_.text("auth") == "payload" || plan.corrupt > 0;
    chosen.covers = everything ? Authentication::payload : Authentication::header;
    services::DatagramService* service = socket_.get();
    if (stamps_) {
      stamped_ = std::make_unique<services::StampedDatagrams>(*service);
      service = stamped_.get();
    }
    if (plan.any()) {
      impaired_ = std::make_unique<services::ImpairedDatagrams>(*service, plan, [this] { return host_.now(); });
      service = impaired_.get();
    }
    servant = make_conduit(*service, segment, chosen);
    return std::string();
  });
  // The servant starts once every rank has its conduit. A failure of one rank would otherwise end this one.
  servant_ = link_.add_servant(std::move(servant));
  return conduit_.get();
}

launch::Servant RealUdp::make_conduit(services::DatagramService& service, std::span<std::byte> segment,
                                      const UdpSettings& chosen) {
  const StampedHost stamping(launch::wait_mode(link_));
  if (settings_.text("protocol") == "amudp") {
    return stamps_ ? make_conduit<StampedAmudpConduit>(stamping, service, segment, chosen)
                   : make_conduit<AmudpConduit>(host_, service, segment, chosen);
  }
  return stamps_ ? make_conduit<StampedUdpConduit>(stamping, service, segment, chosen)
                 : make_conduit<UdpConduit>(host_, service, segment, chosen);
}

template <class Conduit, class H>
launch::Servant RealUdp::make_conduit(H host, services::DatagramService& service, std::span<std::byte> segment,
                                      const UdpSettings& chosen) {
  auto conduit = std::make_unique<Conduit>(host, service, link_.rank(), link_.size(), segment, chosen);
  Conduit* const served = conduit.get();
  conduit_ = std::move(conduit);
  return {socket_->fd(), [served] {
            served->serve();
            return served->next_deadline();
          }};
}

void RealUdp::open() {
  SocketOptions options;
  options.bind = bind_address(link_);
  const std::int64_t mtu = settings_.integer("mtu");
  if (mtu < 0) throw UsageError("option mtu=" + std::to_string(mtu) + ": bytes, or 0 for that of the interface");
  options.mtu = static_cast<Bytes>(mtu);
  // The classic scheme asks for and takes one datagram at a time.
  options.offload = settings_.flag("offload") && settings_.text("protocol") != "amudp";
  socket_ = std::make_unique<SocketDatagrams>(options);
}

std::unique_ptr<Program> RealUdp::make_raw() {
  const std::vector<std::string> addresses = exchange_or_fail(link_, [&] {
    raw_ = std::make_unique<RawDatagrams>(bind_address(link_), launch::wait_mode(link_));
    return raw_->address();
  });
  raw_->set_peers(addresses);
  return networks::make_raw<raw::Context>(raw::programs(),
                                          {*raw_, link_.rank(), link_.size(), [this] { link_.barrier(); }}, settings_);
}

std::vector<OptionInfo> RealUdp::options() {
  std::vector<OptionInfo> all = impairment_options();
  const std::vector<OptionInfo> socket_options = {
      {"auth",
       "choice",
       "header",
       "",
       {"header", "payload"},
       "what a datagram's keyed hash covers: all but the payload of large transfers, or all of it"},
      {"mtu", "int", "0", "B", {}, "of the path, headers of IP and UDP included; 0: that of the interface"},
      {"offload", "bool", "true", "", {}, "UDP_SEGMENT, UDP_GRO, sendmmsg, recvmmsg; false: one datagram per call"},
      {"protocol",
       "choice",
       "window",
       "",
       {"window", "amudp"},
       "amudp: the classic scheme of 2003 to 2016, one message per datagram, its reply the acknowledgement"}};
  all.insert(all.end(), socket_options.begin(), socket_options.end());
  return all;
}

}  // namespace gasmeter::networks::udp
