// Matching of messages of the NCCL emulator. A posting and all that it matches must be at the heads
// of their streams; nothing is buffered. One message moves at a time, in any permitted order.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/nccl_types.h"

namespace cuda_on_cpu::nccl {
namespace {

// The communicator's calls run in order, whichever streams they are on.
bool is_next(const Posting& posting) { return posting.comm->postings.front().get() == &posting; }

bool stands(const Posting& posting) {
  return posting.reached && !posting.stopped && is_next(posting);
}

Channel& channel_of(const Pending& own) {
  const ncclComm& comm = *own.posting->comm;
  const bool sends = own.call.kind == Kind::kSend;
  const std::pair ends(sends ? comm.rank : own.call.other, sends ? own.call.other : comm.rank);
  return comm.clique->channels[ends];
}

// All sides of a collective by rank, or sender and receiver. Null for sides that are not posted, or
// for a message after another one to the same peer.
std::vector<Pending*> sides_of(const Pending& own) {
  if (own.call.collective()) return own.posting->comm->clique->collectives.at(own.turn);
  const Channel& channel = channel_of(own);
  const auto first = [](const std::deque<Pending*>& queue) {
    return queue.empty() ? nullptr : queue.front();
  };
  const std::vector<Pending*> sides{first(channel.sends), first(channel.receives)};
  return sides[own.call.kind == Kind::kSend ? 0 : 1] == &own ? sides
                                                             : std::vector<Pending*>{nullptr};
}

bool can_move(const Pending& own) {
  if (own.done) return false;
  const auto sides = sides_of(own);
  return std::all_of(sides.begin(), sides.end(),
                     [](const Pending* side) { return side != nullptr && stands(*side->posting); });
}

bool held_up(Posting& posting) {
  const Lock lock(all().mutex);
  posting.reached = true;
  if (posting.over()) return false;
  return std::none_of(posting.calls.begin(), posting.calls.end(), can_move);
}

std::vector<CUstream_st*> needs(const Posting& posting) {
  const Lock lock(all().mutex);
  if (posting.over()) return {};
  if (!is_next(posting)) return {posting.comm->postings.front()->stream};
  std::vector<CUstream_st*> streams;
  for (const Pending& own : posting.calls) {
    if (own.done) continue;
    for (const Pending* side : sides_of(own)) {
      if (side != nullptr && side->posting != &posting) streams.push_back(side->posting->stream);
    }
  }
  return streams;
}

// The ranks that have not reached these calls.
std::set<int> missing(const Posting& posting) {
  std::set<int> ranks;
  for (const Pending& own : posting.calls) {
    if (own.done) continue;
    const auto sides = sides_of(own);
    for (size_t i = 0; i < sides.size(); ++i) {
      if (sides[i] != nullptr && stands(*sides[i]->posting)) continue;
      ranks.insert(own.call.collective() ? static_cast<int>(i) : own.call.other);
    }
  }
  return ranks;
}

std::string state(const Posting& posting) {
  const Lock lock(all().mutex);
  if (posting.over()) return "";
  if (posting.stopped) return " (a planted fault stops it)";
  if (!is_next(posting)) return " (waits for earlier work of its communicator)";
  return fmt::format(" (waits for rank {})", fmt::join(missing(posting), ", "));
}

Pending& chosen_of(const std::vector<Pending*>& movable) {
  switch (settings().order) {
    case Order::kForward:
      return *movable.front();
    case Order::kBackward:
      return *movable.back();
    case Order::kDrawn:
      break;
  }
  return *movable[all().draw.number(movable.size())];
}

void move_one(Posting& posting) {
  const Lock lock(all().mutex);
  std::vector<Pending*> movable;
  for (Pending& own : posting.calls) {
    if (can_move(own)) movable.push_back(&own);
  }
  if (movable.empty()) return;  // aborted or complete
  const Pending& own = chosen_of(movable);
  const auto sides = sides_of(own);
  if (own.call.collective()) {
    move_collective(sides);
    posting.comm->clique->collectives.erase(own.turn);
  } else {
    move_message(*sides[0], *sides[1]);
    Channel& channel = channel_of(own);
    channel.sends.pop_front();
    channel.receives.pop_front();
  }
  for (Pending* side : sides) side->done = true;
}

bool unfinished(const std::shared_ptr<Posting>& posting) {
  const Lock lock(all().mutex);
  if (!posting->over()) return true;
  posting->end->done = true;
  std::erase(posting->comm->postings, posting);
  return false;
}

// Makes a call visible to the other ranks.
void announce(Pending& own) {
  ncclComm& comm = *own.posting->comm;
  if (own.call.collective()) {
    own.turn = comm.collectives++;
    auto& sides = comm.clique->collectives[own.turn];
    sides.resize(static_cast<size_t>(comm.clique->ranks));
    sides[static_cast<size_t>(comm.rank)] = &own;
  } else {
    Channel& channel = channel_of(own);
    (own.call.kind == Kind::kSend ? channel.sends : channel.receives).push_back(&own);
  }
}

std::shared_ptr<Posting> post(const Launch::Part& part, CUstream_st& stream) {
  auto posting = std::make_shared<Posting>(Posting{.comm = part.comm, .stream = &stream});
  for (const Call& call : part.calls) {
    if (const auto stop = all().faults.count_call(part.comm->device)) {
      posting->stopped = true;
      part.comm->error = *stop;
    }
    announce(posting->calls.emplace_back(Pending{.call = call, .posting = posting.get()}));
  }
  part.comm->postings.push_back(posting);
  return posting;
}

// Called when the part enters a stream; for a captured one, at each launch of its graph.
void queue(const Launch::Part& part, CUstream_st& stream, Work& work) {
  const Lock lock(all().mutex);
  if (part.comm->gone()) return;  // aborted concurrently by another thread
  const auto posting = post(part, stream);
  work.run = [posting] { move_one(*posting); };
  work.held_up = [posting] { return held_up(*posting); };
  work.needs = [posting] { return needs(*posting); };
  work.unfinished = [posting] { return unfinished(posting); };
  work.state = [posting] { return state(*posting); };
}

std::string name_of(const Launch::Part& part) {
  constexpr size_t kNamed = 4;
  std::string text;
  for (size_t i = 0; i < std::min(part.calls.size(), kNamed); ++i) {
    text += (i == 0 ? ": " : ", ") + described(part.calls[i]);
  }
  if (part.calls.size() > kNamed) text += fmt::format(", {} more", part.calls.size() - kNamed);
  return fmt::format("NCCL on {}{}", described(*part.comm), text);
}

// The GPUs whose memory the part accesses.
std::vector<int> devices_of(const Launch::Part& part) {
  const auto& members = part.comm->clique->members;
  std::set<int> devices{part.comm->device};
  for (const Call& call : part.calls) {
    if (!call.collective()) devices.insert(members[static_cast<size_t>(call.other)]->device);
    if (!call.collective()) continue;
    for (const ncclComm* member : members) devices.insert(member->device);
  }
  return {devices.begin(), devices.end()};
}

}  // namespace

bool Posting::over() const {
  return std::all_of(calls.begin(), calls.end(), [](const Pending& own) { return own.done; });
}

Work work_of(const Launch::Part& part) {
  const Lock lock(all().mutex);
  Work work{.name = name_of(part), .run = [] {}, .devices = devices_of(part)};
  work.queued = [=](CUstream_st& stream, Work& own) { queue(part, stream, own); };
  if (part.streams.front()->capture == nullptr) return work;
  ++part.comm->held_by_graphs;
  work.held_by_graph = std::shared_ptr<void>(nullptr, [comm = part.comm](void*) {
    const Lock released(all().mutex);
    --comm->held_by_graphs;
    all().changed.notify_all();
  });
  return work;
}

CompletionMarks drop_postings(ncclComm& comm) {
  CompletionMarks ends;
  for (const auto& posting : comm.postings) {
    ends.push_back(posting->end);
    for (Pending& own : posting->calls) {
      if (own.done) continue;
      own.done = true;
      if (own.call.collective()) {
        comm.clique->collectives.at(own.turn)[static_cast<size_t>(comm.rank)] = nullptr;
      } else {
        Channel& channel = channel_of(own);
        std::erase(own.call.kind == Kind::kSend ? channel.sends : channel.receives, &own);
      }
    }
  }
  comm.postings.clear();
  return ends;
}

}  // namespace cuda_on_cpu::nccl
