// Splits a range of a row-major array into boxes: in each tensor dim a part of a row, whole rows,
// and a part of a row.
#include "phi/core/storage/source_bytes.h"

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"

namespace phi {
namespace {

class RangeReader {
 public:
  RangeReader(const Storage::Source& source, std::span<std::byte> out)
      : source_(source), meta_(source.meta()), width_(size_of(meta_.dtype)), out_(out) {}

  // Reads elements [first, first + count) of the subarray that `box` selects in tensor dims < dim.
  void read(Box box, int dim, int64_t first, int64_t count) {
    if (count == 0) return;
    if (dim == meta_.dims.ndim()) return take(box);
    const int64_t row = meta_.dims.numel(dim + 1, meta_.dims.ndim());
    const int64_t begin = first / row;
    const int64_t skipped = first - begin * row;
    if (skipped > 0 || count < row) {
      const int64_t head = std::min(count, row - skipped);
      read(rows(box, dim, begin, 1), dim + 1, skipped, head);
      return read(box, dim, first + head, count - head);
    }
    const int64_t whole = count / row;
    take(rows(box, dim, begin, whole));
    read(box, dim, first + whole * row, count - whole * row);
  }

 private:
  static Box rows(Box box, int dim, int64_t begin, int64_t count) {
    box.offset[dim] = begin;
    box.size[dim] = count;
    return box;
  }
  void take(const Box& box) {
    const size_t nbytes = static_cast<size_t>(box.numel()) * width_;
    DenseTensor part({box.size, meta_.dtype, meta_.layout},
                     Storage::borrow(out_.data(), nbytes, CPUPlace()));
    source_.read(box, &part);
    out_ = out_.subspan(nbytes);
  }

  const Storage::Source& source_;
  const TensorMeta& meta_;
  const size_t width_;
  std::span<std::byte> out_;
};

}  // namespace

void read_bytes(const Storage::Source& source, size_t offset, std::span<std::byte> out) {
  const TensorMeta& meta = source.meta();
  const size_t width = size_of(meta.dtype);
  PHI_CHECK(offset % width == 0 && out.size() % width == 0 && offset + out.size() <= meta.nbytes(),
            errors::InvalidArgument("bytes {} to {} are not elements of {}.", offset,
                                    offset + out.size(), meta.to_string()));
  RangeReader(source, out)
      .read(Box::whole(meta.dims), 0, static_cast<int64_t>(offset / width),
            static_cast<int64_t>(out.size() / width));
  if (source.tier() == Tier::kDisk) {
    count_transfer(Tier::kDisk, Tier::kHost, static_cast<int64_t>(out.size()));
  }
}

HostBytes::HostBytes(const DenseTensor& array) {
  const auto source = array.defined() ? array.storage()->source() : nullptr;
  if (!source || array.byte_offset() != 0 || source->meta().nbytes() != array.nbytes()) {
    on_host_ = HostArray(array, HostArray::kRead);
    bytes_ = {on_host_.data(), array.nbytes()};
    return;
  }
  copy_.resize(array.nbytes());
  read_bytes(*source, 0, copy_);
  bytes_ = copy_;
}

}  // namespace phi
