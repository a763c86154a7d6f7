// Collectives. All are built on one operation: a set of messages in flight at once.
//
// Shared memory makes every pair of ranks a direct link. Direct algorithms (every member sends to
// every other in one round) therefore move the fewest bytes and wait least often. The receiver
// reduces all inputs at once.
#include "distributed/comm/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "distributed/comm/comm_annotation.h"
#include "distributed/comm/communicator.h"
#include "distributed/comm/report/traced_messages.h"
#include "distributed/comm/world.h"
#include "distributed/placement/collective_volume.h"
#include "distributed/placement/split.h"
#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi::distributed {
namespace {

static_assert(kNumCollectives == static_cast<size_t>(CommOp::kBarrier) + 1);

std::string rank_list(std::span<const int64_t> ranks) {
  constexpr size_t kShown = 16;
  if (ranks.size() <= kShown) return fmt::format("{{{}}}", fmt::join(ranks, ","));
  return fmt::format("{{{},... {} ranks}}", fmt::join(ranks.first(kShown), ","), ranks.size());
}

const std::byte* at(const void* base, size_t bytes) {
  return base ? static_cast<const std::byte*>(base) + bytes : nullptr;
}
std::byte* at(void* base, size_t bytes) {
  return base ? static_cast<std::byte*>(base) + bytes : nullptr;
}

template <typename Message>
int64_t bytes_of(std::span<const Message> messages) {
  size_t bytes = 0;
  for (const Message& message : messages) bytes += message.bytes;
  return static_cast<int64_t>(bytes);
}

}  // namespace

Group::Group(Communicator& communicator, std::vector<int64_t> ranks, int64_t position,
             uint64_t hash, std::string_view suffix)
    : communicator_(communicator),
      ranks_(std::move(ranks)),
      position_(position),
      hash_(hash),
      name_(rank_list(ranks_).append(suffix)) {}

// Elements [begin, begin + length) of each member's part.
struct Group::PartSlice {
  std::span<const int64_t> counts;  // elements of each part
  int64_t begin;
  int64_t length;  // maximum: a part may be shorter
  size_t width;    // bytes of an element

  int64_t size_in(int64_t i) const { return std::clamp<int64_t>(counts[i] - begin, 0, length); }
};

// One call: numbers it, logs it, and notifies the world and the traces of its begin and end.
class Group::CallScope {
 public:
  /// `what` contains op, bytes and the values that all members must agree on.
  CallScope(Group& group, const CollectiveCall& what, CallState state = CallState::kWaiting)
      : group_(group),
        state_(state),
        call_(what),
        span_(group.communicator_.rank_context(), TraceKind::kCall, name_of(what.op).data()) {
    group.communicator_.transport().check_not_forked(name_of(what.op));
    call_.group = &group;
    call_.sequence = ++group.calls_;
    call_.scope = OpScope::current();
    if (const CommAnnotation* annotation = CommAnnotation::current()) {
      call_.shape = annotation->shape();
      call_.tensor = annotation->number();
      if (call_.dtype == DataType::UNDEFINED) call_.dtype = annotation->dtype();
    }
    World& world = group.communicator_.world();
    if (call_.op != CommOp::kBarrier) {
      const GeneratorState& state = world.rank_context().generator().state();
      call_.seed = state.seed;
      call_.draws = state.draws;
    }
    world.log_call(group, call_);
    world.transport().note(call_, state);
    if (world.strict_collectives()) group.compare(call_);
    group.call_ = &call_;
    yield_point("group.call.begun");
    if (!span_.is_open()) return;
    before_ = world.rank_context().counters();
    span_.fill([&](Trace& trace, TraceEvent& event) { describe(call_, trace, &event); });
  }
  ~CallScope() {
    group_.call_ = nullptr;
    const Counters& counters = group_.communicator_.rank_context().counters();
    span_.fill([&](Trace&, TraceEvent& event) {
      event.bytes_sent = counters.bytes_sent - before_.bytes_sent;
      event.bytes_received = counters.bytes_received - before_.bytes_received;
    });
  }

