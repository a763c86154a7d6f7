// put_back, the gradient of what is chosen along an axis, against plain loops: along every axis,
// with places named twice and never, of both dtypes of indices; and places that are not there.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/sort.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

struct Case {
  Dims x;
  int axis;
  int64_t count;

  Dims chosen() const {
    Dims dims = x;
    dims[axis] = count;
    return dims;
  }
};

Values drawn_places(const Case& c) {
  std::mt19937 engine(4);
  std::uniform_int_distribution<int64_t> draw(0, c.x[c.axis] - 1);
  Values places(c.chosen().numel());
  std::generate(places.begin(), places.end(), [&] { return static_cast<double>(draw(engine)); });
  return places;
}

Values plain(const Case& c, const Values& places, const Values& grads) {
  Values sums(c.x.numel(), 0);
  const int64_t inner = c.x.numel(c.axis + 1, c.x.ndim());
  for (int64_t i = 0; i < std::ssize(grads); ++i) {
    const int64_t outer = i / inner / c.count;
    sums[(outer * c.x[c.axis] + static_cast<int64_t>(places[i])) * inner + i % inner] += grads[i];
  }
  return sums;
}

template <typename T, typename Index>
void check(const Case& c) {
  const Values places = drawn_places(c);
  const Values grads = random_values(c.chosen().numel(), 5);
  DenseTensor x_grad = blank<T>(c.x);
  registered<kernels::put_back, T>(KernelContext(), tensor<Index>(places, c.chosen()),
                                   tensor<T>(grads, c.chosen()), c.axis, &x_grad);
  expect_close(to_doubles(x_grad), plain(c, places, grads), 2 * tolerance<T>(),
               c.x.to_string() + " along " + std::to_string(c.axis));
}

TEST(PutBackKernel, AlongEveryAxis) {
  for (const int axis : {0, 1, 2}) {
    for (const int64_t count : {0, 1, 5, 33}) {
      const Case c{{4, 9, 6}, axis, count};
      check<float, int64_t>(c), check<double, int64_t>(c);
      check<float16, int64_t>(c), check<bfloat16, int64_t>(c);
      check<float, int32_t>(c), check<bfloat16, int32_t>(c);
    }
  }
  check<float, int64_t>({{1}, 0, 1}), check<float, int64_t>({{0, 3}, 1, 2});
}

TEST(PutBackKernel, PlacesThatAreNotThere) {
  const DenseTensor grads = tensor<float>({1, 2, 3, 4}, {2, 2});
  for (const int axis : {0, 1}) {
    DenseTensor x_grad = blank<float>(axis == 0 ? Dims{3, 2} : Dims{2, 3});
    const auto put = [&](double place) {
      registered<kernels::put_back, float>(
          KernelContext(), tensor<int64_t>({0, 2, place, 1}, {2, 2}), grads, axis, &x_grad);
    };
    expect_error("indices hold 3, but there are 3 elements along the axis", [&] { put(3); });
    expect_error("indices hold -1, but there are 3 elements along the axis", [&] { put(-1); });
  }
}

}  // namespace
}  // namespace phi::testing
