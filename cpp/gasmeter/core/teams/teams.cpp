#include "gasmeter/core/teams/teams.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/teams/executor.ipp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {
namespace {

using teams::Algorithm;

// Temporary memory of a reduction of up to this size. For larger ones a member uses memory of its own.
constexpr Bytes kScratch = Bytes{128} * 1024;

// Return a hash of the arguments that all members must agree on. The upper four bits hold the collective.
std::uint32_t signature_of(const teams::Call& call, const Reduction& reduction) {
  std::uint64_t hash = kGoldenGamma;
  for (const std::uint64_t value : {std::uint64_t{call.root}, std::uint64_t{call.block}, std::uint64_t{call.element},
                                    static_cast<std::uint64_t>(call.algorithm), std::uint64_t{reduction.code}}) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9U;
    hash ^= hash >> 29;
  }
  return static_cast<std::uint32_t>(call.collective) << 28 | static_cast<std::uint32_t>(hash & 0x0fffffffU);
}

}  // namespace

// ---- Team

template <class H>
Team<H>::Team(Teams<H>& teams, std::uint32_t id, std::uint32_t self, std::vector<Rank> members, Scratch scratch)
    : teams_(teams),
      id_(id),
      self_(self),
      ranks_(members.empty() ? teams.endpoint_.ranks() : static_cast<std::uint32_t>(members.size())),
      members_(std::move(members)),
      scratch_(scratch) {
  for (std::uint32_t rank = 0; rank < members_.size(); ++rank) ranks_of_members_.emplace_back(members_[rank], rank);
  std::sort(ranks_of_members_.begin(), ranks_of_members_.end());
  is_near_ = members_.empty()
                 ? teams.endpoint_.neighbours() == ranks_
                 : std::all_of(members_.begin(), members_.end(), [&](Rank member) { return teams.holds_near(member); });
}

template <class H>
Endpoint<H>& Team<H>::endpoint() const {
  return teams_.endpoint_;
}

template <class H>
std::optional<std::uint32_t> Team<H>::rank_of(Rank rank) const {
  if (members_.empty()) return index(rank) < ranks_ ? std::optional(index(rank)) : std::nullopt;
  const auto at = std::lower_bound(ranks_of_members_.begin(), ranks_of_members_.end(), std::pair{rank, 0U});
  return at != ranks_of_members_.end() && at->first == rank ? std::optional(at->second) : std::nullopt;
}

template <class H>
void Team<H>::refuse_rank(const char* call, std::uint32_t rank) const {
  throw UsageError(teams_.where(*this) + ": " + call + ": rank " + std::to_string(rank) +
                   " does not exist in the team; its ranks are 0.." + std::to_string(ranks_ - 1));
}

template <class H>
teams::Shape Team<H>::shape(Bytes block) const {
  teams::Shape shape;
  shape.ranks = ranks_;
  shape.block = static_cast<double>(block);
  shape.nodes = is_near_ ? 1 : knows_nodes_ ? nodes_.count : ranks_;
  shape.mates = is_near_ ? ranks_ : knows_nodes_ ? most_mates_ : 1;
  shape.half = is_near_ ? 4096 : 8192;
  return shape;
}

template <class H>
Algorithm Team<H>::choice(Collective collective, Bytes block) const {
  return teams::cheapest(collective, shape(block));
}

