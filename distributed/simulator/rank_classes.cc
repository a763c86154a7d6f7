// Splits ranks of equal events until no group tells two of a class apart.
#include "distributed/simulator/rank_classes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "distributed/simulator/collectives/group_links.h"
#include "phi/common/split_mix.h"

namespace phi::distributed::simulator {
namespace {

using Key = std::vector<uint64_t>;

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = key.size();
    for (const uint64_t each : key) hash = split_mix(hash ^ each);
    return hash;
  }
};

// Numbers keys in the order of their first occurrence.
class Numbering {
 public:
  size_t number(const Key& key) { return numbers_.try_emplace(key, numbers_.size()).first->second; }
  size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<Key, size_t, KeyHash> numbers_;
};

// A member of a group.
struct Member {
  size_t rank = 0;
  size_t slot = kNoIndex;  // of the group in the rank's calls
};

// The members of each group, and the positions of each rank.
struct Membership {
  std::vector<std::vector<Member>> members;    // by group and position
  std::vector<std::vector<size_t>> positions;  // by rank and slot

  explicit Membership(const WorldPrograms& world)
      : members(world.num_groups()), positions(world.num_ranks()) {
    for (size_t rank = 0; rank < world.num_ranks(); ++rank)
      positions[rank].resize(world.rank(rank).groups.size());
    for (size_t group = 0; group < world.num_groups(); ++group) {
      for (const int64_t rank : world.group(group)) add(world, group, static_cast<size_t>(rank));
    }
  }
  const Member& at_distance(size_t group, size_t position, int64_t distance) const {
    const auto& all = members[group];
    return all[(position + static_cast<size_t>(distance)) % all.size()];
  }

 private:
  void add(const WorldPrograms& world, size_t group, size_t rank) {
    const std::vector<size_t>& groups = world.rank(rank).groups;
    const auto own = std::ranges::find(groups, group);
    const bool has_calls = own != groups.end();
    const auto slot = static_cast<size_t>(own - groups.begin());
    if (has_calls) positions[rank][slot] = members[group].size();
    members[group].push_back({rank, has_calls ? slot : kNoIndex});
  }
};

// The calls of a kind of ranks in one group.
struct SlotCalls {
  std::vector<std::pair<std::string_view, CallPattern>> sequence;
  bool waits_for_all = false;                // a call waits for all members, or exchanges with each
  bool is_uniform = false;                   // a call exchanges as much with each member
  std::vector<const GroupCall*> by_parts{};  // calls of different parts
  std::set<int64_t> distances;               // to peers of other calls
  std::set<int64_t> p2p_distances;           // those of point-to-point calls among them

  void add(const GroupCall& call, size_t num_members) {
    sequence.emplace_back(call.op, call.pattern);
    const bool is_p2p = call.pattern == CallPattern::kPointToPoint;
    waits_for_all |= !is_p2p;
    if (!call.parts.by_position.empty()) return add_parts(call);
    if (call.peers.size() == num_members - 1 && std::ranges::all_of(call.peers, [&](auto peer) {
          peer.distance = call.peers.front().distance;
          return peer == call.peers.front();
        })) {
      is_uniform |= num_members > 1;
      waits_for_all |= num_members > 1;
      return;
    }
    for (const PeerTraffic& peer : call.peers) {
      distances.insert(peer.distance);
      if (is_p2p) p2p_distances.insert(peer.distance);
    }
  }

 private:
  void add_parts(const GroupCall& call) {
    waits_for_all = true;
    const auto has_equal_parts = [&](const GroupCall* other) { return other->parts == call.parts; };
    if (std::ranges::none_of(by_parts, has_equal_parts)) by_parts.push_back(&call);
  }
};

// How many members of a group each level connects with one of them.
class LevelCounts {
 public:
  LevelCounts(const std::vector<int64_t>& ranks, const MachineModel& machine)
      : ranks_(ranks), machine_(machine), units_(machine.links.size()) {
    for (size_t level = 0; level < units_.size(); ++level) {
      for (const int64_t rank : ranks) ++units_[level][unit_of(level, rank)];
    }
  }
  Key of(int64_t rank) const {
    Key counts;
    uint64_t nearer = 1;  // itself
    for (size_t level = 0; level < units_.size(); ++level) {
      const uint64_t connected = units_[level].at(unit_of(level, rank));
      counts.push_back(connected - nearer);
      nearer = connected;
    }
    if (nearer < ranks_.size()) {  // names a rank that no level connects
      for (const int64_t other : ranks_) machine_.link_between(rank, other);
    }
    return counts;
  }

