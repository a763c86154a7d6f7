// Constructors of stand-ins.
#include "api/capture/stand_in.h"

#include "phi/core/rank_context.h"

namespace phi::ir {
namespace {

using distributed::DistTensor;

Tensor made(const Tensor& x, size_t nbytes, size_t offset, const char* user) {
  if (x.is_dist() && !x.mesh().contains(RankContext::current().rank())) {
    return Tensor(DistTensor::clipped(x.meta(), x.dist_attr(), x.place(), user));
  }
  const DenseTensor& array = array_of(x);
  DenseTensor own(array.meta(), Storage::allocate(nbytes, array.place()), offset);
  return x.is_dist() ? Tensor(DistTensor(x.meta(), x.dist_attr(), std::move(own)))
                     : Tensor(std::move(own));
}

}  // namespace

Tensor stand_in(const Tensor& x, const char* user) {
  return made(x, array_of(x).nbytes(), 0, user);
}

Tensor stand_in_at_same_place(const Tensor& x, const char* user) {
  const DenseTensor& array = array_of(x);
  return made(x, array.storage()->nbytes(), array.byte_offset(), user);
}

}  // namespace phi::ir
