// The emulator's orders.
#include "tests/phi/gpu/orders.h"
#include "tests/support/cuda_on_cpu/cuda_on_cpu.h"

namespace phi::testing {

void in_each_order(const std::function<bool()>& run) {
  using cuda_on_cpu::Order;
  for (const Order order : {Order::kForward, Order::kBackward, Order::kDrawn}) {
    cuda_on_cpu::set_order(order, 5);
    if (!run()) break;
  }
  cuda_on_cpu::reset();
}

bool is_real_gpu() { return false; }

}  // namespace phi::testing
