// Reads and writes at positions as factors.
#include "distributed/spmd/rules/indexing.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/rules/lookup.h"

namespace phi::distributed {
namespace {

// A tensor that is addressed by positions [..., k], and the addressed elements.
struct GatherNdFactors {
  FactorNames x;         // k times '_', then the other dims
  FactorNames position;  // a factor per dim, and '_' for the last
  FactorNames elements;  // the factors of the positions, then the other dims of x
};

GatherNdFactors addressed(int x_ndim, const TensorSpec& index) {
  PHI_CHECK(index.ndim() > 0,
            errors::InvalidArgument("index is a scalar; its last dim counts the dims of x that it "
                                    "addresses."));
  const int64_t last = index.shape.back();
  PHI_CHECK(last <= x_ndim, errors::InvalidArgument("index {} addresses {} dims, x has {}.",
                                                    index.shape.to_string(), last, x_ndim));
  const int k = last < 0 ? x_ndim : static_cast<int>(last);
  GatherNdFactors names;
  for (char name : other_dim_names(index.ndim() - 1)) {
    names.position.push_back(name);
    names.elements.push_back(name);
  }
  names.position.push_back('_');
  for (int d = 0; d < x_ndim; ++d) {
    names.x.push_back(d < k ? '_' : dim_names(x_ndim)[d]);
    if (d >= k) names.elements.push_back(names.x[d]);
  }
  return names;
}

// Replaces the factors of the positions by '_', because every rank needs all positions.
FactorNames whole_positions(const FactorNames& names, const FactorNames& position) {
  FactorNames result = names;
  for (int d = 0; d < position.size() && d < result.size(); ++d) {
    if (result[d] == position.view()[static_cast<size_t>(d)]) result[d] = '_';
  }
  return result;
}

// Dims with one size in all `tensors` share a name; other dims are '1', the axis '_'.
FactorNames alike(std::initializer_list<const TensorSpec*> tensors, int axis) {
  const TensorSpec& first = **tensors.begin();
  FactorNames names = names_without(first.ndim(), axis);
  for (const TensorSpec* tensor : tensors) {
    PHI_CHECK(tensor->ndim() == first.ndim(),
              errors::InvalidArgument("{} and {} have {} and {} dims; use the same number.",
                                      first.shape.to_string(), tensor->shape.to_string(),
                                      first.ndim(), tensor->ndim()));
    for (int d = 0; d < first.ndim(); ++d) {
      if (names[d] != '_' && tensor->shape[d] != first.shape[d]) names[d] = '1';
    }
  }
  return names;
}

// Names for the indices of take_along_axis, which may also be split along the axis.
FactorNames with_axis(const FactorNames& names) {
  FactorNames result = names;
  for (int d = 0; d < result.size(); ++d) {
    if (result[d] == '_') result[d] = 'z';
  }
  return result;
}

// Names for rows of x: the first dim is '_'.
FactorNames rows(int ndim) {
  PHI_CHECK(ndim > 0, errors::InvalidArgument("x is a scalar; scatter writes rows."));
  return names_without(ndim, 0);
}

// Names for the updates of scatter; with a 0-D index they have no row dim.
std::string_view updates_names(const FactorNames& rows, const TensorSpec& updates) {
  const auto missing = static_cast<int>(rows.size()) - updates.ndim();
  return rows.view().substr(missing == 1 ? 1 : 0);
}

struct IndexPutFactors {
  FactorNames x;
  FactorNames value;
};

// Whether an index of index_put may be a bool mask: it has the extents of x from dim `first` on.
// The dtype is unknown here. A mask addresses as many dims as it has.
bool may_be_mask(const TensorSpec& x, int first, const TensorSpec& index) {
  bool fits = index.ndim() > 1 && first + index.ndim() <= x.ndim();
  for (int d = 0; fits && d < index.ndim(); ++d) fits = index.shape[d] == x.shape[first + d];
  return fits;
}

// The number of dims of x that the indices may address.
int named_dims(const TensorSpec& x, std::span<const TensorSpec> indices) {
  const auto at_least = static_cast<int>(indices.size());
  if (at_least == 1) return may_be_mask(x, 0, indices[0]) ? indices[0].ndim() : 1;
  for (const TensorSpec& index : indices) {
    for (int first = 0; first < x.ndim(); ++first) {
      if (may_be_mask(x, first, index)) return x.ndim();
    }
  }
  return at_least;
}

IndexPutFactors put_names(const TensorSpec& x, std::span<const TensorSpec> indices,
                          const TensorSpec& value) {
  PHI_CHECK(static_cast<int>(indices.size()) <= x.ndim(),
            errors::InvalidArgument("{} indices are given for x {}; give one per dim at most.",
                                    indices.size(), x.shape.to_string()));
  const int count = named_dims(x, indices);
  IndexPutFactors names;
  for (int d = 0; d < x.ndim(); ++d) {
    names.x.push_back(d < count ? '_' : dim_names(x.ndim())[d]);
  }
  for (int d = 0; d < value.ndim(); ++d) {
    const int own = d + x.ndim() - value.ndim();
    const bool same = own >= count && value.shape[d] == x.shape[own];
    names.value.push_back(same ? names.x[own] : '_');
  }
  return names;
}

}  // namespace

SpmdRule GatherNdInferSpmd(const TensorSpec& x, const TensorSpec& index) {
  const GatherNdFactors names = addressed(x.ndim(), index);
  Factors rule;
  rule.input(x, names.x).input(index, names.position).output(names.elements);
  return pass_partial_of_first(rule, index);
}

SpmdRule GatherNdGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                               const TensorSpec& out_grad) {
  const GatherNdFactors names = addressed(x.ndim(), index);
  Factors rule;
  rule.input(x, names.x).input(index, names.position).input(out_grad, names.elements);
  return rule.output_like(0);
}

