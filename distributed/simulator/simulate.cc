// Plays all classes of ranks, each until it waits for a call that others have not made yet.
#include "distributed/simulator/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "distributed/simulator/collectives/collective_time.h"
#include "distributed/simulator/rank_classes.h"
#include "phi/common/errors.h"

namespace phi::distributed::simulator {
namespace {

// A call that a class has made.
struct MadeCall {
  const GroupCall* call = nullptr;
  double time = 0;    // when it was made
  size_t number = 0;  // among the calls of its group, from 0
};

// The calls of a class in one of its groups, and the classes that wait for the next one.
struct GroupMember {
  std::vector<MadeCall> made;
  std::vector<size_t> waiting{};
};

// A call of all members of a group.
struct MatchedCall {
  size_t missing;      // members that have not made it
  double latest = 0;   // when the last of the others has
  double slowest = 0;  // time of a member to receive its messages
  Endpoint first{};    // that made it
  std::vector<size_t> waiting{};
};

struct ClassState {
  size_t next = 0;         // event
  bool is_posted = false;  // the event is a call that the rank has made, and waits for
  double clock = 0;
  double issued = 0;  // when its host has issued the last launch or call
  double slow = 1;
  RankTime time;
  std::vector<MadeCall> calls;  // by number of the call in the program
};

// When the messages of a call begin to arrive, and for how long they do.
struct Transfer {
  double ready = 0;
  double seconds = 0;
};

class StepSimulation {
 public:
  StepSimulation(const WorldPrograms& world, const MachineModel& machine,
                 const SimulateOptions& options, const RankClasses& classes)
      : world_(world),
        machine_(machine),
        options_(options),
        classes_(classes),
        seconds_(world.num_events()),
        states_(classes.classes.size()),
        members_(states_.size()),
        groups_(classes.groups.size()),
        links_(world.num_groups()) {
    if (options.keeps_timeline) timeline_.resize(states_.size());
    for (size_t c = 0; c < states_.size(); ++c) {
      const RankClass& own = classes.classes[c];
      members_[c].resize(own.slots.size());
      estimate(world.rank(own.representative).events);
      const auto slow = options.slow.find(static_cast<int64_t>(own.representative));
      if (slow != options.slow.end()) states_[c].slow = slow->second;
      if (options.keeps_timeline) timeline_[c].resize(events_of(c).size());
    }
  }

  // Returns false if classes wait for calls that are never made.
  bool run() {
    for (size_t c = 0; c < states_.size(); ++c) ready_.push_back(c);
    while (!ready_.empty()) {
      const size_t c = ready_.front();
      ready_.pop_front();
      advance(c);
    }
    for (size_t c = 0; c < states_.size(); ++c) {
      if (!is_over(c)) return false;
    }
    return std::ranges::all_of(groups_, [](const auto& calls) {
      return std::ranges::all_of(calls, [](const auto& call) { return call.missing == 0; });
    });
  }

  SimulatedStep result() {
    SimulatedStep step;
    for (const ClassState& state : states_) step.seconds = std::max(step.seconds, state.clock);
    for (const size_t c : classes_.of_rank) {
      step.ranks.push_back(states_[c].time);
      step.ranks.back().bubble += step.seconds - states_[c].clock;
    }
    step.unlisted.assign(unlisted_.begin(), unlisted_.end());
    step.classes = states_.size();
    step.class_of = classes_.of_rank;
    for (const RankClass& each : classes_.classes)
      step.representatives.push_back(each.representative);
    if (options_.keeps_timeline) end_started_calls();
    step.timeline = std::move(timeline_);
    return step;
  }

  // Of a simulation of ranks one by one that has not ended: names a call that is never made.
  [[noreturn]] void report_missing_call() const {
    for (size_t group = 0; group < groups_.size(); ++group) {
      const std::vector<Endpoint>& members = classes_.groups[group].members;
      for (size_t number = 0; number < groups_[group].size(); ++number) {
        const MatchedCall& matched = groups_[group][number];
        if (matched.missing == 0) continue;
        const auto has_made = [&](const Endpoint& member) {
          return member.slot != kNoIndex && made_by(member).size() > number;
        };
        const Endpoint made = *std::ranges::find_if(members, has_made);
        const Endpoint absent = *std::ranges::find_if_not(members, has_made);
        throw errors::InvalidArgument("rank {} makes {}, which rank {} never makes: it {}.",
                                      rank_of(made), name_of(made, number), rank_of(absent),
                                      situation_of(absent.rank_class));
      }
    }
    throw errors::Internal("a simulated rank waits for a call that all members have made.");
  }

