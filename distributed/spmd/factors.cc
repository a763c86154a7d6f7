// Builds factor declarations; factor_inference.cc runs them.
#include "distributed/spmd/factors.h"

#include <fmt/format.h>

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// Batch factors have indices 0 .. kMaxNdim-1, counted from the innermost; letters follow.
uint8_t index_of(char letter) {
  if (letter == '1') return Factors::kUnsplit;
  if (letter == '_') return Factors::kIgnored;
  PHI_CHECK(letter >= 'a' && letter <= 'z',
            errors::InvalidArgument("'{}' is not a factor; use a letter a to z, 1 or _.", letter));
  return static_cast<uint8_t>(kMaxNdim + (letter - 'a'));
}

// "x", or "input 0" if the name is unknown.
std::string described(const char* name, size_t input) {
  return name != nullptr ? std::string(name) : fmt::format("input {}", input);
}

}  // namespace

std::string Factors::factor_name(uint8_t factor) {
  if (factor == kUnsplit) return "1";
  if (factor < kMaxNdim) return fmt::format("batch {}", factor);
  return std::string(1, static_cast<char>('a' + factor - kMaxNdim));
}

Factors::TensorFactors Factors::term(BatchFactors batch, std::string_view letters) {
  const int ndim = batch.ndim + static_cast<int>(letters.size());
  PHI_CHECK(ndim <= kMaxNdim,
            errors::InvalidArgument("a tensor of {} dims is more than {} dims.", ndim, kMaxNdim));
  TensorFactors term;
  term.ndim = static_cast<uint8_t>(ndim);
  term.absent = false;
  term.follows = false;
  term.attr = nullptr;
  term.name = nullptr;
  int d = 0;
  for (; d < batch.ndim; ++d) term.factor[d] = static_cast<uint8_t>(batch.ndim - 1 - d);
  for (char letter : letters) term.factor[d++] = index_of(letter);
  return term;
}

uint64_t Factors::mask_of(std::string_view letters) {
  uint64_t mask = 0;
  for (char letter : letters) {
    if (const uint8_t f = index_of(letter); f < kMaxFactors) mask |= uint64_t{1} << f;
  }
  return mask;
}

Factors& Factors::input(const TensorSpec& x, BatchFactors batch, std::string_view letters) {
  if (x.absent()) return absent_input();
  const int lead = x.ndim() - static_cast<int>(letters.size());
  PHI_CHECK(
      lead >= 0 && lead <= batch.ndim,
      errors::InvalidArgument("{} has {} dims {}, expected {}{} (factors '{}').",
                              described(x.name, inputs_.size()), x.ndim(), x.shape.to_string(),
                              batch.ndim > 0 ? "at least " : "", letters.size(), letters));
  TensorFactors t = term({lead}, letters);
  t.attr = x.attr;
  t.name = x.name;
  t.shape = x.shape;
  for (int d = 0; d < t.ndim; ++d) {
    if (d < lead && x.shape[d] == 1) t.factor[d] = kUnsplit;
    if (t.factor[d] != kUnsplit && t.factor[d] != kIgnored) add_size(t, d);
  }
  inputs_.push_back(t);
  return *this;
}

void Factors::add_size(const TensorFactors& term, int d) {
  const uint8_t f = term.factor[d];
  const uint64_t bit = uint64_t{1} << f;
  const int64_t size = term.shape[d];
  if ((used_ & bit) == 0) {
    used_ |= bit;
    size_[f] = size;
    return;
  }
  // An unknown extent (-1) may turn out to be equal.
  if (size_[f] != size && size_[f] >= 0 && size >= 0 && (any_size_ & bit) == 0) [[unlikely]]
    refuse_size(term, f, size);
  size_[f] = std::max(size_[f], size);
}

void Factors::refuse_size(const TensorFactors& term, uint8_t f, int64_t size) const {
  const auto has = [&](const TensorFactors& t) {
    return std::find(t.factor.begin(), t.factor.begin() + t.ndim, f) != t.factor.begin() + t.ndim;
  };
  size_t first = 0;
  while (first < inputs_.size() && !has(inputs_[first])) ++first;
  const TensorFactors& other = first < inputs_.size() ? inputs_[first] : term;
  throw errors::InvalidArgument(
      "factor {} is {} in {} {} and {} in {} {}; use tensors of equal size there.", factor_name(f),
      size_[f], described(other.name, first), other.shape.to_string(), size,
      described(term.name, inputs_.size()), term.shape.to_string());
}

Factors& Factors::absent_input() {
  TensorFactors t = term({}, "");
  t.absent = true;
  inputs_.push_back(t);
  return *this;
}

Factors& Factors::output(BatchFactors batch, std::string_view letters) {
  outputs_.push_back(term(batch, letters));
  return *this;
}

Factors& Factors::output_like(int i) {
  TensorFactors t = inputs_[i];
  t.follows = false;
  t.attr = nullptr;
  outputs_.push_back(t);
  return *this;
}

Factors& Factors::absent_output() {
  TensorFactors t = term({}, "");
  t.absent = true;
  outputs_.push_back(t);
  return *this;
}

Factors& Factors::whole(std::string_view letters) {
  whole_ |= mask_of(letters);
  return *this;
}

Factors& Factors::whole_dims(int i, std::span<const int64_t> axes) {
  for (int64_t axis : axes) whole_dims(i, axis);
  return *this;
}

Factors& Factors::whole_dims(int i, std::span<const int> axes) {
  for (int axis : axes) whole_dims(i, axis);
  return *this;
}

Factors& Factors::whole_dims(int i, int64_t axis) {
  const TensorFactors& term = inputs_[static_cast<size_t>(i)];
  if (term.ndim == 0 && (axis == 0 || axis == -1)) return *this;  // a 0-D tensor accepts these
  whole_ |= uint64_t{1} << term.factor[static_cast<size_t>(normal_axis(axis, term.ndim))];
  return *this;
}

Factors& Factors::reduce(std::string_view letters, ReduceKind kind) {
  PHI_CHECK(other_reduce_ == 0 || kind == reduce_kind_,
            errors::InvalidArgument("one rule reduces by {} and by {}; at most one kind other than "
                                    "sum is supported.",
                                    name_of(reduce_kind_), name_of(kind)));
  if (kind == ReduceKind::kSum) return *this;
  other_reduce_ |= mask_of(letters);
  reduce_kind_ = kind;
  return *this;
}

Factors& Factors::combined(std::string_view letters) {
  combined_ |= mask_of(letters);
  return *this;
}

Factors& Factors::any_size(std::string_view letters) {
  any_size_ |= mask_of(letters);
  return *this;
}

Factors& Factors::divides(char letter, int64_t size) {
  any_size({&letter, 1});
  divides_ = mask_of({&letter, 1});
  divided_size_ = size;
  return *this;
}

Factors& Factors::yields(std::string_view letters) {
  yields_ |= mask_of(letters);
  return *this;
}

Factors& Factors::prefer_larger_tensor() {
  prefer_larger_ = true;
  return *this;
}

Factors& Factors::prefer_majority() {
  prefer_majority_ = true;
  return *this;
}

Factors& Factors::merge_mesh_dims() {
  join_ = true;
  return *this;
}

Factors& Factors::pass_partial(PartialFlow flow, ReduceKinds kinds) {
  partial_flow_ = flow;
  partial_kinds_ = kinds;
  return *this;
}

Factors& Factors::last_input_follows() {
  inputs_[inputs_.size() - 1].follows = true;
  return *this;
}

Factors& Factors::unit_dims_whole() {
  unit_dims_whole_ = true;
  return *this;
}

}  // namespace phi::distributed
