// Messages between threads: the sender posts where its bytes lie, the receiver copies them, the
// sender waits until all of its messages were copied.
#include "distributed/comm/local/local_world.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "distributed/comm/activity.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using Clock = std::chrono::steady_clock;

struct Message {
  enum class State { kPosted, kBeingCopied, kCopied };
  Send send;
  const Call* call;  // the sender's; lives as long as the message is posted
  State state = State::kPosted;
};

// What all ranks of one run share. One lock: messages are few and copies are made outside it.
struct Hub {
  explicit Hub(int64_t n) : wake(static_cast<size_t>(n)), activities(static_cast<size_t>(n)) {}

  // (from, to, group) -> messages in the order they were sent.
  using Route = std::tuple<int64_t, int64_t, uint64_t>;

  std::mutex mutex;
  std::vector<std::condition_variable> wake;  // by rank
  std::map<Route, std::deque<Message*>> posted;
  std::vector<Activity> activities;
  std::string failure;  // of the first rank that failed
  std::exception_ptr error;
};

class LocalWorld final : public World {
 public:
  LocalWorld(Hub& hub, int64_t rank, int64_t size)
      : World(std::make_shared<RankContext>(rank, size)), hub_(hub) {}

  std::string_view backend() const override { return "local"; }

  void fail(const std::string& message) override {
    const std::lock_guard lock(hub_.mutex);
    if (hub_.failure.empty()) hub_.failure = fmt::format("rank {} failed: {}", rank(), message);
    for (auto& wake : hub_.wake) wake.notify_all();
  }

 protected:
  void note(const Call& call, bool waiting) override {
    const std::lock_guard lock(hub_.mutex);
    hub_.activities[rank()].set(call, waiting);
  }

  void transfer(const Call& call, std::span<const Send> sends,
                std::span<const Recv> recvs) override {
    const auto until = Clock::now() + deadline();
    std::vector<Message> messages;
    messages.reserve(sends.size());
    for (const Send& send : sends) messages.push_back({send, &call});
    std::unique_lock lock(hub_.mutex);
    for (Message& message : messages) {
      hub_.posted[{rank(), message.send.peer, call.group->hash()}].push_back(&message);
      hub_.wake[message.send.peer].notify_one();
    }
    try {
      for (const Recv& recv : recvs) receive(lock, call, recv, until);
      wait(lock, call, until, [&] {
        return std::all_of(messages.begin(), messages.end(),
                           [](const Message& m) { return m.state == Message::State::kCopied; });
      });
    } catch (...) {
      withdraw(lock, call, messages);
      throw;
    }
  }

 private:
  void receive(std::unique_lock<std::mutex>& lock, const Call& call, const Recv& recv,
               Clock::time_point until) {
    auto& queue = hub_.posted[{recv.peer, rank(), call.group->hash()}];
    wait(lock, call, until, [&] { return !queue.empty(); });
    Message& message = *queue.front();
    const Call& theirs = *message.call;
    PHI_CHECK(theirs.sequence == call.sequence && theirs.op == call.op,
              errors::InvalidArgument("calls do not match: rank {} is in {}, rank {} is in {}.",
                                      rank(), call.to_string(), recv.peer, theirs.to_string()));
    PHI_CHECK(message.send.bytes == recv.bytes,
              errors::InvalidArgument("rank {} expects {} bytes of rank {} and is sent {}, in {}.",
                                      rank(), recv.bytes, recv.peer, message.send.bytes,
                                      call.to_string()));
    queue.pop_front();
    message.state = Message::State::kBeingCopied;
    lock.unlock();
    if (recv.bytes > 0) std::memcpy(recv.data, message.send.data, recv.bytes);
    lock.lock();
    message.state = Message::State::kCopied;
    hub_.wake[recv.peer].notify_one();
  }

  template <typename Predicate>
  void wait(std::unique_lock<std::mutex>& lock, const Call& call, Clock::time_point until,
            Predicate done) {
    auto& wake = hub_.wake[rank()];
    const bool woken =
        wake.wait_until(lock, until, [&] { return done() || !hub_.failure.empty(); });
    if (woken && done()) return;
    PHI_CHECK(hub_.failure.empty(), errors::Unavailable("{}", hub_.failure));
    throw errors::ExecutionTimeout("{}", timeout_report(call, deadline(), [&](int64_t rank) {
                                     return &hub_.activities[rank];
                                   }));
  }

  // Before the messages go out of scope: nobody may hold a pointer to them.
  void withdraw(std::unique_lock<std::mutex>& lock, const Call& call,
                std::vector<Message>& messages) {
    for (Message& message : messages) {
      std::erase(hub_.posted[{rank(), message.send.peer, call.group->hash()}], &message);
      hub_.wake[rank()].wait(lock, [&] { return message.state != Message::State::kBeingCopied; });
    }
  }

  Hub& hub_;
};

void run_rank(Hub& hub, int64_t rank, int64_t n, const std::function<void(World&)>& body,
              World::Milliseconds deadline) {
  LocalWorld world(hub, rank, n);
  world.set_deadline(deadline);
  const World::Scope scope(world);
  const auto record = [&](std::exception_ptr error, const std::string& message) {
    {
      const std::lock_guard lock(hub.mutex);
      if (hub.failure.empty()) hub.error = std::move(error);
    }
    world.fail(message);
  };
  try {
    body(world);
  } catch (Error& error) {
    const std::string message = error.what();
    error.note(fmt::format("at rank {} of {}", rank, n));
    record(std::make_exception_ptr(error), message);
  } catch (const std::exception& error) {
    record(std::current_exception(), error.what());
  } catch (...) {
    record(std::current_exception(), "an exception of unknown type");
  }
}

}  // namespace

void run_ranks(int64_t n, const std::function<void(World& world)>& body,
               World::Milliseconds deadline) {
  PHI_CHECK(n >= 1, errors::InvalidArgument("run_ranks is asked for {} ranks.", n));
  Hub hub(n);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] { run_rank(hub, rank, n, body, deadline); });
  }
  for (auto& thread : threads) thread.join();
  if (hub.error) std::rethrow_exception(hub.error);
}

}  // namespace phi::distributed
