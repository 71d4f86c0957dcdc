// The plug-in of one MPI, the only source that includes mpi.h. It is built once per MPI and linked with nothing else.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/version.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/mpi/plugin/window_atomics.hpp"

namespace gasmeter::networks::mpi {
namespace {

using services::SendState;
using services::Tag;

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw ResourceError(std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(length)));
}

int as_int(Rank rank) {
  return static_cast<int>(index(rank));
}
int as_int(std::optional<Rank> rank) {
  return rank ? as_int(*rank) : MPI_ANY_SOURCE;
}

std::string version_text() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

// Communicator that reports errors instead of aborting.
class Communicator {
 public:
  Communicator() {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over == 0) MPI_Comm_free(&comm_);
  }
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

void end_receive(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return;
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Two-sided service of a real MPI. MPI matches receives from any rank with one tag in the order they were posted. So
// only the oldest receive of each tag is tested.
class Messages final : public services::TwoSidedService {
 public:
  Messages() = default;
  ~Messages() override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over != 0) return;
    for (Slot& slot : slots_) end_receive(slot.request);
    for (std::size_t i = lines_.size(); i < requests_.size(); ++i) {
      if (watched_[i].is_send) {
        MPI_Request_free(&requests_[i]);
      } else {
        end_receive(requests_[i]);
      }
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) end_receive(requests_[i]);
  }

  [[nodiscard]] const services::TwoSidedLimits& limits() const override { return limits_; }

  void post(std::uint32_t number, std::span<std::byte> buffer, std::optional<Rank> source,
            std::optional<Tag> tag) override {
    if (number >= slots_.size()) slots_.resize(number + 1);
    Slot& slot = slots_[number];
    slot.buffer = buffer;
    slot.source = as_int(source);
    slot.tag = tag ? static_cast<int>(*tag) : MPI_ANY_TAG;
    slot.line = source ? kNoLine : line_of(slot.tag);
    restart(number);
  }

  void restart(std::uint32_t number) override {
    Slot& slot = slots_[number];
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(slot.buffer.data(), static_cast<int>(slot.buffer.size()), MPI_BYTE, slot.source, slot.tag,
                    comm_.get(), &request),
          "MPI_Irecv");
    if (slot.line == kNoLine) {
      watch({false, number}, request);
      return;
    }
    Line& line = lines_[slot.line];
    if (requests_[slot.line] == MPI_REQUEST_NULL && line.empty()) {
      requests_[slot.line] = request;
      watched_[slot.line] = {false, number};
    } else {
      slot.request = request;
      line.push(number);
    }
  }

  SendState send(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, as_int(to), static_cast<int>(tag),
                    comm_.get(), &request),
          "MPI_Isend");
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return SendState::done;
    watch({true, number}, request);
    return SendState::under_way;
  }

  unsigned test_some(Sink& sink, unsigned budget) override {
    (void)budget;  // the results of a call cannot be put back
    return requests_.size() == 1 && lines_.size() == 1 ? test_head(sink) : test_all(sink);
  }

 private:
  static constexpr std::size_t kNoLine = ~std::size_t{0};
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  struct Watched {
    bool is_send = false;
    std::uint32_t number = 0;
  };
  struct Found {
    Watched what;
    Rank source{};
    Tag tag{};
    Bytes bytes = 0;
  };
  // Test the only expected message. MPI_Test looks, makes progress and looks again. MPI_Testsome may report that
  // progress only in its next call.
  unsigned test_head(Sink& sink) {
    int done = 0;
    MPI_Status status;
    check(MPI_Test(requests_.data(), &done, &status), "message received");
    if (done == 0 || watched_.front().number == kNothing) return 0;
    const Found event = found_of(watched_.front(), status);
    advance(0);
    sink.received(event.what.number, event.source, event.tag, event.bytes);
    return 1;
  }

  // Test the oldest receives, sends on their way and receives from one sender by one call.
  unsigned test_all(Sink& sink) {
    int count = 0;
    const int code =
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), statuses_.data());
    if (code == MPI_ERR_IN_STATUS) {
      for (int i = 0; i < count; ++i) check(statuses_[static_cast<std::size_t>(i)].MPI_ERROR, "message received");
    }
    check(code, "MPI_Testsome");
    if (count == MPI_UNDEFINED || count <= 0) return 0;
    found_.clear();
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
      found_.push_back(found_of(watched_[at], statuses_[static_cast<std::size_t>(i)]));
      if (at < lines_.size()) advance(at);
    }
    // Remove finished requests outside of lines from the tables. The last goes first, so that the other indices
    // stay valid.
    std::sort(indices_.begin(), indices_.begin() + count, std::greater<>());
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
      if (at < lines_.size()) continue;
      requests_[at] = requests_.back();
      watched_[at] = watched_.back();
      requests_.pop_back();
      watched_.pop_back();
    }
    for (const Found& event : found_) {
      event.what.is_send ? sink.sent(event.what.number)
                         : sink.received(event.what.number, event.source, event.tag, event.bytes);
    }
    return static_cast<unsigned>(count);
  }

  struct Slot {
    std::span<std::byte> buffer;
    int source = 0;
    int tag = 0;
    std::size_t line = kNoLine;
    MPI_Request request = MPI_REQUEST_NULL;  // while the request waits in a line, behind its head
  };
  // Receives of one tag behind the head, oldest first.
  struct Line {
    int tag = 0;
    std::vector<std::uint32_t> ring;
    std::size_t first = 0;
    std::size_t count = 0;
    [[nodiscard]] bool empty() const { return count == 0; }
    void push(std::uint32_t number) {
      if (count == ring.size()) {
        std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(first), ring.end());
        first = 0;
        ring.push_back(number);
      } else {
        ring[(first + count) % ring.size()] = number;
      }
      ++count;
    }
    std::uint32_t pop() {
      const std::uint32_t number = ring[first];
      first = (first + 1) % ring.size();
      --count;
      return number;
    }
  };

  static Found found_of(const Watched& what, const MPI_Status& status) {
    if (what.is_send) return {what, {}, {}, 0};
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return {what, Rank{static_cast<std::uint32_t>(status.MPI_SOURCE)}, Tag{static_cast<std::uint32_t>(status.MPI_TAG)},
            static_cast<Bytes>(bytes)};
  }

  // Return the line of a tag. Heads of lines come first in the tables, because lines are made before other requests.
  std::size_t line_of(int tag) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].tag == tag) return i;
    }
    const auto place = static_cast<std::ptrdiff_t>(lines_.size());
    lines_.push_back({});
    lines_.back().tag = tag;
    requests_.insert(requests_.begin() + place, MPI_REQUEST_NULL);
    watched_.insert(watched_.begin() + place, Watched{false, kNothing});
    fit();
    return lines_.size() - 1;
  }

  void advance(std::size_t at) {
    Line& line = lines_[at];
    requests_[at] = MPI_REQUEST_NULL;
    watched_[at].number = kNothing;
    if (line.empty()) return;
    const std::uint32_t number = line.pop();
    requests_[at] = std::exchange(slots_[number].request, MPI_REQUEST_NULL);
    watched_[at] = {false, number};
  }

  void watch(const Watched& what, MPI_Request request) {
    requests_.push_back(request);
    watched_.push_back(what);
    fit();
  }
  void fit() {
    if (indices_.size() >= requests_.size()) return;
    indices_.resize(2 * requests_.size());
    statuses_.resize(2 * requests_.size());
  }

  // Return the bytes, less headers, that this MPI sends eagerly between ranks of one host by default. The values are
  // those of Open MPI's shared memory, of MPICH on UCX, and of MPICH's own cells. Beyond UCX's segments of 8 KiB the
  // receiver reads the sender's memory by a system call.
  static Bytes eager_of_this_mpi() {
#if defined(OPEN_MPI)
    return 4032;
#else
    return version_text().find("ch4:ucx") != std::string::npos ? 8000 : 16384;
#endif
  }

  services::TwoSidedLimits limits_{.eager = eager_of_this_mpi(), .most_sends = 512};
  Communicator comm_;
  std::vector<Slot> slots_;
  std::vector<Line> lines_;
  std::vector<MPI_Request> requests_;
  std::vector<Watched> watched_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Found> found_;
};

