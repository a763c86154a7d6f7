// LaunchRecord: launches of a device that were written down (Device::record), to be done again
// without what they cost the host one by one.
#pragma once

namespace phi {

class LaunchRecord {
 public:
  /// Launches of it that are under way end first, in the order of the device.
  virtual ~LaunchRecord() = default;
  /// As if all that is written down were launched again, on the same memory. Errors: those of a
  /// launch.
  virtual void launch() = 0;
  /// It will not be launched again: what the device's libraries keep of it ends with the launches
  /// that are under way. From any thread, while no other launches it.
  virtual void discard() = 0;
};

}  // namespace phi
