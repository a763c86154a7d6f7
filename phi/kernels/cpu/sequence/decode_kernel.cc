// Backtracking on the CPU: the most likely path of tags (A. J. Viterbi, 1967), and the sequences of
// a beam search.
#include <algorithm>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sequence.h"
#include "phi/kernels/cpu/sequence/lengths.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// The best scores of one sample's tags after each step, and the tags from which they came.
template <typename C>
class Viterbi {
 public:
  Viterbi(std::vector<C> transitions, int64_t tags, bool has_ends)
      : transitions_(std::move(transitions)), tags_(tags), has_ends_(has_ends), next_(tags) {}

  void begin(const C* potentials, bool is_last) {
    came_from_.clear();
    scores_.assign(potentials, potentials + tags_);
    if (has_ends_) add_row(tags_ - 1);
    end(is_last);
  }
  void step(const C* potentials, bool is_last) {
    for (int64_t to = 0; to < tags_; ++to) {
      int64_t best = 0;
      for (int64_t from = 1; from < tags_; ++from) {
        if (through(from, to) > through(best, to)) best = from;
      }
      came_from_.push_back(best);
      next_[to] = through(best, to) + potentials[to];
    }
    std::swap(scores_, next_);
    end(is_last);
  }
  C best() const { return *std::max_element(scores_.begin(), scores_.end()); }
  /// Writes the tags of the best path, one per step.
  void trace(int64_t steps, int64_t* path) const {
    int64_t tag = std::max_element(scores_.begin(), scores_.end()) - scores_.begin();
    for (int64_t t = steps - 1; t >= 0; --t) {
      path[t] = tag;
      if (t > 0) tag = came_from_[static_cast<size_t>((t - 1) * tags_ + tag)];
    }
  }

 private:
  C through(int64_t from, int64_t to) const {
    return scores_[from] + transitions_[static_cast<size_t>(from * tags_ + to)];
  }
  void add_row(int64_t from) {
    for (int64_t to = 0; to < tags_; ++to)
      scores_[to] += transitions_[static_cast<size_t>(from * tags_ + to)];
  }
  void end(bool is_last) {
    if (is_last && has_ends_) add_row(std::max<int64_t>(tags_ - 2, 0));
  }

  std::vector<C> transitions_;
  int64_t tags_;
  bool has_ends_;
  std::vector<C> scores_;
  std::vector<C> next_;
  std::vector<int64_t> came_from_;
};

}  // namespace

/// path is as long as the longest sequence, with 0 after a sequence's end. A sequence without steps
/// has the score of its first step.
template <typename T, typename Context>
void ViterbiDecodeKernel(const Context&, const DenseTensor& potentials,
                         const DenseTensor& transition_params, const DenseTensor& lengths,
                         bool include_bos_eos_tag, DenseTensor* scores, DenseTensor* path) {
  using C = compute_t<T>;
  const int64_t batch = potentials.dims()[0];
  const int64_t steps = potentials.dims()[1];
  const int64_t tags = potentials.dims()[2];
  const auto each = sequence_lengths(&lengths, batch, steps, "lengths");
  const int64_t longest = each.empty() ? 0 : std::ranges::max(each);
  *scores =
      DenseTensor::empty({{batch}, potentials.dtype(), scores->meta().layout}, potentials.place());
  *path = DenseTensor::empty({{batch, longest}, DataType::INT64, path->meta().layout},
                             potentials.place());
  T* to = scores->mutable_data<T>();
  auto* paths = path->mutable_data<int64_t>();
  std::fill_n(paths, path->numel(), 0);
  std::fill_n(to, batch, T(0));
  if (potentials.numel() == 0) return;
  std::vector<C> transitions(static_cast<size_t>(tags * tags));
  convert(transition_params.data<T>(), transitions.data(), tags * tags);
  Viterbi<C> search(std::move(transitions), tags, include_bos_eos_tag);
  std::vector<C> row(static_cast<size_t>(tags));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t t = 0; t < std::max<int64_t>(each[b], 1); ++t) {
      convert(potentials.data<T>() + (b * steps + t) * tags, row.data(), tags);
      const bool is_last = t == each[b] - 1;
      if (t == 0) {
        search.begin(row.data(), is_last);
      } else {
        search.step(row.data(), is_last);
      }
    }
    to[b] = static_cast<T>(search.best());
    search.trace(each[b], paths + b * longest);
  }
}

/// out[t] is ids[t] of the beam from which the later steps came.
///
/// Errors   InvalidArgument for a parent that is not a beam.
template <typename T, typename Context>
void GatherTreeKernel(const Context&, const DenseTensor& ids, const DenseTensor& parents,
                      DenseTensor* out) {
  if (ids.numel() == 0) return;
  const int64_t steps = ids.dims()[0];
  const int64_t beams = ids.dims()[2];
  const int64_t row = ids.dims()[1] * beams;
  const T* from = ids.data<T>();
  const T* earlier = parents.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < row; ++i) {
    const int64_t first = i / beams * beams;
    int64_t at = i;
    for (int64_t t = steps - 1; t >= 0; --t) {
      to[t * row + i] = from[t * row + at];
      const int64_t parent = earlier[t * row + at];
      PHI_CHECK(t == 0 || (parent >= 0 && parent < beams),
                errors::InvalidArgument("parents holds {} at step {}, but there are {} beams; it "
                                        "must be in [0, {}).",
                                        parent, t, beams, beams));
      at = first + parent;
    }
  }
}

PHI_REGISTER_KERNEL(viterbi_decode, CPU, ViterbiDecodeKernel, Floats);
PHI_REGISTER_NO_SCRATCH(viterbi_decode, Halves);
PHI_REGISTER_KERNEL(gather_tree, CPU, GatherTreeKernel, SignedIntegers);

}  // namespace phi
