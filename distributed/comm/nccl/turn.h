// Turn: the messages of one call from their posting to their end on the GPU.
#pragma once

#include <exception>
#include <memory>
#include <span>
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

  Call call;
  std::vector<Send> sends;  // of more than 0 bytes
  std::vector<Recv> recvs;
  std::vector<int64_t> peers;  // ranks; a pair of terms for each
  std::vector<Terms> ours;
  std::vector<Terms> theirs;
  std::unique_ptr<Messages> agreement;  // that carry the terms
  Event ready;                          // in the compute stream: the arrays may be read and written
  Event done;                           // in the stream of messages
  State state = State::kAgreeing;
  bool is_captured = false;  // in the stream, of what a device writes down: `done` is of no time
  std::exception_ptr error;

  bool is_put() const { return state == State::kQueued || state == State::kOver; }
};

}  // namespace phi::distributed