template <class H>
Event Team<H>::start(Collective collective, std::uint32_t root, void* result, const void* source, Bytes block,
                     const Reduction& reduction, Algorithm algorithm) {
  const char* const name = teams::name_of(collective);
  teams_.check_call(name);
  if (root >= ranks_) refuse_rank(name, root);
  if (algorithm == Algorithm::automatic) algorithm = choice(collective, block);
  if (algorithm == Algorithm::hierarchical && !knows_nodes_) teams_.find_nodes(*this);
  const bool at_root = !teams::is_rooted(collective) || root == self_;
  const bool gives = collective != Collective::broadcast || root == self_;
  const bool gets = collective == Collective::broadcast || at_root;
  if (block != 0 && ((gives && source == nullptr) || (gets && result == nullptr))) {
    throw UsageError(teams_.where(*this) + ": " + name + " of " + std::to_string(block) + " bytes without a " +
                     (gives && source == nullptr ? "source" : "result"));
  }
  auto operation = std::make_unique<teams::Operation>();
  operation->call = {collective, algorithm, self_, ranks_, root, block, std::max<Bytes>(reduction.element, 1), &nodes_};
  operation->rules = &teams::rules_of(collective, algorithm);
  operation->reduction = reduction;
  operation->signature = signature_of(operation->call, reduction);
  operation->buffers.source = static_cast<const std::byte*>(source);
  operation->buffers.result = static_cast<std::byte*>(result);
  if constexpr (kMutants) {
    const Event event = teams_.begin(*this, std::move(operation));
    return internals(endpoint()).faults().collective(event, collective == Collective::barrier);
  }
  return teams_.begin(*this, std::move(operation));
}

template <class H>
Event Team<H>::barrier_nb(Algorithm algorithm) {
  return start(Collective::barrier, 0, nullptr, nullptr, 0, {}, algorithm);
}

template <class H>
void Team<H>::barrier(Algorithm algorithm) {
  const bool is_world = members_.empty();
  if (is_world && is_near_ && algorithm == Algorithm::automatic) {  // through the neighbourhood's lines
    endpoint().barrier();
    return;
  }
  if (!is_near_ && !knows_nodes_ && ranks_ > 2) teams_.find_nodes(*this);
  if (algorithm == Algorithm::automatic) algorithm = choice(Collective::barrier, 0);
  if (is_world && algorithm == Algorithm::dissemination) {
    endpoint().barrier();
  } else {
    teams_.wait(barrier_nb(algorithm));
  }
}

template <class H>
Event Team<H>::broadcast_nb(std::uint32_t root, void* result, const void* source, Bytes bytes, Algorithm algorithm) {
  return start(Collective::broadcast, root, result, source, bytes, {}, algorithm);
}

template <class H>
Event Team<H>::reduce_nb(std::uint32_t root, void* result, const void* source, std::size_t count,
                         const Reduction& reduction, Algorithm algorithm) {
  return start(Collective::reduce, root, result, source, count * reduction.element, reduction, algorithm);
}

template <class H>
Event Team<H>::reduce_all_nb(void* result, const void* source, std::size_t count, const Reduction& reduction,
                             Algorithm algorithm) {
  return start(Collective::reduce_all, 0, result, source, count * reduction.element, reduction, algorithm);
}

template <class H>
Event Team<H>::scan_nb(void* result, const void* source, std::size_t count, const Reduction& reduction,
                       Algorithm algorithm) {
  return start(Collective::scan, 0, result, source, count * reduction.element, reduction, algorithm);
}

template <class H>
Event Team<H>::exchange_nb(void* result, const void* source, Bytes block, Algorithm algorithm) {
  return start(Collective::exchange, 0, result, source, block, {}, algorithm);
}

template <class H>
Event Team<H>::gather_nb(std::uint32_t root, void* result, const void* source, Bytes block, Algorithm algorithm) {
  return start(Collective::gather, root, result, source, block, {}, algorithm);
}

template <class H>
Event Team<H>::gather_all_nb(void* result, const void* source, Bytes block, Algorithm algorithm) {
  return start(Collective::gather_all, 0, result, source, block, {}, algorithm);
}

// ---- Teams

template <class H>
Teams<H>::Teams(Endpoint<H>& endpoint)
    : endpoint_(endpoint),
      background_(internals(endpoint).conduit(), [](void* self) { return static_cast<Teams*>(self)->step(); }, this) {
  live_.push_back(std::unique_ptr<Team<H>>(new Team<H>(*this, 0, index(endpoint.rank()), {}, {})));
  internals(endpoint).handlers().add({teams::kFirst, &on_first, this, "collective"});
  internals(endpoint).handlers().add({teams::kPiece, &on_piece, this, "collective (more)"});
  internals(endpoint).handlers().add({teams::kReady, &on_ready, this, "collective (ready)"});
  internals(endpoint).conduit() = &background_;
}

