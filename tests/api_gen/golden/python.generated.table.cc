// All operators for Python, from the sources next to this one.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#include "python/src/ops/op_table.h"

namespace phi::python {

std::span<const OpEntry> op_entries_0();

std::vector<std::span<const OpEntry>> op_entries() { return {op_entries_0()}; }

}  // namespace phi::python
