// Gathers rows of a table by index, for embeddings and for tables of angles.
#pragma once

#include "api/stablehlo/builder.h"

namespace phi::stablehlo {

/// The slices of `table` at `index` along tensor dim `axis`. The index's tensor dims replace
/// `axis`.
Ssa gather_rows(Builder& b, const Ssa& table, const Ssa& index, int axis);

}  // namespace phi::stablehlo