template <class H>
Teams<H>::~Teams() {
  background_.leave(internals(endpoint_).conduit());
}

template <class H>
std::string Teams<H>::where(const Team<H>& team) const {
  return "rank " + std::to_string(index(endpoint_.rank())) + " (rank " + std::to_string(team.self_) + " of team " +
         std::to_string(team.id_) + ")";
}

template <class H>
Bytes Teams<H>::recommended_scratch(std::uint32_t ranks) {
  return ranks < 2 ? 0 : kScratch;
}

template <class H>
void Teams<H>::check_scratch(const char* call, const Scratch& scratch) const {
  if (scratch.bytes != 0 && !endpoint_.segment().holds(scratch.address, scratch.bytes)) {
    throw UsageError("rank " + std::to_string(index(endpoint_.rank())) + ": " + call + ": scratch of " +
                     std::to_string(scratch.bytes) + " bytes is not inside the rank's segment");
  }
}

// Add a team, and give it the messages that arrived before.
template <class H>
Team<H>* Teams<H>::add(std::uint32_t id, std::uint32_t self, std::vector<Rank> members, Scratch scratch) {
  const std::lock_guard guard(lock_);
  next_id_ = std::max(next_id_, id + 1);
  live_.push_back(std::unique_ptr<Team<H>>(new Team<H>(*this, id, self, std::move(members), scratch)));
  Team<H>& team = *live_.back();
  // Messages of ranks that are no members do not belong to the team.
  for (Foreign& foreign : foreign_) {
    if (foreign.team != id || !team.rank_of(Rank{foreign.message.source})) continue;
    team.early_.push_back(std::move(foreign.message));
  }
  for (const ForeignClearance& foreign : foreign_clearances_) {
    if (foreign.team == id && is_member(team, foreign.clearance)) team.early_clearances_.push_back(foreign.clearance);
  }
  const auto is_its = [id](const auto& foreign) { return foreign.team == id; };
  std::erase_if(foreign_, is_its);
  std::erase_if(foreign_clearances_, is_its);
  return &team;
}

template <class H>
Team<H>* Teams<H>::split(Team<H>& parent, std::optional<std::uint32_t> color, std::int64_t key, Scratch scratch) {
  Splitting splitting = split_nb(parent, color, key, scratch);
  wait(splitting.event());
  return complete(splitting);
}

template <class H>
typename Teams<H>::Splitting Teams<H>::split_nb(Team<H>& parent, std::optional<std::uint32_t> color, std::int64_t key,
                                                Scratch scratch) {
  check_scratch("split", scratch);
  Splitting splitting;
  splitting.parent_ = &parent;
  splitting.scratch_ = scratch;
  splitting.wishes_.resize(parent.ranks_ + std::size_t{1});
  auto& mine = splitting.wishes_.back();
  mine = {key, color.value_or(0), color.has_value() ? 1U : 0U, next_id_, 0};
  splitting.event_ = parent.gather_all_nb(splitting.wishes_.data(), &mine, sizeof mine);
  return splitting;
}

// Make the new team. Its number exceeds that of every team that one of its members ever had.
template <class H>
Team<H>* Teams<H>::complete(const Splitting& splitting) {
  Team<H>& parent = *splitting.parent_;
  const auto& wishes = splitting.wishes_;
  if (wishes.back().joins == 0) return nullptr;
  std::vector<std::uint32_t> members;
  std::uint32_t id = 0;
  for (std::uint32_t rank = 0; rank < parent.ranks_; ++rank) {
    if (wishes[rank].joins == 0 || wishes[rank].color != wishes.back().color) continue;
    members.push_back(rank);
    id = std::max(id, wishes[rank].next_id);
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return wishes[a].key < wishes[b].key; });
  std::vector<Rank> ranks;
  ranks.reserve(members.size());
  for (const std::uint32_t member : members) ranks.push_back(parent.job_rank(member));
  const auto self = std::find(members.begin(), members.end(), parent.self_) - members.begin();
  return add(id, static_cast<std::uint32_t>(self), std::move(ranks), splitting.scratch_);
}

