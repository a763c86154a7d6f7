// LaunchGraph: launches that were captured into a graph (Device::capture). Launching the graph
// costs the host less than launching each kernel again.
#pragma once

namespace phi {

class LaunchGraph {
 public:
  /// Frees the graph after its pending launches, in the order of the device.
  virtual ~LaunchGraph() = default;
  /// Launches all captured work again, on the same memory. Errors: those of a launch.
  virtual void launch() = 0;
  /// Promises that the graph is not launched again: the resources that the device's libraries keep
  /// for it are freed after its pending launches. May be called from any thread, but not during a
  /// launch().
  virtual void discard() = 0;
};

}  // namespace phi
