// Replay: steps of a program that a device has written down (Device::record), one after the other
// in pieces, and launches again in place of running them.
//
// A step belongs to a piece if it is repeatable and launches only; what waits for the device is
// found when the device refuses to write it down, and is run by itself from then on. What is
// written down holds addresses, so a piece is written anew when what its steps use lies elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "phi/core/device/device.h"
#include "phi/core/device/launch_record.h"

namespace phi {

class Replay {
 public:
  /// Steps whose `repeatable` is false are never written down.
  Replay(Device& device, std::vector<bool> repeatable);

  /// There is something to write down.
  bool has_pieces() const { return !pieces_.empty(); }
  using RunStep = std::function<void(size_t step)>;
  using Addresses = std::vector<const std::byte*>;
  /// Where the bytes lie that steps [begin, end) use; nothing if some of them lie nowhere.
  using Locate = std::function<std::optional<Addresses>(size_t begin, size_t end)>;
  /// Does what running all steps would do, in their order. They have all been run before.
  void run(const RunStep& step, const Locate& locate);

 private:
  struct Piece {
    size_t begin;
    size_t end;
    std::unique_ptr<LaunchRecord> record = nullptr;
    Addresses addresses = {};
    int unused = 0;  // records that were launched once and served no other run
  };
  void find_pieces();
  bool is_ready(Piece& piece, const RunStep& step, const Locate& locate);
  void write_down(Piece& piece, const RunStep& step);
  void leave_out(size_t begin, size_t end);

  Device& device_;
  std::vector<bool> repeatable_;
  std::vector<Piece> pieces_;  // in order
  bool changed_ = false;       // repeatable_, since the pieces were found
};

}  // namespace phi