 private:
  int64_t unit_of(size_t level, int64_t rank) const {
    const int64_t size = machine_.links[level].size;
    return size == 0 ? 0 : rank / size;
  }

  const std::vector<int64_t>& ranks_;
  const MachineModel& machine_;
  std::vector<std::unordered_map<int64_t, uint64_t>> units_;  // members by unit
};

// The ranks `first` to `end_of_link` - 1 share a link, if `first` is the lowest of them.
size_t end_of_link(const LinkLevel& level, size_t first, size_t num_ranks) {
  return first + std::min(static_cast<size_t>(level.shared_by), num_ranks - first);
}

// The classes of ranks `first` to `last` - 1.
Key sharers(const std::vector<size_t>& of_rank, size_t first, size_t last) {
  Key key(of_rank.begin() + static_cast<std::ptrdiff_t>(first),
          of_rank.begin() + static_cast<std::ptrdiff_t>(last));
  std::ranges::sort(key);
  return key;
}

class Partition {
 public:
  Partition(const WorldPrograms& world, const MachineModel& machine,
            const std::map<int64_t, double>& slow)
      : world_(world), machine_(machine), membership_(world) {
    Numbering numbering;
    Key key;
    for (size_t rank = 0; rank < world.num_ranks(); ++rank) {
      const auto own = slow.find(static_cast<int64_t>(rank));
      const double factor = own != slow.end() ? own->second : 1.0;
      key = {world.rank(rank).events, std::bit_cast<uint64_t>(factor)};
      for (const size_t group : world.rank(rank).groups) key.push_back(world.group(group).size());
      kind_.push_back(numbering.number(key));
      if (kind_.back() == calls_.size()) add_kind(world.rank(rank));
    }
    class_ = kind_;
    num_classes_ = numbering.size();
  }

  // Whether all members of each group make the same calls.
  bool is_regular() const {
    for (size_t group = 0; group < world_.num_groups(); ++group) {
      const auto& members = membership_.members[group];
      const auto matches = [&](const Member& member) {
        return member.slot != kNoIndex &&
               calls_of(member).sequence == calls_of(members.front()).sequence;
      };
      if (!std::ranges::all_of(members, matches)) return false;
    }
    return true;
  }

  void refine() {
    find_links();
    for (size_t before = 0; before != num_classes_;) {
      before = num_classes_;
      split();
    }
  }

  const std::vector<size_t>& of_rank() const { return class_; }

 private:
  void add_kind(const WorldPrograms::Rank& rank) {
    std::vector<SlotCalls>& added = calls_.emplace_back(rank.groups.size());
    for (const RankEvent& event : world_.events(rank.events)) {
      if (const auto* call = std::get_if<GroupCall>(&event))
        added[call->group].add(*call, world_.group(rank.groups[call->group]).size());
    }
  }

  const SlotCalls& calls_of(const Member& member) const {
    return calls_[kind_[member.rank]][member.slot];
  }

  // Numbers the levels of the links that each rank uses in each of its groups.
  void find_links() {
    Numbering numbering;
    Key key;
    links_.resize(world_.num_ranks());
    for (size_t rank = 0; rank < links_.size(); ++rank) {
      links_[rank].resize(world_.rank(rank).groups.size());
    }
    for (size_t group = 0; group < world_.num_groups(); ++group) {
      const LevelCounts counts(world_.group(group), machine_);
      const Key shared = collective_links(group);
      for (const Member& member : membership_.members[group]) {
        key = shared;
        add_links(group, member, counts, &key);
        links_[member.rank][member.slot] = numbering.number(key);
      }
    }
  }

  // What times of collectives depend on, apart from messages of single members.
  Key collective_links(size_t group) const {
    const bool only_messages =
        machine_.collectives == Collectives::kDirect && machine_.collective_points.empty();
    if (only_messages || !calls_of(membership_.members[group].front()).waits_for_all) return {};
    Key key;
    for (const GroupLinks::Level& level : links_of(machine_, world_.group(group)).levels) {
      key.push_back(static_cast<uint64_t>(level.link - machine_.links.data()));
      for (const int64_t count : {level.edges, level.units, level.members})
        key.push_back(static_cast<uint64_t>(count));
    }
    return key;
  }

