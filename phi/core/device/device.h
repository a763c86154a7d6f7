// Device: the memory that tensors of one place lie in, and how bytes get there. All that a backend
// is to storages, copies and launches; one object per place, for the life of the process.
//
//   Device& device = Device::of(x.place());
//   device.copy_to_host(values.data(), bytes, n);
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "phi/common/place.h"
#include "phi/core/box.h"

namespace phi {

struct BoxCopy;
class LaunchRecord;
class MemoryAccount;
class SideCopies;

class Device {
 public:
  /// Errors: Unimplemented if this process has no such device; those of the kind's finder.
  static Device& of(const Place& place) {
    if (place.kind == DeviceKind::CPU) [[likely]]
      return cpu();
    return other(place);
  }
  /// Makes it the device of its place. Errors: AlreadyExists if there is one.
  static void add(std::unique_ptr<Device> device);
  /// Makes device number `index` of a kind when it is first asked for, or throws, saying why there
  /// is none and what to do.
  using Finder = std::unique_ptr<Device> (*)(int index);
  /// Who has devices of a kind says how they are found, once, when the program starts.
  static bool add_finder(DeviceKind kind, Finder finder);
  virtual ~Device() = default;

  const Place& place() const { return place_; }
  /// The host reads and writes its memory as its own.
  bool is_host() const { return is_host_; }
  /// The kind whose kernels run here; its own, but for a device that runs those of another.
  DeviceKind kernels() const { return kernels_; }

  /// 64-byte aligned, not initialised; null if there is no room. Not for 0 bytes.
  virtual std::byte* allocate(MemoryAccount& account, size_t nbytes) = 0;
  /// What `allocate` gave for the same account and size.
  virtual void free(MemoryAccount& account, std::byte* memory, size_t nbytes) = 0;
  /// For the error of an allocation that found no room: what its memory is taken by, and how a job
  /// comes by more.
  virtual std::string about_memory() const;

  // Copies of n bytes between the host and this device's `memory`, done when they return; those
  // within the device are done for whatever is launched or copied after them.
  virtual void copy_to_host(void* host, const std::byte* memory, size_t n) = 0;
  virtual void copy_from_host(std::byte* memory, const void* host, size_t n) = 0;
  virtual void copy(std::byte* to, const std::byte* from, size_t n) = 0;
  /// As phi::copy_boxes, between arrays of this device, in one launch where it can.
  virtual void copy_boxes(std::span<const BoxCopy> copies, size_t width) = 0;
  virtual void fill(std::byte* memory, std::byte value, size_t n) = 0;
  /// Returns when all that was launched is done. Errors: those of what was.
  virtual void wait() {}

  /// Host memory from and to which the device copies by itself: whole pages (of 4096 bytes), not
  /// initialised; null if there is no room. Not for 0 bytes.
  virtual std::byte* allocate_host(size_t nbytes);
  virtual void free_host(std::byte* memory);
  /// Copies beside the computation; null where all copies take the time of who calls.
  virtual SideCopies* side_copies() { return nullptr; }
  /// Whether record() writes anything down.
  virtual bool can_record() const { return false; }
  /// What `body` launches on the calling thread, written down and not done. Null where the device
  /// writes nothing down, or the body does what cannot be: it is left where it waits for the device
  /// or gives the host's bytes to it, and nothing of what it launched happens. `body` must have run
  /// before, so that what it makes once is there; it may run nothing but kernels and copies, on
  /// arrays that stay where they are. Errors: those of the body; Unavailable if another thread has
  /// the device meanwhile.
  virtual std::unique_ptr<LaunchRecord> record(const std::function<void()>& body);

  /// While it lives, a kernel of the device runs on the calling thread, or is launched.
  class Work {
   public:
    explicit Work(Device& device) : device_(device) {
      if (device_.brackets_work_) [[unlikely]]
        device_.begin_work();
    }
    ~Work() {
      if (device_.brackets_work_) [[unlikely]]
        device_.end_work();
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    Device& device_;
  };

 protected:
  struct Traits {
    bool is_host = false;
    DeviceKind kernels = DeviceKind::UNDEFINED;
    bool brackets_work = false;  // begin_work and end_work do something
  };
  Device(const Place& place, const Traits& traits)
      : place_(place),
        kernels_(traits.kernels),
        is_host_(traits.is_host),
        brackets_work_(traits.brackets_work) {}

 private:
  static Device& cpu();
  static Device& other(const Place& place);
  // May be nested.
  virtual void begin_work() {}
  virtual void end_work() {}

  Place place_;
  DeviceKind kernels_;
  bool is_host_;
  bool brackets_work_;
};

/// The first `nbytes` bytes of the one to the other, wherever they lie.
void copy_bytes(std::byte* to, const Place& to_place, const std::byte* from,
                const Place& from_place, size_t nbytes);

}  // namespace phi
