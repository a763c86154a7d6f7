// One thread per channel runs a plan's transfers; the caller issues them and waits for them. With
// CopyQueues, transfers between device and host are enqueued on the device instead, by the caller
// or, if they follow a disk transfer, by the disk's thread. Only the device waits for these.
#include "phi/memory/engine/swap_engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/rank_context.h"
#include "phi/memory/engine/tier_store.h"
#include "phi/memory/plan/transfer_log.h"

namespace phi::memory {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

class SwapEngine::Impl {
 public:
  Impl(SwapPlan plan, const SwapEngineOptions& options)
      : plan_(std::move(plan)),
        store_(plan_, options.place, options.disk_folder, options.io_engine),
        copy_queues_(Device::of(options.place).copy_queues()) {
    has_value_.resize(plan_.buffers.size());
    by_due_.resize(plan_.actions.size());
    for (size_t i = 0; i < by_due_.size(); ++i) by_due_[i] = static_cast<int32_t>(i);
    std::stable_sort(by_due_.begin(), by_due_.end(),
                     [&](int32_t a, int32_t b) { return action(a).due < action(b).due; });
    if (plan_.actions.empty()) return;
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (!has_thread(static_cast<Channel>(i))) continue;
      threads_.emplace_back([this, i] { carry(queues_[i]); });
    }
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const SwapPlan& plan() const { return plan_; }
  const Place& place() const { return store_.place(); }

  void put(SwapBufferId buffer, const FillFunction& fill) {
    const SwapBuffer& info = between_runs(buffer, "put");
    PHI_CHECK(info.given, errors::InvalidArgument("{} is not given: only the program writes it.",
                                                  describe(buffer)));
    const SwapResidence& at = plan_.start[static_cast<size_t>(buffer)];
    store_.put(buffer, at, fill);
    if (at.device_offset >= 0) count_transfer(Tier::kHost, Tier::kDevice, info.nbytes);
    has_value_[static_cast<size_t>(buffer)] = true;
  }

  void get(SwapBufferId buffer, std::span<std::byte> out) {
    const SwapBuffer& info = between_runs(buffer, "get");
    check_size(buffer, out.size());
    PHI_CHECK(has_value_[static_cast<size_t>(buffer)],
              errors::PreconditionNotMet("{} has no value: {}.", describe(buffer),
                                         info.given  ? "put one first"
                                         : info.keep ? "no run has computed it yet"
                                                     : "it is not kept after a run"));
    const auto& residences = info.given ? plan_.start : plan_.end;
    const SwapResidence& at = residences[static_cast<size_t>(buffer)];
    store_.get(buffer, at, out);
    if (at.device_offset >= 0) count_transfer(Tier::kDevice, Tier::kHost, info.nbytes);
  }

  void check_size(SwapBufferId buffer, size_t size) const {
    between_runs(buffer, "reached");
    const auto nbytes = static_cast<size_t>(plan_.buffers[static_cast<size_t>(buffer)].nbytes);
    PHI_CHECK(size == nbytes,
              errors::InvalidArgument("{} has {} bytes, not {}.", describe(buffer), nbytes, size));
  }

  void begin_run() {
    PHI_CHECK(!running_, errors::PreconditionNotMet("a run has begun already; end_run it first."));
    rethrow_failure();
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      const auto buffer = static_cast<SwapBufferId>(b);
      PHI_CHECK(!plan_.buffers[b].given || has_value_[b],
                errors::PreconditionNotMet("{} is given and has no value; put one before the run.",
                                           describe(buffer)));
      if (plan_.buffers[b].given) continue;
      // The program writes this buffer again in each run.
      store_.forget(buffer);
      has_value_[b] = false;
    }
    states_.assign(plan_.actions.size(), {});
    next_action_ = next_due_ = 0;
    next_launch_ = 0;
    running_ = true;
    issue(0);
  }

  void before_launch(int32_t launch) {
    check_turn(launch);
    wait_due(launch);
  }

  void after_launch(int32_t launch) {
    check_turn(launch);
    if (plan_.launches[static_cast<size_t>(launch)].recompute) ++stats_.recomputed_launches;
    issue(++next_launch_);
  }

  void skip_launches() {
    PHI_CHECK(running_ && plan_.actions.empty(),
              errors::PreconditionNotMet("launches are skipped outside of a run, or in one of {} "
                                         "transfers; run them one by one.",
                                         plan_.actions.size()));
    next_launch_ = static_cast<int32_t>(plan_.launches.size());
  }

  void end_run() {
    PHI_CHECK(running_ && next_launch_ == static_cast<int32_t>(plan_.launches.size()),
              errors::PreconditionNotMet("end_run before all {} launches are done (next: {}).",
                                         plan_.launches.size(), next_launch_));
    wait_due(next_launch_);
    running_ = false;
    for (size_t b = 0; b < plan_.buffers.size(); ++b) has_value_[b] = plan_.buffers[b].keep;
  }

