// Keeps calls when they begin, adds their messages when they are posted, and notes waits.
#include "distributed/comm/recording/recording_transport.h"

#include "distributed/comm/group.h"

namespace phi::distributed {

class RecordingTransport::RecordingMessages final : public Messages {
 public:
  RecordingMessages(RecordingTransport& transport, std::unique_ptr<Messages> inner)
      : transport_(transport), inner_(std::move(inner)) {}

  void post(const CollectiveCall& call, std::span<const Send> sends,
            std::span<const Recv> recvs) override {
    must_be_waited_for_ = false;
    if (OpenCall* open = transport_.find(call); open && !open->is_taken) {
      for (const Send& send : sends) {
        RecordedTraffic& traffic = transport_.traffic_with(*open, send.peer);
        ++traffic.messages_sent;
        traffic.bytes_sent += static_cast<int64_t>(send.bytes);
      }
      for (const Recv& recv : recvs) {
        RecordedTraffic& traffic = transport_.traffic_with(*open, recv.peer);
        ++traffic.messages_received;
        traffic.bytes_received += static_cast<int64_t>(recv.bytes);
      }
      must_be_waited_for_ = transport_.messages_of(*open).is_started && !recvs.empty();
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
    open_[id_of(call)] = {events_.size(), num_calls_++};
    events_.emplace_back(RecordedMessages{ranks_of(*call.group),
                                          call.sequence,
                                          call.op,
                                          call.dtype,
                                          call.bytes,
                                          state == CallState::kStarted,
                                          {},
                                          call.counted_as});
  }
  inner_->note(call, state);
}

RecordedTraffic& RecordingTransport::traffic_with(OpenCall& call, int64_t peer) {
  std::vector<RecordedTraffic>& peers = messages_of(call).peers;
  const auto [known, is_new] = call.peers.try_emplace(peer, peers.size());
  if (is_new) peers.push_back({peer});
  return peers[known->second];
}

const std::shared_ptr<const std::vector<int64_t>>& RecordingTransport::ranks_of(
    const Group& group) {
  auto& known = ranks_[&group];
  if (!known) {
    const auto ranks = group.ranks();
    known = std::make_shared<const std::vector<int64_t>>(ranks.begin(), ranks.end());
  }
  return known;
}

RecordingTransport::OpenCall* RecordingTransport::find(const CollectiveCall& call) {
  const auto found = open_.find(id_of(call));
  return found != open_.end() ? &found->second : nullptr;
}

std::vector<RecordedEvent> RecordingTransport::take() {
  for (auto& [id, call] : open_) call.is_taken = true;
  num_calls_ = 0;
  return std::exchange(events_, {});
}

}  // namespace phi::distributed
