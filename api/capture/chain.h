// chain: functions one after the other, each with tensors of its own: the links of a model.
//
//   Tensor y = phi::chain({{f, {w0, mean0}}, {g, {w1, mean1}}}, x);     // g(f(x, ..), ..)
//
// Where a program is captured, links that do the same with their own tensors become one body
// (phi::scan); all others are written out.
#pragma once

#include <string>
#include <vector>

#include "api/capture/scan.h"

namespace phi {

/// `call` uses the tensors of `own` through its argument. Others are the same tensors for all who
/// share a body.
struct ChainLink {
  ScanFunction call;
  TensorList own;
  std::string name = "a link";  // in errors
};

/// links[n-1](... links[0](x)).
///
/// Where a program is captured every link is called up to three times on placeholders, forward and
/// backward, to see what it does; then those that no other link's body repeats, for the program.
/// Links that follow each other share a body if they call the same operators with the same
/// attributes, their own tensors are alike in shape, dtype, placements and requires_grad, they
/// write to nothing that they have not made, reach no other tensor that requires a gradient, and
/// give a new tensor like x.
///
/// Errors   what the links throw; captured PreconditionNotMet naming a link that does not do the
///          same when it is called again
Tensor chain(const std::vector<ChainLink>& links, const Tensor& x);

}  // namespace phi