  std::byte* arena() const { return store_.arena(); }
  std::byte* pointer(int32_t launch, int32_t operand) const {
    return store_.arena() + plan_.offset(launch, operand);
  }

  SwapEngineStats stats() {
    const std::lock_guard lock(mutex_);
    SwapEngineStats stats = stats_;
    stats.peak_bytes = store_.peak_bytes();
    return stats;
  }

 private:
  const SwapAction& action(int32_t index) const {
    return plan_.actions[static_cast<size_t>(index)];
  }
  // State of an action in this run. An action that the device performs is done as soon as it is
  // enqueued.
  struct State {
    bool done = false;
    QueueEventPtr launched;  // the launches that it must follow
    QueueEventPtr end;       // its end in the device's queue; null: it is complete when it is done
  };
  State& state(int32_t index) { return states_[static_cast<size_t>(index)]; }
  bool done(int32_t index) const { return states_[static_cast<size_t>(index)].done; }
  bool has_thread(Channel channel) const { return !copy_queues_ || channel == Channel::kDisk; }
  std::string describe(SwapBufferId buffer) const {
    return fmt::format("buffer {} ({})", buffer, plan_.buffers[static_cast<size_t>(buffer)].name);
  }

  const SwapBuffer& between_runs(SwapBufferId buffer, const char* what) const {
    PHI_CHECK(buffer >= 0 && static_cast<size_t>(buffer) < plan_.buffers.size(),
              errors::InvalidArgument("there is no buffer {}; the plan has {}.", buffer,
                                      plan_.buffers.size()));
    PHI_CHECK(!running_, errors::PreconditionNotMet("{} cannot be {} during a run; end_run first.",
                                                    describe(buffer), what));
    return plan_.buffers[static_cast<size_t>(buffer)];
  }

  void check_turn(int32_t launch) const {
    PHI_CHECK(running_ && launch == next_launch_,
              errors::PreconditionNotMet(
                  "launch {} is out of turn; {}.", launch,
                  running_ ? fmt::format("the next is {}", next_launch_) : "no run has begun"));
  }

  void issue(int32_t launch) {
    bool any = false;
    QueueEventPtr launched;
    yield_point("swap_engine.issue.unlocked");
    std::unique_lock lock(mutex_);
    for (; next_action_ < plan_.actions.size() && plan_.actions[next_action_].issue == launch;
         ++next_action_) {
      const SwapAction& next = plan_.actions[next_action_];
      if (next.kind == SwapAction::Kind::kDrop && next.after.empty()) {
        store_.run(next);
        states_[next_action_].done = true;
        continue;
      }
      if (copy_queues_ && (next.from == Tier::kDevice || next.to == Tier::kDevice)) {
        if (!launched) launched = copy_queues_->launched();
        states_[next_action_].launched = launched;
      }
      queues_[static_cast<size_t>(channel_of(next))].push_back(static_cast<int32_t>(next_action_));
      any = true;
      if (next.kind == SwapAction::Kind::kDrop) continue;
      const int64_t nbytes = plan_.buffers[static_cast<size_t>(next.buffer)].nbytes;
      stats_.transfers.add(next.from, next.to, nbytes);
      count_transfer(next.from, next.to, nbytes);
    }
    give_to_device();
    lock.unlock();
    yield_point("swap_engine.issue.issued");
    if (any) changed_.notify_all();
  }

  /// Enqueues ready actions that the device performs. The caller holds mutex_.
  void give_to_device() {
    for (bool any = copy_queues_ != nullptr; any;) {
      any = false;  // an action may be the one for which the other channel waits
      for (const Channel channel : {Channel::kToDevice, Channel::kFromDevice}) {
        std::deque<int32_t>& queue = queues_[static_cast<size_t>(channel)];
        if (queue.empty() || !is_ready(queue.front())) continue;
        const int32_t index = queue.front();
        queue.pop_front();
        finish(index, run(index, dependencies(index)));
        any = true;
      }
    }
  }

  /// The positions that the device must reach before an action begins. The caller holds mutex_.
  std::vector<QueueEventPtr> dependencies(int32_t index) {
    std::vector<QueueEventPtr> events;
    if (state(index).launched) events.push_back(state(index).launched);
    for (const int32_t other : action(index).after) {
      if (state(other).end) events.push_back(state(other).end);
    }
    return events;
  }

  struct Outcome {
    QueueEventPtr end;
    std::exception_ptr failure;
  };
  /// The caller holds mutex_.
  void finish(int32_t index, Outcome outcome) {
    if (outcome.failure && !failure_) failure_ = outcome.failure;
    state(index).done = !outcome.failure;
    state(index).end = std::move(outcome.end);
  }

