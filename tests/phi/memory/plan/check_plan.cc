// Tracks the values of a plan through its launches and actions. Two events may be concurrent unless
// the plan's own order (issue, due, after) excludes it.
#include "check_plan.h"

#include <algorithm>
#include <map>

#include "phi/common/errors.h"
#include "phi/memory/plan/program_index.h"

namespace phi::memory {
namespace {

/// A launch, an action, or the start of the run, which precedes all others.
struct Event {
  enum class Kind : uint8_t { kStart, kLaunch, kAction } kind = Kind::kStart;
  int32_t index = 0;
};

/// Determines which events are certainly complete when another one begins.
class PlanOrder {
 public:
  explicit PlanOrder(const SwapPlan& plan) : plan_(plan) {}

  bool precedes(const Event& event, const Event& later) const {
    if (event.kind == Event::Kind::kStart) return true;
    if (later.kind == Event::Kind::kLaunch) {
      return event.kind == Event::Kind::kLaunch ? event.index < later.index
                                                : action(event.index).due <= later.index;
    }
    return precedes_action(event, later.index);
  }

 private:
  const SwapAction& action(int32_t index) const {
    return plan_.actions[static_cast<size_t>(index)];
  }

  bool precedes_action(const Event& event, int32_t later) const {
    const int32_t issue = action(later).issue;
    if (event.kind == Event::Kind::kLaunch) {
      if (event.index < issue) return true;
    } else {
      const SwapAction& earlier = action(event.index);
      if (event.index >= later) return false;
      if (earlier.due < issue) return true;
      const bool at_once = earlier.kind == SwapAction::Kind::kDrop && earlier.after.empty();
      if (at_once && earlier.issue <= issue) return true;
    }
    const auto& after = action(later).after;
    return std::any_of(after.begin(), after.end(), [&](int32_t other) {
      const bool is_event = event.kind == Event::Kind::kAction && event.index == other;
      return is_event || precedes_action(event, other);
    });
  }

  const SwapPlan& plan_;
};

/// A position that can hold a value, and the events that have accessed it.
struct Cell {
  SwapBufferId buffer = -1;
  int32_t version = -1;
  Event writer;
  std::vector<Event> readers = {};
};

class Checker {
 public:
  Checker(const SwapPlan& plan, const SwapProgram& program)
      : plan_(plan), index_(program), order_(plan), versions_(program.buffers.size(), -1) {}

  void run() {
    check_form();
    take_start();
    size_t next = 0;
    for (size_t launch = 0; launch <= plan_.launches.size(); ++launch) {
      for (;
           next < plan_.actions.size() && plan_.actions[next].issue == static_cast<int32_t>(launch);
           ++next) {
        run_action(static_cast<int32_t>(next));
      }
      if (launch < plan_.launches.size()) run_launch(static_cast<int32_t>(launch));
    }
    require(next_step_ == index_.num_steps(), "the plan ends before the program");
    check_end();
  }

 private:
  struct TierBlock {  // bytes of a lower tier
    int64_t bytes;
    SwapBufferId buffer;
    bool released = false;
    Event release = {};
  };
  struct DeviceCell {
    int64_t end;
    Cell cell;
  };

  template <typename... Args>
  void require(bool holds, fmt::format_string<Args...> format, Args&&... args) const {
    PHI_CHECK(holds, errors::Internal("bad swap plan, {}: {}.", where_,
                                      fmt::format(format, std::forward<Args>(args)...)));
  }

  void check_form() {
    const auto launches = static_cast<int32_t>(plan_.launches.size());
    require(plan_.arena_bytes <= plan_.limits.device_bytes,
            "the arena of {} bytes is over the limit", plan_.arena_bytes);
    require(plan_.start.size() == versions_.size() && plan_.end.size() == versions_.size(),
            "start and end do not name every buffer");
    int32_t issue = 0;
    for (size_t a = 0; a < plan_.actions.size(); ++a) {
      const SwapAction& action = plan_.actions[a];
      require(action.issue >= issue && action.issue <= action.due && action.due <= launches,
              "action {} is issued at {} and due at {}", a, action.issue, action.due);
      issue = action.issue;
      for (int32_t other : action.after) {
        require(other >= 0 && other < static_cast<int32_t>(a), "action {} waits for {}", a, other);
      }
    }
  }

