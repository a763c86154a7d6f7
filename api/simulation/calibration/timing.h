// Repeated timings of work on this rank, and on all ranks at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace phi::simulation {

using Work = std::function<void()>;

struct Timing {
  double seconds = 0;             // mean, without the slowest tenth
  double spread = 0;              // of the quartiles, relative to the median
  std::vector<double> samples{};  // seconds of each repetition on this rank, in order
};

/// At least as many samples, and at least as many seconds, but at most 1000 samples.
struct Budget {
  double seconds = 0;
  size_t samples = 1;
};

/// Replaces what a core's own caches hold: in a step, most arrays were last used long ago. It
/// reads, because caches would write modified lines back during the work that is timed.
class CacheEvictor {
 public:
  void evict();

 private:
  std::vector<char> other_ = std::vector<char>(size_t{8} << 20, 1);
};

/// The mean and spread of samples.
Timing timing_of(std::vector<double> samples);

/// Calls `work` once, and then times it. `before`: called before each sample; may be empty.
Timing time_of(const Work& work, const Budget& budget, const Work& before = {});

/// The mean over all ranks of the current world, which every rank returns; the samples are its own.
/// All ranks call it.
Timing mean_over_ranks(Timing own);

/// time_of on all ranks at the same time, and its mean over them.
Timing time_on_all(const Work& work, const Budget& budget, const Work& before = {});

double median_of(std::vector<double> values);

}  // namespace phi::simulation
