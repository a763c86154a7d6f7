// Messages and collectives of one rank over NCCL.
#include "distributed/comm/nccl/nccl_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "distributed/comm/nccl/captured_graphs.h"
#include "distributed/comm/nccl/command_queue.h"
#include "distributed/comm/nccl/in_flight_collectives.h"
#include "distributed/comm/nccl/nccl_comms.h"
#include "distributed/comm/nccl/nccl_group.h"
#include "distributed/comm/nccl/reduce.h"
#include "distributed/comm/nccl/watchdog.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"
#include "phi/core/device/visible_gpus.h"
#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/graph.h"

namespace phi::distributed {
namespace {

// Size of a slice in bytes. Scratch has two slices from every member at a time.
constexpr int64_t kSliceBytes = int64_t{16} << 20;

// Handshake: what ranks exchange before they connect.
struct Handshake {
  int64_t version;
  GpuId gpu;
  int64_t number;   // number of the rank on its machine
  int64_t visible;  // number of GPUs that CUDA shows to the rank
  int64_t blocks;   // whether the environment makes NCCL's calls blocking
};

// NCCL rejects several ranks on one GPU unless one of these variables is set.
bool shares_gpus_on_purpose() {
  return std::getenv("NCCL_HOSTID") != nullptr ||
         std::getenv("NCCL_MULTI_RANK_GPU_ENABLE") != nullptr;
}

// Parses the variable as NCCL does.
bool environment_blocks() {
  const char* const set = std::getenv("NCCL_COMM_BLOCKING");
  return set != nullptr && std::strtoll(set, nullptr, 0) == 1;
}

std::string gpus_text(int64_t count) {
  return count == 1 ? "1 GPU" : fmt::format("{} GPUs", count);
}

// All ranks compute the same result.
void check_handshakes(const std::vector<Handshake>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    PHI_CHECK(
        !all[i].blocks,
        errors::InvalidArgument("the environment of rank {} has NCCL_COMM_BLOCKING=1: NCCL's calls "
                                "would wait for other ranks and could not be aborted. Unset it.",
                                i));
  }
  for (size_t i = 1; i < all.size(); ++i) {
    PHI_CHECK(
        all[i].version == all[0].version,
        errors::PreconditionNotMet(
            "rank 0 has NCCL {} and rank {} has NCCL {}; install one version on all machines.",
            nccl_version_text(static_cast<int>(all[0].version)), i,
            nccl_version_text(static_cast<int>(all[i].version))));
  }
  PHI_CHECK(all[0].version >= kMinNcclVersion,
            errors::Unavailable("NCCL {} is installed, and {} or newer is needed.",
                                nccl_version_text(static_cast<int>(all[0].version)),
                                nccl_version_text(kMinNcclVersion)));
  for (size_t i = 0; i < all.size() && !shares_gpus_on_purpose(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      PHI_CHECK(all[i].gpu != all[j].gpu,
                errors::PreconditionNotMet(
                    "ranks {} and {} use the same GPU, but NCCL needs one GPU per rank. They are "
                    "local ranks {} and {} on their machine, where CUDA shows them {} and {}: "
                    "start one rank per GPU on each machine, or check CUDA_VISIBLE_DEVICES.",
                    j, i, all[j].number, all[i].number, gpus_text(all[j].visible),
                    gpus_text(all[i].visible)));
    }
  }
}

std::string why_not_captured() {
  const cudaError_t said = gpu::last_capture_error();
  return said == cudaSuccess ? "it waits for the GPU, or is out of memory" : gpu::describe(said);
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(World& world, gpu::GpuDevice& device, GpuReduction reduction)
      : Communicator(world),
        device_(device),
        comms_(in_flight_, rank()),
        queue_(world, device, comms_, in_flight_),
        shared_{queue_, comms_, reduction},
        watchdog_({.transport = world.transport(),
                   .device = device,
                   .comms = comms_,
                   .in_flight = in_flight_,
                   .captured_graphs = captured_graphs_}) {
    queue_.set_all(comms_.of(everyone(), [&]() -> Group& { return world.everyone(); }));
  }

  // Work in the stream completes, or the watchdog aborts it.
  ~NcclCommunicator() override {
    device_.make_current();
    queue_.advance();
    if (!queue_.is_empty()) {
      watchdog_.abort(errors::Unavailable(
          "rank {} left the job before its messages between GPUs were done.", rank()));
    }
    (void)cudaStreamSynchronize(queue_.stream());
    abandon_transfers();
    captured_graphs_.discard_all();
    comms_.end();
    device_.set_failure(nullptr);
  }

  std::string_view backend() const override { return "nccl"; }
  Device& device() override { return device_; }

  void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
              ReduceKind kind) override {
    reduce_on_gpu(device_, inputs, out, count, dtype, kind);
  }

