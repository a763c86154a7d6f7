// A world and messages around those of a backend.
#include "support/counted_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <utility>

#include "distributed/comm/local/local_world.h"

namespace phi::distributed::testing {
namespace {

// What a world keeps for its groups. A class that derives from World may name these members, and a
// pointer to one is good for every world.
class Opened : public World {
 public:
  static std::unique_ptr<Messages> new_messages_of(World& world) {
    return (world.*&Opened::new_messages)();
  }
  static void note_in(World& world, const CollectiveCall& call, CallState state) {
    (world.*&Opened::note)(call, state);
  }
  static std::byte* scratch_of(World& world, size_t bytes) {
    return (world.*&Opened::scratch)(bytes);
  }
  static int64_t slice_bytes_of(const World& world) { return (world.*&Opened::slice_bytes)(); }
};

// Somebody else owns it.
std::shared_ptr<RankContext> context_of(World& world) {
  return {std::shared_ptr<void>(), &world.rank_context()};
}

}  // namespace

MessageCounts operator-(const MessageCounts& a, const MessageCounts& b) {
  return {a.messages_sent - b.messages_sent, a.bytes_sent - b.bytes_sent,
          a.messages_received - b.messages_received, a.bytes_received - b.bytes_received};
}

void PrintTo(const MessageCounts& message_counts, std::ostream* out) {
  *out << fmt::format("{} messages of {} bytes sent, {} of {} received",
                      message_counts.messages_sent, message_counts.bytes_sent,
                      message_counts.messages_received, message_counts.bytes_received);
}

class CountedWorld::CountedMessages final : public Messages {
 public:
  CountedMessages(std::unique_ptr<Messages> inner, MessageCounts& message_counts)
      : inner_(std::move(inner)), counts_(message_counts) {}

  void post(const CollectiveCall& call, std::span<const Send> sends,
            std::span<const Recv> recvs) override {
    counts_.messages_sent += static_cast<int64_t>(sends.size());
    counts_.messages_received += static_cast<int64_t>(recvs.size());
    for (const Send& send : sends) counts_.bytes_sent += static_cast<int64_t>(send.bytes);
    for (const Recv& recv : recvs) counts_.bytes_received += static_cast<int64_t>(recv.bytes);
    inner_->post(call, sends, recvs);
  }
  bool done(const CollectiveCall& call) override { return inner_->done(call); }
  void wait(const CollectiveCall& call) override { inner_->wait(call); }

 private:
  std::unique_ptr<Messages> inner_;
  MessageCounts& counts_;
};

CountedWorld::CountedWorld(World& inner) : World(context_of(inner)), inner_(inner) {
  set_deadline(inner.deadline());
  World& device_communicator = inner.device_communicator(inner.rank_context().place());
  if (&device_communicator == &inner) return;
  auto counted = std::make_unique<CountedWorld>(device_communicator);
  device_communicator_ = counted.get();
  set_device_communicator(std::move(counted));
}

MessageCounts CountedWorld::message_counts() const {
  MessageCounts all = counts_;
  if (!device_communicator_) return all;
  const MessageCounts more = device_communicator_->message_counts();
  all.messages_sent += more.messages_sent;
  all.bytes_sent += more.bytes_sent;
  all.messages_received += more.messages_received;
  all.bytes_received += more.bytes_received;
  return all;
}

std::byte* CountedWorld::scratch(size_t bytes) { return Opened::scratch_of(inner_, bytes); }
int64_t CountedWorld::slice_bytes() const { return Opened::slice_bytes_of(inner_); }

std::unique_ptr<Messages> CountedWorld::new_messages() {
  return std::make_unique<CountedMessages>(Opened::new_messages_of(inner_), counts_);
}

void CountedWorld::note(const CollectiveCall& call, CallState state) {
  Opened::note_in(inner_, call, state);
}

void expect_counted(const CountedWorld& world, const Counters& before) {
  const Counters& after = RankContext::current().counters();
  int64_t messages = 0;
  for (size_t i = 0; i < kNumCollectives; ++i) {
    messages += after.traffic[i].messages - before.traffic[i].messages;
  }
  EXPECT_EQ(after.bytes_sent - before.bytes_sent, world.message_counts().bytes_sent);
  EXPECT_EQ(after.bytes_received - before.bytes_received, world.message_counts().bytes_received);
  EXPECT_EQ(messages, world.message_counts().messages_sent);
}

void on_counted_ranks(int64_t n, const std::function<void(CountedWorld& world)>& body) {
  run_ranks(n, [&](World& world) {
    const Counters before = world.rank_context().counters();
    CountedWorld counted(world);
    const World::Scope scope(counted);
    body(counted);
    counted.drain();
    expect_counted(counted, before);
  });
}

}  // namespace phi::distributed::testing
