// Advances collectives from the exchange of signatures to the message stream.
#include "distributed/comm/nccl/command_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "distributed/comm/report/hang_report.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

template <typename Message>
void add_peers(std::span<const Message> messages, std::vector<int64_t>* peers) {
  for (const Message& message : messages) {
    if (std::ranges::find(*peers, message.peer) == peers->end()) peers->push_back(message.peer);
  }
}

// Messages are bytes; they have no dtype at this level.
ncclResult_t send_and_receive(const PendingCollective& collective, ncclComm_t comm,
                              cudaStream_t stream) {
  ncclResult_t worst = ncclSuccess;
  const auto keep = [&](ncclResult_t status) {
    if (status != ncclSuccess && status != ncclInProgress) worst = status;
  };
  for (const Send& send : collective.sends) {
    keep(nccl().ncclSend(send.data, send.bytes, ncclUint8, static_cast<int>(send.peer), comm,
                         stream));
  }
  for (const Recv& recv : collective.recvs) {
    keep(nccl().ncclRecv(recv.data, recv.bytes, ncclUint8, static_cast<int>(recv.peer), comm,
                         stream));
  }
  return worst;
}

// `call` must outlive the result.
NcclComms::WaitDescription description_of(const CollectiveCall& call) {
  return [&call] { return call.to_string(); };
}

}  // namespace