  /// Adds arrows to the traces: sends before the messages are posted, receives when they have
  /// arrived.
  void show_messages() {
    if (!span_.is_open()) return;
    const int64_t rank = group_.communicator_.rank();
    const auto sends = arrows_from(rank, call_, group_.remote_sends_);
    arriving_ = arrows_to(rank, call_, group_.remote_recvs_);
    span_.fill([&](Trace& trace, TraceEvent& event) {
      describe(sends, arriving_, &event);
      add_ends(sends, TraceKind::kSend, call_, trace);
    });
  }
  void show_arrival() {
    span_.fill(
        [&](Trace& trace, TraceEvent&) { add_ends(arriving_, TraceKind::kReceive, call_, trace); });
  }

  /// Ends a started call that has no messages.
  void over() { group_.communicator_.transport().note(call_, CallState::kFinished); }
  /// Ends the call. If it is not called, because of an error, reports show that the rank still
  /// waits.
  void finish() {
    constexpr size_t kPolled = 8;
    yield_point("group.call.exchanged");
    if (state_ == CallState::kWaiting)
      group_.communicator_.transport().note(call_, CallState::kFinished);
    group_.communicator_.poll(kPolled);
  }

 private:
  Group& group_;
  const CallState state_;
  CollectiveCall call_;
  TraceScope span_;
  Counters before_;
  std::vector<Arrow> arriving_;
};

// Runs the call in the backend's library, if it can, and counts its bytes: a gather sends the own
// part to all others, a scatter receives one part from each, and an all-reduce does both. The
// algorithms of libraries move as many.
bool Group::by_library(const void* in, void* out, std::span<const int64_t> counts) {
  if (size() == 1 || !run_by_library(*call_, in, out, counts)) return false;
  const auto width = static_cast<int64_t>(size_of(call_->dtype));
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0}) * width;
  const int64_t own = counts[position_] * width;
  const bool gathers = call_->op != CommOp::kReduceScatter;
  const bool scatters = call_->op != CommOp::kAllGather;
  const int64_t others = size() - 1;
  Counters& counters = communicator_.rank_context().counters();
  Traffic& traffic = counters.traffic[static_cast<size_t>(call_->op)];
  const int64_t sent = (gathers ? own * others : 0) + (scatters ? total - own : 0);
  counters.bytes_sent += sent;
  counters.bytes_received += (gathers ? total - own : 0) + (scatters ? own * others : 0);
  traffic.bytes += sent;
  traffic.messages += others * (gathers && scatters ? 2 : 1);
  return true;
}

// The device's copy keeps its order with other work on the arrays.
void Group::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0 || to == from) return;
  communicator_.device().copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                              bytes);
}

// Sends an empty message from every member to every other. Like every message, it contains its
// call, which the receiver compares with its own. The call itself starts after that.
void Group::compare(const CollectiveCall& call) {
  std::vector<Send> sends;
  std::vector<Recv> recvs;
  for (const int64_t rank : ranks_) {
    if (rank == communicator_.rank()) continue;
    sends.push_back({rank, nullptr, 0});
    recvs.push_back({rank, nullptr, 0});
  }
  if (!sends.empty()) communicator_.exchange_messages(call, sends, recvs);
}

// Copies messages of this rank to itself and counts the others, which it stores in remote_sends_
// and remote_recvs_. Returns false if there are none.
bool Group::sort_out(std::span<const Send> sends, std::span<const Recv> recvs, CommOp counted_as) {
  Counters& counters = communicator_.rank_context().counters();
  Traffic& traffic = counters.traffic[static_cast<size_t>(counted_as)];
  remote_sends_.clear();
  remote_recvs_.clear();
  // Messages to oneself are matched in order, like all others.
  auto own = std::find_if(recvs.begin(), recvs.end(), [&](auto& r) { return r.peer == position_; });
  for (const Send& send : sends) {
    if (send.peer != position_) {
      remote_sends_.push_back({ranks_[send.peer], send.data, send.bytes});
      counters.bytes_sent += static_cast<int64_t>(send.bytes);
      traffic.bytes += static_cast<int64_t>(send.bytes);
      ++traffic.messages;
      continue;
    }
    PHI_CHECK(own != recvs.end() && own->bytes == send.bytes,
              errors::InvalidArgument("a message of {} bytes to this rank itself has no receive of "
                                      "the same size in this call.",
                                      send.bytes));
    copy(own->data, send.data, send.bytes);
    own = std::find_if(own + 1, recvs.end(), [&](auto& r) { return r.peer == position_; });
  }
  PHI_CHECK(
      own == recvs.end(),
      errors::InvalidArgument("a receive from this rank itself has no message in this call."));
  for (const Recv& recv : recvs) {
    if (recv.peer == position_) continue;
    remote_recvs_.push_back({ranks_[recv.peer], recv.data, recv.bytes});
    counters.bytes_received += static_cast<int64_t>(recv.bytes);
  }
  return !remote_sends_.empty() || !remote_recvs_.empty();
}

