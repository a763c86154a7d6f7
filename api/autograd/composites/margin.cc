// Losses with margins, composed of other operators.
#include "api/autograd/composites/margin.h"

#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/margin_logits.h"
#include "api/generated/ops/reshape.h"
#include "phi/common/errors.h"

namespace phi::composite {

std::tuple<Tensor, Tensor> margin_cross_entropy(const Tensor& logits, const Tensor& label,
                                                bool /*return_softmax*/, int ring_id, int rank,
                                                int nranks, float margin1, float margin2,
                                                float margin3, float scale) {
  PHI_CHECK(ring_id == 0 && rank == 0 && nranks == 1,
            errors::InvalidArgument("ring_id is {}, rank {} and nranks {}, but the placement of "
                                    "logits shards the classes; leave these arguments out.",
                                    ring_id, rank, nranks));
  const bool is_column = label.ndim() == 2 && label.shape()[1] == 1;
  const Tensor classes = is_column ? reshape(label, {label.shape()[0]}) : label;
  const Tensor with_margins = margin_logits(logits, classes, margin1, margin2, margin3, scale);
  const Tensor column = is_column ? label : reshape(label, {label.shape()[0], 1});
  return cross_entropy_with_softmax(with_margins, column);
}

}  // namespace phi::composite