CommandQueue::CommandQueue(World& world, gpu::GpuDevice& device, NcclComms& comms,
                           InFlightCollectives& in_flight)
    : world_(world),
      device_(device),
      comms_(comms),
      in_flight_(in_flight),
      calls_with_(static_cast<size_t>(world.size())) {
  device_.make_current();
  PHI_GPU(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

// The work in the stream is complete or has been aborted.
CommandQueue::~CommandQueue() {
  device_.make_current();
  waiting_.clear();
  (void)cudaStreamSynchronize(stream_);
  (void)cudaStreamDestroy(stream_);
}

std::shared_ptr<PendingCollective> CommandQueue::add(const CollectiveCall& call,
                                                     std::span<const Send> sends,
                                                     std::span<const Recv> recvs) {
  device_.make_current();
  auto collective = std::make_shared<PendingCollective>();
  collective->call = call;
  collective->ready.record(device_.compute());
  std::ranges::copy_if(sends, std::back_inserter(collective->sends), &Send::bytes);
  std::ranges::copy_if(recvs, std::back_inserter(collective->recvs), &Recv::bytes);
  add_peers(sends, &collective->peers);
  add_peers(recvs, &collective->peers);
  collective->theirs.resize(collective->peers.size());
  std::vector<Send> told;
  std::vector<Recv> heard;
  collective->ours.reserve(collective->peers.size());
  for (const int64_t peer : collective->peers) {
    const uint64_t ordinal = ++calls_with_[static_cast<size_t>(peer)];
    collective->ours.push_back(CollectiveSignature::of(call, ordinal, peer, sends, recvs));
    told.push_back({peer, &collective->ours.back(), sizeof(CollectiveSignature)});
    heard.push_back({peer, &collective->theirs[told.size() - 1], sizeof(CollectiveSignature)});
  }
  collective->signature_exchange = world_.communicator().acquire_messages();
  collective->signature_exchange->post(call, told, heard);
  waiting_.push_back(collective);
  advance();
  return collective;
}

void CommandQueue::withdraw(const PendingCollective& collective) {
  std::erase_if(waiting_, [&](const auto& other) {
    return other.get() == &collective &&
           collective.state == PendingCollective::State::kExchangingSignatures;
  });
}

void CommandQueue::advance() {
  device_.make_current();
  in_flight_.retire();
  while (!waiting_.empty()) {
    const std::shared_ptr<PendingCollective> head = waiting_.front();
    try {
      step(*head);
      if (head->state != PendingCollective::State::kQueued) return;
      on_enqueued(head);
      waiting_.pop_front();
    } catch (...) {
      fail_head();
    }
  }
}

// Call from a catch block. The error belongs to the head, whichever collective is being waited for.
void CommandQueue::fail_head() {
  waiting_.front()->error = std::current_exception();
  waiting_.front()->state = PendingCollective::State::kDone;
  waiting_.pop_front();
}

void CommandQueue::step(PendingCollective& head) {
  if (head.state == PendingCollective::State::kExchangingSignatures) {
    if (!head.signature_exchange->done(head.call)) return;
    world_.communicator().release_messages(std::move(head.signature_exchange));
    check_signatures(head);
    enqueue_messages(head);
    head.state = PendingCollective::State::kSettling;
    // NCCL may enqueue work from its own thread, and two threads must not add nodes to one graph at
    // the same time.
    if (captures_) comms_.wait_until_settled(all_, description_of(head.call));
  }
  if (comms_.settled(all_)) head.state = PendingCollective::State::kQueued;
}

void CommandQueue::check_signatures(const PendingCollective& collective) const {
  for (size_t i = 0; i < collective.peers.size(); ++i) {
    const std::string wrong = difference(collective.call, world_.rank(), collective.ours[i],
                                         collective.peers[i], collective.theirs[i]);
    PHI_CHECK(wrong.empty(), errors::InvalidArgument(
                                 "{}", mismatch_report(collective.call, wrong, [&](int64_t other) {
                                   return world_.transport().rank_status(other);
                                 })));
  }
}

void CommandQueue::enqueue_messages(PendingCollective& collective) {
  collective.ready.block_stream(stream_);
  if (collective.sends.empty() && collective.recvs.empty()) return;
  comms_.call(all_, description_of(collective.call),
              [&] { return send_and_receive(collective, all_, stream_); });
}

void CommandQueue::on_enqueued(const std::shared_ptr<PendingCollective>& collective) {
  collective->done.record(stream_);
  if (!captures_) return in_flight_.add(collective);
  collective->is_captured = true;
  has_captured_ = true;
}

void CommandQueue::wait_until_enqueued(PendingCollective& collective) {
  for (advance(); !collective.is_enqueued(); advance()) wait_for_head();
  if (collective.error) std::rethrow_exception(collective.error);
}

void CommandQueue::wait_until_empty() {
  for (advance(); !waiting_.empty(); advance()) wait_for_head();
}

void CommandQueue::wait_for_head() {
  const std::shared_ptr<PendingCollective> head = waiting_.front();
  try {
    if (head->state == PendingCollective::State::kExchangingSignatures) {
      head->signature_exchange->wait(head->call);
    } else {
      comms_.wait_until_settled(all_, description_of(head->call));
    }
  } catch (...) {
    fail_head();
  }
}

void CommandQueue::enqueue(const CollectiveCall& call, ncclComm_t comm,
                           const std::function<ncclResult_t()>& calls) {
  device_.make_current();
  const auto collective = std::make_shared<PendingCollective>();
  collective->call = call;
  collective->ready.record(device_.compute());
  collective->ready.block_stream(stream_);
  comms_.call(comm, description_of(call), calls);
  comms_.wait_until_settled(comm, description_of(call));
  collective->state = PendingCollective::State::kQueued;
  on_enqueued(collective);
  collective->done.block_stream(device_.compute());
}

CommandQueue::Capture::~Capture() { queue_.captures_ = queue_.has_captured_ = false; }

void CommandQueue::Capture::join() {
  if (!queue_.has_captured_) return;
  Event end;
  end.record(queue_.stream_);
  end.block_stream(queue_.device_.compute());
}

void CommandQueue::launch(const CollectiveCall& call,
                          std::shared_ptr<PendingCollective::GraphTimings> graph,
                          const std::function<void()>& launch) {
  device_.make_current();
  const auto collective = std::make_shared<PendingCollective>(std::move(graph));
  collective->call = call;
  Event before;
  before.record(stream_);
  before.block_stream(device_.compute());
  collective->ready.record(device_.compute());
  launch();
  collective->done.record(device_.compute());
  collective->done.block_stream(stream_);
  collective->state = PendingCollective::State::kQueued;
  in_flight_.add(collective);
}

}  // namespace phi::distributed
