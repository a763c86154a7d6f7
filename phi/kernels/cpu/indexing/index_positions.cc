// Places that index tensors select.
#include "phi/kernels/cpu/indexing/index_positions.h"

#include <array>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/loops/broadcast.h"

namespace phi {
namespace {

/// The places of one of index_put's indices, along one tensor dim or along several counted as one.
struct IndexPositions {
  std::vector<int64_t> places;
  Dims shape;
  int count;
};

IndexPositions true_places(const DenseTensor& mask) {
  IndexPositions named{{}, {}, mask.ndim()};
  const bool* chosen = mask.data<bool>();
  for (int64_t i = 0; i < mask.numel(); ++i) {
    if (chosen[i]) named.places.push_back(i);
  }
  named.shape = {static_cast<int64_t>(named.places.size())};
  return named;
}

IndexPositions named_dims(const DenseTensor& index, const Dims& dims, int first) {
  if (index.dtype() == DataType::BOOL) return true_places(index);
  return {positions_along(index, "an index", dims[first], FromEnd::kYes), index.dims(), 1};
}

/// Adds `stride` times the places of `named`, broadcast to `shape`, to `places`.
void add_places(const IndexPositions& named, int64_t stride, const Dims& shape,
                std::vector<int64_t>* places) {
  if (places->empty()) return;
  const Broadcast<1> walk(shape, {&named.shape});
  const int64_t step = walk.inner_stride(0);
  walk.for_each_row([&](int64_t at, const std::array<int64_t, 1>& from, int64_t count) {
    const int64_t* own = named.places.data() + from[0];
    for (int64_t i = 0; i < count; ++i)
      (*places)[static_cast<size_t>(at + i)] += own[i * step] * stride;
  });
}

}  // namespace

std::vector<int64_t> positions_along(const DenseTensor& index, const char* argument, int64_t extent,
                                     FromEnd from_end) {
  std::vector<int64_t> places(static_cast<size_t>(index.numel()));
  visit_indices(index, [&](const auto* ids) {
    check_indices(ids, index.numel(), argument, extent, from_end);
    for (size_t i = 0; i < places.size(); ++i) places[i] = from_front(ids[i], extent);
  });
  return places;
}

std::vector<int64_t> places_in(const LookupTable& table, const DenseTensor& ids,
                               const char* argument, const char* table_name) {
  std::vector<int64_t> places(static_cast<size_t>(ids.numel()));
  look_up(
      table, ids, argument, table_name,
      [&](int64_t i, int64_t row) { places[static_cast<size_t>(i)] = row; },
      [&](int64_t i) { places[static_cast<size_t>(i)] = -1; });
  return places;
}

std::vector<int64_t> rows_from(const CpuContext&, int64_t start_index, const LookupTable& table,
                               const DenseTensor& ids) {
  std::vector<int64_t> rows(static_cast<size_t>(ids.numel()));
  visit_indices(ids, [&](const auto* values) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t row = values[i] < start_index ? -1 : values[i] - start_index;
      rows[i] = row >= table.begin && row < table.end ? row - table.begin : -1;
    }
  });
  return rows;
}

std::vector<int64_t> positions_of_first(const DenseTensor& index, const Dims& dims) {
  const int last = index.ndim() - 1;
  const int64_t named = index.dims()[last];
  std::vector<int64_t> places(static_cast<size_t>(index.dims().numel(0, last)), 0);
  visit_indices(index, [&](const auto* ids) {
    for (int64_t d = 0; d < named; ++d) {
      const int64_t extent = dims[static_cast<int>(d)];
      for (size_t i = 0; i < places.size(); ++i) {
        const int64_t at = static_cast<int64_t>(i) * named + d;
        const int64_t id = ids[at];
        if (id < -extent || id >= extent) [[unlikely]]
          throw_outside("index", id, at, extent, FromEnd::kYes);
        places[i] = places[i] * extent + from_front(id, extent);
      }
    }
  });
  return places;
}

IndexedPositions positions_of_indices(std::span<const DenseTensor* const> indices,
                                      const Dims& dims) {
  std::vector<IndexPositions> each;
  IndexedPositions all{{}, {}, 0};
  for (const DenseTensor* index : indices) {
    each.push_back(named_dims(*index, dims, all.named_dims));
    const Dims& shape = each.back().shape;
    all.shape = each.size() == 1 ? shape : broadcast_dims(all.shape, shape, "an index", "the next");
    all.named_dims += each.back().count;
  }
  all.places.resize(static_cast<size_t>(all.shape.numel()), 0);
  int64_t stride = dims.numel(0, all.named_dims);
  int first = 0;
  for (const IndexPositions& named : each) {
    const int64_t extent = dims.numel(first, first + named.count);
    stride = extent == 0 ? 0 : stride / extent;
    add_places(named, stride, all.shape, &all.places);
    first += named.count;
  }
  return all;
}

}  // namespace phi
