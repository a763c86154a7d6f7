// SingleTransport: the transport of a process without a job: rank 0 of 1, or a rank of a larger job
// that a rank context emulates.
#pragma once

#include "distributed/comm/transport.h"
#include "phi/common/errors.h"

namespace phi::distributed {

class SingleTransport final : public Transport {
 public:
  SingleTransport(int64_t rank, int64_t size) : Transport(rank, size, Peers::kNone) {}
  std::string_view backend() const override { return "local"; }
  std::unique_ptr<Messages> new_messages() override { return std::make_unique<NoMessages>(); }
  void note(const CollectiveCall& /*call*/, CallState /*state*/) override {}
  void fail(const std::string& /*message*/) override {}

 private:
  class NoMessages final : public Messages {
    void post(const CollectiveCall& call, std::span<const Send> /*sends*/,
              std::span<const Recv> /*recvs*/) override {
      throw errors::PreconditionNotMet(
          "{} has peers, but this process joined no job; call init_world, or run_ranks in a test.",
          call.to_string());
    }
    bool done(const CollectiveCall& /*call*/) override { return true; }
    void wait(const CollectiveCall& /*call*/) override {}
  };
};

}  // namespace phi::distributed
