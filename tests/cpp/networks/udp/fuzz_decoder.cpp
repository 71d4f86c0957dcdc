// Feeds arbitrary bytes to all code that reads an arrived datagram, before or after its hash is checked.
//
//   cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DGASMETER_TESTS=ON -DGASMETER_FUZZ=ON
//   ninja -C build-fuzz fuzz_decoder
//   build-fuzz/tests/cpp/fuzz_decoder -max_len=2048 -max_total_time=60
//
// The first byte of an input chooses the coverage of the hash. It also says whether the datagram gets the right hash,
// as only a peer of the same run could write it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "gasmeter/networks/udp/wire.hpp"
#include "networks/udp/made_datagrams.hpp"

namespace gasmeter::networks::udp {
namespace {

const TagKey kKey({1, 2});
constexpr std::uint32_t kSession = 3;
constexpr std::uint16_t kSelf = 1;
constexpr std::uint32_t kRanks = 4;

void require(bool holds) {
  if (!holds) std::abort();
}

// Read all bytes, so that the address sanitizer checks their bounds.
std::uint64_t sum_of(const void* data, Bytes bytes) {
  std::uint64_t sum = 0;
  for (Bytes i = 0; i < bytes; ++i) sum += static_cast<const unsigned char*>(data)[i];
  return sum;
}

std::uint64_t read_all(std::span<std::byte> datagram) {
  std::uint64_t sum = 0;
  RecordView record;
  for (Bytes at = sizeof(Header); read_record(datagram, at, record) == Step::record; at = record.next) {
    require(record.next > at && record.next <= datagram.size());
    sum += sum_of(record.arguments.data(), record.arguments.size_bytes());
    if (record.kind != RecordKind::get) sum += sum_of(record.payload, record.size);
  }
  FragmentView fragment;
  if (read_fragment(datagram, fragment)) {
    require(fragment.payload_at + fragment.bytes == datagram.size());
    require(fragment.head.offset + fragment.bytes <= fragment.head.total);
    sum += sum_of(fragment.arguments.data(), fragment.arguments.size_bytes());
    sum += sum_of(datagram.data() + fragment.payload_at, fragment.bytes);
  }
  return sum;
}

void feed(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned>(input.front());
  const Authentication covers = (choice & 1U) != 0 ? Authentication::payload : Authentication::header;
  const bool is_insider = (choice & 2U) != 0;
  const ExactCopy copy(input.subspan(1));
  const std::span<std::byte> datagram = copy.bytes();
  Header header;
  if (is_insider && datagram.size() >= sizeof header) {
    std::memcpy(&header, datagram.data(), sizeof header);
    header.session = kSession;
    header.destination = kSelf;
    std::memcpy(datagram.data(), &header, sizeof header);
    if (header.bytes >= sizeof header && header.bytes <= datagram.size()) {
      header.tag = tag_of(kKey, covers, datagram.first(header.bytes), {});
      std::memcpy(datagram.data(), &header.tag, sizeof header.tag);
    }
  }
  // A landing is judged by the start of the datagram alone.
  const ExactCopy start(datagram.first(std::min<Bytes>(datagram.size(), kFragmentPayloadAt)));
  Fragment fragment;
  if (judge_fragment(kKey, start.bytes(), datagram.size(), kSession, kSelf, kRanks, header, fragment)) {
    FragmentView view;
    require(header.bytes == datagram.size() && header.source < kRanks && header.source != kSelf);
    require(!read_fragment(datagram, view) || view.payload_at == kFragmentPayloadAt);
  }
  volatile std::uint64_t sum = 0;
  if (judge(kKey, covers, datagram, kSession, kSelf, kRanks, header) == Verdict::genuine) {
    require(header.bytes <= datagram.size() && header.source < kRanks && header.source != kSelf);
    sum = read_all(datagram.first(header.bytes));
  }
  sum = sum + read_all(datagram);
}

}  // namespace
}  // namespace gasmeter::networks::udp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gasmeter::networks::udp::feed(std::as_bytes(std::span(data, size)));
  return 0;
}