class Raw final : public RawMessages {
 public:
  void send(Rank to, const void* data, Bytes bytes, std::uint32_t tag) override {
    check(MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, as_int(to), static_cast<int>(tag), comm_.get()),
          "MPI_Send");
  }
  Arrived receive(std::optional<Rank> from, void* data, Bytes most, std::uint32_t tag) override {
    MPI_Status status;
    check(MPI_Recv(data, static_cast<int>(most), MPI_BYTE, as_int(from), static_cast<int>(tag), comm_.get(), &status),
          "MPI_Recv");
    return arrived_of(status);
  }
  void start_send(std::uint32_t request, Rank to, const void* data, Bytes bytes, std::uint32_t tag) override {
    check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, as_int(to), static_cast<int>(tag), comm_.get(),
                    &place(request)),
          "MPI_Isend");
  }
  void start_receive(std::uint32_t request, std::optional<Rank> from, void* data, Bytes most,
                     std::optional<std::uint32_t> tag) override {
    check(MPI_Irecv(data, static_cast<int>(most), MPI_BYTE, as_int(from), tag ? static_cast<int>(*tag) : MPI_ANY_TAG,
                    comm_.get(), &place(request)),
          "MPI_Irecv");
  }
  bool test(std::uint32_t request, Arrived& arrived) override {
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&requests_[request], &done, &status), "MPI_Test");
    if (done != 0) arrived = arrived_of(status);
    return done != 0;
  }
  void wait_for_all(std::uint32_t requests) override {
    check(MPI_Waitall(static_cast<int>(requests), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }
  void withdraw(std::uint32_t request) override { end_receive(requests_[request]); }
  void barrier() override { check(MPI_Barrier(comm_.get()), "MPI_Barrier"); }

 private:
  static Arrived arrived_of(const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return {Rank{static_cast<std::uint32_t>(status.MPI_SOURCE)}, static_cast<std::uint32_t>(status.MPI_TAG),
            static_cast<Bytes>(bytes)};
  }
  MPI_Request& place(std::uint32_t request) {
    if (request >= requests_.size()) requests_.resize(request + 1, MPI_REQUEST_NULL);
    return requests_[request];
  }

  Communicator comm_;
  std::vector<MPI_Request> requests_;
};

MPI_Datatype datatype_of(AtomicType type) {
  switch (type) {
    case AtomicType::i32:
      return MPI_INT32_T;
    case AtomicType::u32:
      return MPI_UINT32_T;
    case AtomicType::i64:
      return MPI_INT64_T;
    case AtomicType::u64:
      return MPI_UINT64_T;
    case AtomicType::f32:
      return MPI_FLOAT;
    case AtomicType::f64:
      break;
  }
  return MPI_DOUBLE;
}

MPI_Op operation_of(AtomicOp op) {
  switch (combining_of(op)) {
    case Combining::nothing:
      return MPI_NO_OP;
    case Combining::replace:
      return MPI_REPLACE;
    case Combining::bit_and:
      return MPI_BAND;
    case Combining::bit_or:
      return MPI_BOR;
    case Combining::bit_xor:
      return MPI_BXOR;
    case Combining::sum:
      break;
  }
  return MPI_SUM;
}

// Memory that all ranks share. MPI_Put and MPI_Get copy, atomics change words, and a flush orders them.
class Window final : public RemoteWindow {
 public:
  Window(MPI_Comm comm, Bytes bytes) : bytes_(bytes) {
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_Info_create(&info), "MPI_Info_create");
    MPI_Info_set(info, "alloc_shared_noncontig", "true");  // each rank's part has pages of its own
    std::byte* base = nullptr;
    const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + kAlignment), 1, info, comm,
                                             static_cast<void*>(&base), &window_);
    MPI_Info_free(&info);
    check(code, "MPI_Win_allocate_shared");
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    base_ = reinterpret_cast<std::uintptr_t>(base);
    memory_ = base + (kAlignment - base_ % kAlignment) % kAlignment;
    std::memset(memory_, 0, bytes);
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    parts_.resize(static_cast<std::size_t>(ranks));
    const Part own_part{base_, reinterpret_cast<std::uintptr_t>(memory_)};
    check(MPI_Allgather(&own_part, sizeof own_part, MPI_BYTE, parts_.data(), sizeof own_part, MPI_BYTE, comm),
          "MPI_Allgather");
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  }

  // True if a rank's own stores and those of other ranks reach the same memory. Otherwise polling it finds nothing.
  [[nodiscard]] bool is_unified() const {
    int* model = nullptr;
    int is_set = 0;
    MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&model), &is_set);
    return is_set != 0 && *model == MPI_WIN_UNIFIED;
  }

  [[nodiscard]] std::byte* memory() const override { return memory_; }
  [[nodiscard]] bool holds(Rank owner, const void* address, Bytes bytes) const override {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address) - parts_[index(owner)].memory;
    return at <= bytes_ && bytes <= bytes_ - at;
  }
  void put(Rank owner, void* to, const void* from, Bytes bytes) override {
    const int count = static_cast<int>(bytes);
    check(MPI_Put(from, count, MPI_BYTE, as_int(owner), place_of(owner, to), count, MPI_BYTE, window_), "MPI_Put");
  }
  void get(Rank owner, void* to, const void* from, Bytes bytes) override {
    const int count = static_cast<int>(bytes);
    check(MPI_Get(to, count, MPI_BYTE, as_int(owner), place_of(owner, from), count, MPI_BYTE, window_), "MPI_Get");
  }
  // MPICH on UCX sends a put to its target, which copies it again: as fast as messages up to 512 KiB, half as fast at
  // 4 MiB (measured).
