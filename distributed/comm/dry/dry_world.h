// DryWorld: any rank of a job of any size, in one process. Messages are counted, not transferred,
// and no call waits. Receive buffers keep their old bytes, and null arrays are counted like others.
// The rank is dry: its tensors get no bytes.
#pragma once

#include "distributed/comm/world.h"

namespace phi::distributed {

class DryWorld final : public World {
 public:
  DryWorld(int64_t rank, int64_t size)
      : World(std::make_shared<RankContext>(rank, size, Execution::kDry)) {}

  std::string_view backend() const override { return "dry"; }
  bool transfers_data() const override { return false; }
  void fail(const std::string& /*message*/) override {}

 protected:
  std::unique_ptr<Messages> new_messages() override { return std::make_unique<NoOpMessages>(); }
  void note(const CollectiveCall&, CallState) override {}

 private:
  class NoOpMessages final : public Messages {
    void post(const CollectiveCall&, std::span<const Send>, std::span<const Recv>) override {}
    bool done(const CollectiveCall&) override { return true; }
    void wait(const CollectiveCall&) override {}
  };
};

}  // namespace phi::distributed
