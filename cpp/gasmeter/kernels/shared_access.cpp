// Accesses of one rank to another rank's parts of shared objects. Rank 0 gets or puts, one access after the other; the
// last rank owns the parts; all others wait in the next barrier, polling.
//
// Accesses take turns over the objects. With `cache=known` no space takes part: rank 0 knows all addresses and calls
// core's own get and put, with which a cache hit is compared. Each put goes to a place of its own, in some 8 MiB
// together. A put to a place to which another put is under way would have to wait.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/shared_space.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

std::uint64_t shared_objects_of(const Settings& settings) {
  return static_cast<std::uint64_t>(settings.integer("objects"));
}

// Return how many places each object has.
std::uint64_t places_in_object(const Settings& settings) {
  constexpr Bytes kMostTogether = Bytes{8} * 1024 * 1024;
  constexpr Bytes kMost = pgas::PutsUnderWay<RealHost>::kMost;
  if (settings.op != "put") return 1;
  const Bytes together = std::clamp<Bytes>(kMostTogether / std::max<Bytes>(1, settings.size), 2, kMost);
  return std::max<Bytes>(1, together / shared_objects_of(settings));
}

bool is_known(const Settings& settings) {
  return settings.text("cache") == "known";
}

// Return the options of the space, which has no cache if addresses are known.
pgas::SpaceOptions options_of(Settings settings) {
  if (is_known(settings)) settings.options["cache"] = "off";
  return space_options_of(settings);
}

Bytes part_of_object(const Settings& settings) {
  return std::max<Bytes>(1, places_in_object(settings) * settings.size);
}

