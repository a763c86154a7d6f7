// Computes the ranges of an underlying tensor that a box of the view needs, and moves their
// elements.
#include "distributed/checkpoint/view.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

// Tile extent in elements along each tensor dim. A tile is read by row and may be written by
// column, so it should fit the first-level cache.
constexpr int64_t kTile = 64;

// Consecutive indices along an underlying tensor dim, and the output offset of each.
struct IndexRun {
  int64_t begin = 0;
  std::vector<int64_t> places;

  int64_t size() const { return static_cast<int64_t>(places.size()); }
};

// The underlying ranges of the view's indices [offset, offset + size) along a tensor dim.
std::vector<IndexRun> ranges_of(const Interleave& order, int64_t offset, int64_t size,
                                int64_t stride) {
  std::vector<std::pair<int64_t, int64_t>> found;  // underlying index, output offset
  found.reserve(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) found.emplace_back(order.source_of(offset + i), i * stride);
  if (!order.is_identity()) std::ranges::sort(found);
  std::vector<IndexRun> ranges;
  for (const auto& [index, place] : found) {
    if (ranges.empty() || ranges.back().begin + ranges.back().size() != index) {
      ranges.push_back({index, {}});
    }
    ranges.back().places.push_back(place);
  }
  return ranges;
}

template <typename Word>
void scatter(const std::byte* tile, std::span<const int64_t> rows, std::span<const int64_t> columns,
             void* out) {
  const auto put = [&](size_t r, size_t c) {
    std::memcpy(static_cast<Word*>(out) + rows[r] + columns[c],
                tile + (r * columns.size() + c) * sizeof(Word), sizeof(Word));
  };
  // Write in the order of output addresses.
  if (columns.size() > 1 && columns[1] - columns[0] > 1) {
    for (size_t c = 0; c < columns.size(); ++c) {
      for (size_t r = 0; r < rows.size(); ++r) put(r, c);
    }
    return;
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < columns.size(); ++c) put(r, c);
  }
}

void scatter(size_t width, const std::byte* tile, std::span<const int64_t> rows,
             std::span<const int64_t> columns, void* out) {
  switch (width) {
    case 1:
      return scatter<uint8_t>(tile, rows, columns, out);
    case 2:
      return scatter<uint16_t>(tile, rows, columns, out);
    case 4:
      return scatter<uint32_t>(tile, rows, columns, out);
    default:
      return scatter<uint64_t>(tile, rows, columns, out);
  }
}

class View final : public Checkpoint::TensorSource {
 public:
  View(const Checkpoint& below, const std::vector<ViewTensor>& tensors) : below_(below) {
    for (const ViewTensor& tensor : tensors) {
      TensorMeta meta = below.meta(tensor.source);
      check(tensor, meta);
      if (tensor.transposed) meta.dims = {meta.dims[1], meta.dims[0]};
      PHI_CHECK(tensors_.emplace(tensor.name, tensor).second,
                errors::InvalidArgument("two tensors of a view of '{}' are named '{}'.",
                                        below.path(), tensor.name));
      metas_[tensor.name] = meta;
    }
  }

  const std::string& path() const override { return below_.path(); }
  const std::map<std::string, TensorMeta>& metas() const override { return metas_; }
  const std::map<std::string, std::string>& metadata() const override { return below_.metadata(); }
  int64_t bytes_read() const override { return below_.bytes_read(); }
  std::vector<std::string> files_of(const std::string& name) const override {
    return below_.files_of(tensors_.at(name).source);
  }

  void read(const std::string& name, const Box& box, DataType dtype, void* out) const override {
    const ViewTensor& tensor = tensors_.at(name);
    if (is_as_below(tensor)) return below_.read(tensor.source, box, dtype, out);
    // Ranges along the underlying tensor dims; a 1-D tensor is treated as a single row.
    const int ndim = box.ndim();
    std::array<std::vector<IndexRun>, 2> ranges;
    ranges[0] = {{0, {0}}};
    for (int d = 0; d < ndim; ++d) {
      const int dim_below = tensor.transposed ? 1 - d : d;
      ranges[static_cast<size_t>(dim_below + 2 - ndim)] =
          ranges_of(order_of(tensor, d), box.offset[d], box.size[d], box.size.numel(d + 1, ndim));
    }
    for (const IndexRun& rows : ranges[0]) {
      for (const IndexRun& columns : ranges[1]) {
        read_ranges(tensor.source, ndim, rows, columns, dtype, out);
      }
    }
  }

 private:
  static Interleave order_of(const ViewTensor& tensor, int dim) {
    const auto d = static_cast<size_t>(dim);
    return d < tensor.order.size() ? tensor.order[d] : Interleave();
  }

  static bool is_as_below(const ViewTensor& tensor) {
    return !tensor.transposed && std::ranges::all_of(tensor.order, &Interleave::is_identity);
  }

  void check(const ViewTensor& tensor, const TensorMeta& meta) const {
    if (is_as_below(tensor)) return;
    const int ndim = meta.dims.ndim();
    PHI_CHECK(ndim == 2 || (ndim == 1 && !tensor.transposed),
              errors::InvalidArgument("'{}': tensor '{}' is {}, which cannot be {}.", below_.path(),
                                      tensor.source, meta.to_string(),
                                      tensor.transposed ? "transposed" : "reordered"));
    for (int d = 0; d < static_cast<int>(tensor.order.size()); ++d) {
      const Interleave order = order_of(tensor, d);
      const int dim_below = tensor.transposed ? 1 - d : d;
      PHI_CHECK(d < ndim && order.rows >= 1 && order.columns >= 1 && order.inner >= 1 &&
                    meta.dims[dim_below] % order.block() == 0,
                errors::InvalidArgument("'{}': tensor '{}' is {}, whose tensor dim {} does not "
                                        "consist of blocks of [{},{},{}].",
                                        below_.path(), tensor.source, meta.to_string(), dim_below,
                                        order.columns, order.rows, order.inner));
    }
  }

  void read_ranges(const std::string& source, int ndim, const IndexRun& rows,
                   const IndexRun& columns, DataType dtype, void* out) const {
    std::array<uint64_t, kTile * kTile> memory;
    auto* tile = reinterpret_cast<std::byte*>(memory.data());
    const std::span<const int64_t> row_places(rows.places);
    const std::span<const int64_t> column_places(columns.places);
    for (int64_t r = 0; r < rows.size(); r += kTile) {
      const int64_t num_rows = std::min(kTile, rows.size() - r);
      for (int64_t c = 0; c < columns.size(); c += kTile) {
        const int64_t num_columns = std::min(kTile, columns.size() - c);
        const Box box = ndim == 1
                            ? Box{{columns.begin + c}, {num_columns}}
                            : Box{{rows.begin + r, columns.begin + c}, {num_rows, num_columns}};
        below_.read(source, box, dtype, tile);
        scatter(size_of(dtype), tile,
                row_places.subspan(static_cast<size_t>(r), static_cast<size_t>(num_rows)),
                column_places.subspan(static_cast<size_t>(c), static_cast<size_t>(num_columns)),
                out);
      }
    }
  }

  Checkpoint below_;
  std::map<std::string, ViewTensor> tensors_;
  std::map<std::string, TensorMeta> metas_;
};

}  // namespace

Checkpoint view(const Checkpoint& below, const std::vector<ViewTensor>& tensors) {
  return Checkpoint(std::make_shared<const View>(below, tensors));
}

}  // namespace phi::distributed::checkpoint
