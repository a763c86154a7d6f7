// Plays all classes of ranks, each until it waits for messages; then the links, until some arrive.
// All times that the links know are therefore in the past of whatever uses them next.
#include "distributed/simulator/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "distributed/simulator/collectives/reception.h"
#include "distributed/simulator/link_traffic.h"
#include "distributed/simulator/rank_classes.h"
#include "phi/common/errors.h"

namespace phi::distributed::simulator {
namespace {

// A call that a class has made. Point-to-point calls have messages of their own.
struct MadeCall {
  const GroupCall* call = nullptr;
  double time = 0;              // when it was made
  size_t number = 0;            // among the calls of its group, from 0
  size_t missing = 0;           // senders that have not made it
  double ready = 0;             // when the last sender has made it
  std::optional<double> end{};  // when its messages have arrived
  bool is_waited_for = false;   // by its class
};

// A class that receives messages of a call which this one has not made yet.
struct Receiver {
  size_t rank_class = 0;
  size_t call = 0;  // of ClassState::calls
  PeerTraffic peer;
};

// The calls of a class in one of its groups.
struct GroupMember {
  std::vector<size_t> made{};                   // of ClassState::calls, by number
  std::multimap<size_t, Receiver> receivers{};  // by number of the call
};

// A call of all members of a group.
struct MatchedCall {
  size_t missing;        // members that have not made it
  double latest = 0;     // when the last of the others has
  Endpoint first{};      // that made it
  size_t under_way = 0;  // members that have not received their messages
  double end = 0;        // when the last of the others has
  std::vector<size_t> waiting{};

