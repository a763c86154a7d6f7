// Memory, copies and host synchronisation of one GPU.
#include "phi/gpu/gpu_device.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/place.h"
#include "phi/gpu/box_move.h"
#include "phi/gpu/errors.h"

namespace phi::gpu {
namespace {

cudaMemPool_t make_pool(int index) {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = index;
  cudaMemPool_t pool = nullptr;
  PHI_GPU(cudaMemPoolCreate(&pool, &props));
  // Freed memory stays in the pool: returning it to the driver costs a synchronisation.
  uint64_t kept = std::numeric_limits<uint64_t>::max();
  PHI_GPU(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  return pool;
}

uint64_t pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr which) {
  uint64_t bytes = 0;
  return cudaMemPoolGetAttribute(pool, which, &bytes) == cudaSuccess ? bytes : 0;
}

}  // namespace

GpuDevice::GpuDevice(int index)
    : Device(GPUPlace(index), {.kernels = DeviceKind::GPU, .brackets_work = true}), index_(index) {
  make_current();
  PHI_GPU(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, index));
  // Non-blocking: the stream does not synchronise with the default stream.
  PHI_GPU(cudaStreamCreateWithFlags(&compute_, cudaStreamNonBlocking));
  pool_ = make_pool(index);
  assertions_ = std::make_unique<DeviceAssertions>(compute_);
  copies_ = std::make_unique<CopyStreams>(*this);
}

void GpuDevice::make_current() const {
  int current = -1;
  if (cudaGetDevice(&current) != cudaSuccess || current != index_) PHI_GPU(cudaSetDevice(index_));
}

ComputeStream GpuDevice::compute() const {
  ComputeStream stream(compute_, gate_);
  if (graph_capture_) [[unlikely]]
    graph_capture_->check_thread(*this);
  return stream;
}

ComputeStream GpuDevice::stream_to_wait_for() const {
  ComputeStream stream = compute();
  if (graph_capture_) [[unlikely]]
    throw NotCapturable{};
  return stream;
}

std::byte* GpuDevice::allocate(MemoryAccount&, size_t nbytes) {
  const size_t rounded = small_block_cache_.rounded(nbytes);
  {
    const ComputeStream stream = compute();
    if (graph_capture_) [[unlikely]]
      return graph_capture_->allocate(rounded);
    if (std::byte* const block = small_block_cache_.take(nbytes)) return block;
  }
  if (std::byte* const memory = allocate_of_pool(rounded)) [[likely]]
    return memory;
  release_pool();  // cached blocks may be large enough together
  return allocate_of_pool(rounded);
}

std::byte* GpuDevice::allocate_of_pool(size_t nbytes) {
  make_current();
  void* memory = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&memory, nbytes, pool_, compute());
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  check(status, "cudaMallocFromPoolAsync");
  return static_cast<std::byte*>(memory);
}

void GpuDevice::free(MemoryAccount&, std::byte* memory, size_t nbytes) {
  {
    const std::shared_lock open(gate_);
    if (graph_capture_) [[unlikely]]
      return graph_capture_->free(memory);
  }
  if (!small_block_cache_.keep(memory, nbytes)) give_back(memory);
}

void GpuDevice::give_back(std::byte* memory) {
  // Tensors may be freed after CUDA has shut down or after a failed kernel; the memory is gone
  // then, so errors are ignored.
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current != index_) (void)cudaSetDevice(index_);
  const std::shared_lock open(gate_);
  if (graph_capture_) [[unlikely]]
    return graph_capture_->free(memory);
  (void)cudaFreeAsync(memory, compute_);
}

Device::Pool GpuDevice::pool() const {
  return {static_cast<int64_t>(pool_bytes(pool_, cudaMemPoolAttrReservedMemCurrent)),
          static_cast<int64_t>(pool_bytes(pool_, cudaMemPoolAttrReservedMemHigh))};
}

void GpuDevice::reset_pool_peak() {
  uint64_t zero = 0;
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &zero),
        "cudaMemPoolSetAttribute");
}

void GpuDevice::release_pool() {
  for (std::byte* block : small_block_cache_.release()) give_back(block);
  wait();
  check(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
}

std::string GpuDevice::describe_memory() const {
  make_current();
  size_t free = 0;
  size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const auto reserved = static_cast<uint64_t>(pool().reserved);
  const uint64_t used =
      pool_bytes(pool_, cudaMemPoolAttrUsedMemCurrent) - small_block_cache_.nbytes();
  return fmt::format(
      "Of {} bytes of the GPU {} are free; this process uses {}, of which {} are cached. Run the "
      "job on more ranks, use smaller micro-batches, or enable swapping (memory.device of a job).",
      total, free, reserved, reserved - used);
}

void GpuDevice::copy_to_host(void* host, const std::byte* memory, size_t n) {
  make_current();
  check(cudaMemcpyAsync(host, memory, n, cudaMemcpyDeviceToHost, stream_to_wait_for()),
        "a copy to the host");
  wait();
}

void GpuDevice::copy_from_host(std::byte* memory, const void* host, size_t n) {
  make_current();
  check(cudaMemcpyAsync(memory, host, n, cudaMemcpyHostToDevice, stream_to_wait_for()),
        "a copy from the host");
  // A copy from pinned memory is asynchronous, and the caller may change the memory after this
  // returns.
  wait();
}

void GpuDevice::copy(std::byte* to, const std::byte* from, size_t n) {
  make_current();
  check(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, compute()), "a copy");
}

void GpuDevice::copy_boxes(std::span<const BoxCopy> copies, size_t width) {
  move_boxes(*this, copies, width);
}

void GpuDevice::fill(std::byte* memory, std::byte value, size_t n) {
  make_current();
  check(cudaMemsetAsync(memory, static_cast<int>(value), n, compute()), "a fill");
}

void GpuDevice::wait() {
  make_current();
  check(cudaStreamSynchronize(stream_to_wait_for()), "waiting for the GPU");
  if (has_failed_) [[unlikely]]
    check_failure();
  assertions_->check();
}

void GpuDevice::launched(cudaError_t status) {
  log_.add();
  check(status, "a launch");
}

void GpuDevice::set_failure(std::exception_ptr why) {
  const std::lock_guard lock(failure_mutex_);
  failure_ = std::move(why);
  has_failed_ = failure_ != nullptr;
}

void GpuDevice::check_failure() {
  const std::lock_guard lock(failure_mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void GpuDevice::throw_failed(cudaError_t status, const char* what) const {
  throw errors::Unavailable(
      "{}: {} failed with {}. An earlier kernel may have caused it; the last launches: {}. Set "
      "CUDA_LAUNCH_BLOCKING=1 to find which, and restart the process.",
      place().to_string(), what, describe(status), log_.describe());
}

}  // namespace phi::gpu
