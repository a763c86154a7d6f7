// check_ops: checks distributed calls while they run. Each call is repeated on unsharded values in
// one process, and the outputs are compared.
//
//   check_ops([&] { trainer.step(batches); });   // throws at the first call that is wrong
#pragma once

#include <cstdint>
#include <functional>

#include "api/explain/explain.h"

namespace phi {

/// Runs f once. For every call with distributed tensors, inputs are gathered before the call and
/// outputs after it, and every rank of the op's mesh repeats the call on plain tensors. Results of
/// f do not change. Views, gradients, optimizers and inplace calls are checked too. Not checked:
/// sums of gradients with equal placements, which each rank adds locally, and captured programs.
///
/// An element of an output may differ by (4 e + 8 sqrt(n) e') times the largest magnitude of the
/// output, plus r e' times that of the inputs. Here e is the machine epsilon of the coarsest
/// floating dtype among inputs and outputs, e' that of the dtype of sums (float32, or float64 for
/// float64), n the number of elements of the largest input, and r the number of its elements per
/// element of the output. Integers and bool must be equal.
///
/// Returns  The number of calls that this rank has compared.
/// Ranks    Every rank that would call f calls it.
/// Errors   Those of f. Internal, on the rank that finds it, for the first call with other values:
///          it names op, rank, placements, module and the largest difference. PreconditionNotMet
///          within a function that is being captured.
int64_t check_ops(const std::function<void()>& f, const TensorNames& names = {});

}  // namespace phi
