// RecordingTransport: passes everything to another transport, and keeps the calls of its rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/comm/recording/rank_record.h"
#include "distributed/comm/transport.h"

namespace phi::distributed {

class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(std::shared_ptr<Transport> inner);

  std::string_view backend() const override { return inner_->backend(); }
  bool transfers_data() const override { return inner_->transfers_data(); }
  int64_t local_rank() const override { return inner_->local_rank(); }
  /// A started call that receives messages is done when it has been waited for, and not before, so
  /// that the record has its wait where the program has it.
  std::unique_ptr<Messages> new_messages() override;
  void note(const CollectiveCall& call, CallState state) override;
  RankStatus rank_status(int64_t rank) const override { return inner_->rank_status(rank); }
  std::string failure() const override { return inner_->failure(); }
  void fail(const std::string& message) override { inner_->fail(message); }

  void add(const RecordedLaunch& launch) { events_.emplace_back(launch); }
  /// Returns the events since the last call of take, and begins anew. The wait for a call that was
  /// taken before is not recorded.
  std::vector<RecordedEvent> take();

 private:
  class RecordingMessages;
  struct OpenCall {
    size_t event;                                 // index in events_
    size_t number;                                // among the calls in events_
    bool is_taken = false;                        // no longer in events_
    std::unordered_map<int64_t, size_t> peers{};  // index in RecordedMessages::peers, by rank
  };
  using CallId = std::pair<const Group*, uint64_t>;
  static CallId id_of(const CollectiveCall& call) { return {call.group, call.sequence}; }
  OpenCall* find(const CollectiveCall& call);
  RecordedMessages& messages_of(const OpenCall& call) {
    return std::get<RecordedMessages>(events_[call.event]);
  }
  RecordedTraffic& traffic_with(OpenCall& call, int64_t peer);
  const std::shared_ptr<const std::vector<int64_t>>& ranks_of(const Group& group);

  std::shared_ptr<Transport> inner_;
  std::vector<RecordedEvent> events_;
  size_t num_calls_ = 0;
  std::map<CallId, OpenCall> open_;  // calls that are not over
  std::unordered_map<const Group*, std::shared_ptr<const std::vector<int64_t>>> ranks_;
};

}  // namespace phi::distributed