#if !defined(OPEN_MPI)
  [[nodiscard]] Bytes worthwhile() const override { return 512 * 1024; }
#endif
  void flush() override {
    check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
    under_way_.clear();
  }
  void free_sources() override { check(MPI_Win_flush_local_all(window_), "MPI_Win_flush_local_all"); }

  [[nodiscard]] bool does(AtomicType type, AtomicOps ops) const override { return does_atomics(type, ops); }
  // Open MPI does atomics at the caller: 65 to 80 ns each and 18 a microsecond, by messages 1.3 us and 7 a
  // microsecond (measured). MPICH on UCX sends them to the target: each as fast as a message, and 1.5 a microsecond,
  // by messages 12.
#if defined(OPEN_MPI)
  [[nodiscard]] bool atomics_worthwhile() const override { return true; }
#endif
  void atomic(Rank owner, const RemoteAtomic& atomic) override {
    Operands& operands = under_way_.emplace_back();
    operands.given = operand_of(atomic);
    const MPI_Datatype type = datatype_of(atomic.type);
    const MPI_Aint place = place_of(owner, atomic.target);
    if (atomic.op == AtomicOp::cas || atomic.op == AtomicOp::fcas) {
      operands.given = atomic.b;
      operands.compared = atomic.a;
      void* const before = atomic.op == AtomicOp::fcas ? atomic.result : &operands.unwanted;
      check(MPI_Compare_and_swap(&operands.given, &operands.compared, before, type, as_int(owner), place, window_),
            "MPI_Compare_and_swap");
    } else if (conduit::fetches(atomic.op)) {
      check(MPI_Fetch_and_op(&operands.given, atomic.result, type, as_int(owner), place, operation_of(atomic.op),
                             window_),
            "MPI_Fetch_and_op");
    } else {
      check(MPI_Accumulate(&operands.given, 1, type, as_int(owner), place, 1, type, operation_of(atomic.op), window_),
            "MPI_Accumulate");
    }
  }
  void close() override {
    if (window_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    window_ = MPI_WIN_NULL;
  }

 private:
  static constexpr Bytes kAlignment = kNoSharing;  // alignment of the memory that core gets
  struct Part {
    std::uintptr_t base;    // start of the window's part
    std::uintptr_t memory;  // start of its used memory
  };

  // MPI reads these operands until the flush.
  struct Operands {
    std::uint64_t given = 0;
    std::uint64_t compared = 0;
    std::uint64_t unwanted = 0;
  };

  [[nodiscard]] MPI_Aint place_of(Rank owner, const void* address) const {
    return static_cast<MPI_Aint>(reinterpret_cast<std::uintptr_t>(address) - parts_[index(owner)].base);
  }

  Bytes bytes_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::uintptr_t base_ = 0;
  std::byte* memory_ = nullptr;
  std::vector<Part> parts_;
  std::deque<Operands> under_way_;
};