 private:
  const std::vector<RankEvent>& events_of(size_t c) const {
    return world_.events(world_.rank(classes_.classes[c].representative).events);
  }
  const std::vector<double>& seconds_of(size_t c) const {
    return seconds_[world_.rank(classes_.classes[c].representative).events];
  }
  bool is_over(size_t c) const { return states_[c].next == events_of(c).size(); }
  size_t rank_of(const Endpoint& member) const {
    return classes_.classes[member.rank_class].representative;
  }
  const RankClass::Slot& slot_of(const Endpoint& member) const {
    return classes_.classes[member.rank_class].slots[member.slot];
  }
  const std::vector<int64_t>& ranks_of(const Endpoint& member) const {
    return world_.group(slot_of(member).group);
  }
  const std::vector<MadeCall>& made_by(const Endpoint& member) const {
    return members_[member.rank_class][member.slot].made;
  }

  std::string name_of(const Endpoint& member, size_t number) const {
    return fmt::format("{}, call {} of group {{{}}}", made_by(member)[number].call->op, number + 1,
                       fmt::join(ranks_of(member), ","));
  }

  // The seconds of each launch.
  void estimate(size_t events) {
    std::vector<double>& seconds = seconds_[events];
    if (!seconds.empty()) return;
    const double slowdown = machine_.slowdown(static_cast<int64_t>(world_.num_ranks()));
    for (const RankEvent& event : world_.events(events)) {
      const auto* computation = std::get_if<Computation>(&event);
      const bool is_known = computation && computation->seconds > 0;
      const MachineModel::Time time =
          computation && !is_known ? machine_.time_of(*computation) : MachineModel::Time();
      seconds.push_back(is_known ? computation->seconds : time.seconds * slowdown);
      if (!time.is_listed) unlisted_.emplace(computation->op);
    }
  }

  // Runs events until the class ends or must wait.
  void advance(size_t c) {
    ClassState& state = states_[c];
    const std::vector<RankEvent>& events = events_of(c);
    for (; state.next < events.size(); ++state.next) {
      const double start = state.clock;
      const RankEvent& event = events[state.next];
      if (const auto* call = std::get_if<GroupCall>(&event)) {
        if (!state.is_posted) post(c, *call);
        if (!call->is_started && !finish(c, state.calls.back())) return;
      } else if (const auto* wait = std::get_if<CallWait>(&event)) {
        if (!finish(c, state.calls[wait->call])) return;
      } else {
        issue(state);
        const double seconds = seconds_of(c)[state.next] * state.slow;
        state.clock += seconds;
        state.time.compute += seconds;
      }
      state.is_posted = false;
      if (options_.keeps_timeline) timeline_[c][state.next] = {start, state.clock};
    }
  }

  // The device waits for the host to issue its next launch or call.
  void issue(ClassState& state) const {
    state.issued += machine_.issue_us * 1e-6;
    const double begin = std::max(state.clock, state.issued);
    state.time.compute += begin - state.clock;
    state.clock = begin;
  }

  // The class makes a call, which wakes those that wait for it.
  void post(size_t c, const GroupCall& call) {
    const Endpoint own{c, call.group};
    ClassState& state = states_[c];
    issue(state);
    GroupMember& member = members_[c][call.group];
    const MadeCall& made =
        member.made.emplace_back(MadeCall{&call, state.clock, member.made.size()});
    state.calls.push_back(made);
    state.is_posted = true;
    if (slot_of(own).shared != kNoIndex) arrive(own, made);
    wake(member.waiting);
  }

