// PendingCollective: the messages of one call or one launch of a graph with messages, from posting
// to completion on the GPU.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "distributed/comm/collective_call.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/nccl/collective_signature.h"
#include "distributed/comm/nccl/event.h"

namespace phi::distributed {

struct PendingCollective {
  enum class State : uint8_t {
    kExchangingSignatures,  // waits for its peers' signatures and for earlier collectives
    kSettling,              // passed to NCCL
    kQueued,                // NCCL has put all messages into the stream
    kDone,                  // complete on the GPU, or failed
  };
  /// Statistics of the launches of one graph.
  struct GraphTimings {
    std::optional<std::chrono::duration<float, std::milli>> longest{};  // longest completed launch
  };

  explicit PendingCollective(std::shared_ptr<GraphTimings> launched = nullptr)
      : graph(std::move(launched)),
        ready(graph ? Event::Kind::kTimed : Event::Kind::kPlain),
        done(graph ? Event::Kind::kTimed : Event::Kind::kPlain) {}

  CollectiveCall call;
  std::vector<Send> sends;  // without those of 0 bytes
  std::vector<Recv> recvs;
  std::vector<int64_t> peers;  // ranks; ours[i] and theirs[i] belong to peers[i]
  std::vector<CollectiveSignature> ours;
  std::vector<CollectiveSignature> theirs;
  std::unique_ptr<Messages> signature_exchange;  // the exchange of signatures
  std::shared_ptr<GraphTimings> graph;           // the launched graph; null: the messages of a call
  Event ready;  // on the compute stream: the arrays may be accessed
  Event done;   // on the message stream
  State state = State::kExchangingSignatures;
  bool is_captured = false;  // part of a graph capture: `done` never occurs
  std::exception_ptr error;

  bool is_enqueued() const { return state == State::kQueued || state == State::kDone; }
};

}  // namespace phi::distributed