// Choose TCP before MPI starts. The variables are those of Open MPI 4.1 (ob1) and of MPICH 4.0 on UCX.
void take_tcp() {
#if defined(OPEN_MPI)
  constexpr std::array kVariables{std::pair{"OMPI_MCA_pml", "ob1"}, std::pair{"OMPI_MCA_btl", "tcp,self"},
                                  std::pair{"OMPI_MCA_btl_tcp_if_include", "lo"}};
#else
  constexpr std::array kVariables{std::pair{"MPIR_CVAR_NOLOCAL", "1"}, std::pair{"UCX_TLS", "tcp,self"},
                                  std::pair{"UCX_NET_DEVICES", "lo"}};
#endif
  for (const auto& [name, value] : kVariables) ::setenv(name, value, 1);
}

class ThisMpi final : public Library {
 public:
  [[nodiscard]] std::string programs() const override { return GASMETER_MPI_PROGRAMS; }
  void start(Transport transport) override {
    transport_ = transport;
    if (transport == Transport::tcp) take_tcp();
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_SERIALIZED) {
      throw ResourceError("this MPI allows calls from its first thread alone; gasmeter needs MPI_THREAD_SERIALIZED: " +
                          version());
    }
  }
  void finish() override {
    int is_begun = 0;
    int is_over = 0;
    MPI_Initialized(&is_begun);
    MPI_Finalized(&is_over);
    if (is_begun != 0 && is_over == 0) MPI_Finalize();
  }
  [[nodiscard]] std::uint32_t rank() const override { return world(&MPI_Comm_rank); }
  [[nodiscard]] std::uint32_t size() const override { return world(&MPI_Comm_size); }
  [[nodiscard]] std::string version() const override {
    const std::string all = version_text();
    return all.substr(0, all.find('\n'));
  }
  [[nodiscard]] std::unique_ptr<services::TwoSidedService> open_service() override {
    return std::make_unique<Messages>();
  }
  [[nodiscard]] std::unique_ptr<RawMessages> open_raw() override { return std::make_unique<Raw>(); }
  [[nodiscard]] OpenedWindow open_window(Bytes bytes) override {
    if (transport_ == Transport::tcp) return {nullptr, "with transport=tcp a put would wait for its target"};
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    int near = 0;
    MPI_Comm_size(node, &near);
    OpenedWindow opened;
    if (static_cast<std::uint32_t>(near) != size()) {
      opened.why_not = "its ranks share no memory, so a put would wait for its target";
    } else {
      auto window = std::make_unique<Window>(node, bytes);
      if (window->is_unified()) {
        opened.window = std::move(window);
      } else {
        opened.why_not = "its windows keep copies of memory (MPI_WIN_SEPARATE)";
        window->close();
      }
    }
    MPI_Comm_free(&node);
    return opened;
  }

 private:
  static std::uint32_t world(int (*call)(MPI_Comm, int*)) {
    int value = 0;
    call(MPI_COMM_WORLD, &value);
    return static_cast<std::uint32_t>(value);
  }

  Transport transport_ = Transport::automatic;
};

}  // namespace
}  // namespace gasmeter::networks::mpi

extern "C" __attribute__((visibility("default"))) gasmeter::networks::mpi::Library* gasmeter_mpi_plugin(
    const char* build) {
  static gasmeter::networks::mpi::ThisMpi library;  // MPI itself is one per process
  return std::string(build) == std::string(gasmeter::kVersion) + " " + gasmeter::kCompiler ? &library : nullptr;
}
