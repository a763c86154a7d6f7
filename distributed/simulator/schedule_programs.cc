// Posts the receipt of all pieces first, and waits for each where it is needed.
#include "distributed/simulator/schedule_programs.h"

#include <map>
#include <utility>

#include "distributed/pipeline/schedules/check.h"
#include "distributed/pipeline/schedules/data_flow.h"

namespace phi::distributed::simulator {
namespace {

using pipeline::Action;
using pipeline::ActionTimes;
using pipeline::DataFlow;
using pipeline::Schedule;

class StagePrograms {
 public:
  StagePrograms(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule),
        times_(times),
        flow_(schedule),
        programs_(schedule.actions.size()),
        num_calls_(programs_.size()),
        received_(programs_.size()) {}

  std::vector<RankProgram> build() {
    for_each_action([&](int stage, const Action& action) { post_receipt(stage, action); });
    for_each_action([&](int stage, const Action& action) { run(stage, action); });
    return std::move(programs_);
  }

 private:
  template <typename F>
  void for_each_action(const F& f) const {
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      for (const Action& action : schedule_.actions[static_cast<size_t>(stage)]) f(stage, action);
    }
  }

  // Of the piece that an action of `stage` produces for another one.
  void post_receipt(int stage, const Action& action) {
    const auto piece = flow_.produced_by(stage, action);
    if (!piece || flow_.consumer(stage, action) == stage) return;
    const int consumer = flow_.consumer(stage, action);
    received_[static_cast<size_t>(consumer)][*piece] =
        add_call(consumer, {stage, consumer}, {1, 0, 0, 1, 0});
  }

  void run(int stage, const Action& action) {
    const auto s = static_cast<size_t>(stage);
    std::vector<RankEvent>& events = programs_[s].events;
    if (const auto piece = flow_.consumed_by(stage, action)) {
      const auto call = received_[s].find(*piece);
      if (call != received_[s].end()) events.emplace_back(CallWait{call->second});
    }
    events.emplace_back(Computation{name_of(action.kind), DataType::FLOAT32,
                                    pipeline::duration(times_, action.kind), 0});
    if (flow_.produced_by(stage, action) && flow_.consumer(stage, action) != stage)
      add_call(stage, {stage, flow_.consumer(stage, action)}, {1, 1, 0, 0, 0});
  }

  size_t add_call(int stage, std::pair<int, int> group, const PeerTraffic& peer) {
    const auto s = static_cast<size_t>(stage);
    const auto [known, is_new] = groups_.try_emplace({stage, group}, programs_[s].groups.size());
    if (is_new) programs_[s].groups.push_back({group.first, group.second});
    programs_[s].events.emplace_back(
        GroupCall{known->second, "exchange", CallPattern::kPointToPoint, true, 0, {peer}});
    return num_calls_[s]++;
  }

  const Schedule& schedule_;
  const ActionTimes& times_;
  const DataFlow flow_;
  std::vector<RankProgram> programs_;                             // by stage
  std::vector<size_t> num_calls_;                                 // by stage
  std::vector<std::map<size_t, size_t>> received_;                // by stage: calls by piece
  std::map<std::pair<int, std::pair<int, int>>, size_t> groups_;  // by stage and ranks
};

}  // namespace

std::vector<RankProgram> programs_of(const Schedule& schedule, const ActionTimes& times) {
  pipeline::check_complete(schedule);
  return StagePrograms(schedule, times).build();
}

MachineModel schedule_machine(const ActionTimes& times) {
  MachineModel machine;
  machine.families[DataType::FLOAT32] = {{kMatmulFamily, {}, WorkUnit::kFlops, {{1, 1}}},
                                         {kBytesFamily, {}, WorkUnit::kBytes, {{1, 1}}}};
  machine.links = {{"link", 0, times.comm * 1e6, 1}};
  return machine;
}

}  // namespace phi::distributed::simulator
