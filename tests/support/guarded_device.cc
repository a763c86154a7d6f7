// Memory that is mapped once and opened and closed with mprotect.
#include "support/guarded_device.h"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "phi/core/box_copy.h"

namespace phi::testing {
namespace {

constexpr size_t kReserved = size_t{1} << 30;  // address space; memory is taken as it is used
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kAlignment = 64;
constexpr int kNaNByte = 0xff;

size_t rounded(size_t nbytes, size_t to = kAlignment) { return (nbytes + to - 1) / to * to; }

}  // namespace

GuardedDevice::GuardedDevice(const Place& place)
    : Device(place, {.is_host = false, .kernels = DeviceKind::CPU, .brackets_work = true}) {
  void* memory = mmap(nullptr, kReserved + kHugePage, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no address space for a guarded device");
  base_ = reinterpret_cast<std::byte*>(rounded(reinterpret_cast<size_t>(memory), kHugePage));
}

std::byte* GuardedDevice::allocate(MemoryAccount&, size_t nbytes) {
  if (nbytes == 0) throw std::logic_error("0 bytes are requested from a device");
  const size_t size = rounded(nbytes);
  std::byte* memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto it = free_.find(size);
    if (it != free_.end()) {
      memory = it->second;
      free_.erase(it);
    } else if (size <= kReserved - used_) {
      memory = base_ + used_;
      grow(size);
    }
    if (memory == nullptr) return nullptr;
    held_ += size;
  }
  fill(memory, std::byte{kNaNByte}, size);
  return memory;
}

void GuardedDevice::free(MemoryAccount&, std::byte* memory, size_t nbytes) {
  const std::lock_guard lock(mutex_);
  free_.emplace(rounded(nbytes), memory);
  held_ -= rounded(nbytes);
}

void GuardedDevice::copy_to_host(void* host, const std::byte* memory, size_t n) {
  const Work work(*this);
  std::memcpy(host, memory, n);
}

void GuardedDevice::copy_from_host(std::byte* memory, const void* host, size_t n) {
  const Work work(*this);
  std::memcpy(memory, host, n);
}

void GuardedDevice::copy(std::byte* to, const std::byte* from, size_t n) {
  const Work work(*this);
  std::memcpy(to, from, n);
}

void GuardedDevice::copy_boxes(std::span<const BoxCopy> copies, size_t width) {
  const Work work(*this);
  phi::copy_boxes(copies, width);
}

void GuardedDevice::fill(std::byte* memory, std::byte value, size_t n) {
  const Work work(*this);
  std::memset(memory, static_cast<int>(value), n);
}

size_t GuardedDevice::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void GuardedDevice::begin_work() {
  const std::lock_guard lock(mutex_);
  if (working_++ == 0) protect(PROT_READ | PROT_WRITE);
}

void GuardedDevice::end_work() {
  const std::lock_guard lock(mutex_);
  if (--working_ == 0) protect(PROT_NONE);
}

// Few pages are quick to open and to close, and the kernel need not split them each time from the
// rest, which is not of the kind.
void GuardedDevice::grow(size_t size) {
  const size_t before = rounded(used_, kHugePage);
  used_ += size;
  if (rounded(used_, kHugePage) == before) return;
  madvise(base_ + before, rounded(used_, kHugePage) - before, MADV_HUGEPAGE);
  if (working_ > 0) protect(PROT_READ | PROT_WRITE);
}

void GuardedDevice::protect(int protection) {
  if (used_ > 0 && mprotect(base_, rounded(used_, kHugePage), protection) != 0) {
    throw std::runtime_error("the memory of a guarded device cannot be opened or closed");
  }
}

GuardedDevice& guarded_device_at(int index) {
  static std::mutex mutex;
  static std::map<int, GuardedDevice*> devices;
  const std::lock_guard lock(mutex);
  GuardedDevice*& device = devices[index];
  if (device == nullptr) {
    auto made = std::make_unique<GuardedDevice>(CustomPlace(index));
    device = made.get();
    Device::add(std::move(made));
  }
  return *device;
}

Place guarded_device(int index) { return guarded_device_at(index).place(); }

}  // namespace phi::testing
