// Converts index tensors to places.
#include "phi/common/dims.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/gpu/check_elements.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/index_positions.h"
#include "phi/kernels/indices.h"

namespace phi {
namespace {

/// Whether an index is outside of [lowest, extent).
struct IsOutside {
  int64_t lowest;
  int64_t extent;
  PHI_HD bool operator()(int64_t index) const { return index < lowest || index >= extent; }
};

/// IsOutside for one column of indices [.., columns].
struct IsOutsideInColumn {
  int64_t columns;
  int64_t column;
  IsOutside outside;
  PHI_HD bool operator()(int64_t index, int64_t i) const {
    return i % columns == column && outside(index);
  }
};

struct AlongDim {
  int64_t extent;
  PHI_HD int64_t operator()(int64_t index) const {
    const int64_t place = from_front(index, extent);
    return place < extent ? place : -1;
  }
};

struct InTable {
  int64_t first;  // id of the first row of the global table
  int64_t begin;  // first row of this rank's shard
  int64_t end;
  PHI_HD int64_t operator()(int64_t id) const {
    const int64_t row = id < first ? -1 : id - first;
    return row >= begin && row < end ? row - begin : -1;
  }
};

struct InTableFromEnd {
  int64_t extent;
  InTable rows;
  PHI_HD int64_t operator()(int64_t id) const { return rows(from_front(id, extent)); }
};

template <typename Id, typename Of>
__global__ void find_places(const Id* ids, int64_t n, Of of, int64_t* places) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) places[i] = of(ids[i]);
}

/// Combines the places with the next indexed tensor dim; `ids` has one index per `columns` numbers.
template <typename Id>
__global__ void add_dim(const Id* ids, int64_t columns, int64_t n, AlongDim along,
                        int64_t* places) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const int64_t place = along(ids[i * columns]);
    places[i] = places[i] < 0 || place < 0 ? -1 : places[i] * along.extent + place;
  }
}

template <typename Id>
__global__ void find_elements(const Id* ids, int64_t n, AlongDim along, int64_t stride,
                              gpu::Walk<1> walk, int64_t* places) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const int64_t index = along(ids[i]);
    places[i] = index < 0 ? -1 : walk.offsets(i).at[0] + index * stride;
  }
}

DenseTensor new_places(const GpuContext& ctx, int64_t n) {
  return DenseTensor::empty({{n}, DataType::INT64}, ctx.place());
}

template <typename Of>
DenseTensor places_by(const GpuContext& ctx, const DenseTensor& ids, const Of& of) {
  const int64_t n = ids.numel();
  DenseTensor places = new_places(ctx, n);
  if (n == 0) return places;
  visit_indices(ids, [&]<typename Id>(const Id* values) {
    gpu::launch(ctx, find_places<Id, Of>, gpu::blocks_for(ctx, n), gpu::kBlock, values, n, of,
                places.mutable_data<int64_t>());
  });
  return places;
}

void refuse_outside(const GpuContext& ctx, const DenseTensor& index, const char* argument,
                    int64_t extent, FromEnd from_end,
                    void (*raise)(const DeviceAssertion&) = throw_outside_dim) {
  const bool is_from_end = from_end == FromEnd::kYes;
  visit_indices(index, [&]<typename Id>(const Id*) {
    check_elements<Id>(
        ctx, index, IsOutside{is_from_end ? -extent : 0, extent},
        {.argument = argument, .raise = raise, .extent = extent, .from_end = is_from_end});
  });
}

}  // namespace

DenseTensor positions_along(const GpuContext& ctx, const DenseTensor& index, const char* argument,
                            int64_t extent, FromEnd from_end) {
  refuse_outside(ctx, index, argument, extent, from_end);
  if (from_end == FromEnd::kNo) return places_by(ctx, index, InTable{0, 0, extent});
  return places_by(ctx, index, AlongDim{extent});
}

DenseTensor places_in(const GpuContext& ctx, const LookupTable& table, const DenseTensor& ids,
                      const char* argument, const char* table_name) {
  visit_indices(ids, [&]<typename Id>(const Id*) {
    check_elements<Id>(ctx, ids, IsOutside{table.lowest(), table.extent},
                       {.argument = argument,
                        .raise = throw_outside_table,
                        .extent = table.extent,
                        .table = table_name,
                        .from_end = table.from_end});
  });
  const InTable rows{0, table.begin, table.end};
  return table.from_end ? places_by(ctx, ids, InTableFromEnd{table.extent, rows})
                        : places_by(ctx, ids, rows);
}

DenseTensor rows_from(const GpuContext& ctx, int64_t start_index, const LookupTable& table,
                      const DenseTensor& ids) {
  return places_by(ctx, ids, InTable{start_index, table.begin, table.end});
}

DenseTensor positions_of_first(const GpuContext& ctx, const DenseTensor& index, const Dims& dims) {
  const int last = index.ndim() - 1;
  const int64_t columns = index.dims()[last];
  const int64_t n = index.dims().numel(0, last);
  DenseTensor places = new_places(ctx, n);
  fill(ctx, places.mutable_data<int64_t>(), n, int64_t{0});
  visit_indices(index, [&]<typename Id>(const Id* ids) {
    for (int64_t d = 0; n > 0 && d < columns; ++d) {
      const int64_t extent = dims[static_cast<int>(d)];
      check_elements<Id>(
          ctx, index, IsOutsideInColumn{columns, d, {-extent, extent}},
          {.argument = "index", .raise = throw_outside_dim, .extent = extent, .from_end = true});
      gpu::launch(ctx, add_dim<Id>, gpu::blocks_for(ctx, n), gpu::kBlock, ids + d, columns, n,
                  AlongDim{extent}, places.mutable_data<int64_t>());
    }
  });
  return places;
}

DenseTensor place_at(const GpuContext& ctx, int64_t index, int64_t extent) {
  DenseTensor places = new_places(ctx, 1);
  fill(ctx, places.mutable_data<int64_t>(), 1, from_front(index, extent));
  return places;
}

DenseTensor gpu::element_places(const GpuContext& ctx, const Dims& array,
                                const ElementAxis& named) {
  const int64_t extent = array[named.axis];
  refuse_outside(ctx, named.indices, named.argument, extent, named.from_end, named.raise);
  const Dims& dims = named.indices.dims();
  const Dims strides = array.strides();
  gpu::Walk<1> walk;
  for (int d = dims.ndim() - 1; d >= 0; --d) {
    if (dims[d] != 1) walk.append(dims[d], {d == named.axis ? 0 : strides[d]});
  }
  const int64_t n = dims.numel();
  DenseTensor places = new_places(ctx, n);
  if (n == 0) return places;
  visit_indices(named.indices, [&]<typename Id>(const Id* ids) {
    launch(ctx, find_elements<Id>, blocks_for(ctx, n), kBlock, ids, n, AlongDim{extent},
           strides[named.axis], walk, places.mutable_data<int64_t>());
  });
  return places;
}

}  // namespace phi