  void take_start() {
    where_ = "start";
    device_[0] = {plan_.arena_bytes, {}};
    for (SwapBufferId b = 0; static_cast<size_t>(b) < versions_.size(); ++b) {
      const SwapResidence& at = plan_.start[static_cast<size_t>(b)];
      const bool somewhere = at.device_offset >= 0 || at.host || at.disk;
      require(somewhere == index_.given(b), "{} is given and has no location, or the reverse",
              name(b));
      if (!somewhere) continue;
      versions_[static_cast<size_t>(b)] = 0;
      if (at.device_offset >= 0) {
        for (const DeviceCell* cell : cells_in(at.device_offset, b)) {
          require(cell->cell.buffer < 0, "{} and {} overlap", name(b), name(cell->cell.buffer));
        }
        write_device(at.device_offset, b, 0, {});
      }
      if (at.host) allocate(b, Tier::kHost, 0, {});
      if (at.disk) allocate(b, Tier::kDisk, 0, {});
    }
  }

  void run_launch(int32_t at) {
    const SwapLaunch& launch = plan_.launches[static_cast<size_t>(at)];
    const Event event{Event::Kind::kLaunch, at};
    where_ = fmt::format("launch {} of {}", at, index_.describe_step(launch.step));
    const bool first = !launch.recompute;
    if (first) {
      require(launch.step == next_step_, "the program's next step is {}", next_step_);
      ++next_step_;
      seen_.emplace_back();
    } else {
      require(launch.step < next_step_, "nothing to recompute yet");
      require(step(launch.step).repeatable, "the step is not repeatable");
    }
    std::vector<int32_t>& seen = seen_[static_cast<size_t>(launch.step)];
    const auto operands = index_.operands(launch.step);
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto [buffer, access] = operands[i];
      if (access == BufferAccess::kWrite) {
        if (first) seen.push_back(index_.is_scratch(buffer) ? 0 : version(buffer) + 1);
        continue;
      }
      if (first) seen.push_back(version(buffer));
      require(first || access == BufferAccess::kRead, "{} would be updated twice", name(buffer));
      read_device(offset_in(at, buffer), buffer, seen[i], event);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto [buffer, access] = operands[i];
      if (access == BufferAccess::kRead) continue;
      const int32_t made = seen[i] + (access == BufferAccess::kUpdate ? 1 : 0);
      write_device(offset_in(at, buffer), buffer, made, event);
      if (index_.is_scratch(buffer)) continue;
      require(first || version(buffer) == made, "{} has changed since", name(buffer));
      versions_[static_cast<size_t>(buffer)] = made;
    }
  }

  /// The offset of a buffer in a launch. All operands that are this buffer must have the same
  /// offset.
  int64_t offset_in(int32_t launch, SwapBufferId buffer) const {
    const SwapStep& given = step(plan_.launches[static_cast<size_t>(launch)].step);
    const auto count = static_cast<int32_t>(given.operands.size());
    if (index_.is_scratch(buffer)) return plan_.offset(launch, count);
    int64_t offset = -1;
    for (int32_t i = 0; i < count; ++i) {
      if (given.operands[static_cast<size_t>(i)].buffer != buffer) continue;
      require(offset < 0 || offset == plan_.offset(launch, i), "{} has two offsets", name(buffer));
      offset = plan_.offset(launch, i);
    }
    return offset;
  }

  void run_action(int32_t at) {
    const SwapAction& action = plan_.actions[static_cast<size_t>(at)];
    const Event event{Event::Kind::kAction, at};
    where_ =
        fmt::format("action {} ({} of {} from {} to {}, issued at launch {})", at,
                    action.kind == SwapAction::Kind::kDrop ? "drop" : "copy", name(action.buffer),
                    name_of(action.from), name_of(action.to), action.issue);
    if (action.kind == SwapAction::Kind::kDrop) {
      release(action.buffer, action.from, event);
      return;
    }
    const SwapBufferId b = action.buffer;
    if (action.from == Tier::kDevice) {
      read_device(action.from_offset, b, version(b), event);
    } else {
      read_copy(b, action.from, event);
    }
    if (action.to == Tier::kDevice) {
      write_device(action.to_offset, b, version(b), event);
    } else {
      allocate(b, action.to, version(b), event);
    }
    if (action.release_source) release(b, action.from, event);
  }

