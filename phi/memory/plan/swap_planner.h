// SwapPlanner: plans one run of a program that does not fit into the device's limit, step by step
// against estimated clocks. At every step it fetches the step's operands, then prefetches. The
// policy is "aggressive" prefetching (Cao, Felten, Karlin, Li, A Study of Integrated Prefetching
// and Caching Strategies, 1995): it fetches the next missing buffer in place of the one that is
// used farthest in the future, and only if that one is used later.
#pragma once

#include <limits>
#include <set>

#include "phi/memory/plan/arena_map.h"
#include "phi/memory/plan/lower_tiers.h"

namespace phi::memory {

struct PlannerOptions {
  MemoryLimits limits;
  TransferCosts costs;
  /// Whether every kept buffer must be where it began when the run ends.
  bool steady = true;
  bool recompute = true;
};

class SwapPlanner {
 public:
  SwapPlanner(const ProgramIndex& index, const PlannerOptions& options,
              const std::vector<SwapResidence>& start);

  /// Errors: ResourceExhausted.
  SwapPlan run();

 private:
  static constexpr int32_t kNone = -1;
  /// The use for which room is made: by the next step, or by a later one.
  struct Need {
    bool now = true;
    int32_t use = 0;  // step number; steps of the next run follow those of this one
  };
  struct State {
    int32_t segment = kNone;     // in the arena
    int32_t last = kNone;        // the last transfer that uses its device bytes, unless settled
    bool written = false;        // the device bytes have the value, at the latest after `last`
    bool recompute = false;      // no tier has the value; the step that makes it will run again
    int32_t dependents = 0;      // number of values that will be recomputed from this one
    int32_t pinned_at = kNone;   // the launch of which it is an operand
    int32_t listed_use = kNone;  // its key in by_use_
  };
  /// A range that has no tenant any more but that a transfer still reads or writes.
  struct Busy {
    int64_t begin, end;
    int32_t action;
  };
  struct Window {
    int32_t first = kNone;  // segments
    int32_t last = kNone;
    double harm = std::numeric_limits<double>::infinity();
  };
  enum class Ahead : uint8_t { kDone, kSkip, kWait };

  // swap_planner.cc: the course of a run
  void take_start();
  void plan_step(int32_t step);
  void bring(SwapBufferId buffer, BufferAccess access);
  void launch(int32_t step, bool recompute);
  void finish_uses(int32_t step);
  void pin(int32_t step);
  void end_value(SwapBufferId buffer);
  void fetch(SwapBufferId buffer);
  void fetch_ahead();
  Ahead try_ahead(const SwapOperand& operand, int32_t use);
  void promote_ahead();
  bool is_worth_while(Tier from, Tier to, Channel channel, int64_t nbytes, int32_t use) const;
  std::span<const SwapOperand> operands_at(int32_t use) const;
  SwapPlan finish();

  // swap_planner_device.cc: room on the device
  bool place(SwapBufferId buffer, const Need& need);
  void settle_at(SwapBufferId buffer, int64_t offset);
  int64_t home_or_fit(SwapBufferId buffer, const Need& need);
  bool clear_home(SwapBufferId buffer, const Need& need);
  int64_t clear_window(int64_t size, const Need& need);
  bool clear_range(int64_t begin, int64_t end, const Need& need);
  Window window_of_farthest(int64_t size, const Need& need) const;
  Window window_around(int32_t segment, int64_t size, const Need& need) const;
  Window best_window(int64_t size, const Need& need) const;
  double harm_of_clearing(int32_t segment, const Need& need) const;
  void list_use(SwapBufferId buffer);
  void unlist_use(SwapBufferId buffer);
  bool may_evict(SwapBufferId buffer, const Need& need) const;
  double harm_of_evicting(SwapBufferId buffer) const;
  bool evict(SwapBufferId buffer);
  void leave(SwapBufferId buffer);
  int64_t compact(int64_t size);
  bool evict_for_total(int64_t size);
  void move(SwapBufferId buffer, int64_t offset);
  void add_busy(int64_t begin, int64_t end, int32_t action);
  std::vector<int32_t> busy_actions(int64_t begin, int64_t end);
  [[noreturn]] void fail(SwapBufferId buffer) const;

  // swap_planner_recompute.cc: values that are recomputed instead of read back
  bool can_recompute(SwapBufferId buffer) const;
  bool input_lasts(SwapBufferId input, int32_t maker, int32_t use) const;
  double recompute_seconds(int32_t maker, int32_t use) const;
  int32_t maker_of(SwapBufferId buffer) const;
  void drop_for_recompute(SwapBufferId buffer);
  void recompute_missing(int32_t step);
  void recompute_value(int32_t maker);

  // swap_planner_boundary.cc: the end of a run
  void reserve_inputs();
  void restore_start();
  void make_way_below(Tier tier);
  void check_restored() const;
  void go_home();
  void leave_device();
  bool is_in_the_way(SwapBufferId buffer) const;
  void evict_towards(SwapBufferId buffer, const SwapResidence& target);
  void fetch_home();
  void restore_below(SwapBufferId buffer);
  std::vector<SwapResidence> residences() const;

  State& state(SwapBufferId buffer) { return states_[static_cast<size_t>(buffer)]; }
  const State& state(SwapBufferId buffer) const { return states_[static_cast<size_t>(buffer)]; }
  bool is_resident(SwapBufferId buffer) const { return state(buffer).segment != kNone; }
  int64_t offset_of(SwapBufferId buffer) const {
    return arena_.segment(state(buffer).segment).offset;
  }
  /// The device offset at which a steady run must leave the buffer; kNone if there is none.
  int64_t home(SwapBufferId buffer) const;
  int32_t next_launch() const { return static_cast<int32_t>(launches_.size()); }

  const ProgramIndex& index_;
  PlannerOptions options_;
  std::vector<SwapResidence> start_;
  UseClock clock_;
  TransferLog log_;
  LowerTiers below_;
  ArenaMap arena_;
  std::vector<State> states_;
  std::set<std::pair<int32_t, SwapBufferId>> by_use_;  // buffers on the device, by next use
  std::vector<Busy> busy_;
  std::vector<SwapLaunch> launches_;
  std::vector<int64_t> offsets_;
  double now_ = 0;          // estimated end of the last launch
  int32_t ahead_ = 0;       // the first step that may lack an operand on the device
  int32_t ahead_host_ = 0;  // the first step that may lack an operand above the disk
  int64_t peak_device_ = 0;
};

}  // namespace phi::memory
