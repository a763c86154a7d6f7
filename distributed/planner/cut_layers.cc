// best[s][i]: the least largest cost of layers i, i + 1, .. on stages s, s + 1, ..
#include "distributed/planner/cut_layers.h"

#include <algorithm>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

class Cutter {
 public:
  Cutter(const LayersToCut& layers, size_t stages)
      : layers_(layers),
        stages_(stages),
        count_(layers.costs.size()),
        best_(stages, std::vector<double>(count_, kNone)),
        first_end_(stages, std::vector<size_t>(count_, 0)) {}

  LayerCut run() {
    for (size_t s = stages_; s-- > 0;) {
      for (size_t i = s; i < count_; ++i) settle(s, i);
    }
    LayerCut out;
    out.largest = best_[0][0];
    if (out.largest == kNone) return out;
    for (size_t s = 0, i = 0; s < stages_; ++s) {
      out.layers.push_back(static_cast<int64_t>(first_end_[s][i] - i));
      i = first_end_[s][i];
    }
    return out;
  }

 private:
  // Chooses the end of stage s, which begins at layer i.
  void settle(size_t s, size_t i) {
    const bool is_last = s + 1 == stages_;
    double cost = 0;
    int64_t bytes = 0;
    for (size_t end = i + 1; end <= count_; ++end) {
      cost += layers_.costs[end - 1];
      bytes += bytes_of(end - 1, s);
      if (bytes > layers_.room || cost >= best_[s][i]) break;
      if (is_last ? end < count_ : end == count_) continue;
      const double largest = is_last ? cost : std::max(cost, best_[s + 1][end]);
      if (largest >= best_[s][i]) continue;
      best_[s][i] = largest;
      first_end_[s][i] = end;
    }
  }

  int64_t bytes_of(size_t layer, size_t stage) const {
    const int64_t states = layers_.states.empty() ? 0 : layers_.states[layer];
    const int64_t bytes = layers_.bytes.empty() ? 0 : layers_.bytes[layer];
    const int64_t deferred = layers_.deferred_bytes.empty() || layers_.deferred.empty()
                                 ? 0
                                 : layers_.deferred_bytes[layer] * layers_.deferred[stage];
    return states + bytes * (layers_.held.empty() ? 1 : layers_.held[stage]) + deferred;
  }

  const LayersToCut& layers_;
  const size_t stages_;
  const size_t count_;
  std::vector<std::vector<double>> best_;
  std::vector<std::vector<size_t>> first_end_;
};

}  // namespace

LayerCut cut_layers(const LayersToCut& layers, int64_t stages) {
  const size_t count = layers.costs.size();
  PHI_CHECK(stages >= 1 && static_cast<int64_t>(count) >= stages,
            errors::InvalidArgument("{} layers cannot be cut into {} stages; each has one or more.",
                                    count, stages));
  const auto fits = [](size_t length, size_t wanted) { return length == 0 || length == wanted; };
  const auto by_stage = static_cast<size_t>(stages);
  PHI_CHECK(fits(layers.states.size(), count) && fits(layers.bytes.size(), count) &&
                fits(layers.held.size(), by_stage) && fits(layers.deferred_bytes.size(), count) &&
                fits(layers.deferred.size(), by_stage),
            errors::InvalidArgument(
                "layers to cut have {} costs, {} states, {} bytes and {} "
                "deferred bytes, and {} stages have {} numbers of micro-batches "
                "and {} of deferred ones.",
                count, layers.states.size(), layers.bytes.size(), layers.deferred_bytes.size(),
                stages, layers.held.size(), layers.deferred.size()));
  return Cutter(layers, static_cast<size_t>(stages)).run();
}

}  // namespace phi::distributed