  // --- device ---
  std::vector<DeviceCell*> cells_in(int64_t offset, SwapBufferId b) {
    require(offset >= 0 && offset % kDeviceAlignment == 0 && offset + bytes(b) <= plan_.arena_bytes,
            "{} is at {}, outside the arena or not aligned", name(b), offset);
    std::vector<DeviceCell*> cells;
    auto at = std::prev(device_.upper_bound(offset));
    for (; at != device_.end() && at->first < offset + bytes(b); ++at) cells.push_back(&at->second);
    return cells;
  }

  void read_device(int64_t offset, SwapBufferId b, int32_t wanted, const Event& event) {
    cells_in(offset, b);
    auto at = device_.find(offset);
    const bool whole = at != device_.end() && at->second.end == offset + bytes(b) &&
                       at->second.cell.buffer == b && at->second.cell.version == wanted;
    require(whole, "version {} of {} is not at {}", wanted, name(b), offset);
    require(order_.precedes(at->second.cell.writer, event), "{} may not have arrived", name(b));
    at->second.cell.readers.push_back(event);
  }

  void write_device(int64_t offset, SwapBufferId b, int32_t made, const Event& event) {
    for (const DeviceCell* cell : cells_in(offset, b)) {
      require(is_over(cell->cell, event), "{} would overwrite {}, which is still in use", name(b),
              name(cell->cell.buffer));
    }
    split(offset);
    split(offset + bytes(b));
    device_.erase(device_.lower_bound(offset), device_.lower_bound(offset + bytes(b)));
    device_[offset] = {offset + bytes(b), {b, made, event}};
  }

  void split(int64_t offset) {
    if (offset >= plan_.arena_bytes) return;
    auto at = std::prev(device_.upper_bound(offset));
    if (at->first == offset) return;
    DeviceCell upper = at->second;
    // Both parts of a split value are invalid.
    at->second.end = offset;
    at->second.cell.version = upper.cell.version = -1;
    device_[offset] = std::move(upper);
  }

  /// Whether all accesses of the cell by other events are complete.
  bool is_over(const Cell& cell, const Event& event) const {
    const auto same = [&](const Event& e) {
      return e.kind == event.kind && e.index == event.index;
    };
    if (!same(cell.writer) && !order_.precedes(cell.writer, event)) return false;
    return std::all_of(cell.readers.begin(), cell.readers.end(), [&](const Event& reader) {
      return same(reader) || order_.precedes(reader, event);
    });
  }

  // --- host and disk ---
  void read_copy(SwapBufferId b, Tier tier, const Event& event) {
    const auto at = copies_.find({tier, b});
    require(at != copies_.end() && at->second.version == version(b), "no such value on the {}",
            name_of(tier));
    require(order_.precedes(at->second.writer, event), "it may not have arrived on the {}",
            name_of(tier));
    at->second.readers.push_back(event);
  }

  void allocate(SwapBufferId b, Tier tier, int32_t made, const Event& event) {
    auto& blocks = blocks_[static_cast<size_t>(tier)];
    if (event.kind == Event::Kind::kAction) {
      const int32_t issue = plan_.actions[static_cast<size_t>(event.index)].issue;
      // Blocks that are certainly free now are free for all later events.
      std::erase_if(blocks, [&](const TierBlock& block) {
        return block.released &&
               (block.release.kind == Event::Kind::kStart ||
                plan_.actions[static_cast<size_t>(block.release.index)].due < issue);
      });
    }
    require(!copies_.contains({tier, b}), "{} is on the {} already", name(b), name_of(tier));
    int64_t held = occupied_bytes(tier, index_.nbytes(b));
    for (const TierBlock& block : blocks) {
      const bool gone = block.released && order_.precedes(block.release, event);
      require(gone || block.buffer != b, "the {}'s copy of {} may still be there", name_of(tier),
              name(b));
      if (!gone) held += block.bytes;
    }
    const int64_t staging = tier == Tier::kHost ? plan_.staging_bytes : 0;
    require(held <= plan_.limits.of(tier) - staging, "{} bytes may be on the {}; the limit is {}",
            held + staging, name_of(tier), plan_.limits.of(tier));
    require(held + staging <= plan_.peak_bytes[static_cast<size_t>(tier)],
            "{} bytes may be on the {}; the plan claims {}", held, name_of(tier),
            plan_.peak_bytes[static_cast<size_t>(tier)]);
    blocks.push_back({occupied_bytes(tier, index_.nbytes(b)), b});
    copies_[{tier, b}] = {b, made, event};
  }