  bool is_over() const { return missing == 0 && under_way == 0; }
};

// Launches in a row, on cores that the ranks share.
struct SharedLaunches {
  size_t end = 0;  // event
  double begin = 0;
  double work = 0;  // seconds on a core of one's own
  std::optional<double> ended{};
};

struct ClassState {
  size_t next = 0;         // event
  bool is_posted = false;  // the event is a call that the rank has made, and waits for
  double clock = 0;
  double issued = 0;  // when its host has issued the last launch or call
  double slow = 1;
  RankTime time;
  std::vector<MadeCall> calls;               // by number of the call in the program
  std::optional<SharedLaunches> launches{};  // under way
};

// A transfer carries the messages of a call, or is launches on shared cores.
struct UseOfTransfer {
  enum class Kind : uint8_t { kMessages, kCollective, kLaunches };
  Kind kind = Kind::kMessages;
  size_t index = 0;   // of the group of classes, or of the class that receives or computes
  size_t number = 0;  // of the call in it
  double combining = 0;
};

// The links of the classes, and after them the cores, on which a second of a launch takes a second
// at least.
std::vector<LinkTraffic::Link> links_and_cores(const MachineModel& machine,
                                               const RankClasses& classes) {
  std::vector<LinkTraffic::Link> out;
  for (const size_t level : classes.links)
    out.push_back({.bytes_per_second = machine.links[level].GBps * 1e9});
  out.push_back({.bytes_per_second = machine.cores, .most_of_one = 1});
  return out;
}

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
        links_(world.num_groups()),
        shares_cores_(machine.slowdown(static_cast<int64_t>(world.num_ranks())) > 1),
        traffic_(links_and_cores(machine, classes)) {
    if (shares_cores_) count_ranks();
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
    advance_all();
    for (auto ended = traffic_.next(); !ended.empty(); ended = traffic_.next()) {
      for (const LinkTraffic::Ended& transfer : ended) receive(transfer);
      advance_all();
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
          return member.slot != kNoIndex && num_made(member) > number;
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
  size_t num_made(const Endpoint& member) const {
    return members_[member.rank_class][member.slot].made.size();
  }
  const MadeCall& call_of(const Endpoint& member, size_t number) const {
    const size_t index = members_[member.rank_class][member.slot].made[number];
    return states_[member.rank_class].calls[index];
  }

  std::string name_of(const Endpoint& member, size_t number) const {
    return fmt::format("{}, call {} of group {{{}}}", call_of(member, number).call->op, number + 1,
                       fmt::join(ranks_of(member), ","));
  }

  // The seconds of each launch.
  void estimate(size_t events) {
    std::vector<double>& seconds = seconds_[events];
    if (!seconds.empty()) return;
    for (const RankEvent& event : world_.events(events)) {
      const auto* computation = std::get_if<Computation>(&event);
      const bool is_known = computation && computation->seconds > 0;
      const MachineModel::Time time =
          computation && !is_known ? machine_.time_of(*computation) : MachineModel::Time();
      seconds.push_back(is_known ? computation->seconds : time.seconds);
      if (!time.is_listed) unlisted_.emplace(computation->op);
    }
  }

  void advance_all() {
    while (!ready_.empty()) {
      const size_t c = ready_.front();
      ready_.pop_front();
      advance(c);
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
        if (!call->is_started && !finish(c, state.calls.size() - 1)) return;
      } else if (const auto* wait = std::get_if<CallWait>(&event)) {
        if (!finish(c, wait->call)) return;
      } else if (shares_cores_) {
        if (!state.launches) return launch_shared(c);
        end_shared(c);
        continue;
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

  // Begins the launches from the next event to the next call, which wake the class when they end.
  void launch_shared(size_t c) {
    ClassState& state = states_[c];
    const std::vector<RankEvent>& events = events_of(c);
    SharedLaunches launches{.end = state.next, .begin = state.clock};
    for (;
         launches.end < events.size() && std::holds_alternative<Computation>(events[launches.end]);
         ++launches.end)
      launches.work += seconds_shared(c, launches.end);
    add_transfer({.kind = UseOfTransfer::Kind::kLaunches, .index = c},
                 {.begin = launches.begin, .legs = {leg_on_cores(c, launches.work)}});
    state.launches = launches;
  }

  LinkTraffic::Leg leg_on_cores(size_t c, double seconds) const {
    return {classes_.links.size(), seconds, ranks_of_class_[c]};
  }

  // The device also waits for the host, which issues one launch after the other.
  double seconds_shared(size_t c, size_t event) const {
    return std::max(seconds_of(c)[event] * states_[c].slow, machine_.issue_us * 1e-6);
  }

  void end_shared(size_t c) {
    ClassState& state = states_[c];
    const SharedLaunches launches = *std::exchange(state.launches, std::nullopt);
    const double taken = *launches.ended - launches.begin;
    if (options_.keeps_timeline) {
      double done = 0;
      const auto now = [&] {
        return launches.begin + (launches.work > 0 ? taken * done / launches.work : 0);
      };
      for (size_t i = state.next; i < launches.end; ++i) {
        const double start = now();
        done += seconds_shared(c, i);
        timeline_[c][i] = {start, now()};
      }
    }
    state.time.compute += taken;
    state.clock = *launches.ended;
    state.issued = std::max(state.issued, state.clock);
    state.next = launches.end - 1;  // the caller's loop goes on after it
  }

  void count_ranks() {
    ranks_of_class_.resize(states_.size());
    for (const size_t c : classes_.of_rank) ++ranks_of_class_[c];
  }

  // The device waits for the host to issue its next launch or call.
  void issue(ClassState& state) const {
    state.issued += machine_.issue_us * 1e-6;
    const double begin = std::max(state.clock, state.issued);
    state.time.compute += begin - state.clock;
    state.clock = begin;
  }

  // The class makes a call. Messages that wait for no other member begin.
  void post(size_t c, const GroupCall& call) {
    const Endpoint own{c, call.group};
    ClassState& state = states_[c];
    issue(state);
    GroupMember& member = members_[c][call.group];
    const size_t index = state.calls.size(), number = member.made.size();
    state.calls.push_back(MadeCall{.call = &call, .time = state.clock, .number = number});
    member.made.push_back(index);
    state.is_posted = true;
    if (slot_of(own).shared != kNoIndex) arrive(own, number);
    if (call.pattern == CallPattern::kPointToPoint) expect_messages(own, index);
    const auto receivers = member.receivers.equal_range(number);
    for (auto each = receivers.first; each != receivers.second; ++each)
      hear_from(own, number, each->second);
    member.receivers.erase(receivers.first, receivers.second);
  }

  void arrive(const Endpoint& own, size_t number) {
    const size_t group = slot_of(own).shared;
    std::vector<MatchedCall>& calls = groups_[group];
    if (calls.size() == number)
      calls.push_back(MatchedCall{.missing = classes_.groups[group].members.size(), .first = own});
    MatchedCall& matched = calls[number];
    const MadeCall& made = call_of(own, number);
    if (call_of(matched.first, number).call->op != made.call->op) {
      const auto [low, high] = std::minmax(matched.first, own);
      throw errors::InvalidArgument("rank {} makes {}, and rank {} makes {} instead.", rank_of(low),
                                    name_of(low, number), rank_of(high),
                                    call_of(high, number).call->op);
    }
    matched.latest = std::max(matched.latest, made.time);
    --matched.missing;
    if (matched.missing == 0 && made.call->pattern != CallPattern::kPointToPoint)
      begin_collective(group, number);
  }

  void begin_collective(size_t group, size_t number) {
    MatchedCall& matched = groups_[group][number];
    for (const Endpoint& member : classes_.groups[group].members) {
      const GroupCall& call = *call_of(member, number).call;
      begin_transfer({.kind = UseOfTransfer::Kind::kCollective, .index = group, .number = number},
                     member, matched.latest,
                     reception_of_collective(machine_, links_of_group(member), ranks_of(member),
                                             call, slot_of(member).position));
      ++matched.under_way;
    }
  }

  // Begins the messages to a member, unless some senders have not made the call.
  void expect_messages(const Endpoint& own, size_t index) {
    MadeCall& made = states_[own.rank_class].calls[index];
    const size_t position = slot_of(own).position;
    for_each_peer(*made.call, position,
                  [&](const PeerTraffic& peer) { made.missing += peer.messages_received > 0; });
    if (made.missing == 0) return begin_messages(own.rank_class, index);
    for_each_peer(*made.call, position, [&](const PeerTraffic& peer) {
      if (peer.messages_received == 0) return;
      const Endpoint& from = slot_of(own).peers.at(peer.distance);
      if (from.slot == kNoIndex) return;  // it never does
      const Receiver receiver{own.rank_class, index, peer};
      if (num_made(from) > made.number) {
        hear_from(from, made.number, receiver);
      } else {
        members_[from.rank_class][from.slot].receivers.emplace(made.number, receiver);
      }
    });
  }

  // A sender has made the call in which another class receives from it.
  void hear_from(const Endpoint& sender, size_t number, const Receiver& receiver) {
    MadeCall& made = states_[receiver.rank_class].calls[receiver.call];
    const MadeCall& sent = call_of(sender, number);
    check_message({receiver.rank_class, made.call->group}, made, receiver.peer, *sent.call);
    made.ready = std::max(made.ready, sent.time);
    if (--made.missing == 0) begin_messages(receiver.rank_class, receiver.call);
  }

  void begin_messages(size_t c, size_t index) {
    const MadeCall& made = states_[c].calls[index];
    const Endpoint own{c, made.call->group};
    begin_transfer(
        {.index = c, .number = index}, own, std::max(made.ready, made.time),
        reception_of_messages(machine_, ranks_of(own), *made.call, slot_of(own).position));
  }

  void begin_transfer(UseOfTransfer use, const Endpoint& receiver, double begin,
                      const Reception& reception) {
    LinkTraffic::Transfer transfer{.begin = begin + reception.latency,
                                   .at_once = reception.at_once};
    for (const Reception::Leg& leg : reception.legs) {
      const RankClass::LinkShare& link = classes_.classes[receiver.rank_class].links[leg.level];
      transfer.legs.push_back({link.index, leg.bytes, link.ranks});
    }
    use.combining = reception.combining;
    if (shares_cores_ && machine_.receives_by_core()) {
      transfer.begin = begin;
      transfer.at_once = true;
      transfer.legs.push_back(
          leg_on_cores(receiver.rank_class, seconds_alone(machine_, reception)));
      use.combining = 0;
    }
    add_transfer(use, std::move(transfer));
  }

  void add_transfer(const UseOfTransfer& use, LinkTraffic::Transfer transfer) {
    const size_t id = traffic_.add(std::move(transfer));
    uses_of_transfers_.resize(std::max(uses_of_transfers_.size(), id + 1));
    uses_of_transfers_[id] = use;
  }

  // Messages have arrived or launches ended: wakes those that wait for them.
  void receive(const LinkTraffic::Ended& transfer) {
    const UseOfTransfer& use = uses_of_transfers_[transfer.id];
    if (use.kind == UseOfTransfer::Kind::kLaunches) {
      states_[use.index].launches->ended = transfer.time;
      return ready_.push_back(use.index);
    }
    const double end = transfer.time + use.combining;
    if (use.kind == UseOfTransfer::Kind::kMessages) {
      MadeCall& made = states_[use.index].calls[use.number];
      made.end = end;
      if (made.is_waited_for) ready_.push_back(use.index);
      return;
    }
    MatchedCall& matched = groups_[use.index][use.number];
    matched.end = std::max(matched.end, end);
    if (--matched.under_way > 0) return;
    for (const size_t c : std::exchange(matched.waiting, {})) ready_.push_back(c);
  }

  // Nothing while messages are missing.
  std::optional<Arrival> arrival_of(size_t c, const MadeCall& made) const {
    if (made.call->pattern == CallPattern::kPointToPoint) {
      if (!made.end) return std::nullopt;
      return Arrival{std::max(made.ready, made.time), *made.end};
    }
    const MatchedCall& matched = groups_[slot_of({c, made.call->group}).shared][made.number];
    if (!matched.is_over()) return std::nullopt;
    return Arrival{matched.latest, matched.end};
  }

  // Lets the class wait for a call. Returns false if messages are missing, which then wake it.
  bool finish(size_t c, size_t index) {
    MadeCall& made = states_[c].calls[index];
    const bool is_p2p = made.call->pattern == CallPattern::kPointToPoint;
    const std::optional<Arrival> arrival = arrival_of(c, made);
    if (!arrival) {
      made.is_waited_for = true;
      if (!is_p2p) groups_[slot_of({c, made.call->group}).shared][made.number].waiting.push_back(c);
      return false;
    }
    ClassState& state = states_[c];
    const double end = end_of_wait(machine_, state.clock, *arrival);
    const double bubble = std::clamp(arrival->begin - state.clock, 0.0, end - state.clock);
    state.time.bubble += bubble;
    state.time.exposed += end - state.clock - bubble;
    state.clock = end;
    // The host waits for messages of single ranks, but only the device for collectives.
    if (is_p2p) state.issued = std::max(state.issued, end);
    return true;
  }

  void check_message(const Endpoint& own, const MadeCall& made, const PeerTraffic& expected,
                     const GroupCall& sender) const {
    const std::vector<int64_t>& ranks = ranks_of(own);
    const size_t size = ranks.size();
    // The sender's own position, which need not be that of its class's representative.
    const size_t from = (slot_of(own).position + static_cast<size_t>(expected.distance)) % size;
    const int64_t back = static_cast<int64_t>(size) - expected.distance;
    const int64_t sent = traffic_of(sender, from, back).bytes_sent;
    PHI_CHECK(sent == expected.bytes_received,
              errors::InvalidArgument(
                  "rank {} expects {} bytes from rank {} and is sent {}, in {}.", rank_of(own),
                  expected.bytes_received, ranks[from], sent, name_of(own, made.number)));
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
        if (const std::optional<Arrival> arrival = arrival_of(c, made))
          timeline_[c][i].end = arrival->end;
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
  bool shares_cores_;                              // more ranks than cores
  std::vector<int64_t> ranks_of_class_;            // if they share cores
  LinkTraffic traffic_;
  std::vector<UseOfTransfer> uses_of_transfers_;  // by id in traffic_
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
  const RankClasses classes = one_class_per_rank(world, machine);
  StepSimulation simulation(world, machine, options, classes);
  if (!simulation.run()) simulation.report_missing_call();
  return simulation.result();
}

SimulatedStep simulate(std::span<const RankProgram> programs, const MachineModel& machine,
                       const SimulateOptions& options) {
  return simulate(WorldPrograms::of(programs), machine, options);
}

}  // namespace phi::distributed::simulator
