// Draws seed and offset by randint: one draw of the generator, which a captured program repeats.
#include "api/autograd/seed_offset.h"

#include <limits>

#include "api/generated/ops/randint.h"

namespace phi {

std::optional<Tensor> seed_offset_for(const std::optional<Tensor>& given, const Tensor& like,
                                      bool drops) {
  if (given || !drops) return given;
  return randint(0, std::numeric_limits<int>::max(), {2}, DataType::INT64, like.place());
}

}  // namespace phi