  void arrive(const Endpoint& own, const MadeCall& made) {
    std::vector<MatchedCall>& calls = groups_[slot_of(own).shared];
    if (calls.size() == made.number) {
      const size_t members = classes_.groups[slot_of(own).shared].members.size();
      calls.push_back(MatchedCall{.missing = members, .first = own});
    }
    MatchedCall& matched = calls[made.number];
    if (made_by(matched.first)[made.number].call->op != made.call->op) {
      const auto [low, high] = std::minmax(matched.first, own);
      throw errors::InvalidArgument("rank {} makes {}, and rank {} makes {} instead.", rank_of(low),
                                    name_of(low, made.number), rank_of(high),
                                    made_by(high)[made.number].call->op);
    }
    matched.latest = std::max(matched.latest, made.time);
    if (made.call->pattern != CallPattern::kPointToPoint &&
        depends_on_messages(machine_, links_of_group(own), *made.call)) {
      matched.slowest =
          std::max(matched.slowest,
                   receive_seconds(machine_, ranks_of(own), *made.call, slot_of(own).position));
    }
    --matched.missing;
    if (matched.missing == 0) wake(matched.waiting);
  }

  void wake(std::vector<size_t>& waiting) {
    for (const size_t c : std::exchange(waiting, {})) ready_.push_back(c);
  }

  // Lets the class wait for a call. Returns false if members must arrive first.
  bool finish(size_t c, const MadeCall& made) {
    const std::optional<Transfer> transfer = transfer_of(c, made);
    if (!transfer) return false;
    ClassState& state = states_[c];
    const double begin = std::max(transfer->ready, made.time);
    const double end = end_of_wait(machine_, state.clock, begin, transfer->seconds);
    const double bubble = std::clamp(transfer->ready - state.clock, 0.0, end - state.clock);
    state.time.bubble += bubble;
    state.time.exposed += end - state.clock - bubble;
    state.clock = end;
    // The host waits for messages of single ranks, but only the device for collectives.
    if (made.call->pattern == CallPattern::kPointToPoint)
      state.issued = std::max(state.issued, end);
    return true;
  }

  // Nothing if members must arrive first, which then wake the class.
  std::optional<Transfer> transfer_of(size_t c, const MadeCall& made) {
    const Endpoint own{c, made.call->group};
    if (made.call->pattern == CallPattern::kPointToPoint) {
      const std::optional<double> ready = time_of_senders(own, made);
      if (!ready) return std::nullopt;
      return Transfer{*ready,
                      message_seconds(machine_, ranks_of(own), *made.call, slot_of(own).position)};
    }
    MatchedCall& matched = groups_[slot_of(own).shared][made.number];
    if (matched.missing > 0) {
      matched.waiting.push_back(c);
      return std::nullopt;
    }
    return Transfer{matched.latest,
                    collective_seconds(machine_, links_of_group(own), *made.call, matched.slowest)};
  }

  // When all members from which this one receives have made the call; the own time if it receives
  // nothing.
  std::optional<double> time_of_senders(const Endpoint& own, const MadeCall& made) {
    std::optional<double> latest;
    for (const PeerTraffic& peer : made.call->peers) {
      if (peer.messages_received == 0) continue;
      const Endpoint& from = slot_of(own).peers.at(peer.distance);
      if (from.slot == kNoIndex) return std::nullopt;
      GroupMember& sender = members_[from.rank_class][from.slot];
      if (sender.made.size() <= made.number) {
        sender.waiting.push_back(own.rank_class);
        return std::nullopt;
      }
      check_message(own, made, peer, *sender.made[made.number].call);
      latest = std::max(latest.value_or(0), sender.made[made.number].time);
    }
    return latest ? latest : made.time;
  }

  int64_t peer_rank(const Endpoint& own, const PeerTraffic& peer) const {
    const std::vector<int64_t>& ranks = ranks_of(own);
    return ranks[(slot_of(own).position + static_cast<size_t>(peer.distance)) % ranks.size()];
  }

  void check_message(const Endpoint& own, const MadeCall& made, const PeerTraffic& expected,
                     const GroupCall& sender) const {
    const auto size = static_cast<int64_t>(ranks_of(own).size());
    int64_t sent = 0;
    for (const PeerTraffic& peer : sender.peers) {
      if (peer.distance == (size - expected.distance) % size) sent = peer.bytes_sent;
    }
    PHI_CHECK(
        sent == expected.bytes_received,
        errors::InvalidArgument("rank {} expects {} bytes from rank {} and is sent {}, in {}.",
                                rank_of(own), expected.bytes_received, peer_rank(own, expected),
                                sent, name_of(own, made.number)));
  }