  void wait_due(int32_t launch) {
    yield_point("swap_engine.wait_due.unlocked");
    std::unique_lock lock(mutex_);
    for (; next_due_ < by_due_.size() && action(by_due_[next_due_]).due <= launch; ++next_due_) {
      const int32_t index = by_due_[next_due_];
      if (!done(index) || failure_) {
        const Clock::time_point begin = Clock::now();
        changed_.wait(lock, [&] { return done(index) || failure_; });
        stats_.wait_seconds += seconds_since(begin);
      }
      if (failure_) break;
      if (const QueueEventPtr& end = state(index).end) copy_queues_->launch_after(*end);
    }
    lock.unlock();
    rethrow_failure();
  }

  void rethrow_failure() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

  /// The loop of a channel's thread.
  void carry(std::deque<int32_t>& queue) {
    // The swap file counts transfers for the calling thread's rank. The caller's rank has counted
    // them already, when they were issued, so this thread has a context of its own.
    RankContext context;
    const RankContext::Scope scope(context);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stop_ || (!queue.empty() && is_ready(queue.front())); });
      if (stop_) return;
      const int32_t index = queue.front();
      queue.pop_front();
      if (active_++ == 0) active_since_ = Clock::now();
      const std::vector<QueueEventPtr> events = dependencies(index);
      lock.unlock();
      yield_point("swap_engine.carry.taken");
      Outcome outcome = run(index, events);
      yield_point("swap_engine.carry.done");
      lock.lock();
      if (--active_ == 0) stats_.transfer_seconds += seconds_since(active_since_);
      finish(index, std::move(outcome));
      give_to_device();
      changed_.notify_all();
    }
  }

  bool is_ready(int32_t index) const {
    const auto& after = action(index).after;
    return !failure_ && std::all_of(after.begin(), after.end(), [&](int32_t a) { return done(a); });
  }

  Outcome run(int32_t index, const std::vector<QueueEventPtr>& dependencies) {
    const SwapAction& action = this->action(index);
    try {
      return {store_.run(action, dependencies), nullptr};
    } catch (Error& error) {
      error.note(fmt::format("while {} was copied from {} to {} for launch {}",
                             describe(action.buffer), name_of(action.from), name_of(action.to),
                             action.due));
      return {nullptr, std::make_exception_ptr(error)};
    } catch (...) {
      return {nullptr, std::current_exception()};
    }
  }

  const SwapPlan plan_;
  TierStore store_;
  CopyQueues* const copy_queues_;  // null: threads run all actions
  std::vector<bool> has_value_;    // by buffer, between runs
  std::vector<int32_t> by_due_;    // actions
  bool running_ = false;
  int32_t next_launch_ = 0;
  size_t next_action_ = 0;  // the next action to issue
  size_t next_due_ = 0;     // in by_due_

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::array<std::deque<int32_t>, kNumChannels> queues_;
  std::vector<State> states_;  // by action
  std::exception_ptr failure_;
  SwapEngineStats stats_;
  int active_ = 0;  // transfers in flight
  Clock::time_point active_since_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

SwapEngine::SwapEngine(SwapPlan plan, SwapEngineOptions options)
    : impl_(std::make_unique<Impl>(std::move(plan), options)) {}
SwapEngine::~SwapEngine() = default;

const SwapPlan& SwapEngine::plan() const { return impl_->plan(); }
const Place& SwapEngine::place() const { return impl_->place(); }
void SwapEngine::put(SwapBufferId buffer, const FillFunction& fill) { impl_->put(buffer, fill); }
void SwapEngine::put(SwapBufferId buffer, std::span<const std::byte> value) {
  impl_->check_size(buffer, value.size());
  impl_->put(buffer, [&](int64_t offset, std::span<std::byte> out) {
    std::memcpy(out.data(), value.data() + offset, out.size());
  });
}
void SwapEngine::get(SwapBufferId buffer, std::span<std::byte> out) { impl_->get(buffer, out); }
void SwapEngine::begin_run() { impl_->begin_run(); }
void SwapEngine::before_launch(int32_t launch) { impl_->before_launch(launch); }
std::byte* SwapEngine::arena() const { return impl_->arena(); }
std::byte* SwapEngine::pointer(int32_t launch, int32_t operand) const {
  return impl_->pointer(launch, operand);
}
void SwapEngine::after_launch(int32_t launch) { impl_->after_launch(launch); }
void SwapEngine::skip_launches() { impl_->skip_launches(); }
void SwapEngine::end_run() { impl_->end_run(); }
SwapEngineStats SwapEngine::stats() const { return impl_->stats(); }

}  // namespace phi::memory
