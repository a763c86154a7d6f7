// grid_sample and its gradients against plain loops in double, in every mode: places inside, on the
// edges, far outside and nowhere, few of them and many, channels of any count.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/image.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

struct Mode {
  std::string mode;
  std::string padding;
  bool align_corners;
};

struct Place {
  double at;
  double slope;
};

/// A coordinate in elements along `extent`.
Place place_of(double coordinate, int64_t extent, const Mode& mode) {
  const double last = static_cast<double>(extent - 1);
  const double slope = (mode.align_corners ? last : last + 1) / 2;
  Place place{last / 2 + coordinate * slope, slope};
  if (mode.padding == "zeros") return place;
  if (mode.padding == "reflection") {
    const double low = mode.align_corners ? 0 : -0.5;
    const double high = last - low;
    if (!std::isfinite(place.at) || high == low) return {0, 0};
    while (place.at < low || place.at > high)
      place = {2 * (place.at < low ? low : high) - place.at, -place.slope};
  }
  if (!(place.at > 0)) return {0, 0};
  return place.at >= last ? Place{last, 0} : place;
}

struct Case {
  Dims x;
  Dims grid;
  Mode mode;

  int spatial() const { return x.ndim() - 2; }
  int64_t pixels() const { return x.numel(2, x.ndim()); }
  int64_t places() const { return grid.numel(1, grid.ndim() - 1); }
  Dims out() const {
    Dims dims = grid;
    for (int d = grid.ndim() - 1; d > 1; --d) dims[d] = grid[d - 1];
    dims[1] = x[1];
    return dims;
  }
  std::string what() const {
    return mode.mode + " " + mode.padding + (mode.align_corners ? " aligned " : " ") +
           x.to_string() + " at " + grid.to_string();
  }
};

/// Calls f(pixel, weight, slopes by coordinate) for what is around a place in the image.
template <typename F>
void for_each_corner(const Case& c, const double* coordinates, F f) {
  const int n = c.spatial();
  for (int number = 0; number < 1 << n; ++number) {
    int64_t pixel = 0;
    bool inside = true;
    Values weights, slopes;
    for (int d = 0; d < n; ++d) {  // dims of the image: the last one has the first coordinate
      const int64_t extent = c.x[2 + d];
      const Place place = place_of(coordinates[n - 1 - d], extent, c.mode);
      const bool second = number >> (n - 1 - d) & 1;
      const bool nearest = c.mode.mode == "nearest";
      const double before = nearest ? std::round(place.at) : std::floor(place.at);
      const double element = before + second;
      inside = inside && element >= 0 && element < static_cast<double>(extent) &&
               !(nearest && second) && place.at > -1 && place.at < static_cast<double>(extent);
      pixel = pixel * extent + (inside ? static_cast<int64_t>(element) : 0);
      const double behind = nearest ? 0 : place.at - before;
      weights.push_back(second ? behind : 1 - behind);
      slopes.push_back(nearest ? 0 : second ? place.slope : -place.slope);
    }
    if (!inside) continue;
    double weight = 1;
    for (const double w : weights) weight *= w;
    Values by_coordinate(n, 1);
    for (int d = 0; d < n; ++d) {
      for (int e = 0; e < n; ++e) by_coordinate[n - 1 - d] *= d == e ? slopes[e] : weights[e];
    }
    f(pixel, weight, by_coordinate);
  }
}

struct Results {
  Values out, x_grad, grid_grad;
};

Results plain(const Case& c, const Values& x, const Values& grid, const Values& out_grad) {
  const int64_t channels = c.x[1], pixels = c.pixels(), places = c.places();
  Results results{Values(out_grad.size(), 0), Values(x.size(), 0), Values(grid.size(), 0)};
  for (int64_t i = 0; i < c.x[0] * places; ++i) {
    const int64_t image = i / places * channels;
    for_each_corner(
        c, grid.data() + i * c.spatial(), [&](int64_t pixel, double weight, const Values& slopes) {
          for (int64_t channel = image; channel < image + channels; ++channel) {
            const int64_t to = channel * places + i % places;
            const int64_t from = channel * pixels + pixel;
            results.out[to] += weight * x[from];
            results.x_grad[from] += weight * out_grad[to];
            for (int d = 0; d < c.spatial(); ++d)
              results.grid_grad[i * c.spatial() + d] += slopes[d] * out_grad[to] * x[from];
          }
        });
  }
  return results;
}

