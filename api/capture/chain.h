// chain: applies functions in sequence, each with its own tensors; for example the layers of a
// model.
//
//   Tensor y = phi::chain({{f, {w0, mean0}}, {g, {w1, mean1}}}, x);     // g(f(x, ..), ..)
//
// In a captured program, consecutive links that perform the same operators become one body
// (phi::scan). All other links are unrolled.
#pragma once

#include <string>
#include <vector>

#include "api/capture/scan.h"

namespace phi {

/// One function of a chain. `call` accesses the tensors of `own` through its second argument. Links
/// that share a body use the same other tensors.
struct ChainLink {
  ScanFunction call;
  TensorList own;
  std::string name = "a link";  // in errors
};

/// Returns links[n-1](... links[0](x)).
///
/// A capture first calls every link up to three times on placeholders, forward and backward, to
/// compare links. It then calls the links that no other link's body covers, for the program.
/// Consecutive links share a body under these conditions:
/// - they call the same operators with the same attributes;
/// - their own tensors agree in shape, dtype, placements and requires_grad;
/// - they write only to tensors that they make;
/// - they use no other tensor that requires a gradient;
/// - they return a new tensor of x's shape, dtype and placements.
///
/// Errors   those of the links; in a capture PreconditionNotMet, which names a link that performs
///          other operators when it is called again
Tensor chain(const std::vector<ChainLink>& links, const Tensor& x);

}  // namespace phi
