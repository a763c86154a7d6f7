// Plays all ranks, each until it waits for a call that others have not made yet.
#include "distributed/simulator/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "distributed/simulator/collective_time.h"
#include "phi/common/errors.h"

namespace phi::distributed::simulator {
namespace {

// One call of all members of a group.
struct MatchedCall {
  struct Arrival {
    const GroupCall* call = nullptr;  // null: not made yet
    double time = 0;
  };
  const std::vector<int64_t>* ranks;  // of the group
  size_t number;                      // among the group's calls, from 1
  std::vector<Arrival> arrivals;
  size_t missing;
  std::vector<size_t> waiting{};  // ranks that wait for it

  std::string name(std::string_view op) const {
    return fmt::format("{}, call {} of group {{{}}}", op, number, fmt::join(*ranks, ","));
  }
};

// The seconds of each event of a class; 0 for calls and waits.
struct ClassTimes {
  const std::vector<RankEvent>* events;
  std::vector<double> seconds;
};

// A call that a rank has made, and the rank's position in the group.
struct MadeCall {
  MatchedCall* matched;
  size_t position;
};

// The calls of a group, and its ranks.
using GroupCalls = std::pair<const std::vector<int64_t>, std::vector<std::unique_ptr<MatchedCall>>>;

// A group of one rank.
struct OwnGroup {
  GroupCalls* calls;
  size_t position;  // of the rank
  size_t made = 0;  // calls so far
};

struct RankState {
  const ClassTimes* times = nullptr;
  size_t next = 0;         // event
  bool is_posted = false;  // the event is a call that the rank has made, and waits for
  double clock = 0;
  RankTime time;
  std::vector<OwnGroup> groups;  // as in the program
  std::vector<MadeCall> calls;   // by number of the call in the program

  bool is_over() const { return next == times->events->size(); }
};

class StepSimulation {
 public:
  StepSimulation(std::span<const RankProgram> programs, const MachineModel& machine)
      : programs_(programs), machine_(machine), states_(programs.size()) {
    for (size_t rank = 0; rank < programs.size(); ++rank) {
      check_groups(rank);
      states_[rank].times = &class_of(programs[rank].events);
      for (const std::vector<int64_t>& ranks : programs[rank].groups) {
        const auto own = std::ranges::find(ranks, static_cast<int64_t>(rank));
        states_[rank].groups.push_back(
            {&*groups_.try_emplace(ranks).first, static_cast<size_t>(own - ranks.begin())});
      }
    }
  }

  SimulatedStep run() {
    for (size_t rank = 0; rank < states_.size(); ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const size_t rank = ready_.front();
      ready_.pop_front();
      advance(rank);
    }
    check_all_made();
    return result();
  }

 private:
  void check_groups(size_t rank) const {
    const auto size = static_cast<int64_t>(programs_.size());
    for (const std::vector<int64_t>& ranks : programs_[rank].groups) {
      PHI_CHECK(std::ranges::max(ranks) < size,
                errors::InvalidArgument("rank {} calls group {{{}}}, and there are programs of {} "
                                        "ranks.",
                                        rank, fmt::join(ranks, ","), size));
    }
  }

  const ClassTimes& class_of(const std::vector<RankEvent>& events) {
    auto& known = classes_[hash_of(events)];
    for (const auto& each : known) {
      if (*each->events == events) return *each;
    }
    auto made = std::make_unique<ClassTimes>(ClassTimes{&events, {}});
    const double slowdown = machine_.slowdown(static_cast<int64_t>(programs_.size()));
    for (const RankEvent& event : events) {
      const auto* computation = std::get_if<Computation>(&event);
      const MachineModel::Time time =
          computation ? machine_.time_of(*computation) : MachineModel::Time();
      made->seconds.push_back(time.seconds * slowdown);
      if (!time.is_listed) unlisted_.emplace(computation->op);
    }
    ++num_classes_;
    known.push_back(std::move(made));
    return *known.back();
  }

  // Runs events until the rank ends or must wait.
  void advance(size_t rank) {
    RankState& state = states_[rank];
    while (!state.is_over()) {
      const RankEvent& event = (*state.times->events)[state.next];
      if (const auto* call = std::get_if<GroupCall>(&event)) {
        if (!state.is_posted) post(rank, *call);
        if (!call->is_started && !finish(rank, state.calls.back())) return;
      } else if (const auto* wait = std::get_if<CallWait>(&event)) {
        if (!finish(rank, state.calls[wait->call])) return;
      } else {
        const double seconds = state.times->seconds[state.next];
        state.clock += seconds;
        state.time.compute += seconds;
      }
      state.is_posted = false;
      ++state.next;
    }
  }

  static MatchedCall& matched_call(GroupCalls& group, size_t number) {
    auto& [ranks, calls] = group;
    if (calls.size() < number) {
      calls.push_back(std::make_unique<MatchedCall>(MatchedCall{
          &ranks, number, std::vector<MatchedCall::Arrival>(ranks.size()), ranks.size()}));
    }
    return *calls[number - 1];
  }

  // The rank makes a call, which wakes those that wait for it.
  void post(size_t rank, const GroupCall& call) {
    RankState& state = states_[rank];
    OwnGroup& group = state.groups[call.group];
    const std::vector<int64_t>& ranks = group.calls->first;
    MatchedCall& matched = matched_call(*group.calls, ++group.made);
    for (size_t i = 0; i < ranks.size(); ++i) {
      const GroupCall* other = matched.arrivals[i].call;
      PHI_CHECK(!other || other->op == call.op,
                errors::InvalidArgument("rank {} makes {}, and rank {} makes {} instead.", rank,
                                        matched.name(call.op), ranks[i], other->op));
    }
    matched.arrivals[group.position] = {&call, state.clock};
    --matched.missing;
    state.calls.push_back({&matched, group.position});
    state.is_posted = true;
    for (const size_t waiting : std::exchange(matched.waiting, {})) ready_.push_back(waiting);
  }

