// The device communicator of a rank over NCCL.
#include "distributed/comm/nccl/nccl_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "distributed/comm/nccl/captured_graphs.h"
#include "distributed/comm/nccl/command_queue.h"
#include "distributed/comm/nccl/in_flight_collectives.h"
#include "distributed/comm/nccl/nccl_communicators.h"
#include "distributed/comm/nccl/nccl_group.h"
#include "distributed/comm/nccl/reduce.h"
#include "distributed/comm/nccl/watchdog.h"
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

class NcclWorld final : public World {
 public:
  NcclWorld(World& host, gpu::GpuDevice& device, GpuReduction reduction)
      : World(host),
        host_(host),
        device_(device),
        comms_(in_flight_, rank()),
        queue_(link(), device, comms_, in_flight_),
        shared_{queue_, comms_, reduction,
                [this](const CollectiveCall& call) { wait_for_members(call); },
                [this](std::span<const int64_t> ranks) -> Group& { return host_.group(ranks); }},
        watchdog_({.host = host,
                   .device = device,
                   .comms = comms_,
                   .in_flight = in_flight_,
                   .captured_graphs = captured_graphs_,
                   .rank_status = link().rank_status,
                   .failure_of_others = [&host] { return failure_in(host); }}) {
    queue_.set_all(comms_.of(everyone(), [&]() -> Group& { return host_.everyone(); }));
  }

  // Work in the stream completes, or the watchdog aborts it.
  ~NcclWorld() override {
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
  int64_t local_rank() const override { return host_.local_rank(); }
  bool transfers_data() const override { return host_.transfers_data(); }
  void fail(const std::string& message) override { host_.fail(message); }
  Device& device() override { return device_; }

  void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
              ReduceKind kind) override {
    reduce_on_gpu(device_, inputs, out, count, dtype, kind);
  }

