// Keeps calls when they begin, adds their messages when they are posted, and notes waits.
#include "distributed/comm/recording/recording_transport.h"

#include <algorithm>

#include "distributed/comm/group.h"

namespace phi::distributed {
namespace {

RecordedTraffic& traffic_with(RecordedMessages& call, int64_t peer) {
  const auto known = std::ranges::find(call.peers, peer, &RecordedTraffic::peer);
  return known != call.peers.end() ? *known : call.peers.emplace_back(RecordedTraffic{peer});
}

}  // namespace

class RecordingTransport::RecordingMessages final : public Messages {
 public:
  RecordingMessages(RecordingTransport& transport, std::unique_ptr<Messages> inner)
      : transport_(transport), inner_(std::move(inner)) {}

  void post(const CollectiveCall& call, std::span<const Send> sends,
            std::span<const Recv> recvs) override {
    must_be_waited_for_ = false;
    if (const OpenCall* open = transport_.find(call); open && !open->is_taken) {
      RecordedMessages& recorded = transport_.messages_of(*open);
      for (const Send& send : sends) {
        RecordedTraffic& traffic = traffic_with(recorded, send.peer);
        ++traffic.messages_sent;
        traffic.bytes_sent += static_cast<int64_t>(send.bytes);
      }
      for (const Recv& recv : recvs) {
        RecordedTraffic& traffic = traffic_with(recorded, recv.peer);
        ++traffic.messages_received;
        traffic.bytes_received += static_cast<int64_t>(recv.bytes);
      }
      must_be_waited_for_ = recorded.is_started && !recvs.empty();
    }
    inner_->post(call, sends, recvs);
  }
  bool done(const CollectiveCall& call) override {
    const bool is_done = inner_->done(call);
    return is_done && !must_be_waited_for_;
  }
  void wait(const CollectiveCall& call) override {
    if (must_be_waited_for_) {
      if (const OpenCall* open = transport_.find(call); open && !open->is_taken)
        transport_.events_.emplace_back(RecordedWait{open->number});
    }
    must_be_waited_for_ = false;
    inner_->wait(call);
  }

 private:
  RecordingTransport& transport_;
  std::unique_ptr<Messages> inner_;
  bool must_be_waited_for_ = false;
};

RecordingTransport::RecordingTransport(std::shared_ptr<Transport> inner)
    : Transport(inner->rank(), inner->size(), Peers::kNone), inner_(std::move(inner)) {
  set_deadline(inner_->deadline());
}

std::unique_ptr<Messages> RecordingTransport::new_messages() {
  return std::make_unique<RecordingMessages>(*this, inner_->new_messages());
}

// A started call is noted again when it is waited for and when it is over.
void RecordingTransport::note(const CollectiveCall& call, CallState state) {
  if (state == CallState::kFinished) {
    open_.erase(id_of(call));
  } else if (state == CallState::kStarted || !find(call)) {
    const auto ranks = call.group->ranks();
    open_[id_of(call)] = {events_.size(), num_calls_++};
    events_.emplace_back(RecordedMessages{{ranks.begin(), ranks.end()},
                                          call.sequence,
                                          call.op,
                                          call.dtype,
                                          call.bytes,
                                          state == CallState::kStarted,
                                          {}});
  }
  inner_->note(call, state);
}

const RecordingTransport::OpenCall* RecordingTransport::find(const CollectiveCall& call) const {
  const auto found = open_.find(id_of(call));
  return found != open_.end() ? &found->second : nullptr;
}

std::vector<RecordedEvent> RecordingTransport::take() {
  for (auto& [id, call] : open_) call.is_taken = true;
  num_calls_ = 0;
  return std::exchange(events_, {});
}

}  // namespace phi::distributed
