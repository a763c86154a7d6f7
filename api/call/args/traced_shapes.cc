// Encodes shapes as integers and formats them as text.
#include "api/call/args/traced_shapes.h"

namespace phi {

void TracedShapes::add(const TensorMeta& meta, int64_t direction) {
  words_.push_back(direction);
  words_.push_back(static_cast<int64_t>(meta.dtype));
  words_.push_back(meta.dims.ndim());
  for (const int64_t extent : meta.dims) words_.push_back(extent);
}

std::string TracedShapes::to_string() const {
  std::string out;
  bool arrow = false;
  for (size_t at = 0; at < words_.size();) {
    const bool is_output = words_[at] == kOutput;
    const auto dtype = static_cast<DataType>(words_[at + 1]);
    const auto ndim = static_cast<size_t>(words_[at + 2]);
    const Dims dims(std::span(words_.begin() + at + 3, ndim));
    if (!out.empty()) out += ' ';
    if (is_output && !arrow) out += "-> ";
    arrow = arrow || is_output;
    out += TensorMeta{dims, dtype}.to_string();
    at += 3 + ndim;
  }
  return out;
}

}  // namespace phi
