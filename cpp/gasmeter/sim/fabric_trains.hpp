// How a fabric carries trains. For the sources of Fabric alone.
//
// Where its first packet comes to an output that is nobody else's, the times of all packets of a train are known: they
// go on as one event, and the output is open until the last one is there. Whatever else comes meanwhile cuts the train:
// the packets that are there before go first, as they would one by one; the rest comes again as a train of its own. The
// next router learns of it one latency later, before the first packet that it waits for in vain, takes back what it had
// promised and tells the next one.
//
// A train goes on as far as there are buffers at the far end; buffers that it will leave are given back ahead, and
// taken back where it is cut: the near end learns of that, too, in time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gasmeter/sim/fabric_state.hpp"
#include "gasmeter/sim/packet_pool.hpp"

namespace gasmeter::sim {

class Fabric::Trains {
 public:
  explicit Trains(Fabric& fabric);

  void inject(Train& train, SimTime now, SimTime gap);
  // Before anything else happens at an output that is not settled: cuts the train that is open there, or does what has
  // been put off.
  void settle(std::uint32_t link, std::uint32_t vertex, SimTime now);
  // Packets of a train that wait together need buffers only when the link is free. When to look again, instead of `at`.
  [[nodiscard]] SimTime put_off(Shortage& shortage, SimTime at, SimTime now);
  // Whether what waits at an output will look when the link is free.
  [[nodiscard]] bool is_put_off(std::uint32_t link) const {
    return !open_.empty() && open_[link].train == nullptr && fabric_.outputs_[link].unsettled != kSettled;
  }
  void departed(const Packet& packet, SimTime end);

  [[nodiscard]] static bool more_than(const Packet& packet, std::uint32_t count);
  // The first `count` packets of those in a queue; they leave it.
  [[nodiscard]] Packet& part(Packet& packet, std::uint32_t count);
  // Packets and bytes that an output has counted and that are not there yet.
  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> ahead(std::uint32_t link, SimTime now) const;
  void forget_waits(std::uint32_t link);
  void name_steps(Tracer& tracer) const;

 private:
  // What an output keeps of the last train that had its promise before all packets were there: nothing was in their way
  // when the first one came.
  struct OpenTrain {
    Train* train = nullptr;   // null: none
    std::uint32_t first = 0;  // packets [first, first + count)
    std::uint32_t count = 0;
    SimTime arrival;                  // of the head of the first one, the others `gap` after one another
    SimTime gap;                      //
    SimTime start;                    // over the link, likewise
    SimTime start_gap;                //
    SimTime waited;                   // Output::longest_wait without it
    Tie tie = 0;                      // of the arrivals
    Route route;                      // before this hop
    std::uint32_t link = 0;           // input
    std::uint32_t channel = 0;        // of the input
    std::uint32_t out_channel = 0;    //
    std::uint32_t burst = 1U << 30U;  // packets that the next train may be promised: few where trains are cut
    SimTime settled;                  // when credits were last used for what had been put off
  };
  // Packets [first, first + count) of a train; their heads come `gap` after one another.
  struct Carriage : Packet {
    Trains* trains = nullptr;
    Train* train = nullptr;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    SimTime gap;
    SimTime arrival;
    bool again = false;  // has been where it comes to
  };
  // To the next router: packets from `first` on do not follow. To the last one: credits that do not come.
  struct Notice : Action {
    Notice() : Action(nullptr) {}

    Trains* trains = nullptr;
    const Train* train = nullptr;
    std::uint32_t vertex = 0;  // where it goes
    std::uint32_t link = 0;    // output there
    std::uint32_t channel = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    SimTime at;
    SimTime gap;
    SimTime last;
  };

  static constexpr std::uint32_t kLongestBurst = 1U << 30U;

  [[nodiscard]] static SimTime times(SimTime gap, std::uint64_t count) {
    return gap * static_cast<std::int64_t>(count);
  }
  [[nodiscard]] static std::uint64_t bytes_of(const Train& train, std::uint32_t first, std::uint32_t count) {
    return std::uint64_t{train.bytes} * (count - 1) + train.bytes_of(first + count - 1);
  }

  static void on_carriage(Action& action, SimTime now);
  static void on_cut(Action& action, SimTime now);
  static void on_withdrawal(Action& action, SimTime now);

  [[nodiscard]] unsigned partition(std::uint32_t vertex) const;
  [[nodiscard]] bool even(const Train& train) const;
  [[nodiscard]] Carriage& make(Train& train, std::uint32_t vertex, std::uint32_t first, std::uint32_t count);
  [[nodiscard]] Carriage& part_of(const Carriage& other, std::uint32_t first, std::uint32_t count);
  void set_single(Carriage& carriage) const;
  void come_again(Carriage& carriage);
  void to_itself(Train& train, SimTime now, SimTime gap);
  void deliver(Carriage& carriage, SimTime now);
  void route(Carriage& carriage, SimTime now);
  [[nodiscard]] std::uint32_t room(std::uint32_t link, std::uint32_t channel, const Carriage& carriage, SimTime now);
  [[nodiscard]] std::uint32_t promise(std::uint32_t link, const Carriage& carriage, SimTime now) const;
  void start_together(std::uint32_t link, std::uint32_t channel, Carriage& carriage, SimTime now);
  void send(std::uint32_t link, std::uint32_t channel, Carriage& carriage, SimTime now, SimTime longest_wait);
  void count_waits(std::uint32_t link);
  void open(std::uint32_t link, const Carriage& carriage, std::uint32_t channel, SimTime start, SimTime start_gap);
  void cut(std::uint32_t link, std::uint32_t vertex, std::uint32_t kept, SimTime now);
  void withdraw(const OpenTrain& open, std::uint32_t vertex, std::uint32_t kept, SimTime now);
  void catch_up(std::uint32_t link, SimTime now);

  Fabric& fabric_;
  const LinkCost cost_;  // of every link where packets stay together
  const bool together_;  // never where links differ: their packets' times would spread
  PacketPool<Carriage> carriages_;
  PacketPool<Notice> notices_;
  std::vector<std::vector<Carriage*>> expected_;  // at each vertex, later than now
  std::vector<OpenTrain> open_;                   // of each output
  std::vector<SimTime> withdrawn_;  // of each input: until then there may be credits in the ring that are none
};

}  // namespace gasmeter::sim