  bool records_calls() const override { return true; }
  std::unique_ptr<LaunchGraph> record(Group& who, const std::function<void()>& body) override {
    watchdog_.check();
    drain();
    // A graph needs scratch memory that no later call reuses.
    DedicatedScratch scratch(*this);
    CommandQueue::Capture capture(queue_);
    std::unique_ptr<LaunchGraph> written = device_.capture([&] {
      body();
      drain();
      capture.join();
      scratch.end();
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

 protected:
  std::unique_ptr<Messages> new_messages() override {
    return std::make_unique<NcclMessages>(*this);
  }
  std::unique_ptr<Group> make_group(std::vector<int64_t> ranks, int64_t position,
                                    uint64_t hash) override {
    return std::make_unique<NcclGroup>(*this, shared_, std::move(ranks), position, hash);
  }
  void note(const CollectiveCall& call, CallState state) override { note_in(host_, call, state); }
  RankStatus rank_status(int64_t rank) const override { return rank_status_in(host_, rank); }
  std::string failure() const override { return failure_in(host_); }

  // Earlier scratch memory is freed in compute-stream order.
  std::byte* scratch(size_t bytes) override {
    if (scratch_bytes_ < bytes) {
      scratch_ = DeviceMemory();
      scratch_ = DeviceMemory(device_, bytes);
      scratch_bytes_ = bytes;
    }
    return scratch_.data();
  }
  int64_t slice_bytes() const override { return kSliceBytes; }

  bool make_progress() override {
    queue_.advance();
    return !queue_.is_empty();
  }

 private:
  class NcclMessages final : public Messages {
   public:
    explicit NcclMessages(NcclWorld& world) : world_(world) {}
    // A collective that was passed to NCCL cannot be withdrawn; it completes, or the world aborts
    // it.
    ~NcclMessages() override {
      if (collective_) world_.queue_.withdraw(*collective_);
    }

    void post(const CollectiveCall& call, std::span<const Send> sends,
              std::span<const Recv> recvs) override {
      world_.watchdog_.check();
      collective_ = nullptr;
      if (std::ranges::any_of(sends, &Send::bytes) || std::ranges::any_of(recvs, &Recv::bytes)) {
        collective_ = world_.queue_.add(call, sends, recvs);
        return;
      }
      empty_ = acquire_messages_of(world_.host_);
      empty_->post(call, sends, recvs);
    }
    bool done(const CollectiveCall& call) override {
      world_.watchdog_.check();
      world_.queue_.advance();
      if (!collective_) return empty_->done(call);
      if (collective_->error) std::rethrow_exception(collective_->error);
      if (collective_->state != PendingCollective::State::kQueued)
        return collective_->state == PendingCollective::State::kDone;
      if (!collective_->is_captured) return collective_->done.has_occurred();
      collective_->done.block_stream(world_.device_.compute());
      return true;
    }
    void wait(const CollectiveCall& call) override {
      world_.watchdog_.check();
      if (!collective_) return wait_in(world_.host_, call, *empty_);
      world_.queue_.wait_until_enqueued(*collective_);
      collective_->done.block_stream(world_.device_.compute());
    }

   private:
    NcclWorld& world_;
    std::shared_ptr<PendingCollective>
        collective_;                   // null: all messages are empty and go over the host
    std::unique_ptr<Messages> empty_;  // the empty messages
  };

  class DedicatedScratch {
   public:
    explicit DedicatedScratch(NcclWorld& world) : world_(world) { exchange(); }
    ~DedicatedScratch() { exchange(); }
    DedicatedScratch(const DedicatedScratch&) = delete;
    DedicatedScratch& operator=(const DedicatedScratch&) = delete;
    /// Drops the scratch memory: no later work on the stream uses it.
    void end() {
      world_.scratch_ = DeviceMemory();
      world_.scratch_bytes_ = 0;
    }

   private:
    void exchange() {
      std::swap(world_.scratch_, outer_);
      std::swap(world_.scratch_bytes_, bytes_);
    }

    NcclWorld& world_;
    DeviceMemory outer_;
    size_t bytes_ = 0;
  };

  HostLink link() {
    return {.world = *this,
            .rank_status = [this](int64_t rank) { return rank_status_in(host_, rank); },
            .messages = [this] { return acquire_messages_of(host_); },
            .release_messages =
                [this](auto messages) { release_messages(host_, std::move(messages)); }};
  }

  // Dissemination barrier: in round k each member receives from the member 2^k before it, which has
  // heard from 2^k members. Mismatched calls meet on the way.
  void wait_for_members(const CollectiveCall& call) {
    const auto ranks = call.group->ranks();
    const auto n = static_cast<int64_t>(ranks.size());
    const int64_t own = call.group->position();
    for (int64_t step = 1; step < n; step *= 2) {
      const Send send{ranks[static_cast<size_t>((own + step) % n)], nullptr, 0};
      const Recv recv{ranks[static_cast<size_t>((own - step % n + n) % n)], nullptr, 0};
      exchange_messages_in(host_, call, {&send, 1}, {&recv, 1});
    }
  }

  World& host_;
  gpu::GpuDevice& device_;
  InFlightCollectives in_flight_;
  NcclCommunicators comms_;
  CommandQueue queue_;
  NcclGroup::SharedState shared_;
  DeviceMemory scratch_;
  size_t scratch_bytes_ = 0;
  CapturedGraphs captured_graphs_;
  uint64_t launches_ = 0;
  NcclWatchdog watchdog_;  // last member: uses the others
};

}  // namespace

bool has_nccl() { return true; }

std::unique_ptr<World> make_nccl_world(World& host, const Place& gpu, GpuReduction reduction) {
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
  own.number = host.local_rank();
  own.visible = visible_gpus();
  std::vector<Handshake> all(static_cast<size_t>(host.size()));
  host.everyone().all_gather(&own, all.data(), sizeof(own) / sizeof(int64_t), DataType::INT64);
  check_handshakes(all);
  return std::make_unique<NcclWorld>(host, device, reduction);
}

}  // namespace phi::distributed
