// TensorDistAttr in tests: printed in words, and compared by value.
//
//   std::cout << *TensorDistAttr::get(mesh, {Shard(0)});  // [S0,R] on mesh(dp=2,tp=2)
//
// Where this header is included, EXPECT_EQ of two attributes, or of pointers to them, prints these
// words: GoogleTest finds the functions by their arguments.
#pragma once

#include <iosfwd>

#include "distributed/placement/dist_attr.h"

namespace phi::distributed {

bool operator==(const TensorDistAttr& a, const TensorDistAttr& b);
std::ostream& operator<<(std::ostream& out, const TensorDistAttr& attr);
std::ostream& operator<<(std::ostream& out, const Placement& placement);
std::ostream& operator<<(std::ostream& out, const ProcessMesh& mesh);
/// Of what rules answer: "absent" for null.
void PrintTo(const TensorDistAttr* attr, std::ostream* out);

}  // namespace phi::distributed
