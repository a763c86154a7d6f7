// Communicators of the stand-in of NCCL, and what is posted on them.
//
// One lock holds for all. Who has it never calls the streams, whose lock comes first.
#pragma once

#include <nccl.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/cuda_on_cpu/nccl_faults.h"
#include "support/cuda_on_cpu/settings.h"
#include "support/cuda_on_cpu/streams.h"

namespace cuda_on_cpu::nccl {

using Lock = std::unique_lock<std::mutex>;

enum class Kind { kSend, kReceive, kAllReduce, kReduceScatter, kAllGather, kBroadcast };

struct Call {
  Kind kind;
  const void* in = nullptr;
  void* out = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int other = 0;  // the peer of a message, the root of a broadcast

  bool collective() const { return kind != Kind::kSend && kind != Kind::kReceive; }
  bool reduces() const { return kind == Kind::kAllReduce || kind == Kind::kReduceScatter; }
  size_t bytes() const;  // of `count` elements
  /// Bytes that a rank reads from `in` and writes to `out`.
  size_t bytes_in(int rank, int ranks) const;
  size_t bytes_out(int ranks) const;
};

size_t size_of(ncclDataType_t type);
/// "send of 16 float32 to rank 1"
std::string described(const Call& call);

struct Posting;
struct Pending {
  Call call;
  Posting* posting;
  bool done = false;
  size_t turn = 0;  // of a collective: how many the communicator had before
};

/// All calls of one group on one communicator, once in a stream.
struct Posting {
  ncclComm* comm;
  CUstream_st* stream;
  std::deque<Pending> calls = {};
  bool reached = false;  // it is the head of its stream
  bool stopped = false;  // by a planted fault
  std::shared_ptr<Mark> end = std::make_shared<Mark>(Mark{.stream = stream});  // it has left that

  bool over() const;
};

/// What one rank sends to another, in order; only what is not done.
struct Channel {
  std::deque<Pending*> sends;
  std::deque<Pending*> receives;
};

/// A communicator as all its ranks see it.
struct Clique {
  int number;
  int ranks;
  std::string name;
  std::vector<ncclComm*> members;  // null: has not come yet
  ncclResult_t error = ncclSuccess;
  std::string error_text = {};
  std::map<std::pair<int, int>, Channel> channels = {};      // by sender and receiver
  std::map<size_t, std::vector<Pending*>> collectives = {};  // by turn; by rank

  bool complete() const;
};

/// What a group does when it is launched: in order, the calls of each communicator and its streams.
struct Launch {
  struct Part {
    ncclComm* comm;
    std::vector<cudaStream_t> streams;
    std::vector<Call> calls;
  };
  std::vector<Part> parts;
  uint64_t polls = 0;  // until it is launched
  bool taken = false;  // a thread launches it
  bool done = false;
};

struct All {
  std::mutex mutex;
  std::condition_variable changed;
  Faults faults;
  Draw draw{4};
  int ids = 0;
  int cliques_made = 0;
  std::map<int, std::shared_ptr<Clique>> cliques;  // by id
  std::vector<std::unique_ptr<ncclComm>> comms;    // none is freed: who uses one too late is told
};
All& all();

/// Keeps a text for ncclGetLastError in this thread, and gives the result back.
ncclResult_t refused(ncclResult_t result, const std::string& text);
/// What the communicator has to report but progress: success, in progress, or an error and its
/// text. Under the lock.
ncclResult_t state_of(const ncclComm& comm, std::string* text);
/// Success if calls may be made on it; else says why not. Under the lock.
ncclResult_t check_ready(ncclComm_t comm, const char* call);
std::string described(const ncclComm& comm);
/// Says that the communicator is none, or one no more.
ncclResult_t refused_handle(const char* call, ncclComm_t comm);
/// "ncclCommAbort waits for the end of graphs, ..." Ends the test. Under the lock.
void fail_for_graphs(const char* call, const ncclComm& comm);

/// Puts a group that is due into the streams. Not under the lock.
ncclResult_t launch(const Launch& group);
/// The work of one communicator's part of a group. Not under the lock.
Work work_of(const Launch::Part& part);
/// Forgets what the communicator has posted, which does nothing when its turn in its stream comes;
/// the places of that. Under the lock.
using Ends = std::vector<std::shared_ptr<Mark>>;
Ends drop_postings(ncclComm& comm);

/// Two sides of a message; all sides of a collective, by rank. They fit together. Under the lock.
void move_message(const Pending& send, const Pending& receive);
void move_collective(const std::vector<Pending*>& sides);

}  // namespace cuda_on_cpu::nccl

struct ncclComm {
  enum class State { kInUse, kFinalized, kDestroyed, kAborted };
  State state = State::kInUse;
  std::shared_ptr<cuda_on_cpu::nccl::Clique> clique;
  int rank = 0;
  int device = 0;
  int version = 0;
  bool blocking = true;
  uint64_t polls = 0;                                  // until it has been made, once all have come
  std::shared_ptr<cuda_on_cpu::nccl::Launch> pending;  // a group that is in progress
  ncclResult_t error = ncclSuccess;                    // an asynchronous one
  size_t collectives = 0;
  int held_by_graphs = 0;                                            // groups of its calls
  std::deque<std::shared_ptr<cuda_on_cpu::nccl::Posting>> postings;  // that have not ended

  bool gone() const { return state == State::kDestroyed || state == State::kAborted; }
};