SpmdRule IndexSelectInferSpmd(const TensorSpec& x, const TensorSpec& index, int axis) {
  return GatherInferSpmd(x, index, Scalar(axis));
}

SpmdRule IndexSelectGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                                  const TensorSpec& out_grad, int axis) {
  return GatherGradInferSpmd(x, index, out_grad, Scalar(axis));
}

SpmdRule TakeAlongAxisInferSpmd(const TensorSpec& arr, const TensorSpec& indices, int axis) {
  const FactorNames names = alike({&arr, &indices}, axis);
  Factors rule;
  rule.input(arr, names).input(indices, with_axis(names)).output(with_axis(names));
  return pass_partial_of_first(rule, indices);
}

SpmdRule TakeAlongAxisGradInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                                    const TensorSpec& out_grad, int axis) {
  const FactorNames names = alike({&arr, &indices}, axis);
  Factors rule;
  rule.input(arr, names).input(indices, with_axis(names)).input(out_grad, with_axis(names));
  return rule.output_like(0);
}

SpmdRule PutAlongAxisInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                               const TensorSpec& values, int axis, const std::string&, bool) {
  const FactorNames names = alike({&arr, &indices, &values}, axis);
  return Factors().input(arr, names).input(indices, names).input(values, names).output(names);
}

SpmdRule PutAlongAxisGradInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                                   const TensorSpec& values, const TensorSpec& out,
                                   const TensorSpec& out_grad, int axis, const std::string&, bool) {
  const FactorNames names = alike({&arr, &indices, &values}, axis);
  Factors rule;
  for (const TensorSpec* tensor : {&arr, &indices, &values, &out, &out_grad}) {
    rule.input(*tensor, names);
  }
  return rule.output_like(0).output_like(2);
}

SpmdRule ScatterInferSpmd(const TensorSpec& x, const TensorSpec& index, const TensorSpec& updates,
                          bool) {
  const FactorNames names = rows(x.ndim());
  return Factors()
      .input(x, names)
      .input(index, whole_dim_names(index.ndim()))
      .input(updates, updates_names(names, updates))
      .output(names);
}

SpmdRule ScatterGradInferSpmd(const TensorSpec& index, const TensorSpec& updates,
                              const TensorSpec& out_grad, bool) {
  const FactorNames names = rows(out_grad.ndim());
  Factors rule;
  rule.input(index, whole_dim_names(index.ndim()))
      .input(updates, updates_names(names, updates))
      .input(out_grad, names);
  return rule.output_like(2).output_like(1);
}

SpmdRule ScatterNdAddInferSpmd(const TensorSpec& x, const TensorSpec& index,
                               const TensorSpec& updates) {
  const GatherNdFactors names = addressed(x.ndim(), index);
  return Factors()
      .input(x, names.x)
      .input(index, whole_dim_names(index.ndim()))
      .input(updates, whole_positions(names.elements, names.position))
      .output(names.x);
}

SpmdRule ScatterNdAddGradInferSpmd(const TensorSpec& index, const TensorSpec& updates,
                                   const TensorSpec& out_grad) {
  const GatherNdFactors names = addressed(out_grad.ndim(), index);
  Factors rule;
  rule.input(index, names.position).input(updates, names.elements).input(out_grad, names.x);
  // The gradient of x is out_grad itself, independent of this rank's part of the positions.
  rule.combined(names.position.view().substr(0, static_cast<size_t>(names.position.size() - 1)));
  return rule.output_like(2).output_like(1);
}

SpmdRule IndexPutInferSpmd(const TensorSpec& x, std::span<const TensorSpec> indices,
                           const TensorSpec& value, bool) {
  const IndexPutFactors names = put_names(x, indices, value);
  Factors rule;
  rule.input(x, names.x);
  for (const TensorSpec& index : indices) rule.input(index, whole_dim_names(index.ndim()));
  return rule.input(value, names.value).output(names.x);
}

SpmdRule IndexPutGradInferSpmd(const TensorSpec& x, std::span<const TensorSpec> indices,
                               const TensorSpec& value, const TensorSpec& out_grad, bool) {
  const IndexPutFactors names = put_names(x, indices, value);
  Factors rule;
  rule.input(x, names.x);
  for (const TensorSpec& index : indices) rule.input(index, whole_dim_names(index.ndim()));
  rule.input(value, names.value).input(out_grad, names.x);
  return rule.output_like(0).output_like(static_cast<int>(indices.size()) + 1);
}

SpmdRule MoeCombineInferSpmd(const TensorSpec& x, const TensorSpec& combine_weights,
                             const TensorSpec& scatter_index) {
  return Factors()
      .input(x, "_h")
      .input(combine_weights, "sk")
      .input(scatter_index, "sk")
      .output("sh");
}

SpmdRule MoeCombineGradInferSpmd(const TensorSpec& x, const TensorSpec& combine_weights,
                                 const TensorSpec& scatter_index, const TensorSpec& grad_y) {
  Factors rule;
  rule.input(x, "_h").input(combine_weights, "sk").input(scatter_index, "sk").input(grad_y, "sh");
  return rule.output_like(0).output_like(1);
}

}  // namespace phi::distributed
