// Makes copy-on-write aliases of parts of an array.
#include "api/call/args/output_aliases.h"

#include "api/call/view_scope.h"

namespace phi {

std::vector<DenseTensor> alias_parts(const OpDef& op, const DenseTensor& from,
                                     std::optional<int64_t> first,
                                     std::span<const TensorMeta> parts) {
  std::vector<DenseTensor> aliases;
  if (!first) return aliases;
  size_t offset = static_cast<size_t>(*first) * size_of(from.dtype());
  aliases.reserve(parts.size());
  for (const TensorMeta& part : parts) {
    aliases.push_back(from.alias_part(part, offset));
    if (!aliases.back().defined()) return {};
    offset += part.nbytes();
  }
  const ViewScope scope(op, from);
  return aliases;
}

}  // namespace phi
