// Checking distributed calls as they run: each is repeated on whole values in one process, and what
// it gives is compared.
//
//   check_ops([&] { trainer.step(batches); });   // throws at the first call that is wrong
#pragma once

#include <cstdint>
#include <functional>

#include "api/explain/explain.h"

namespace phi {

/// Runs f once. Of every call with distributed tensors the inputs are gathered before it, its
/// outputs after it, and every rank of the op's mesh repeats it plainly. Results of f are what they
/// would be without. Views, gradients, optimizers and inplace calls are checked too; not checked
/// are sums of gradients that lie alike, which each rank adds by itself, and captured programs.
///
/// An element of an output may differ by (4 e + 8 sqrt(n) e') times the largest magnitude of the
/// output, and r e' times that of the inputs, where e is the step of the coarsest floating dtype
/// among inputs and outputs at 1, e' that of the dtype that sums are made in (float32, or float64
/// for float64), n the elements of the largest input and r what of them comes on one element of the
/// output. Integers and bool are the same.
///
/// Returns  how many calls this rank has compared.
/// Ranks    every rank calls it that would call f.
/// Errors   those of f; Internal, on the rank that finds it, for the first call that gives other
///          values: it names op, rank, placements, module and the largest difference.
///          PreconditionNotMet where this rank is being explained or captured already.
int64_t check_ops(const std::function<void()>& f, const TensorNames& names = {});

}  // namespace phi
