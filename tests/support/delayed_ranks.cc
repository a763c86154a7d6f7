// Ranks are threads whose messages leave late: each set after a drawn time, in the order of
// posting. Link it in place of test_local_ranks to run the same tests with late messages.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "distributed/comm/local/local_world.h"
#include "support/rank_launcher.h"

namespace phi::distributed::testing {
namespace {

using Clock = std::chrono::steady_clock;

class DelayedMessages;

// Sets of one rank that have not left yet, oldest first.
class Outbox {
 public:
  explicit Outbox(uint64_t seed) : random_(seed) {}

  void add(DelayedMessages* messages);
  void remove(const DelayedMessages* messages) { std::erase(waiting_, messages); }
  /// Posts what is due.
  void post_due();
  Clock::time_point draw_due() { return Clock::now() + std::chrono::microseconds(random_() % 400); }

 private:
  std::mt19937_64 random_;
  std::deque<DelayedMessages*> waiting_;
};

class DelayedMessages final : public Messages {
 public:
  DelayedMessages(std::unique_ptr<Messages> inner, Outbox& outbox)
      : inner_(std::move(inner)), outbox_(outbox) {}
  ~DelayedMessages() override { outbox_.remove(this); }

  void post(const CollectiveCall& call, std::span<const Send> sends,
            std::span<const Recv> recvs) override {
    call_ = call;
    sends_.assign(sends.begin(), sends.end());
    recvs_.assign(recvs.begin(), recvs.end());
    is_posted_ = false;
    due_ = outbox_.draw_due();
    outbox_.add(this);
  }
  bool done(const CollectiveCall& call) override {
    outbox_.post_due();
    return is_posted_ && inner_->done(call);
  }
  void wait(const CollectiveCall& call) override {
    for (outbox_.post_due(); !is_posted_; outbox_.post_due()) std::this_thread::yield();
    inner_->wait(call);
  }

  bool post_if_due() {
    if (Clock::now() < due_) return false;
    inner_->post(call_, sends_, recvs_);
    is_posted_ = true;
    return true;
  }

 private:
  std::unique_ptr<Messages> inner_;
  Outbox& outbox_;
  CollectiveCall call_;
  std::vector<Send> sends_;
  std::vector<Recv> recvs_;
  Clock::time_point due_;
  bool is_posted_ = false;
};

void Outbox::add(DelayedMessages* messages) { waiting_.push_back(messages); }

void Outbox::post_due() {
  while (!waiting_.empty() && waiting_.front()->post_if_due()) waiting_.pop_front();
}

class DelayedTransport final : public Transport {
 public:
  explicit DelayedTransport(Transport& inner)
      : Transport(inner.rank(), inner.size(), Peers::kNone),
        inner_(inner),
        outbox_(static_cast<uint64_t>(inner.rank())) {
    set_deadline(inner.deadline());
  }

  std::string_view backend() const override { return "delayed"; }
  std::unique_ptr<Messages> new_messages() override {
    return std::make_unique<DelayedMessages>(inner_.new_messages(), outbox_);
  }
  void note(const CollectiveCall& call, CallState state) override { inner_.note(call, state); }
  RankStatus rank_status(int64_t rank) const override { return inner_.rank_status(rank); }
  void fail(const std::string& message) override { inner_.fail(message); }

 private:
  Transport& inner_;
  Outbox outbox_;
};

}  // namespace

std::vector<int64_t> world_sizes() { return {1, 2, 3, 4}; }

void on_ranks(int64_t n, const std::function<void(World& world)>& body) {
  const auto with_delays = [&](World& world) {
    World delayed(std::make_shared<RankContext>(world.rank(), world.size()),
                  std::make_unique<DelayedTransport>(world.transport()));
    const World::Scope scope(delayed);
    body(delayed);
    delayed.drain();
  };
  run_ranks(n, with_delays, std::chrono::seconds(20));
}

}  // namespace phi::distributed::testing
