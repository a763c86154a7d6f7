// Messages between threads. Each end is posted where the other finds it, and the later one copies.
// Messages therefore move without help of the earlier rank.
#include "distributed/comm/local/local_world.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "distributed/comm/report/flight_recorder.h"
#include "distributed/comm/report/hang_report.h"
#include "distributed/comm/transport.h"
#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"

namespace phi::distributed {
namespace {

using Clock = std::chrono::steady_clock;

// One end of a message.
template <typename Buffer>
struct PostedMessage {
  enum class State { kPosted, kBeingCopied, kOver };
  Buffer buffer;
  CollectiveCall call;
  State state = State::kPosted;
  std::string mismatch;  // of a receive: the reason why it failed
};
using PostedSend = PostedMessage<Send>;
using PostedRecv = PostedMessage<Recv>;

// Unmatched ends from one rank to another within a group, in the order of posting. One of the two
// queues is empty.
struct Route {
  std::deque<PostedSend*> sends;
  std::deque<PostedRecv*> recvs;
};

// State shared by all ranks of a run. One lock is enough, because messages are few and copies are
// made outside it.
struct Hub {
  explicit Hub(int64_t n)
      : wake(static_cast<size_t>(n)),
        flight_recorders(static_cast<size_t>(n)),
        left(static_cast<size_t>(n)) {}

  // The rank makes no more calls.
  void leave(int64_t rank) {
    const std::lock_guard lock(mutex);
    left[static_cast<size_t>(rank)] = true;
    any_left = true;
    for (auto& rank_wake : wake) rank_wake.notify_all();
  }
  RankStatus rank_status(int64_t rank) const {
    return {&flight_recorders[static_cast<size_t>(rank)], {}, left[static_cast<size_t>(rank)]};
  }

  // The first failure wins: its error is the job's, and all other ranks throw its message.
  void fail(int64_t rank, const std::string& message, std::exception_ptr why) {
    const std::lock_guard lock(mutex);
    if (!failure.empty()) return;
    failure = fmt::format("rank {} failed: {}", rank, message);
    error = std::move(why);
    for (auto& rank_wake : wake) rank_wake.notify_all();
  }

  using Key = std::tuple<int64_t, int64_t, uint64_t>;  // from, to, group

  std::mutex mutex;
  std::vector<std::condition_variable> wake;  // by rank
  std::map<Key, Route> routes;
  std::vector<FlightRecorder> flight_recorders;
  std::vector<std::atomic<bool>> left;
  bool any_left = false;
  std::string failure;  // of the first rank that failed
  std::exception_ptr error;
};

class LocalMessages final : public Messages {
 public:
  LocalMessages(Hub& hub, const Transport& transport)
      : hub_(hub), transport_(transport), rank_(transport.rank()) {}

  // Removes all pointers to the ends of this object before they are destroyed.
  ~LocalMessages() override {
    yield_point("local_messages.withdraw");
    std::unique_lock lock(hub_.mutex);
    for (PostedSend& end : sends_) std::erase(route_of(end).sends, &end);
    for (PostedRecv& end : recvs_) std::erase(route_of(end).recvs, &end);
    const auto idle = [](const auto& end) {
      return end.state != std::remove_cvref_t<decltype(end)>::State::kBeingCopied;
    };
    hub_.wake[rank_].wait(lock, [&] {
      return std::ranges::all_of(sends_, idle) && std::ranges::all_of(recvs_, idle);
    });
  }

  void post(const CollectiveCall& call, std::span<const Send> sends,
            std::span<const Recv> recvs) override {
    sends_.clear();
    recvs_.clear();
    for (const Send& send : sends) sends_.push_back({send, call, PostedSend::State::kPosted, {}});
    for (const Recv& recv : recvs) recvs_.push_back({recv, call, PostedRecv::State::kPosted, {}});
    yield_point("local_messages.post.unlocked");
    std::unique_lock lock(hub_.mutex);
    for (PostedSend& end : sends_) {
      Route& route = route_of(end);
      route.sends.push_back(&end);
      meet(lock, route, rank_, end.buffer.peer);
    }
    for (PostedRecv& end : recvs_) {
      Route& route = route_of(end);
      route.recvs.push_back(&end);
      meet(lock, route, end.buffer.peer, rank_);
    }
  }

  bool done(const CollectiveCall& /*call*/) override {
    yield_point("local_messages.done.unlocked");
    const std::lock_guard lock(hub_.mutex);
    if (is_over() && fits()) return true;
    check_failures();
    return false;
  }

  void wait(const CollectiveCall& call) override {
    yield_point("local_messages.wait.unlocked");
    std::unique_lock lock(hub_.mutex);
    std::string left;
    hub_.wake[rank_].wait_until(lock, Clock::now() + transport_.deadline(), [&] {
      if (is_over() || !fits() || !hub_.failure.empty()) return true;
      if (hub_.any_left) left = left_report(call, rank_status());
      return !left.empty();
    });
    if (is_over() && fits()) return;
    check_failures();
    PHI_CHECK(left.empty(), errors::Unavailable("{}", left));
    throw errors::ExecutionTimeout("{}", late_report(call, transport_.deadline(), rank_status()));
  }

 private:
  Route& route_of(const PostedSend& end) {
    return hub_.routes[{rank_, end.buffer.peer, end.call.group->hash()}];
  }
  Route& route_of(const PostedRecv& end) {
    return hub_.routes[{end.buffer.peer, rank_, end.call.group->hash()}];
  }

