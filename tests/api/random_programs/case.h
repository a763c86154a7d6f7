// Case: a function of the API with all that it takes to run it in several ways: what it is given,
// how that lies on meshes, and what happens between two runs. A random program is one (program.h),
// and so is what its printed form says (print.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/api.h"
#include "phi/api.h"

namespace phi::testing::programs {

class Site;

/// How a tensor lies: on a mesh of the case, one placement per mesh dim; plain if `mesh` is -1.
struct Layout {
  int mesh = -1;
  std::vector<distributed::Placement> placements = {};

  bool is_plain() const { return mesh < 0; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// What the user does to a parameter between two runs.
enum class Meanwhile { kNothing, kScales, kReplaces };

/// A tensor that the function is given, or uses as a parameter. Its values follow from its number.
struct Given {
  Dims shape;
  Layout layout = {};
  bool needs_grad = false;
  Meanwhile meanwhile = Meanwhile::kNothing;
  friend bool operator==(const Given&, const Given&) = default;
};

struct Case {
  using Function = std::function<TensorList(Site& site, const TensorList& in, const TensorList& p)>;

  DataType dtype = DataType::FLOAT64;
  int64_t world = 1;  // ranks
  std::vector<distributed::ProcessMesh> meshes = {};
  std::vector<Given> inputs = {};
  std::vector<Given> parameters = {};
  /// Values are read after a write through another tensor that shares their bytes. A reshard on a
  /// mesh is a new value and on plain tensors a view, so runs on meshes are compared with each
  /// other.
  bool reads_aliases = false;
  /// Captured programs give the bits of the function. Not so with scans, where gradients of what
  /// takes part in several trips are summed up in another order.
  bool is_bitwise = true;
  /// The gradients can be compared with finite differences.
  bool is_smooth = false;
  /// The disk tier takes part where memory is limited.
  bool uses_disk = false;
  /// Why the function cannot be captured; empty if it can.
  std::string not_captured = {};
  Function function = {};
};

}  // namespace phi::testing::programs
