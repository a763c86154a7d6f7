// What one rank writes in a save: its pieces of the tensors, as one safetensors file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/saving/receipt.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed::checkpoint {

class RankFile {
 public:
  /// `array` is the piece.
  void add(const std::string& name, const DenseTensor& array, const TensorMeta& meta);
  bool empty() const { return pieces_.empty(); }
  int64_t data_bytes() const;

  /// Errors: OutOfRange for a piece with a number that is not finite.
  void check_finite() const;

  /// Copies the pieces to memory of the host, so that the tensors may change from now on.
  /// Errors: ResourceExhausted if there is no room; those of HostBytes and, if asked for, of
  /// check_finite(). After an error the pieces are what they were.
  void take_snapshot(bool must_be_finite);

  /// Writes all of it, and has it on the disk. `progress` is called with the bytes of each part
  /// when they are written, and throws if the save is to end.
  Receipt write(PartFile* part, const std::string& save_id,
                const std::function<void(size_t bytes)>& progress) const;

 private:
  struct RankPiece {
    TensorMeta meta;
    DenseTensor array;
    DeviceMemory copy;
    bool is_copied = false;
  };

  std::map<std::string, RankPiece> pieces_;  // by name in the file
};

}  // namespace phi::distributed::checkpoint