  void add_links(size_t group, const Member& member, const LevelCounts& counts, Key* key) const {
    const SlotCalls& calls = calls_of(member);
    const auto own = static_cast<int64_t>(member.rank);
    key->push_back(calls.is_uniform ? 1u : 0u);
    if (calls.is_uniform) {
      for (const uint64_t count : counts.of(own)) key->push_back(count);
    }
    const size_t position = membership_.positions[member.rank][member.slot];
    for (const int64_t distance : calls.distances) {
      const auto peer = membership_.at_distance(group, position, distance).rank;
      const LinkLevel& link = machine_.link_between(own, static_cast<int64_t>(peer));
      key->push_back(static_cast<uint64_t>(&link - machine_.links.data()));
    }
    for (const GroupCall* call : calls.by_parts) add_traffic(group, position, *call, key);
  }

  // Adds the messages and bytes of a member in a call of parts, by level of links.
  void add_traffic(size_t group, size_t position, const GroupCall& call, Key* key) const {
    struct Traffic {
      int64_t most_messages = 0, bytes_received = 0, bytes_sent = 0;
    };
    std::vector<Traffic> by_level(machine_.links.size());
    const std::vector<int64_t>& ranks = world_.group(group);
    for_each_peer(call, position, [&](const PeerTraffic& peer) {
      const size_t other = (position + static_cast<size_t>(peer.distance)) % ranks.size();
      const LinkLevel& link = machine_.link_between(ranks[position], ranks[other]);
      Traffic& traffic = by_level[static_cast<size_t>(&link - machine_.links.data())];
      traffic.most_messages = std::max(traffic.most_messages, peer.messages_received);
      traffic.bytes_received += peer.bytes_received;
      traffic.bytes_sent += peer.bytes_sent;
    });
    for (const Traffic& traffic : by_level) {
      for (const int64_t each : {traffic.most_messages, traffic.bytes_received, traffic.bytes_sent})
        key->push_back(static_cast<uint64_t>(each));
    }
  }

  void split() {
    Numbering of_groups, of_links, of_ranks;
    std::vector<size_t> signatures;
    for (size_t group = 0; group < world_.num_groups(); ++group) {
      signatures.push_back(of_groups.number(members_of(group)));
    }
    std::vector<std::vector<size_t>> shared;  // by level whose links are shared
    for (const LinkLevel& level : machine_.links) {
      if (level.shared_by > 1) shared.push_back(links_by_sharers(level, &of_links));
    }
    std::vector<size_t> next;
    Key key;
    for (size_t rank = 0; rank < class_.size(); ++rank) {
      key = {class_[rank]};
      add_neighbours(rank, signatures, &key);
      for (const std::vector<size_t>& links : shared) key.push_back(links[rank]);
      next.push_back(of_ranks.number(key));
    }
    class_ = std::move(next);
    num_classes_ = of_ranks.size();
  }

  // By rank, a number of the classes that share its link of this level.
  std::vector<size_t> links_by_sharers(const LinkLevel& level, Numbering* numbering) const {
    std::vector<size_t> links;
    while (links.size() < class_.size()) {
      const size_t last = end_of_link(level, links.size(), class_.size());
      links.resize(last, numbering->number(sharers(class_, links.size(), last)));
    }
    return links;
  }

  // The classes of a group whose calls wait for all members, and how many members each has.
  Key members_of(size_t group) const {
    const auto& members = membership_.members[group];
    if (!calls_of(members.front()).waits_for_all) return {};
    std::map<std::array<uint64_t, 3>, uint64_t> counts;
    for (const Member& member : members)
      ++counts[{class_[member.rank], member.slot, links_[member.rank][member.slot]}];
    Key key;
    for (const auto& [alike, count] : counts) {
      key.insert(key.end(), alike.begin(), alike.end());
      key.push_back(count);
    }
    return key;
  }

  void add_neighbours(size_t rank, const std::vector<size_t>& signatures, Key* key) const {
    const WorldPrograms::Rank& own = world_.rank(rank);
    for (size_t slot = 0; slot < own.groups.size(); ++slot) {
      key->push_back(links_[rank][slot]);
      key->push_back(signatures[own.groups[slot]]);
      for (const int64_t distance : calls_of({rank, slot}).p2p_distances) {
        const Member& peer =
            membership_.at_distance(own.groups[slot], membership_.positions[rank][slot], distance);
        key->push_back(class_[peer.rank]);
        key->push_back(peer.slot);
      }
    }
  }

