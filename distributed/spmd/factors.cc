// Building of factor declarations; engine.cc answers them.
#include "distributed/spmd/factors.h"

namespace phi::distributed {
namespace {

// Batch factors are 0 .. kMaxNdim-1, counted from the innermost; letters follow.
uint8_t index_of(char letter) {
  if (letter == '1') return Factors::kUnsplit;
  if (letter == '_') return Factors::kIgnored;
  PHI_CHECK(letter >= 'a' && letter <= 'z',
            errors::InvalidArgument("'{}' names no factor; use a letter a to z, 1 or _.", letter));
  return static_cast<uint8_t>(kMaxNdim + (letter - 'a'));
}

}  // namespace

Factors::Term Factors::term(Batch batch, std::string_view letters) {
  const int ndim = batch.ndim + static_cast<int>(letters.size());
  PHI_CHECK(ndim <= kMaxNdim,
            errors::InvalidArgument("a tensor of {} dims is more than {} dims.", ndim, kMaxNdim));
  Term term;
  term.ndim = static_cast<uint8_t>(ndim);
  term.absent = false;
  term.follows = false;
  term.optional = false;
  term.attr = nullptr;
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

Factors& Factors::input(const TensorSpec& x, Batch batch, std::string_view letters) {
  if (x.absent()) return absent_input();
  const int lead = x.ndim() - static_cast<int>(letters.size());
  PHI_CHECK(lead >= 0 && lead <= batch.ndim,
            errors::InvalidArgument("input {} has {} dims {}, expected {}{} (factors '{}').",
                                    inputs(), x.ndim(), x.shape.to_string(),
                                    batch.ndim > 0 ? "at least " : "", letters.size(), letters));
  Term t = term({lead}, letters);
  t.attr = x.attr;
  t.shape = x.shape;
  for (int d = 0; d < t.ndim; ++d) {
    if (d < lead && x.shape[d] == 1) t.factor[d] = kUnsplit;
    const uint8_t f = t.factor[d];
    if (f == kUnsplit || f == kIgnored) continue;
    const uint64_t bit = uint64_t{1} << f;
    size_[f] = (used_ & bit) ? std::max(size_[f], x.shape[d]) : x.shape[d];
    used_ |= bit;
  }
  inputs_.push_back(t);
  return *this;
}

Factors& Factors::absent_input() {
  Term t = term({}, "");
  t.absent = true;
  inputs_.push_back(t);
  return *this;
}

Factors& Factors::output(Batch batch, std::string_view letters) {
  outputs_.push_back(term(batch, letters));
  return *this;
}

Factors& Factors::output_like(int i) {
  Term t = inputs_[i];
  t.follows = false;
  t.attr = nullptr;
  outputs_.push_back(t);
  return *this;
}

Factors& Factors::optional_output(std::string_view letters) {
  output(letters);
  outputs_[outputs_.size() - 1].optional = true;
  return *this;
}

Factors& Factors::absent_output() {
  Term t = term({}, "");
  t.absent = true;
  outputs_.push_back(t);
  return *this;
}

Factors& Factors::drop_output(int i) {
  outputs_[i].absent = true;
  return *this;
}

Factors& Factors::whole(std::string_view letters) {
  whole_ |= mask_of(letters);
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

Factors& Factors::divides(char letter, int64_t size) {
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

Factors& Factors::prefer_most_wanted() {
  prefer_most_wanted_ = true;
  return *this;
}

Factors& Factors::join_mesh_dims() {
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

Factors& Factors::backward_outputs(BackwardOutputs how) {
  backward_outputs_ = how;
  return *this;
}

Factors& Factors::backward_last_output_first() {
  backward_last_first_ = true;
  return *this;
}

Factors& Factors::backward_keeps_partial() {
  backward_keeps_partial_ = true;
  return *this;
}

Factors& Factors::refuse_shared_mesh_dim() {
  refuse_shared_ = true;
  return *this;
}

Factors& Factors::refuse_split(std::string_view letters, const char* reason) {
  refused_split_ = mask_of(letters);
  split_reason_ = reason;
  return *this;
}

Factors& Factors::refuse_forward(const char* reason) {
  forward_reason_ = reason;
  return *this;
}

Factors& Factors::refuse_backward(const char* reason) {
  backward_reason_ = reason;
  return *this;
}

}  // namespace phi::distributed
