// Turn: the messages of one call, or one launch of a graph that has some, from their posting to
// their end on the GPU.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "distributed/comm/messages.h"
#include "distributed/comm/nccl/event.h"
#include "distributed/comm/nccl/terms.h"
#include "distributed/comm/world.h"

namespace phi::distributed {

struct Turn {
  enum class State : uint8_t {
    kAgreeing,  // it waits for its peers' terms, and for the turns before it
    kSettling,  // NCCL has been told
    kQueued,    // NCCL has put all into the stream
    kOver,      // done on the GPU, or failed
  };
  /// What launches of one graph have shown.
  struct Graph {
    std::optional<std::chrono::duration<float, std::milli>> longest{};  // of those that have ended
  };

  explicit Turn(std::shared_ptr<Graph> launched = nullptr)
      : graph(std::move(launched)),
        ready(graph ? Event::Kind::kTimed : Event::Kind::kPlain),
        done(graph ? Event::Kind::kTimed : Event::Kind::kPlain) {}

  Call call;
  std::vector<Send> sends;  // of more than 0 bytes
  std::vector<Recv> recvs;
  std::vector<int64_t> peers;  // ranks; a pair of terms for each
  std::vector<Terms> ours;
  std::vector<Terms> theirs;
  std::unique_ptr<Messages> agreement;  // that carry the terms
  std::shared_ptr<Graph> graph;         // that it launches; null: it is a call's messages alone
  Event ready;                          // in the compute stream: the arrays may be read and written
  Event done;                           // in the stream of messages
  State state = State::kAgreeing;
  bool is_captured = false;  // in the stream, of what a device writes down: `done` is of no time
  std::exception_ptr error;

  bool is_put() const { return state == State::kQueued || state == State::kOver; }
};

}  // namespace phi::distributed
