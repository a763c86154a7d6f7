// Communicators of the NCCL emulator, and the calls posted on them.
//
// One lock guards all of it. Its owner never calls the streams, whose lock comes first in the lock
// order.
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
  int other = 0;  // peer of a message, or root of a broadcast

  bool collective() const { return kind != Kind::kSend && kind != Kind::kReceive; }
  bool reduces() const { return kind == Kind::kAllReduce || kind == Kind::kReduceScatter; }
  size_t bytes() const;  // size of `count` elements
  /// Bytes that a rank reads from `in`, and bytes that it writes to `out`.
  size_t bytes_in(int rank, int ranks) const;
  size_t bytes_out(int ranks) const;
};

size_t size_of(ncclDataType_t type);
/// For example "send of 16 float32 to rank 1".
std::string described(const Call& call);

struct Posting;
struct Pending {
  Call call;
  Posting* posting;
  bool done = false;
  size_t turn = 0;  // number of earlier collectives of the communicator
};

/// All calls of one group on one communicator, from the moment at which they are in a stream.
struct Posting {
  ncclComm* comm;
  CUstream_st* stream;
  std::deque<Pending> calls = {};
  bool reached = false;  // it is at the head of its stream
  bool stopped = false;  // stopped by an injected fault
  std::shared_ptr<Mark> end = std::make_shared<Mark>(Mark{.stream = stream});  // left the stream

  bool over() const;
};

/// The unfinished messages from one rank to another, in order.
struct Channel {
  std::deque<Pending*> sends;
  std::deque<Pending*> receives;
};

/// A communicator with all its ranks.
struct Clique {
  int number;
  int ranks;
  std::string name;
  std::vector<ncclComm*> members;  // null: the rank has not joined yet
  ncclResult_t error = ncclSuccess;
  std::string error_text = {};
  std::map<std::pair<int, int>, Channel> channels = {};      // key: sender and receiver
  std::map<size_t, std::vector<Pending*>> collectives = {};  // key: turn; index: rank

  bool complete() const;
};

/// The launch of a group: its calls, in order, per communicator and stream.
struct Launch {
  struct Part {
    ncclComm* comm;
    std::vector<cudaStream_t> streams;
    std::vector<Call> calls;
  };
  std::vector<Part> parts;
  uint64_t polls = 0;  // polls until it is launched
  bool taken = false;  // a thread is launching it
  bool done = false;
};

struct All {
  std::mutex mutex;
  std::condition_variable changed;
  Faults faults;
  Draw draw{4};
  int ids = 0;
  int cliques_made = 0;
  std::map<int, std::shared_ptr<Clique>> cliques;  // key: id
  std::vector<std::unique_ptr<ncclComm>> comms;    // never freed, so that late uses are detected
};
All& all();

/// Stores `text` for ncclGetLastError of this thread and returns `result`.
ncclResult_t refused(ncclResult_t result, const std::string& text);
/// The communicator's state apart from progress of calls: success, in progress, or an error and its
/// text. Requires the lock.
ncclResult_t state_of(const ncclComm& comm, std::string* text);
/// ncclSuccess if calls may be made on the communicator, else an error that is explained. Requires
/// the lock.
ncclResult_t check_ready(ncclComm_t comm, const char* call);
std::string described(const ncclComm& comm);
/// The error for an invalid or destroyed communicator.
ncclResult_t refused_handle(const char* call, ncclComm_t comm);
/// Fails the test with "ncclCommAbort waits for the end of graphs, ...". Requires the lock.
void fail_for_graphs(const char* call, const ncclComm& comm);

/// Puts a group that is due into the streams. Call without the lock.
ncclResult_t launch(const Launch& group);
/// The stream work of one communicator's part of a group. Call without the lock.
Work work_of(const Launch::Part& part);
/// Drops the communicator's postings, which then do nothing when they reach the head of their
/// streams. Returns the marks of their ends. Requires the lock.
using CompletionMarks = std::vector<std::shared_ptr<Mark>>;
CompletionMarks drop_postings(ncclComm& comm);

/// Copies the data of a message from its two sides, and of a collective from all sides, indexed by
/// rank. The sides must match. Requires the lock.
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
  uint64_t polls = 0;  // polls until it is ready, once all ranks have joined
  std::shared_ptr<cuda_on_cpu::nccl::Launch> pending;  // group in progress
  ncclResult_t error = ncclSuccess;                    // asynchronous error
  size_t collectives = 0;
  int held_by_graphs = 0;  // number of captured groups of its calls
  std::deque<std::shared_ptr<cuda_on_cpu::nccl::Posting>> postings;  // unfinished postings

  bool gone() const { return state == State::kDestroyed || state == State::kAborted; }
};
