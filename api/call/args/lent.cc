// Makes copy-on-write aliases of parts of an array.
#include "api/call/args/lent.h"

#include "api/call/view_scope.h"

namespace phi {

std::vector<DenseTensor> lent_parts(const OpDef& op, const DenseTensor& from,
                                    std::optional<int64_t> first,
                                    std::span<const TensorMeta> parts) {
  std::vector<DenseTensor> lent;
  if (!first) return lent;
  size_t offset = static_cast<size_t>(*first) * size_of(from.dtype());
  lent.reserve(parts.size());
  for (const TensorMeta& part : parts) {
    lent.push_back(from.alias_part(part, offset));
    if (!lent.back().defined()) return {};
    offset += part.nbytes();
  }
  const ViewScope scope(op, from);
  return lent;
}

}  // namespace phi
