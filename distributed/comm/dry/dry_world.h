// DryWorld: any rank of a job of any size, in one process. Messages are counted, not transferred,
// and no call waits. Receive buffers keep their old bytes, and null arrays are counted like others.
// The rank is dry: its tensors get no bytes.
#pragma once

#include "distributed/comm/transport.h"
#include "distributed/comm/world.h"

namespace phi::distributed {

class DryTransport final : public Transport {
 public:
  DryTransport(int64_t rank, int64_t size) : Transport(rank, size, Peers::kNone) {}
  std::string_view backend() const override { return "dry"; }
  bool transfers_data() const override { return false; }
  std::unique_ptr<Messages> new_messages() override { return std::make_unique<NoOpMessages>(); }
  void note(const CollectiveCall& /*call*/, CallState /*state*/) override {}
  void fail(const std::string& /*message*/) override {}

 private:
  class NoOpMessages final : public Messages {
    void post(const CollectiveCall& /*call*/, std::span<const Send> /*sends*/,
              std::span<const Recv> /*recvs*/) override {}
    bool done(const CollectiveCall& /*call*/) override { return true; }
    void wait(const CollectiveCall& /*call*/) override {}
  };
};

class DryWorld final : public World {
 public:
  DryWorld(int64_t rank, int64_t size)
      : World(std::make_shared<RankContext>(rank, size, Execution::kDry),
              std::make_unique<DryTransport>(rank, size)) {}
};

}  // namespace phi::distributed