void Group::transfer(std::span<const Send> sends, std::span<const Recv> recvs) {
  if (sort_out(sends, recvs, call_->op))
    communicator_.exchange_messages(*call_, remote_sends_, remote_recvs_);
}

void Group::all_gather(const void* in, void* out, int64_t count, DataType dtype) {
  const std::vector<int64_t> counts(ranks_.size(), count);
  all_gather_v(in, out, counts, dtype);
}

void Group::all_gather_v(const void* in, void* out, std::span<const int64_t> counts,
                         DataType dtype) {
  PHI_CHECK(counts.size() == ranks_.size(),
            errors::InvalidArgument("all_gather over {} ranks of {} is given {} counts.", size(),
                                    name_, counts.size()));
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  CallScope call(*this, {.op = CommOp::kAllGather,
                         .bytes = total * static_cast<int64_t>(size_of(dtype)),
                         .dtype = dtype,
                         .count = total});
  if (!by_library(in, out, counts))
    gather_parts(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), counts, dtype);
  call.finish();
}

void Group::gather_parts(const std::byte* in, std::byte* out, std::span<const int64_t> counts,
                         DataType dtype) {
  const size_t width = size_of(dtype);
  const size_t own_bytes = static_cast<size_t>(counts[position_]) * width;
  sends_.clear();
  recvs_.clear();
  size_t offset = 0;
  for (int64_t i = 0; i < size(); ++i) {
    const size_t bytes = static_cast<size_t>(counts[i]) * width;
    if (i == position_) {
      copy(at(out, offset), in, own_bytes);
    } else {
      if (own_bytes > 0) sends_.push_back({i, in, own_bytes});
      if (bytes > 0) recvs_.push_back({i, at(out, offset), bytes});
    }
    offset += bytes;
  }
  transfer(sends_, recvs_);
}

void Group::all_to_all(const void* in, void* out, int64_t count, DataType dtype) {
  const std::vector<int64_t> counts(ranks_.size(), count);
  all_to_all_v(in, counts, out, counts, dtype);
}

void Group::all_to_all_v(const void* in, std::span<const int64_t> send_counts, void* out,
                         std::span<const int64_t> recv_counts, DataType dtype) {
  PHI_CHECK(send_counts.size() == ranks_.size() && recv_counts.size() == ranks_.size(),
            errors::InvalidArgument("all_to_all over {} ranks of {} is given {} send counts and {} "
                                    "receive counts.",
                                    size(), name_, send_counts.size(), recv_counts.size()));
  const size_t width = size_of(dtype);
  sends_.clear();
  recvs_.clear();
  size_t send_offset = 0;
  size_t recv_offset = 0;
  for (int64_t i = 0; i < size(); ++i) {
    const size_t send_bytes = static_cast<size_t>(send_counts[i]) * width;
    const size_t recv_bytes = static_cast<size_t>(recv_counts[i]) * width;
    if (send_bytes > 0) sends_.push_back({i, at(in, send_offset), send_bytes});
    if (recv_bytes > 0) recvs_.push_back({i, at(out, recv_offset), recv_bytes});
    send_offset += send_bytes;
    recv_offset += recv_bytes;
  }
  CallScope call(*this, {.op = CommOp::kAllToAll,
                         .bytes = static_cast<int64_t>(send_offset + recv_offset),
                         .dtype = dtype});
  transfer(sends_, recvs_);
  call.finish();
}

void Group::reduce_scatter(const void* in, void* out, int64_t count, DataType dtype,
                           ReduceKind kind) {
  const std::vector<int64_t> counts(ranks_.size(), count);
  reduce_scatter_v(in, out, counts, dtype, kind);
}

