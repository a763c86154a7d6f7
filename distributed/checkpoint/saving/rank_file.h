// One rank's file in a save: its pieces of the tensors, as one safetensors file.
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
  /// Adds a piece, whose values are `array`.
  void add(const std::string& name, const DenseTensor& array, const TensorMeta& meta);
  bool empty() const { return pieces_.empty(); }

  /// Errors: OutOfRange for a piece with a value that is not finite.
  void check_finite() const;

  /// Copies the pieces to host memory, so that the tensors may change afterwards. Errors:
  /// ResourceExhausted without room; those of HostBytes and, if requested, of check_finite(). After
  /// an error the pieces are unchanged.
  void take_snapshot(bool must_be_finite);

  /// Writes the whole file and syncs it to disk. `progress` is called with the bytes of each part
  /// after it is written; it throws to abort the save.
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
