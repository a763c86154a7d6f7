// OutputMetas: what a shape function gives, whatever its own type, as a flat list of output slots.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Absent outputs keep an empty slot.
using OutputMetas = std::vector<std::optional<TensorMeta>>;

namespace detail {
inline void append_metas(OutputMetas& out, const TensorMeta& meta) { out.emplace_back(meta); }
inline void append_metas(OutputMetas& out, const std::optional<TensorMeta>& meta) {
  out.push_back(meta);
}
inline void append_metas(OutputMetas& out, const std::vector<TensorMeta>& metas) {
  out.insert(out.end(), metas.begin(), metas.end());
}
template <typename... Metas>
void append_metas(OutputMetas& out, const std::tuple<Metas...>& metas) {
  std::apply([&](const auto&... meta) { (append_metas(out, meta), ...); }, metas);
}
}  // namespace detail

/// Of a TensorMeta, an optional one, a list of them, or a tuple of these.
template <typename Result>
OutputMetas metas(const Result& result) {
  OutputMetas out;
  detail::append_metas(out, result);
  return out;
}

}  // namespace phi
