// Finite differences of a whole function in one direction: it runs once as it is and twice with all
// leaves moved along the direction. What it takes out of the graph (detached values, parts without
// gradient, gradients that it computes with) has in the moved runs the values of the first.
#pragma once

#include <array>
#include <vector>

#include "case.h"

namespace phi::testing::programs {

class Differences {
 public:
  /// `given`: what the function is given, plain float64. It is not written to.
  explicit Differences(TensorList given);

  /// What run number `which` is given: 0 as it is, 1 and 2 moved.
  TensorList begin(int which);
  bool is_moved() const { return which_ > 0; }
  /// A value that does not move: as it was in the first run.
  Tensor fixed(const Tensor& x);
  /// A gradient is asked for: the first run compares, the others say what the losses are there.
  void note(const TensorList& losses);
  /// Leaves are written to: what comes after is not compared.
  void end() { ended_ = true; }

  /// Empty if all gradients that were asked for are those of the differences.
  std::string disagreement() const;

 private:
  struct Asked {
    std::array<double, 3> loss{};
    double slope = 0;
    bool is_known = true;
  };
  TensorList given_;
  TensorList directions_;  // undefined for what is no leaf
  TensorList now_;         // what the run is given
  TensorList fixed_;
  std::vector<Asked> asked_;
  int which_ = 0;
  size_t next_fixed_ = 0;
  size_t next_asked_ = 0;
  bool ended_ = false;
};

}  // namespace phi::testing::programs