void Group::reduce_scatter_v(const void* in, void* out, std::span<const int64_t> counts,
                             DataType dtype, ReduceKind kind) {
  PHI_CHECK(counts.size() == ranks_.size(),
            errors::InvalidArgument("reduce_scatter over {} ranks of {} is given {} counts.",
                                    size(), name_, counts.size()));
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  CallScope call(*this, {.op = CommOp::kReduceScatter,
                         .bytes = total * static_cast<int64_t>(size_of(dtype)),
                         .dtype = dtype,
                         .count = total,
                         .reduce = kind});
  if (!by_library(in, out, counts)) {
    reduce_parts(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), counts, dtype,
                 kind);
  }
  call.finish();
}

// Posts a slice of every part; returns null if this rank neither sends nor receives.
std::unique_ptr<Messages> Group::post_slice(const PartSlice& slice, const std::byte* in,
                                            std::byte* arrived) {
  sends_.clear();
  recvs_.clear();
  const int64_t mine = slice.size_in(position_);
  size_t part = 0;
  for (int64_t i = 0; i < size(); ++i) {
    const int64_t theirs = slice.size_in(i);
    if (i != position_ && theirs > 0) {
      const std::byte* from = at(in, (part + static_cast<size_t>(slice.begin)) * slice.width);
      sends_.push_back({i, from, static_cast<size_t>(theirs) * slice.width});
    }
    if (i != position_ && mine > 0) {
      std::byte* to = at(arrived, static_cast<size_t>(i * mine) * slice.width);
      recvs_.push_back({i, to, static_cast<size_t>(mine) * slice.width});
    }
    part += static_cast<size_t>(slice.counts[i]);
  }
  if (!sort_out(sends_, recvs_, call_->op)) return nullptr;
  return communicator_.post(*call_, remote_sends_, remote_recvs_);
}

// Slice by slice: every member sends its slice of part i to member i, which reduces what has
// arrived while the next slice is in flight. `out` may be the member's own part of `in`.
void Group::reduce_parts(const std::byte* in, std::byte* out, std::span<const int64_t> counts,
                         DataType dtype, ReduceKind kind) {
  const size_t width = size_of(dtype);
  const int64_t length = communicator_.slice_bytes() / static_cast<int64_t>(width);
  const auto slice = [&](int64_t i) { return PartSlice{counts, i * length, length, width}; };
  const int64_t largest = *std::max_element(counts.begin(), counts.end());
  const int64_t slices = (largest + length - 1) / length;
  const size_t bytes = static_cast<size_t>(slice(0).size_in(position_)) * width * ranks_.size();
  const DeviceMemory arrived = communicator_.scratch(bytes * (slices > 1 ? 2 : 1));
  const auto landing = [&](int64_t i) { return at(arrived.data(), i % 2 == 0 ? 0 : bytes); };
  const int64_t own = std::accumulate(counts.begin(), counts.begin() + position_, int64_t{0});
  std::vector<const void*> inputs(ranks_.size());
  std::unique_ptr<Messages> arriving = post_slice(slice(0), in, landing(0));
  for (int64_t i = 0; i < slices; ++i) {
    auto next = i + 1 < slices ? post_slice(slice(i + 1), in, landing(i + 1)) : nullptr;
    if (arriving) communicator_.finish(*call_, std::move(arriving));
    arriving = std::move(next);
    if (!in) continue;
    const int64_t begin = slice(i).begin, mine = slice(i).size_in(position_);
    for (int64_t j = 0; j < size(); ++j) {
      inputs[j] = landing(i) + static_cast<size_t>(j * mine) * width;
    }
    inputs[position_] = in + static_cast<size_t>(own + begin) * width;
    communicator_.reduce(inputs, at(out, static_cast<size_t>(begin) * width), mine, dtype, kind);
  }
}

void Group::all_reduce(const void* in, void* out, int64_t count, DataType dtype, ReduceKind kind) {
  const auto width = static_cast<int64_t>(size_of(dtype));
  CallScope call(*this, {.op = CommOp::kAllReduce,
                         .bytes = count * width,
                         .dtype = dtype,
                         .count = count,
                         .reduce = kind});
  std::vector<int64_t> counts(ranks_.size());
  for (int64_t i = 0; i < size(); ++i) counts[i] = split_range(count, size(), i).size;
  if (!by_library(in, out, counts)) all_reduce_by_messages(in, out, counts, dtype, kind);
  call.finish();
}