  void meet(std::unique_lock<std::mutex>& lock, Route& route, int64_t from, int64_t to) {
    if (route.sends.empty() || route.recvs.empty()) return;
    PostedSend& send = *route.sends.front();
    PostedRecv& recv = *route.recvs.front();
    route.sends.pop_front();
    route.recvs.pop_front();
    recv.mismatch = mismatch_of(send, recv, from, to, transport_.is_strict());
    if (recv.mismatch.empty() && recv.buffer.bytes > 0) {
      send.state = PostedSend::State::kBeingCopied;
      recv.state = PostedRecv::State::kBeingCopied;
      lock.unlock();
      yield_point("local_messages.copy.before");
      std::memcpy(recv.buffer.data, send.buffer.data, recv.buffer.bytes);
      yield_point("local_messages.copy.after");
      lock.lock();
    }
    send.state = PostedSend::State::kOver;
    recv.state = PostedRecv::State::kOver;
    hub_.wake[from].notify_one();
    hub_.wake[to].notify_one();
  }

  static std::string mismatch_of(const PostedSend& send, const PostedRecv& recv, int64_t from,
                                 int64_t to, bool strict) {
    const CallHeader ours = CallHeader::of(recv.call), theirs = CallHeader::of(send.call);
    return mismatch(
        {recv.call.group->name(), {to, ours}, recv.buffer.bytes, {from, theirs}, send.buffer.bytes},
        strict);
  }

  RankStatusQuery rank_status() const {
    return [this](int64_t rank) { return hub_.rank_status(rank); };
  }

  // A failed rank has withdrawn its messages, so later ones may match wrong messages. Its failure
  // is therefore reported before a mismatch.
  void check_failures() const {
    PHI_CHECK(hub_.failure.empty(), errors::Unavailable("{}", hub_.failure));
    for (const PostedRecv& end : recvs_) {
      PHI_CHECK(
          end.mismatch.empty(),
          errors::InvalidArgument("{}", mismatch_report(end.call, end.mismatch, rank_status())));
    }
  }
  bool fits() const {
    return std::ranges::all_of(recvs_, [](const PostedRecv& end) { return end.mismatch.empty(); });
  }
  bool is_over() const {
    const auto over = [](const auto& end) {
      return end.state == std::remove_cvref_t<decltype(end)>::State::kOver;
    };
    return std::ranges::all_of(sends_, over) && std::ranges::all_of(recvs_, over);
  }

  Hub& hub_;
  const Transport& transport_;
  const int64_t rank_;
  std::deque<PostedSend> sends_;  // deques: routes have pointers to elements
  std::deque<PostedRecv> recvs_;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(Hub& hub, int64_t rank, int64_t size)
      : Transport(rank, size, Peers::kOthers), hub_(hub) {}

  std::string_view backend() const override { return "local"; }
  std::unique_ptr<Messages> new_messages() override {
    return std::make_unique<LocalMessages>(hub_, *this);
  }
  void note(const CollectiveCall& call, CallState state) override {
    const std::lock_guard lock(hub_.mutex);
    hub_.flight_recorders[static_cast<size_t>(rank())].note(call, state);
  }
  RankStatus rank_status(int64_t other) const override { return hub_.rank_status(other); }
  std::string failure() const override {
    const std::lock_guard lock(hub_.mutex);
    return hub_.failure;
  }
  void fail(const std::string& message) override { hub_.fail(rank(), message, nullptr); }

 private:
  Hub& hub_;
};

// A child that the body has forked ends here when the body returns: the caller of run_ranks is the
// parent's thread, and another thread may hold the hub's lock.
void call_body(World& world, const std::function<void(World&)>& body) {
  try {
    body(world);
    if (world.was_forked()) {
      std::fflush(nullptr);
      std::_Exit(EXIT_SUCCESS);
    }
  } catch (const std::exception& error) {
    if (world.was_forked()) abort_job(error.what());
    throw;
  }
}

void run_rank(Hub& hub, int64_t rank, int64_t n, const std::function<void(World&)>& body,
              World::Milliseconds deadline) {
  World world(std::make_shared<RankContext>(rank, n),
              std::make_unique<LocalTransport>(hub, rank, n));
  world.set_deadline(deadline);
  const World::Scope scope(world);
  try {
    call_body(world, body);
    world.drain();
    hub.leave(rank);
  } catch (Error& error) {
    const std::string message = error.what();
    error.note(fmt::format("at rank {} of {}", rank, n));
    hub.fail(rank, message, std::make_exception_ptr(error));
  } catch (const std::exception& error) {
    hub.fail(rank, error.what(), std::current_exception());
  } catch (...) {
    hub.fail(rank, "an exception of unknown type", std::current_exception());
  }
}

}  // namespace

void run_ranks(int64_t n, const std::function<void(World& world)>& body,
               World::Milliseconds deadline) {
  PHI_CHECK(n >= 1, errors::InvalidArgument("run_ranks got {} ranks; at least 1 is needed.", n));
  Hub hub(n);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] { run_rank(hub, rank, n, body, deadline); });
  }
  for (auto& thread : threads) thread.join();
  if (hub.error) std::rethrow_exception(hub.error);
}

}  // namespace phi::distributed
