// Prints attributes with the text that errors use.
#include "distributed/placement/print.h"

#include <algorithm>
#include <ostream>

namespace phi::distributed {

bool operator==(const TensorDistAttr& a, const TensorDistAttr& b) {
  return a.mesh() == b.mesh() && std::ranges::equal(a.placements(), b.placements());
}

std::ostream& operator<<(std::ostream& out, const TensorDistAttr& attr) {
  return out << attr.to_string();
}

std::ostream& operator<<(std::ostream& out, const Placement& placement) {
  return out << placement.to_string();
}

std::ostream& operator<<(std::ostream& out, const ProcessMesh& mesh) {
  return out << mesh.to_string();
}

void PrintTo(const TensorDistAttr* attr, std::ostream* out) {
  if (attr == nullptr) {
    *out << "absent";
  } else {
    *out << *attr;
  }
}

}  // namespace phi::distributed
