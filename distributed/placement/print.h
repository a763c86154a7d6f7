// Printing and comparing TensorDistAttr by value, for tests.
//
//   std::cout << *TensorDistAttr::get(mesh, {Shard(0)});  // [S0,R] on mesh(dp=2,tp=2)
//
// In a file that includes this header, EXPECT_EQ of two attributes, or of pointers to them, prints
// this text: GoogleTest finds the functions by argument-dependent lookup.
#pragma once

#include <iosfwd>

#include "distributed/placement/dist_attr.h"

namespace phi::distributed {

bool operator==(const TensorDistAttr& a, const TensorDistAttr& b);
std::ostream& operator<<(std::ostream& out, const TensorDistAttr& attr);
std::ostream& operator<<(std::ostream& out, const Placement& placement);
std::ostream& operator<<(std::ostream& out, const ProcessMesh& mesh);
/// Prints "absent" for null, which rules return for an absent tensor.
void PrintTo(const TensorDistAttr* attr, std::ostream* out);

}  // namespace phi::distributed