template <typename T>
void check(const Case& c, const Values& x, const Values& grid) {
  const Values out_grad = random_values(c.out().numel(), 3);
  const Results expected = plain(c, x, grid, out_grad);
  const std::string what = c.what() + " " + std::string(name_of(dtype_of<T>()));
  const DenseTensor xs = tensor<T>(x, c.x), grids = tensor<T>(grid, c.grid);
  const DenseTensor grads = tensor<T>(out_grad, c.out());
  const Mode& mode = c.mode;
  DenseTensor out = blank<T>(c.out());
  registered<kernels::grid_sample, T>(KernelContext(), xs, grids, mode.mode, mode.padding,
                                      mode.align_corners, &out);
  expect_close(to_doubles(out), expected.out, 2 * tolerance<T>(), what);
  DenseTensor x_grad = blank<T>(c.x), grid_grad = blank<T>(c.grid);
  const auto backward = [&](DenseTensor* to_x, DenseTensor* to_grid) {
    registered<kernels::grid_sample_grad, T>(KernelContext(), xs, grids, grads, mode.mode,
                                             mode.padding, mode.align_corners, to_x, to_grid);
  };
  backward(&x_grad, &grid_grad);
  expect_close(to_doubles(x_grad), expected.x_grad, 2 * tolerance<T>(), what + " x_grad");
  expect_close(to_doubles(grid_grad), expected.grid_grad, 2 * tolerance<T>(), what + " grid_grad");
  DenseTensor x_alone = blank<T>(c.x), grid_alone = blank<T>(c.grid);
  backward(&x_alone, nullptr), backward(nullptr, &grid_alone);
  expect_close(to_doubles(x_alone), to_doubles(x_grad), 0, what + " x_grad alone");
  expect_close(to_doubles(grid_alone), to_doubles(grid_grad), 0, what + " grid_grad alone");
}

void check_all(const Case& c, const Values& x, const Values& grid) {
  check<float>(c, x, grid), check<double>(c, x, grid);
  check<float16>(c, x, grid), check<bfloat16>(c, x, grid);
}

template <typename F>
void for_each_mode(F f) {
  for (const char* mode : {"bilinear", "nearest"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const bool align : {false, true}) f(Mode{mode, padding, align});
    }
  }
}

// Coordinates are multiples of 1/64 or so, whose places are exact in float as in double.
TEST(GridSampleKernel, PlacesInsideAndAround) {
  for_each_mode([](const Mode& mode) {
    for (const int64_t channels : {1, 3, 16, 21}) {
      const Case many{{2, channels, 5, 7}, {2, 9, 11, 2}, mode};
      check_all(many, random_values(many.x.numel(), 1),
                random_values(many.grid.numel(), 2, -1.5, 1.5));
    }
    const Case deep{{2, 5, 3, 4, 5}, {2, 2, 5, 7, 3}, mode};
    check_all(deep, random_values(deep.x.numel(), 1),
              random_values(deep.grid.numel(), 2, -1.5, 1.5));
    const Case few{{2, 5, 9, 8}, {2, 1, 3, 2}, mode};
    check_all(few, random_values(few.x.numel(), 1), random_values(few.grid.numel(), 2, -1.5, 1.5));
  });
}

TEST(GridSampleKernel, FarPlacesAndNone) {
  for_each_mode([](const Mode& mode) {
    for (const int64_t columns : {1, 4, 60}) {
      const Case c{{1, 3, 4, columns}, {1, 1, 14, 2}, mode};
      Values grid;
      for (const double at : {-40.0, -3.0, -1.0, 0.0, 1.0, 3.0, 40.0}) {
        grid.insert(grid.end(), {at, 0.25, -0.5, at});
      }
      check_all(c, random_values(c.x.numel(), 1), grid);
    }
    const Case rare{{1, 3, 4, 4}, {1, 1, 8, 2}, mode};
    Values grid;
    for (const double at : {double{NAN}, double{INFINITY}, -double{INFINITY}, 0.5})
      grid.insert(grid.end(), {at, 0.25, -0.5, at});
    check_all(rare, random_values(rare.x.numel(), 1), grid);
  });
}

// They show at the places around them, those of weight 0 too, and nowhere else.
TEST(GridSampleKernel, PixelsThatAreNotFinite) {
  for_each_mode([](const Mode& mode) {
    const Case c{{1, 9, 4, 4}, {1, 5, 5, 2}, mode};
    Values x = random_values(c.x.numel(), 1);
    for (int64_t channel = 0; channel < 9; ++channel) x[channel * 16 + channel] = INFINITY;
    x[3] = NAN;
    Values grid;
    for (const double row : {-1.5, -1.0, -0.25, 0.5, 1.0}) {
      for (const double column : {-1.0, -0.5, 0.0, 1.0, 1.25})
        grid.insert(grid.end(), {column, row});
    }
    check<float>(c, x, grid), check<double>(c, x, grid);
  });
}

TEST(GridSampleKernel, Nothing) {
  const Mode mode{"bilinear", "zeros", true};
  for (const Case& c :
       {Case{{0, 3, 4, 4}, {0, 2, 2, 2}, mode}, Case{{2, 0, 4, 4}, {2, 2, 2, 2}, mode},
        Case{{2, 3, 4, 4}, {2, 0, 2, 2}, mode}}) {
    check_all(c, Values(c.x.numel(), 1), Values(c.grid.numel(), 0.5));
  }
}

}  // namespace
}  // namespace phi::testing
