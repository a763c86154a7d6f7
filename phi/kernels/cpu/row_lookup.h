// Table lookups by id, for embeddings and their gradients.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/lookup_table.h"

namespace phi {

namespace detail {

template <typename Id, typename Copy, typename Clear>
void for_each_id(const LookupTable& table, const DenseTensor& ids, const char* argument,
                 const char* table_name, Copy copy, Clear clear) {
  const Id* values = ids.data<Id>();
  const int64_t n = ids.numel();
  for (int64_t i = 0; i < n; ++i) {
    int64_t id = values[i];
    if (id < table.lowest() || id >= table.extent) [[unlikely]]
      throw_outside_table({.argument = argument,
                           .extent = table.extent,
                           .table = table_name,
                           .from_end = table.from_end,
                           .value = id,
                           .at = i});
    if (id < 0) id += table.extent;
    if (id >= table.begin && id < table.end) {
      copy(i, id - table.begin);
    } else {
      clear(i);
    }
  }
}

}  // namespace detail

/// Looks up `ids` (int32 or int64). For each id at flat `position`, calls `copy(position, row)` if
/// this rank stores its row, with `row` counted from the first row here, and `clear(position)`
/// otherwise. `argument` and `table_name` are names for errors.
///
/// Errors   OutOfRange for an id outside the whole table.
template <typename Copy, typename Clear>
void look_up(const LookupTable& table, const DenseTensor& ids, const char* argument,
             const char* table_name, Copy copy, Clear clear) {
  if (ids.dtype() == DataType::INT32)
    return detail::for_each_id<int32_t>(table, ids, argument, table_name, copy, clear);
  detail::for_each_id<int64_t>(table, ids, argument, table_name, copy, clear);
}

}  // namespace phi
