// What a rank hands to the transport and takes from it: counted at the messages that a backend
// posts, below groups and their counters.
//
//   on_counted_ranks(4, [&](CountedWorld& world) {
//     relu(x);
//     EXPECT_EQ(world.message_counts(), MessageCounts{});
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "distributed/comm/world.h"

namespace phi::distributed::testing {

/// A message of 0 bytes is a message.
struct MessageCounts {
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t messages_received = 0;
  int64_t bytes_received = 0;

  friend bool operator==(const MessageCounts&, const MessageCounts&) = default;
  friend MessageCounts operator-(const MessageCounts& a, const MessageCounts& b);
  friend void PrintTo(const MessageCounts& message_counts, std::ostream* out);
};

/// Another rank's view of `inner`'s job, whatever its backend: the same rank, context and peers,
/// and a view of its device communicator.
/// All ranks of the job change to theirs together; it must be the current one while it is used.
class CountedWorld final : public World {
 public:
  explicit CountedWorld(World& inner);
  ~CountedWorld() override { abandon_transfers(); }

  MessageCounts message_counts() const;

  std::string_view backend() const override { return inner_.backend(); }
  bool transfers_data() const override { return inner_.transfers_data(); }
  void fail(const std::string& message) override { inner_.fail(message); }
  Device& device() override { return inner_.device(); }
  void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
              ReduceKind kind) override {
    inner_.reduce(inputs, out, count, dtype, kind);
  }

 protected:
  std::unique_ptr<Messages> new_messages() override;
  void note(const CollectiveCall& call, CallState state) override;
  std::byte* scratch(size_t bytes) override;
  int64_t slice_bytes() const override;

 private:
  class CountedMessages;

  World& inner_;
  MessageCounts counts_;
  CountedWorld* device_communicator_ = nullptr;
};

/// The rank's counters have grown since `before`, when `world` was made, by what was on the wire.
void expect_counted(const CountedWorld& world, const Counters& before);

/// Runs `body` on every rank of a local world, in counted worlds that are current. At its end each
/// rank's counters must say what was on the wire.
void on_counted_ranks(int64_t n, const std::function<void(CountedWorld& world)>& body);

}  // namespace phi::distributed::testing
