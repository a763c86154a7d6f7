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

/// Another view of `inner`, whatever its backend: the same rank, context and peers, with a
/// transport and, if `inner` has one, a device communicator that count messages. All ranks of the
/// job change to theirs together; it must be the current one while it is used.
class CountedWorld final : public World {
 public:
  explicit CountedWorld(World& inner);

  MessageCounts message_counts() const { return *counts_; }

 private:
  CountedWorld(World& inner, std::shared_ptr<MessageCounts> counts);

  std::shared_ptr<MessageCounts> counts_;
};

/// The rank's counters have grown since `before`, when `world` was made, by what was on the wire.
void expect_counted(const CountedWorld& world, const Counters& before);

/// Runs `body` on every rank of a local world, in counted worlds that are current. At its end each
/// rank's counters must say what was on the wire.
void on_counted_ranks(int64_t n, const std::function<void(CountedWorld& world)>& body);

}  // namespace phi::distributed::testing
