// The devices of this process: the CPU, whose memory is the host's, and those that are added.
#include "phi/core/device/device.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
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
  void copy_box(const std::byte* src, const Box& src_box, std::byte* dst, const Box& dst_box,
                const Box& region, size_t width) override {
    phi::copy_box(src, src_box, dst, dst_box, region, width);
  }
  void fill(std::byte* memory, std::byte value, size_t n) override {
    std::memset(memory, static_cast<int>(value), n);
  }
};

struct Table {
  std::mutex mutex;
  std::map<std::pair<DeviceKind, int>, std::unique_ptr<Device>> devices;
};
Table& table() {
  static auto& instance = *new Table;
  return instance;
}

}  // namespace

Device& Device::cpu() {
  // Never destroyed: tensors may live as long as the process. Not on the heap, where what tensors
  // cost is counted.
  alignas(Cpu) static std::byte memory[sizeof(Cpu)];
  static auto& instance = *new (memory) Cpu;
  return instance;
}

Device& Device::other(const Place& place) {
  const std::lock_guard lock(table().mutex);
  const auto it = table().devices.find({place.kind, place.index});
  PHI_CHECK(it != table().devices.end(),
            errors::Unimplemented("this process has no device for place {}; use CPUPlace(), or "
                                  "a build and a machine that have one.",
                                  place.to_string()));
  return *it->second;
}

void Device::add(std::unique_ptr<Device> device) {
  const Place place = device->place();
  const std::lock_guard lock(table().mutex);
  const bool is_new =
      place.kind != DeviceKind::CPU &&
      table().devices.emplace(std::pair(place.kind, int{place.index}), std::move(device)).second;
  PHI_CHECK(is_new,
            errors::AlreadyExists("there is a device for place {} already.", place.to_string()));
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
