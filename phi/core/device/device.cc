// The devices of this process: the CPU, and devices that are added or found.
#include "phi/core/device/device.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/memory_advice.h"
#include "phi/core/box_copy.h"
#include "phi/core/device/launch_graph.h"
#include "phi/core/storage/memory_account.h"

namespace phi {
namespace {

class Cpu final : public Device {
 public:
  Cpu() : Device(CPUPlace(), {.is_host = true, .kernels = DeviceKind::CPU}) {}
  std::byte* allocate(MemoryAccount& account, size_t nbytes) override {
    return account.blocks().allocate(nbytes);
  }
  void free(MemoryAccount& account, std::byte* memory, size_t nbytes) override {
    account.blocks().free(memory, nbytes);
  }
  void copy_to_host(void* host, const std::byte* memory, size_t n) override {
    std::memcpy(host, memory, n);
  }
  void copy_from_host(std::byte* memory, const void* host, size_t n) override {
    std::memcpy(memory, host, n);
  }
  void copy(std::byte* to, const std::byte* from, size_t n) override { std::memcpy(to, from, n); }
  void copy_boxes(std::span<const BoxCopy> copies, size_t width) override {
    phi::copy_boxes(copies, width);
  }
  void fill(std::byte* memory, std::byte value, size_t n) override {
    std::memset(memory, static_cast<int>(value), n);
  }
};

// Entries are set once, under the lock, and read without it.
struct DeviceTable {
  static constexpr int kMost = std::numeric_limits<decltype(Place::index)>::max() + 1;

  std::mutex mutex;
  std::array<std::array<std::atomic<Device*>, kMost>, kNumDeviceKinds> devices{};
  std::array<Device::Finder, kNumDeviceKinds> finders{};

  std::atomic<Device*>& at(const Place& place) {
    PHI_CHECK(place.index >= 0,
              errors::InvalidArgument("place {} does not exist; devices are numbered from 0.",
                                      place.to_string()));
    return devices[static_cast<size_t>(place.kind)][static_cast<size_t>(place.index)];
  }
};
DeviceTable& device_table() {
  static auto& instance = *new DeviceTable;
  return instance;
}

}  // namespace

std::string Device::describe_memory() const { return kMoreMemoryAdvice; }

std::byte* Device::allocate_host(size_t nbytes) {
  constexpr size_t kPage = 4096;
  constexpr size_t kHugePage = size_t{1} << 21;
  const size_t size = (nbytes + kPage - 1) / kPage * kPage;
  const bool is_large = size >= kHugePage;
  void* const memory = std::aligned_alloc(is_large ? kHugePage : kPage, size);
  // Huge pages: kernels are slower on a large arena of small pages.
  if (memory && is_large) madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void Device::free_host(std::byte* memory) { std::free(memory); }

std::unique_ptr<LaunchGraph> Device::capture(const std::function<void()>&) { return nullptr; }

Device& Device::cpu() {
  // Never destroyed: tensors may live as long as the process. Not on the heap, so that counts of
  // heap allocations show only those of tensors.
  alignas(Cpu) static std::byte memory[sizeof(Cpu)];
  static auto& instance = *new (memory) Cpu;
  return instance;
}

Device& Device::other(const Place& place) {
  std::atomic<Device*>& entry = device_table().at(place);
  if (Device* known = entry.load(std::memory_order_acquire)) [[likely]]
    return *known;
  const std::lock_guard lock(device_table().mutex);
  if (Device* known = entry.load(std::memory_order_relaxed)) return *known;
  const Finder finder = device_table().finders[static_cast<size_t>(place.kind)];
  PHI_CHECK(finder != nullptr,
            errors::Unimplemented("this process has no device for place {}; use CPUPlace(), or "
                                  "a build and a machine that have one.",
                                  place.to_string()));
  // Never destroyed, as tensors may live as long as the process.
  Device* made = finder(place.index).release();
  entry.store(made, std::memory_order_release);
  return *made;
}

void Device::add(std::unique_ptr<Device> device) {
  const Place place = device->place();
  const std::lock_guard lock(device_table().mutex);
  std::atomic<Device*>& entry = device_table().at(place);
  PHI_CHECK(
      place.kind != DeviceKind::CPU && entry.load(std::memory_order_relaxed) == nullptr,
      errors::AlreadyExists("a device for place {} is already registered.", place.to_string()));
  entry.store(device.release(), std::memory_order_release);
}

bool Device::add_finder(DeviceKind kind, Finder finder) {
  device_table().finders[static_cast<size_t>(kind)] = finder;
  return true;
}

void copy_bytes(std::byte* to, const Place& to_place, const std::byte* from,
                const Place& from_place, size_t nbytes) {
  if (nbytes == 0 || to == from) return;
  Device& target = Device::of(to_place);
  Device& source = Device::of(from_place);
  if (to_place == from_place) {
    target.copy(to, from, nbytes);
  } else if (source.is_host()) {
    target.copy_from_host(to, from, nbytes);
  } else if (target.is_host()) {
    source.copy_to_host(to, from, nbytes);
  } else {
    std::vector<std::byte> between(nbytes);
    source.copy_to_host(between.data(), from, nbytes);
    target.copy_from_host(to, between.data(), nbytes);
  }
}

}  // namespace phi