template <class H>
class SharedAccess final : public Program, public conduit::CountsItself {
 public:
  SharedAccess(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        is_get_(settings.op == "get"),
        is_known_(is_known(settings)),
        is_warm_(settings.flag("warm")),
        size_(settings.size),
        seed_(settings.seed),
        places_(places_in_object(settings)),
        part_(part_of_object(settings)),
        owner_{settings.ranks - 1},
        space_(endpoint, options_of(settings)),
        counted_(space_, settings.seed),
        objects_(shared_objects_of(settings)),
        buffer_(size_),
        in_pieces_(settings.text("pinning") == "chunks"),
        completion_(endpoint) {
    require_ranks(settings, 2);
  }

  [[nodiscard]] bool compares() const override { return is_get_ ? endpoint_.rank() == Rank{0} : is_owner(); }

  BlockResult run(std::uint64_t iterations) override {
    prepare();
    BlockResult result;
    endpoint_.barrier();
    counted_.begin();
    if (endpoint_.rank() == Rank{0}) {
      H& host = endpoint_.host();
      const SimTime start = host.read_clock();
      access(iterations);
      result = {host.read_clock() - start, iterations, {}};
      result.add_time_per_operation("latency");
      wait_for_puts();
    }
    passed_ += iterations;
    endpoint_.barrier();
    counted_.end();
    return result;
  }

  // Check single accesses, as many as there are objects; then several as blocks make them, without a wait in between.
  Verification verify() override {
    prepare();
    const std::uint64_t rounds = std::max<std::uint64_t>(kCheckedRounds, std::min<std::uint64_t>(objects_.size(), 64));
    completion_.tell_by(told_line(0));
    found_ = {};
    for (std::uint64_t round = 0; round <= rounds; ++round) {
      pattern_ = seed_ + (round + 1) * kGoldenGamma;
      if (round < rounds) {
        check(1);
      } else if (!blocks_follow()) {
        check(is_get_ ? rounds : std::min(slots(), numbered::kMost));
      }
    }
    return found_;
  }

  void add_to(conduit::Counts& counts) const override { counted_.add_to(counts); }

 private:
  [[nodiscard]] bool is_owner() const { return endpoint_.rank() == owner_; }

  // Prepare once: all ranks make the objects together, and rank 0 accesses each of their places once.
  void prepare() {
    if (is_prepared_) return;
    is_prepared_ = true;
    for (pgas::Handle& object : objects_) {
      object = space_.all_alloc(pgas::Layout(std::uint64_t{part_} * endpoint_.ranks(), 1, part_, endpoint_.ranks()));
      if (is_owner()) std::memset(space_.local(object), 0, part_);
    }
    space_.barrier();
    if (is_known_ && endpoint_.rank() == Rank{0}) {
      for (const pgas::Handle object : objects_) known_.push_back(space_.place(object, owner_, 0, part_));
    }
    if (is_warm_) {
      if (endpoint_.rank() == Rank{0}) access(objects_.size() * places_);
      passed_ += objects_.size() * places_;
    }
    wait_for_puts();
    space_.barrier();
  }
  void wait_for_puts() {
    space_.fence();
    if (is_known_) endpoint_.wait_nbi();
  }

  // Return the object of the `behind`-th access from the next one on, and its place in the object: the place advances
  // when each object has had its turn.
  [[nodiscard]] std::size_t object_at(std::uint64_t behind) const { return (passed_ + behind) % objects_.size(); }
  [[nodiscard]] Bytes place_at(std::uint64_t behind) const {
    return (passed_ + behind) / objects_.size() % places_ * size_;
  }

  // Run `times` accesses behind those already made.
  void access(std::uint64_t times) { is_known_ ? access_as<true, false>(times) : access_as<false, false>(times); }
  void access_numbered(std::uint64_t times) {
    is_known_ ? access_as<true, true>(times) : access_as<false, true>(times);
  }
  template <bool kKnown, bool kNumbered>
  GASMETER_INLINE void access_as(std::uint64_t times) {
    H& host = endpoint_.host();
    std::size_t object = object_at(0);
    Bytes place = place_at(0);
    for (std::uint64_t i = 0; i < times; ++i) {
      if constexpr (kNumbered) fill_or_clear(buffer_, i, !is_get_);
      host.mark(Mark::begin);
      if constexpr (kKnown) {
        access_known(known_[object] + place);
      } else if (is_get_) {
        space_.get(objects_[object], owner_, place, buffer_.data(), size_);
      } else {
        space_.put(objects_[object], owner_, place, buffer_.data(), size_);
      }
      host.mark(Mark::end);
      if constexpr (kNumbered) {
        if (is_get_) compare(buffer_.data(), i);
      }
      if (++object == objects_.size()) {
        object = 0;
        place = place + size_ == places_ * size_ ? 0 : place + size_;
      }
    }
  }

  GASMETER_INLINE void access_known(std::byte* address) {
    if (is_get_) {
      endpoint_.get(owner_, buffer_.data(), address, size_);
    } else {
      (void)endpoint_.put_nbi(owner_, address, buffer_.data(), size_, core::LocalCompletion::now());
    }
  }

  // Check the next accesses, each of which has a number. There are at most as many puts as places.
  void check(std::uint64_t accesses) {
    const std::uint64_t used = std::min(accesses, slots());
    if (is_owner()) {
      for (std::uint64_t i = 0; i < used; ++i) fill_or_clear({own_place(i), size_}, i, is_get_);
    }
    endpoint_.barrier();
    if (endpoint_.rank() == Rank{0}) {
      is_get_ ? get_and_check(accesses) : put_and_check(accesses);
    } else if (is_owner() && !is_get_) {
      completion_.watch([&] { compare_own(used); });
    }
    endpoint_.barrier();
    if (is_owner() && !is_get_) compare_own(used);
    passed_ += accesses;
  }
  void get_and_check(std::uint64_t accesses) {
    access_numbered(accesses);
    wait_for_puts();
  }
  // Put and check. The source may change when the put returns. The data has arrived when all puts have been waited for.
  void put_and_check(std::uint64_t accesses) {
    const std::vector<const std::byte*> theirs = places_in_process(accesses);
    completion_.begin();
    access_numbered(accesses);
    fill_or_clear(buffer_, accesses - 1, false);
    wait_for_puts();
    completion_.complete([&] {
      for (std::uint64_t i = 0; i < theirs.size(); ++i) compare(theirs[i], i);
    });
  }
  // Return the owner's next places, for a rank of the same process. Returns nothing on real ranks, where asking for
  // places would change the cost of blocks, and where it would make hits of puts that miss.
  [[nodiscard]] std::vector<const std::byte*> places_in_process(std::uint64_t accesses) {
    std::vector<const std::byte*> places;
    if constexpr (!H::kModelled) return places;
    if (is_known_) {
      for (std::uint64_t i = 0; i < accesses; ++i) places.push_back(known_[object_at(i)] + place_at(i));
    } else if (!blocks_follow() && !in_pieces_ && accesses == 1) {
      places.push_back(space_.place(objects_[object_at(0)], owner_, place_at(0), size_));
    }
    return places;
  }

  [[nodiscard]] std::uint64_t slots() const { return objects_.size() * places_; }
  [[nodiscard]] std::byte* own_place(std::uint64_t behind) {
    return space_.local(objects_[object_at(behind)]) + place_at(behind);
  }
  // Fill in the data of the `behind`-th access, or data that differs from it.
  void fill_or_clear(std::span<std::byte> bytes, std::uint64_t behind, bool fills) {
    const std::uint64_t number = behind % slots();
    fills ? numbered::fill(bytes, pattern_, number) : numbered::clear(bytes, pattern_, number);
  }
  void compare(const std::byte* bytes, std::uint64_t behind) {
    numbered::compare(found_, bytes, size_, pattern_, behind % slots());
  }
  void compare_own(std::uint64_t used) {
    for (std::uint64_t i = 0; i < used; ++i) compare(own_place(i), i);
  }

  core::Endpoint<H>& endpoint_;
  bool is_get_;
  bool is_known_;
  bool is_warm_;
  Bytes size_;
  std::uint64_t seed_;
  std::uint64_t places_;
  Bytes part_;
  Rank owner_;
  pgas::SharedSpace<H> space_;
  CountedAccesses<H> counted_;
  std::vector<pgas::Handle> objects_;
  std::vector<std::byte*> known_;  // addresses of the owner's parts, at rank 0
  AlignedBuffer buffer_;
  bool in_pieces_;  // parts are pinned by chunks
  CompletionCheck<H> completion_;
  bool is_prepared_ = false;
  std::uint64_t passed_ = 0;   // accesses that rank 0 has made; all ranks know the count
  std::uint64_t pattern_ = 0;  // for checked accesses
  Verification found_;
};

}  // namespace

