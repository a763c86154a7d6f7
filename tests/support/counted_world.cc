// A transport, a communicator and messages around those of a backend.
#include "support/counted_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <utility>

#include "distributed/comm/local/local_world.h"

namespace phi::distributed::testing {
namespace {

class CountedMessages final : public Messages {
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

class CountedTransport final : public Transport {
 public:
  CountedTransport(Transport& inner, std::shared_ptr<MessageCounts> counts)
      : Transport(inner.rank(), inner.size(), Peers::kNone),
        inner_(inner),
        counts_(std::move(counts)) {
    set_deadline(inner.deadline());
  }

  std::string_view backend() const override { return inner_.backend(); }
  bool transfers_data() const override { return inner_.transfers_data(); }
  std::unique_ptr<Messages> new_messages() override {
    return std::make_unique<CountedMessages>(inner_.new_messages(), *counts_);
  }
  void note(const CollectiveCall& call, CallState state) override { inner_.note(call, state); }
  void fail(const std::string& message) override { inner_.fail(message); }

 private:
  Transport& inner_;
  std::shared_ptr<MessageCounts> counts_;
};

class CountedCommunicator final : public Communicator {
 public:
  CountedCommunicator(World& world, Communicator& inner, MessageCounts& counts)
      : Communicator(world), inner_(inner), counts_(counts) {}
  ~CountedCommunicator() override { abandon_transfers(); }

  Device& device() override { return inner_.device(); }
  void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
              ReduceKind kind) override {
    inner_.reduce(inputs, out, count, dtype, kind);
  }
  std::unique_ptr<Messages> new_messages() override {
    return std::make_unique<CountedMessages>(inner_.new_messages(), counts_);
  }
  DeviceMemory scratch(size_t bytes) override { return inner_.scratch(bytes); }
  int64_t slice_bytes() const override { return inner_.slice_bytes(); }

 private:
  Communicator& inner_;
  MessageCounts& counts_;
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

CountedWorld::CountedWorld(World& inner) : CountedWorld(inner, std::make_shared<MessageCounts>()) {}

CountedWorld::CountedWorld(World& inner, std::shared_ptr<MessageCounts> counts)
    : World(context_of(inner), std::make_unique<CountedTransport>(inner.transport(), counts)),
      counts_(counts) {
  if (Communicator* device_communicator = inner.device_communicator()) {
    set_device_communicator(
        std::make_unique<CountedCommunicator>(*this, *device_communicator, *counts_));
  }
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
