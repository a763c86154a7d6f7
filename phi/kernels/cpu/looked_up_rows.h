// Ids that pick rows of a table, for lookups and their gradients.
#pragma once

#include <cstdint>
#include <string_view>

#include "phi/common/errors.h"
#include "phi/core/box.h"
#include "phi/core/dense_tensor.h"

namespace phi {

/// The looked-up tensor dim: its global extent, and the part of it that is here.
struct LookupTable {
  int64_t extent;
  int64_t begin;
  int64_t end;
  LookupTable(const ShardBox& box, int axis)
      : extent(box.global[axis]), begin(box.box.offset[axis]), end(begin + box.box.size[axis]) {}
};

namespace detail {

[[noreturn]] inline void throw_outside(std::string_view argument, std::string_view table,
                                       int64_t value, int64_t position, int64_t extent) {
  throw errors::InvalidArgument(
      "{} holds {} at flat position {}, but {} has {} entries; it must be in [0, {}).", argument,
      value, position, table, extent, extent);
}

template <typename Id, typename Copy, typename Clear>
void for_each_id(const LookupTable& table, const DenseTensor& ids, std::string_view argument,
                 std::string_view table_name, Copy copy, Clear clear) {
  const Id* values = ids.data<Id>();
  const int64_t n = ids.numel();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = values[i];
    if (id < 0 || id >= table.extent) [[unlikely]]
      throw_outside(argument, table_name, id, i, table.extent);
    if (id >= table.begin && id < table.end) {
      copy(i, id - table.begin);
    } else {
      clear(i);
    }
  }
}

}  // namespace detail

/// Calls `copy(position, row)` for each of the ids (int32 or int64) whose row is here, counted from
/// the first row here, and `clear(position)` for the others. `argument` and `table_name` name both
/// in the error. Errors: InvalidArgument for an id outside the whole table.
template <typename Copy, typename Clear>
void look_up(const LookupTable& table, const DenseTensor& ids, std::string_view argument,
             std::string_view table_name, Copy copy, Clear clear) {
  if (ids.dtype() == DataType::INT32)
    return detail::for_each_id<int32_t>(table, ids, argument, table_name, copy, clear);
  detail::for_each_id<int64_t>(table, ids, argument, table_name, copy, clear);
}

}  // namespace phi
