// Device: the interface of a backend to storages, copies and launches: memory of one place, and
// copies to and from it. There is one object per place, which lives as long as the process.
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
class LaunchGraph;
class MemoryAccount;
class CopyQueues;

class Device {
 public:
  /// Returns the device of a place. At the first call the kind's finder creates it, unless it was
  /// added. Errors: Unimplemented if this process has no such device; those of the finder.
  static Device& of(const Place& place) {
    if (place.kind == DeviceKind::CPU) [[likely]]
      return cpu();
    return other(place);
  }
  /// Registers the device of its place. Errors: AlreadyExists if the place has one.
  static void add(std::unique_ptr<Device> device);
  /// Creates device number `index` of a kind at its first use. Throws if there is none; the message
  /// states the reason and a remedy.
  using Finder = std::unique_ptr<Device> (*)(int index);
  /// Registers the finder of a kind of device. Called once per kind, at program start.
  static bool add_finder(DeviceKind kind, Finder finder);
  virtual ~Device() = default;

  const Place& place() const { return place_; }
  /// Whether host code can access the device's memory directly.
  bool is_host() const { return is_host_; }
  /// The kind whose kernels run on this device. It differs from place().kind if the device runs the
  /// kernels of another kind.
  DeviceKind kernels() const { return kernels_; }

  /// Returns uninitialised memory, aligned to 64 bytes, or null if there is not enough. Requires
  /// nbytes > 0.
  virtual std::byte* allocate(MemoryAccount& account, size_t nbytes) = 0;
  /// Frees memory that `allocate` returned for the same account and size.
  virtual void free(MemoryAccount& account, std::byte* memory, size_t nbytes) = 0;
  /// The memory pool from which a device allocates for all accounts of the process, in bytes. On
  /// the CPU there is none: each account has its own cache.
  struct Pool {
    int64_t reserved = 0;       // obtained from the system, in use or cached
    int64_t peak_reserved = 0;  // maximum of `reserved` since the last reset_pool_peak
  };
  virtual Pool pool() const { return {}; }
  virtual void reset_pool_peak() {}
  /// Returns cached memory of the pool to the system.
  virtual void release_pool() {}
  /// Text for the error of a failed allocation: what occupies the memory, and how a job obtains
  /// more.
  virtual std::string describe_memory() const;

  // Copies of n bytes. Copies between the host and this device's `memory` are complete on return.
  // Copies within the device are ordered before later launches and copies.
  virtual void copy_to_host(void* host, const std::byte* memory, size_t n) = 0;
  virtual void copy_from_host(std::byte* memory, const void* host, size_t n) = 0;
  virtual void copy(std::byte* to, const std::byte* from, size_t n) = 0;
  /// Same contract as phi::copy_boxes, for arrays of this device; in one launch where possible.
  virtual void copy_boxes(std::span<const BoxCopy> copies, size_t width) = 0;
  virtual void fill(std::byte* memory, std::byte value, size_t n) = 0;
  /// Blocks until all launched work is complete. Errors: those of that work.
  virtual void wait() {}

  /// Returns host memory that the device copies from and to asynchronously (pinned memory on a
  /// GPU): uninitialised, in whole pages of 4096 bytes. Null if there is not enough memory.
  /// Requires nbytes > 0.
  virtual std::byte* allocate_host(size_t nbytes);
  virtual void free_host(std::byte* memory);
  /// Copies that overlap with computation. Null if all copies block the caller.
  virtual CopyQueues* copy_queues() { return nullptr; }
  /// Whether the device supports capture().
  virtual bool can_capture() const { return false; }
  /// Captures the launches of `body` on the calling thread into a graph, without running them.
  /// Returns null, without side effects, if the device does not support this, or if `body`
  /// synchronises, copies from the host, keeps an allocation, or frees memory that it did not
  /// allocate. If it synchronises or copies from the host, it is left at that point. `body` must
  /// have run once before, so that everything it creates at its first run exists. It may only run
  /// kernels and copies, on arrays whose addresses do not change. Errors: those of `body`;
  /// Unavailable if another thread uses the device during the capture.
  virtual std::unique_ptr<LaunchGraph> capture(const std::function<void()>& body);

  /// Scope in which a kernel of the device runs on, or is launched from, the calling thread.
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
  // Called at the beginning and end of a Work scope; scopes may be nested.
  virtual void begin_work() {}
  virtual void end_work() {}

  Place place_;
  DeviceKind kernels_;
  bool is_host_;
  bool brackets_work_;
};

/// Copies `nbytes` bytes between memory of any two places.
void copy_bytes(std::byte* to, const Place& to_place, const std::byte* from,
                const Place& from_place, size_t nbytes);

}  // namespace phi