  const GroupLinks& links_of_group(const Endpoint& member) {
    const size_t group = slot_of(member).group;
    if (!links_[group]) links_[group] = links_of(machine_, world_.group(group));
    return *links_[group];
  }

  void end_started_calls() {
    for (size_t c = 0; c < states_.size(); ++c) {
      size_t number = 0;
      for (size_t i = 0; i < events_of(c).size(); ++i) {
        const auto* call = std::get_if<GroupCall>(&events_of(c)[i]);
        if (!call) continue;
        const MadeCall& made = states_[c].calls[number++];
        if (!call->is_started) continue;
        const std::optional<Transfer> transfer = transfer_of(c, made);
        if (transfer)
          timeline_[c][i].end = std::max(made.time, transfer->ready) + transfer->seconds;
      }
    }
  }

  // What a rank does in place of a call that others wait for.
  std::string situation_of(size_t c) const {
    const ClassState& state = states_[c];
    if (is_over(c)) return "has ended its step";
    const auto* wait = std::get_if<CallWait>(&events_of(c)[state.next]);
    const MadeCall& made = wait ? state.calls[wait->call] : state.calls.back();
    return "waits in " + name_of({c, made.call->group}, made.number);
  }

  const WorldPrograms& world_;
  const MachineModel& machine_;
  const SimulateOptions& options_;
  const RankClasses& classes_;
  std::vector<std::vector<double>> seconds_;       // by events of the world
  std::vector<ClassState> states_;                 // by class
  std::vector<std::vector<GroupMember>> members_;  // by class and slot
  std::vector<std::vector<MatchedCall>> groups_;   // by group of classes
  std::vector<std::optional<GroupLinks>> links_;   // by group of the world
  std::vector<std::vector<EventSpan>> timeline_;
  std::deque<size_t> ready_;
  std::set<std::string> unlisted_;
};

void check_groups(const WorldPrograms& world) {
  const auto size = static_cast<int64_t>(world.num_ranks());
  for (size_t group = 0; group < world.num_groups(); ++group) {
    const std::vector<int64_t>& ranks = world.group(group);
    if (std::ranges::max(ranks) < size) continue;
    size_t rank = 0;
    while (std::ranges::find(world.rank(rank).groups, group) == world.rank(rank).groups.end())
      ++rank;
    throw errors::InvalidArgument("rank {} calls group {{{}}}, and there are programs of {} ranks.",
                                  rank, fmt::join(ranks, ","), size);
  }
}

void check_slow_ranks(const WorldPrograms& world, const SimulateOptions& options) {
  for (const auto& [rank, factor] : options.slow) {
    PHI_CHECK(rank >= 0 && rank < static_cast<int64_t>(world.num_ranks()),
              errors::OutOfRange("rank {} is slow, and there are ranks 0 to {}.", rank,
                                 world.num_ranks() - 1));
    PHI_CHECK(factor > 0,
              errors::InvalidArgument("rank {} is slower by factor {}; expected one above 0.", rank,
                                      factor));
  }
}

}  // namespace

SimulatedStep simulate(const WorldPrograms& world, const MachineModel& machine,
                       const SimulateOptions& options) {
  check_groups(world);
  check_slow_ranks(world, options);
  if (!options.one_by_one) {
    if (const auto classes = classes_of(world, machine, options.slow)) {
      StepSimulation simulation(world, machine, options, *classes);
      if (simulation.run()) return simulation.result();
    }
  }
  const RankClasses classes = one_class_per_rank(world);
  StepSimulation simulation(world, machine, options, classes);
  if (!simulation.run()) simulation.report_missing_call();
  return simulation.result();
}

SimulatedStep simulate(std::span<const RankProgram> programs, const MachineModel& machine,
                       const SimulateOptions& options) {
  return simulate(WorldPrograms::of(programs), machine, options);
}

}  // namespace phi::distributed::simulator