void register_shared_access(Registry& registry) {
  std::vector<OptionInfo> options = space_options();
  OptionInfo& cache = *std::ranges::find(options, "cache", &OptionInfo::name);
  cache.choices.push_back("known");
  cache.summary += "; known: by nobody, as addresses are known: core's own get or put";
  options.push_back({"objects", "int", "1", "objects", {}, "shared objects, which have their turns"});
  Kernel kernel = kernel_of<SharedAccess>(
      {.name = "shared-access",
       .summary = "accesses of rank 0 to shared objects' parts at the last rank, one after the other",
       .ops = {{"get", "one shared get after the other", {{"latency", "of one, until its data is there"}}},
               {"put",
                "one shared put after the other, each to a place of its own",
                {{"latency", "of one, until its source may change"}}}},
       .variants = {},
       .options = std::move(options)},
      [](const Settings& settings) {
        return pgas::SharedSpace<RealHost>::segment_bytes(part_of_object(settings), shared_objects_of(settings));
      });
  kernel.shares_nodes = is_near_direct;
  kernel.check = [](const Settings& settings) {
    const std::int64_t objects = settings.integer("objects");
    if (objects < 1 || objects > 65536) {
      throw UsageError("kernel shared-access: option 'objects=" + settings.text("objects") +
                       "': allowed are 1 to 65536 objects");
    }
    if (is_known(settings) && settings.text("pinning") != "everything") {
      throw UsageError(
          "kernel shared-access: option 'cache=known': addresses of pieces (pinning=chunks) are not known");
    }
    (void)options_of(settings);
  };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
