// Place: the device of a tensor's bytes, as a kind of device and an index.
#pragma once

#include <cstdint>
#include <string>

namespace phi {

/// CUSTOM: devices that a program adds (phi/core/device/device.h).
enum class DeviceKind : uint8_t { UNDEFINED = 0, CPU, GPU, CUSTOM };
inline constexpr int kNumDeviceKinds = 4;

struct Place {
  DeviceKind kind = DeviceKind::UNDEFINED;
  int8_t index = 0;

  friend bool operator==(const Place&, const Place&) = default;
  bool defined() const { return kind != DeviceKind::UNDEFINED; }
  std::string to_string() const {
    switch (kind) {
      case DeviceKind::CPU:
        return "cpu";
      case DeviceKind::GPU:
        return "gpu:" + std::to_string(index);
      case DeviceKind::CUSTOM:
        return "custom:" + std::to_string(index);
      case DeviceKind::UNDEFINED:
        break;
    }
    return "undefined";
  }
};

inline Place CPUPlace() { return {DeviceKind::CPU, 0}; }
inline Place CustomPlace(int index = 0) { return {DeviceKind::CUSTOM, static_cast<int8_t>(index)}; }
inline Place GPUPlace(int index = 0) { return {DeviceKind::GPU, static_cast<int8_t>(index)}; }

}  // namespace phi