  void release(SwapBufferId b, Tier tier, const Event& event) {
    const auto at = copies_.find({tier, b});
    require(at != copies_.end(), "nothing to drop on the {}", name_of(tier));
    require(is_over(at->second, event), "the copy on the {} is still in use", name_of(tier));
    copies_.erase(at);
    for (TierBlock& block : blocks_[static_cast<size_t>(tier)]) {
      if (block.buffer != b || block.released) continue;
      block.released = true;
      block.release = event;
    }
  }

  // --- the end of the run ---
  void check_end() {
    where_ = "end";
    std::array<int64_t, kNumTiers> held{0, plan_.staging_bytes, 0};
    for (SwapBufferId b = 0; static_cast<size_t>(b) < versions_.size(); ++b) {
      const SwapResidence& end = plan_.end[static_cast<size_t>(b)];
      const SwapResidence& start = plan_.start[static_cast<size_t>(b)];
      require(holds_now(b, Tier::kHost) == end.host && holds_now(b, Tier::kDisk) == end.disk,
              "{} is on host or disk and should not be, or the reverse", name(b));
      if (index_.keep(b)) {
        check_kept(b, end);
        require(!index_.given(b) || start == end, "{} does not end where it began", name(b));
      }
      const SwapResidence& next = index_.given(b) ? start : end;
      if (next.host) held[1] += occupied_bytes(Tier::kHost, index_.nbytes(b));
      if (next.disk) held[2] += occupied_bytes(Tier::kDisk, index_.nbytes(b));
    }
    for (Tier tier : {Tier::kHost, Tier::kDisk}) {
      require(held[static_cast<size_t>(tier)] <= plan_.limits.of(tier),
              "between two runs {} bytes are on the {}", held[static_cast<size_t>(tier)],
              name_of(tier));
    }
    check_inputs_have_room();
  }

  void check_kept(SwapBufferId b, const SwapResidence& end) {
    require(end.device_offset >= 0 || end.host || end.disk, "{} is lost", name(b));
    if (end.device_offset >= 0) {
      const auto at = device_.find(end.device_offset);
      require(at != device_.end() && at->second.cell.buffer == b &&
                  at->second.cell.version == version(b),
              "{} is not on the device where it should be", name(b));
    }
    for (Tier tier : {Tier::kHost, Tier::kDisk}) {
      if (!holds_now(b, tier)) continue;
      require(copies_.at({tier, b}).version == version(b), "the {} holds an old version of {}",
              name_of(tier), name(b));
    }
  }

  void check_inputs_have_room() {
    for (SwapBufferId b = 0; static_cast<size_t>(b) < versions_.size(); ++b) {
      const int64_t offset = plan_.start[static_cast<size_t>(b)].device_offset;
      if (offset < 0 || index_.keep(b)) continue;
      for (const DeviceCell* cell : cells_in(offset, b)) {
        const SwapBufferId other = cell->cell.buffer;
        const bool kept = other >= 0 && index_.keep(other) && cell->cell.version == version(other);
        require(!kept || plan_.end[static_cast<size_t>(other)].device_offset < 0,
                "between two runs {} has no room beside {}", name(b), name(other));
      }
    }
  }

  bool holds_now(SwapBufferId b, Tier tier) const { return copies_.contains({tier, b}); }
  int32_t version(SwapBufferId b) const { return versions_[static_cast<size_t>(b)]; }
  int64_t bytes(SwapBufferId b) const { return index_.size(b); }
  std::string name(SwapBufferId b) const { return b < 0 ? "nothing" : index_.describe_buffer(b); }
  const SwapStep& step(int32_t i) const { return index_.program().steps[static_cast<size_t>(i)]; }

  const SwapPlan& plan_;
  const ProgramIndex index_;
  const PlanOrder order_;
  std::vector<int32_t> versions_;           // by buffer; -1: none yet
  std::vector<std::vector<int32_t>> seen_;  // by step: versions of its operands, read or written
  std::map<int64_t, DeviceCell> device_;    // by offset; covers the arena
  std::map<std::pair<Tier, SwapBufferId>, Cell> copies_;
  std::array<std::vector<TierBlock>, kNumTiers> blocks_;
  int32_t next_step_ = 0;
  std::string where_ = "form";
};

}  // namespace

void check_plan(const SwapPlan& plan, const SwapProgram& program) { Checker(plan, program).run(); }

}  // namespace phi::memory