  // Lets the rank wait for a call. Returns false if members must arrive first.
  bool finish(size_t rank, const MadeCall& made) {
    MatchedCall& matched = *made.matched;
    const size_t position = made.position;
    const GroupCall& call = *matched.arrivals[position].call;
    const std::optional<double> ready = call.pattern == CallPattern::kPointToPoint
                                            ? time_of_senders(matched, position)
                                            : time_of_members(matched);
    if (!ready) {
      matched.waiting.push_back(rank);
      return false;
    }
    const double transfer = call.pattern == CallPattern::kPointToPoint
                                ? message_seconds(machine_, *matched.ranks, call, position)
                                : seconds_of_members(matched);
    RankState& state = states_[rank];
    const double begin = std::max(*ready, matched.arrivals[position].time);
    const double end = end_of_wait(machine_, state.clock, begin, transfer);
    const double bubble = std::clamp(*ready - state.clock, 0.0, end - state.clock);
    state.time.bubble += bubble;
    state.time.exposed += end - state.clock - bubble;
    state.clock = end;
    return true;
  }

  // When all members from which this one receives have made the call; the own time if it receives
  // nothing.
  static std::optional<double> time_of_senders(const MatchedCall& matched, size_t position) {
    const GroupCall& call = *matched.arrivals[position].call;
    std::optional<double> latest;
    for (const PeerTraffic& peer : call.peers) {
      if (peer.messages_received == 0) continue;
      const size_t from = peer_position(matched, position, peer);
      const MatchedCall::Arrival& arrival = matched.arrivals[from];
      if (!arrival.call) return std::nullopt;
      check_message(matched, position, from, peer);
      latest = std::max(latest.value_or(0), arrival.time);
    }
    return latest ? latest : matched.arrivals[position].time;
  }

  static std::optional<double> time_of_members(const MatchedCall& matched) {
    if (matched.missing > 0) return std::nullopt;
    return std::ranges::max_element(matched.arrivals, {}, &MatchedCall::Arrival::time)->time;
  }

  static size_t peer_position(const MatchedCall& matched, size_t position,
                              const PeerTraffic& peer) {
    return (position + static_cast<size_t>(peer.distance)) % matched.ranks->size();
  }

  static void check_message(const MatchedCall& matched, size_t to, size_t from,
                            const PeerTraffic& expected) {
    const GroupCall& sender = *matched.arrivals[from].call;
    int64_t sent = 0;
    for (const PeerTraffic& peer : sender.peers) {
      if (peer_position(matched, from, peer) == to) sent = peer.bytes_sent;
    }
    PHI_CHECK(
        sent == expected.bytes_received,
        errors::InvalidArgument("rank {} expects {} bytes from rank {} and is sent {}, in {}.",
                                (*matched.ranks)[to], expected.bytes_received,
                                (*matched.ranks)[from], sent, matched.name(sender.op)));
  }

  double seconds_of_members(const MatchedCall& matched) const {
    std::vector<const GroupCall*> calls;
    for (const MatchedCall::Arrival& arrival : matched.arrivals) calls.push_back(arrival.call);
    return collective_seconds(machine_, *matched.ranks, calls);
  }

  // What a rank does in place of a call that others wait for.
  std::string situation_of(size_t rank) const {
    const RankState& state = states_[rank];
    if (state.is_over()) return "has ended its step";
    const auto* wait = std::get_if<CallWait>(&(*state.times->events)[state.next]);
    const auto& [matched, position] = wait ? state.calls[wait->call] : state.calls.back();
    return "waits in " + matched->name(matched->arrivals[position].call->op);
  }

  void check_all_made() const {
    for (const auto& [ranks, calls] : groups_) {
      for (const auto& matched : calls) {
        if (matched->missing == 0) continue;
        const auto made = std::ranges::find_if(matched->arrivals, &MatchedCall::Arrival::call);
        const auto missing =
            std::ranges::find(matched->arrivals, nullptr, &MatchedCall::Arrival::call);
        if (made == matched->arrivals.end()) continue;
        const auto absent = ranks[static_cast<size_t>(missing - matched->arrivals.begin())];
        throw errors::InvalidArgument("rank {} makes {}, which rank {} never makes: it {}.",
                                      ranks[static_cast<size_t>(made - matched->arrivals.begin())],
                                      matched->name(made->call->op), absent,
                                      situation_of(static_cast<size_t>(absent)));
      }
    }
  }

  SimulatedStep result() const {
    SimulatedStep step;
    for (const RankState& state : states_) step.seconds = std::max(step.seconds, state.clock);
    for (const RankState& state : states_) {
      step.ranks.push_back(state.time);
      step.ranks.back().bubble += step.seconds - state.clock;
    }
    step.unlisted.assign(unlisted_.begin(), unlisted_.end());
    step.classes = num_classes_;
    return step;
  }

  std::span<const RankProgram> programs_;
  const MachineModel& machine_;
  std::vector<RankState> states_;
  std::deque<size_t> ready_;
  std::map<std::vector<int64_t>, std::vector<std::unique_ptr<MatchedCall>>> groups_;  // by ranks
  std::unordered_map<size_t, std::vector<std::unique_ptr<ClassTimes>>> classes_;      // by hash
  size_t num_classes_ = 0;
  std::set<std::string> unlisted_;
};

}  // namespace

SimulatedStep simulate(std::span<const RankProgram> programs, const MachineModel& machine) {
  return StepSimulation(programs, machine).run();
}

}  // namespace phi::distributed::simulator
