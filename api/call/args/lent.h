// Outputs that are parts of an input and lie there in one piece: they are lent (Storage::lend), and
// copied only when somebody writes. Generated functions ask here before they launch a kernel.
#pragma once

#include <optional>
#include <span>

#include "api/tensor/tensor.h"
#include "phi/core/op_def.h"
#include "phi/core/storage/lending.h"

namespace phi {

/// The arrays of these metas, which lie in `from` one behind the other from element `first` on.
/// Empty where there is no first element; where a copy costs no more, or is what the rank plans;
/// and where `from` has nothing to lend.
std::vector<DenseTensor> lent_parts(const OpDef& op, const DenseTensor& from,
                                    std::optional<int64_t> first,
                                    std::span<const TensorMeta> parts);

/// Parts of this size, on average, are worth it.
inline bool is_worth_lending(std::span<const TensorMeta> parts) {
  size_t bytes = 0;
  for (const TensorMeta& part : parts) bytes += part.nbytes();
  return bytes > parts.size() * lending::limit();
}

/// The same where they are: `first_of`, of phi/infermeta/lends.h, is asked with the meta of `from`
/// and `attributes`.
template <typename First, typename... Attributes>
std::vector<DenseTensor> lent_by(const OpDef& op, std::span<const TensorMeta> parts,
                                 const DenseTensor& from, First* first_of,
                                 const Attributes&... attributes) {
  if (!is_worth_lending(parts)) return {};
  return lent_parts(op, from, first_of(from.meta(), attributes...), parts);
}

// Each returns whether it made the outputs: then nothing is to be launched, else nothing has
// changed.

/// On plain tensors.
template <typename First, typename... Attributes>
bool lend(const OpDef& op, Tensor& out, const TensorMeta& meta, const DenseTensor& from,
          First* first_of, const Attributes&... attributes) {
  auto parts = lent_by(op, {&meta, 1}, from, first_of, attributes...);
  if (parts.empty()) return false;
  out = Tensor(std::move(parts[0]));
  return true;
}

template <typename First, typename... Attributes>
bool lend(const OpDef& op, TensorList& out, const std::vector<TensorMeta>& metas,
          const DenseTensor& from, First* first_of, const Attributes&... attributes) {
  auto parts = lent_by(op, metas, from, first_of, attributes...);
  if (parts.empty()) return false;
  for (DenseTensor& part : parts) out.emplace_back(std::move(part));
  return true;
}

/// On local parts: the outputs are there and have their metas.
template <typename First, typename... Attributes>
bool lend_local(const OpDef& op, Tensor& out, const DenseTensor& from, First* first_of,
                const Attributes&... attributes) {
  DenseTensor& local = out.dist().local();
  auto parts = lent_by(op, {&local.meta(), 1}, from, first_of, attributes...);
  if (parts.empty()) return false;
  local = std::move(parts[0]);
  return true;
}

template <typename First, typename... Attributes>
bool lend_local(const OpDef& op, TensorList& out, const DenseTensor& from, First* first_of,
                const Attributes&... attributes) {
  std::vector<TensorMeta> metas;
  for (const Tensor& part : out) metas.push_back(part.dist().local().meta());
  auto parts = lent_by(op, metas, from, first_of, attributes...);
  if (parts.empty()) return false;
  for (size_t i = 0; i < parts.size(); ++i) out[i].dist().local() = std::move(parts[i]);
  return true;
}

}  // namespace phi