template <class H>
Team<H>* Teams<H>::create(Team<H>& parent, std::span<const std::uint32_t> members, Scratch scratch) {
  check_scratch("create", scratch);
  std::vector<std::uint32_t> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= parent.ranks_) parent.refuse_rank("create", sorted.back());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw UsageError(where(parent) + ": create: a rank stands twice in the list of members");
  }
  if (!sorted.empty() && !std::binary_search(sorted.begin(), sorted.end(), parent.self_)) {
    throw UsageError(where(parent) + ": create: the list of members lacks this rank");
  }
  std::uint32_t id = next_id_;
  wait(parent.reduce_all_nb(&id, &id, 1, Reduction::of<std::uint32_t>(ReduceOp::max)));
  {
    const std::lock_guard guard(lock_);
    next_id_ = id + (members.empty() ? 1 : 0);
  }
  if (members.empty()) return nullptr;
  std::vector<Rank> ranks;
  ranks.reserve(members.size());
  for (const std::uint32_t member : members) ranks.push_back(parent.job_rank(member));
  const auto self = std::find(members.begin(), members.end(), parent.self_) - members.begin();
  return add(id, static_cast<std::uint32_t>(self), std::move(ranks), scratch);
}

template <class H>
Scratch Teams<H>::destroy(Team<H>* team) {
  if (team == nullptr) return {};
  if (team == live_.front().get()) throw UsageError(where(*team) + ": destroy: the team of all ranks stays");
  if (!team->active_.empty()) {
    throw UsageError(where(*team) + ": destroy: " + std::to_string(team->active_.size()) +
                     " collectives are under way");
  }
  wait(team->barrier_nb(Algorithm::dissemination));
  const std::lock_guard guard(lock_);
  const Scratch scratch = team->scratch_;
  std::erase_if(live_, [team](const auto& each) { return each.get() == team; });
  return scratch;
}

// Compute the members by node. If every node holds the same number of consecutive members, leaders follow from that.
// Otherwise all members exchange their leaders.
template <class H>
void Teams<H>::find_nodes(Team<H>& team) {
  teams::Nodes nodes;
  for (std::uint32_t rank = 0; rank < team.ranks_; ++rank) {
    if (internals(endpoint_).near().holds(team.job_rank(rank))) nodes.mates.push_back(rank);
  }
  const auto mates = static_cast<std::uint32_t>(nodes.mates.size());
  const std::uint32_t leader = nodes.mates.front();
  const bool is_regular = leader % mates == 0 && nodes.mates.back() == leader + mates - 1;
  std::array<std::uint32_t, 3> most{mates, std::numeric_limits<std::uint32_t>::max() - mates, is_regular ? 0U : 1U};
  wait(team.reduce_all_nb(most.data(), most.data(), most.size(), Reduction::of<std::uint32_t>(ReduceOp::max),
                          Algorithm::recursive_doubling));
  team.most_mates_ = most[0];
  const bool is_even = most[0] == std::numeric_limits<std::uint32_t>::max() - most[1];
  if (most[0] == 1 || (is_even && most[2] == 0)) {
    nodes.stride = most[0];
    nodes.count = team.ranks_ / most[0];
  } else {
    nodes.leaders.resize(team.ranks_);
    wait(team.gather_all_nb(nodes.leaders.data(), &leader, sizeof leader, Algorithm::dissemination));
    std::sort(nodes.leaders.begin(), nodes.leaders.end());
    nodes.leaders.erase(std::unique(nodes.leaders.begin(), nodes.leaders.end()), nodes.leaders.end());
    nodes.count = static_cast<std::uint32_t>(nodes.leaders.size());
  }
  team.nodes_ = std::move(nodes);
  team.knows_nodes_ = true;
}

template class Team<RealHost>;
template class Team<ThreadedHost>;
template class Team<StampedHost>;
template class Team<sim::ModelHost>;
template class Teams<RealHost>;
template class Teams<ThreadedHost>;
template class Teams<StampedHost>;
template class Teams<sim::ModelHost>;

}  // namespace gasmeter::core