void Group::all_reduce_by_messages(const void* in, void* out, std::span<const int64_t> counts,
                                   DataType dtype, ReduceKind kind) {
  const auto width = static_cast<int64_t>(size_of(dtype));
  const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  if (all_reduce_by_gather(count * width, size())) {
    return reduce_by_gather(in, out, count, dtype, kind);
  }
  const int64_t begin = split_range(count, size(), position_).offset;
  std::byte* own = at(out, static_cast<size_t>(begin * width));
  reduce_parts(static_cast<const std::byte*>(in), own, counts, dtype, kind);
  gather_parts(own, static_cast<std::byte*>(out), counts, dtype);
}

void Group::reduce_by_gather(const void* in, void* out, int64_t count, DataType dtype,
                             ReduceKind kind) {
  const size_t bytes = static_cast<size_t>(count) * size_of(dtype);
  const DeviceMemory arrived = communicator_.scratch(bytes * ranks_.size());
  const std::vector<int64_t> counts(ranks_.size(), count);
  gather_parts(static_cast<const std::byte*>(in), arrived.data(), counts, dtype);
  if (!in) return;  // nothing to reduce, or a dry run
  std::vector<const void*> inputs(ranks_.size());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = arrived.data() + i * bytes;
  communicator_.reduce(inputs, out, count, dtype, kind);
}

// A binomial tree: in round k the 2^k members that have the value send it on.
void Group::broadcast(void* data, int64_t count, DataType dtype, int64_t root) {
  PHI_CHECK(root >= 0 && root < size(),
            errors::OutOfRange("broadcast from position {} of group {}, which has {} ranks.", root,
                               name_, size()));
  const size_t bytes = static_cast<size_t>(count) * size_of(dtype);
  CallScope call(*this, {.op = CommOp::kBroadcast,
                         .bytes = static_cast<int64_t>(bytes),
                         .dtype = dtype,
                         .count = count,
                         .root = root});
  const int64_t turned = (position_ - root + size()) % size();
  for (int64_t have = 1; bytes > 0 && have < size(); have *= 2) {
    if (turned < have && turned + have < size()) {
      const Send send{(turned + have + root) % size(), data, bytes};
      transfer({&send, 1}, {});
    } else if (turned >= have && turned < 2 * have) {
      const Recv recv{(turned - have + root) % size(), data, bytes};
      transfer({}, {&recv, 1});
    }
  }
  call.finish();
}

// Dissemination: in round k every member notifies the member 2^k further on. After log2 n rounds
// each has heard from all, directly or indirectly.
void Group::barrier() {
  communicator_.device().wait();
  CallScope call(*this, {.op = CommOp::kBarrier});
  for (int64_t step = 1; step < size(); step *= 2) {
    const Send send{(position_ + step) % size(), nullptr, 0};
    const Recv recv{(position_ - step + size()) % size(), nullptr, 0};
    transfer({&send, 1}, {&recv, 1});
  }
  call.finish();
}

void Group::exchange(std::span<const Send> sends, std::span<const Recv> recvs) {
  CallScope call(*this, {.op = CommOp::kExchange, .bytes = bytes_of(sends) + bytes_of(recvs)});
  if (sort_out(sends, recvs, CommOp::kExchange)) {
    call.show_messages();
    communicator_.exchange_messages(*call_, remote_sends_, remote_recvs_);
    call.show_arrival();
  }
  call.finish();
}

Transfer Group::start_exchange(std::span<const Send> sends, std::span<const Recv> recvs,
                               std::shared_ptr<const void> buffers, CommOp counted_as) {
  CallScope call(*this,
                 {.op = CommOp::kExchange,
                  .bytes = bytes_of(sends) + bytes_of(recvs),
                  .counted_as = counted_as},
                 CallState::kStarted);
  Transfer transfer;
  if (sort_out(sends, recvs, counted_as)) {
    call.show_messages();
    transfer = communicator_.start(*call_, remote_sends_, remote_recvs_, std::move(buffers));
  } else {
    call.over();
  }
  call.finish();
  return transfer;
}

}  // namespace phi::distributed