  const WorldPrograms& world_;
  const MachineModel& machine_;
  Membership membership_;
  std::vector<size_t> kind_;                   // by rank: equal events and sizes of groups
  std::vector<std::vector<SlotCalls>> calls_;  // by kind and slot
  std::vector<size_t> class_;                  // by rank
  size_t num_classes_ = 0;
  std::vector<std::vector<size_t>> links_;  // by rank and slot
};

enum class Shared : uint8_t { kAllGroups, kGroupsOfCollectives };

// Builds the classes and their groups from the class of each rank.
class ClassBuilder {
 public:
  ClassBuilder(const WorldPrograms& world, const MachineModel& machine, std::vector<size_t> of_rank,
               Shared shared)
      : world_(world), machine_(machine), membership_(world), shared_(shared) {
    out_.of_rank = std::move(of_rank);
  }

  RankClasses build() {
    for (size_t rank = 0; rank < world_.num_ranks(); ++rank) {
      if (out_.of_rank[rank] == out_.classes.size()) add_class(rank);
    }
    return std::move(out_);
  }

 private:
  void add_class(size_t rank) {
    RankClass added{rank, {}};
    for (size_t level = 0; level < machine_.links.size(); ++level)
      added.links.push_back(link_of(rank, level));
    const WorldPrograms::Rank& own = world_.rank(rank);
    for (size_t slot = 0; slot < own.groups.size(); ++slot)
      added.slots.push_back({own.groups[slot], membership_.positions[rank][slot]});
    for (const RankEvent& event : world_.events(own.events)) {
      if (const auto* call = std::get_if<GroupCall>(&event)) add_call(*call, added);
    }
    out_.classes.push_back(std::move(added));
  }

  RankClass::LinkShare link_of(size_t rank, size_t level) {
    const LinkLevel& link = machine_.links[level];
    const size_t first = rank - rank % static_cast<size_t>(link.shared_by);
    Key key = sharers(out_.of_rank, first, end_of_link(link, first, world_.num_ranks()));
    const int64_t ranks = std::ranges::count(key, out_.of_rank[rank]);
    key.push_back(level);
    const size_t index = link_numbers_.number(key);
    if (index == out_.links.size()) out_.links.push_back(level);
    return {index, ranks};
  }

  void add_call(const GroupCall& call, RankClass& to) {
    RankClass::Slot& slot = to.slots[call.group];
    const bool is_p2p = call.pattern == CallPattern::kPointToPoint;
    if (slot.shared == kNoIndex && (!is_p2p || shared_ == Shared::kAllGroups))
      slot.shared = shared_group(slot.group);
    if (!is_p2p) return;
    for_each_peer(call, slot.position, [&](const PeerTraffic& peer) {
      const Member& member = membership_.at_distance(slot.group, slot.position, peer.distance);
      slot.peers[peer.distance] = {out_.of_rank[member.rank], member.slot};
    });
  }

  // Groups of the same endpoints are one.
  size_t shared_group(size_t group) {
    std::vector<Endpoint> members;
    for (const Member& member : membership_.members[group]) {
      members.push_back({out_.of_rank[member.rank], member.slot});
    }
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    const auto [known, is_new] = groups_.try_emplace(std::move(members), out_.groups.size());
    if (is_new) out_.groups.push_back({known->first});
    return known->second;
  }

  const WorldPrograms& world_;
  const MachineModel& machine_;
  const Membership membership_;
  const Shared shared_;
  std::map<std::vector<Endpoint>, size_t> groups_;
  Numbering link_numbers_;
  RankClasses out_;
};

}  // namespace

RankClasses one_class_per_rank(const WorldPrograms& world, const MachineModel& machine) {
  std::vector<size_t> of_rank(world.num_ranks());
  std::iota(of_rank.begin(), of_rank.end(), size_t{0});
  return ClassBuilder(world, machine, std::move(of_rank), Shared::kAllGroups).build();
}

std::optional<RankClasses> classes_of(const WorldPrograms& world, const MachineModel& machine,
                                      const std::map<int64_t, double>& slow) {
  Partition partition(world, machine, slow);
  if (!partition.is_regular()) return std::nullopt;
  partition.refine();
  return ClassBuilder(world, machine, partition.of_rank(), Shared::kGroupsOfCollectives).build();
}

}  // namespace phi::distributed::simulator