  bool records_calls() const override { return true; }
  std::unique_ptr<LaunchGraph> record(Group& who, const std::function<void()>& body) override {
    watchdog_.check();
    drain();
    CommandQueue::Capture capture(queue_);
    std::unique_ptr<LaunchGraph> written = device_.capture([&] {
      body();
      drain();
      capture.join();
    });
    PHI_CHECK(written,
              errors::PreconditionNotMet(
                  "the work of {} on GPU {} cannot be captured together with messages: {}.",
                  who.name(), device_.place().index, why_not_captured()));
    return captured_graphs_.add(
        std::move(written),
        [this, &who, graph = std::make_shared<PendingCollective::GraphTimings>()](
            const std::function<void()>& launch) {
          watchdog_.check();
          queue_.wait_until_empty();
          const char* const scope = OpScope::current();
          queue_.launch({.group = &who, .sequence = ++launches_, .scope = scope}, graph, launch);
        });
  }

  std::unique_ptr<Messages> new_messages() override {
    return std::make_unique<NcclMessages>(*this);
  }

  int64_t slice_bytes() const override { return kSliceBytes; }

  bool make_progress() override {
    queue_.advance();
    return !queue_.is_empty();
  }

 protected:
  std::unique_ptr<Group> make_group(std::vector<int64_t> ranks, int64_t position,
                                    uint64_t hash) override {
    return std::make_unique<NcclGroup>(*this, shared_, std::move(ranks), position, hash);
  }

 private:
  class NcclMessages final : public Messages {
   public:
    explicit NcclMessages(NcclCommunicator& gpus) : gpus_(gpus) {}
    // A collective that was passed to NCCL cannot be withdrawn; it completes, or the
    // watchdog aborts it.
    ~NcclMessages() override {
      if (collective_) gpus_.queue_.withdraw(*collective_);
    }

    void post(const CollectiveCall& call, std::span<const Send> sends,
              std::span<const Recv> recvs) override {
      gpus_.watchdog_.check();
      collective_ = nullptr;
      if (std::ranges::any_of(sends, &Send::bytes) || std::ranges::any_of(recvs, &Recv::bytes)) {
        collective_ = gpus_.queue_.add(call, sends, recvs);
        return;
      }
      empty_ = gpus_.host().acquire_messages();
      empty_->post(call, sends, recvs);
    }
    bool done(const CollectiveCall& call) override {
      gpus_.watchdog_.check();
      gpus_.queue_.advance();
      if (!collective_) return empty_->done(call);
      if (collective_->error) std::rethrow_exception(collective_->error);
      if (collective_->state != PendingCollective::State::kQueued)
        return collective_->state == PendingCollective::State::kDone;
      if (!collective_->is_captured) return collective_->done.has_occurred();
      collective_->done.block_stream(gpus_.device_.compute());
      return true;
    }
    void wait(const CollectiveCall& call) override {
      gpus_.watchdog_.check();
      if (!collective_) return gpus_.host().wait_for_messages(call, *empty_);
      gpus_.queue_.wait_until_enqueued(*collective_);
      collective_->done.block_stream(gpus_.device_.compute());
    }

   private:
    NcclCommunicator& gpus_;
    std::shared_ptr<PendingCollective>
        collective_;                   // null: all messages are empty and go over the host
    std::unique_ptr<Messages> empty_;  // the empty messages
  };

  Communicator& host() { return world().communicator(); }

  gpu::GpuDevice& device_;
  InFlightCollectives in_flight_;
  NcclComms comms_;
  CommandQueue queue_;
  NcclGroup::SharedState shared_;
  CapturedGraphs captured_graphs_;
  uint64_t launches_ = 0;
  NcclWatchdog watchdog_;  // last member: uses the others
};

}  // namespace

bool has_nccl() { return true; }

std::unique_ptr<Communicator> make_nccl_communicator(World& world, const Place& gpu,
                                                     GpuReduction reduction) {
  gpu::GpuDevice& device = gpu::GpuDevice::of(gpu);
  device.make_current();
  Handshake own{};
  int version = 0;
  const ncclResult_t status = nccl().ncclGetVersion(&version);
  PHI_CHECK(status == ncclSuccess,
            errors::Unavailable("ncclGetVersion failed with {}.", describe(status)));
  own.version = version;
  own.blocks = environment_blocks();
  own.gpu = id_of_gpu(gpu.index);
  own.number = world.local_rank();
  own.visible = visible_gpus();
  std::vector<Handshake> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&own, all.data(), sizeof(own) / sizeof(int64_t), DataType::INT64);
  check_handshakes(all);
  return std::make_unique<NcclCommunicator>(world, device, reduction);
}

}  // namespace phi::distributed
