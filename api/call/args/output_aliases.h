// Outputs that are contiguous parts of an input. Generated functions make them copy-on-write
// aliases (Storage::make_alias), if the conditions hold, instead of launching a kernel.
#pragma once

#include <optional>
#include <span>

#include "api/tensor/tensor.h"
#include "phi/core/op_def.h"
#include "phi/core/storage/cow_alias.h"

namespace phi {

/// Returns aliases of consecutive parts of `from`, one for each of `parts`; the first begins at
/// element `first`. Returns an empty vector if `first` is empty (the parts are not contiguous) or
/// if Storage::make_alias makes no alias, for example of an array without bytes or in a dry run.
std::vector<DenseTensor> alias_parts(const OpDef& op, const DenseTensor& from,
                                     std::optional<int64_t> first,
                                     std::span<const TensorMeta> parts);

/// Whether the parts are large enough, on average, for an alias to cost less than a copy.
inline bool is_worth_aliasing(std::span<const TensorMeta> parts) {
  size_t bytes = 0;
  for (const TensorMeta& part : parts) bytes += part.nbytes();
  return bytes > parts.size() * cow_alias::limit();
}

/// alias_parts() if is_worth_aliasing(). `first_of`, a function of phi/infermeta/alias_offsets.h,
/// computes the first element from the metadata of `from` and `attributes`.
template <typename First, typename... Attributes>
std::vector<DenseTensor> alias_large_parts(const OpDef& op, std::span<const TensorMeta> parts,
                                           const DenseTensor& from, First* first_of,
                                           const Attributes&... attributes) {
  if (!is_worth_aliasing(parts)) return {};
  return alias_parts(op, from, first_of(from.meta(), attributes...), parts);
}

// Each of these returns true if it made the outputs, so that no kernel needs to be launched. If it
// returns false, it has changed nothing.

/// For plain tensors.
template <typename First, typename... Attributes>
bool alias_outputs(const OpDef& op, Tensor& out, const TensorMeta& meta, const DenseTensor& from,
                   First* first_of, const Attributes&... attributes) {
  auto parts = alias_large_parts(op, {&meta, 1}, from, first_of, attributes...);
  if (parts.empty()) return false;
  out = Tensor(std::move(parts[0]));
  return true;
}

template <typename First, typename... Attributes>
bool alias_outputs(const OpDef& op, TensorList& out, const std::vector<TensorMeta>& metas,
                   const DenseTensor& from, First* first_of, const Attributes&... attributes) {
  auto parts = alias_large_parts(op, metas, from, first_of, attributes...);
  if (parts.empty()) return false;
  for (DenseTensor& part : parts) out.emplace_back(std::move(part));
  return true;
}

/// For local parts: the outputs exist and have their metadata.
template <typename First, typename... Attributes>
bool alias_local_outputs(const OpDef& op, Tensor& out, const DenseTensor& from, First* first_of,
                         const Attributes&... attributes) {
  DenseTensor& local = out.dist().local();
  auto parts = alias_large_parts(op, {&local.meta(), 1}, from, first_of, attributes...);
  if (parts.empty()) return false;
  local = std::move(parts[0]);
  return true;
}

template <typename First, typename... Attributes>
bool alias_local_outputs(const OpDef& op, TensorList& out, const DenseTensor& from, First* first_of,
                         const Attributes&... attributes) {
  std::vector<TensorMeta> metas;
  for (const Tensor& part : out) metas.push_back(part.dist().local().meta());
  auto parts = alias_large_parts(op, metas, from, first_of, attributes...);
  if (parts.empty()) return false;
  for (size_t i = 0; i < parts.size(); ++i) out[i].dist().local() = std::move(parts[i]);
  return true;
}

}  // namespace phi
