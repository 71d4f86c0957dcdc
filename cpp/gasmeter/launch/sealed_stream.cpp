#include "gasmeter/launch/sealed_stream.hpp"

#include <cstring>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

constexpr Bytes kLengthBytes = sizeof(std::uint32_t);
constexpr Bytes kSealedBytes = Bytes{8} * (kMostInRecord + kRecordOverhead);

std::uint64_t tag(const HashKey& key, std::uint64_t number, std::string_view bytes) {
  KeyedHash hash(key);
  hash.word(number);
  hash.word(bytes.size());
  hash.bytes(bytes.data(), bytes.size());
  return hash.finish();
}

[[noreturn]] void refuse(std::uint64_t number) {
  throw BrokenJob("record " + std::to_string(number) +
                  " of the link was changed, lost, repeated or moved on its way between the hosts");
}

}  // namespace

std::string Sealer::seal(std::string_view bytes) {
  std::string records;
  records.reserve(bytes.size() + (bytes.size() / kMostInRecord + 1) * kRecordOverhead);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMostInRecord);
    append_u32(records, static_cast<std::uint32_t>(piece.size()));
    records.append(piece);
    append_u64(records, tag(key_, number_++, piece));
    bytes.remove_prefix(piece.size());
  }
  return records;
}

Unsealer::Unsealer(const HashKey& key) : key_(key), buffer_(std::make_unique_for_overwrite<char[]>(kSealedBytes)) {}

std::optional<std::string_view> Unsealer::next() {
  const char* record = buffer_.get() + begin_;
  const Bytes have = end_ - begin_;
  if (have < kLengthBytes) return std::nullopt;
  const Bytes length = read_u32(record);
  if (length == 0 || length > kMostInRecord) refuse(number_);
  if (have < length + kRecordOverhead) return std::nullopt;
  const std::string_view bytes(record + kLengthBytes, length);
  if (read_u64(bytes.data() + length) != tag(key_, number_, bytes)) refuse(number_);
  ++number_;
  begin_ += length + kRecordOverhead;
  return bytes;
}

Transfer Unsealer::receive(int fd, Waiting waiting) {
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  const Moved got = receive_some(fd, buffer_.get() + end_, kSealedBytes - end_, waiting);
  end_ += got.bytes;
  return got.transfer;
}

}  // namespace gasmeter::launch
