// Executor: runs the steps of a captured program on this rank, one after the other, on buffers
// whose places were found once: all of the program's own tensors share one arena by their life
// times.
#pragma once

#include <memory>
#include <vector>

#include "phi/api/capture/flatten.h"

namespace phi {

class Executor {
 public:
  /// Takes the recording's steps.
  explicit Executor(std::shared_ptr<ir::Recording> recording);

  TensorList run(const TensorList& inputs);
  int64_t arena_bytes() const { return static_cast<int64_t>(arena_bytes_); }

 private:
  // An array of a step whose storage changes from run to run.
  struct Patch {
    DenseTensor* array;
    size_t offset;  // of the array in its buffer
  };

  void place_buffers();
  void bind_arrays();
  void give(int buffer, const IntrusivePtr<Storage>& storage, size_t offset);
  void take_inputs(const TensorList& inputs);
  TensorList take_outputs() const;
  void run_steps();

  std::shared_ptr<ir::Recording> recording_;
  ir::FlatProgram program_;
  size_t arena_bytes_ = 0;
  std::vector<size_t> offsets_;                  // by buffer, in its storage
  std::vector<std::vector<Patch>> patches_;      // by buffer; of those outside of the arena
  std::vector<int> made_per_run_;                // buffers of outputs
  std::vector<IntrusivePtr<Storage>> storages_;  // by buffer: of this run, or the parameter's
  IntrusivePtr<Storage> arena_;
};

}  // namespace phi
