// A real GPU's own orders, which differ from run to run.
#include "tests/phi/gpu/orders.h"

namespace phi::testing {

void in_each_order(const std::function<bool()>& run) {
  for (int turn = 0; turn < 2 && run(); ++turn) {
  }
}

bool is_real_gpu() { return true; }

}  // namespace phi::testing
