// Rows of a table by index, for lookups and for tables of angles.
#pragma once

#include "api/stablehlo/builder.h"

namespace phi::stablehlo {

/// The slices of `table` at `index` of tensor dim `axis`; the index's tensor dims stand in its
/// place.
Ssa gather_rows(Builder& b, const Ssa& table, const Ssa& index, int axis);

}  // namespace phi::stablehlo
