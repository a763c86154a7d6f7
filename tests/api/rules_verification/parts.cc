// Taking values apart and putting them together.
#include "tests/api/rules_verification/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "phi/common/inexact.h"
#include "tests/support/rare_values.h"
#include "tests/support/reshard_oracle.h"

namespace phi::testing {

using distributed::MeshCoord;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::TensorDistAttr;
using distributed::testing::as_doubles;
using distributed::testing::cut;
using distributed::testing::reduced;

namespace {

// Values are multiples of it below 512 of them of noise: with 8 parts and a mean, 24 bits hold all
// sums of float32; 16-bit floats have 8 bits, for values below 8.
struct Grid {
  double step;
  double largest;
};
Grid grid_of(DataType dtype) {
  dtype = real_part_of(dtype);
  if (dtype == DataType::INT8) return {1, 64};
  if (!is_floating(dtype)) return {1, 1 << 30};
  return size_of(dtype) == 2 ? Grid{0.125, 8} : Grid{1.0 / 4096, 256};
}

uint64_t mixed(uint64_t h, uint64_t with) {
  h = (h ^ with) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

// What the rank at coordinate c of n along one mesh dim holds of `value`; h says who holds the
// rest. `one` is this number of what changes no product.
double share(ReduceKind kind, DataType dtype, int64_t n, int64_t c, uint64_t h, double value,
             double one) {
  const auto noise = [&](int64_t at) {
    const auto steps = static_cast<double>(mixed(h, static_cast<uint64_t>(at) + 1) >> 7 & 7);
    return is_inexact(dtype) ? steps / 4 : steps;
  };
  const bool has_rest = c == static_cast<int64_t>(h % static_cast<uint64_t>(n));
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAvg: {
      if (!has_rest) return noise(c) - 1;
      double rest = kind == ReduceKind::kAvg ? value * static_cast<double>(n) : value;
      for (int64_t other = 0; other < n; ++other) rest -= other == c ? 0 : noise(other) - 1;
      return rest;
    }
    case ReduceKind::kMax:
      if (dtype == DataType::UINT8) return has_rest ? value : 0;
      return has_rest ? value : value - noise(c);
    case ReduceKind::kMin:
      return has_rest ? value : value + noise(c);
    case ReduceKind::kProd:
      return has_rest ? value : one;
    case ReduceKind::kAny:
      return value != 0 && (has_rest || noise(c) > 1);
    case ReduceKind::kAll:
      return value != 0 || (!has_rest && noise(c) > 1);
  }
  return value;
}

double part_at(const TensorDistAttr& attr, const MeshCoord& coord, DataType dtype, double element,
               double value) {
  const auto number = static_cast<uint64_t>(element);
  const bool is_imaginary = is_complex(dtype) && number % 2 == 1;
  auto h = mixed((is_complex(dtype) ? number / 2 : number) + 7, 11);
  for (int m = 0; m < attr.mesh().ndim(); ++m) {
    const distributed::Placement& p = attr.placement(m);
    if (!p.is_partial()) continue;
    h = mixed(h, static_cast<uint64_t>(m) + 3) >> 5;
    value =
        share(p.reduce(), dtype, attr.mesh().dim_size(m), coord[m], h, value, is_imaginary ? 0 : 1);
    h = mixed(h, static_cast<uint64_t>(coord[m]) + 1);
  }
  return value;
}

// The largest finite one, at least 1.
double magnitude(const std::vector<double>& values) {
  double largest = 1;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return largest;
}

// As a number of that dtype is.
double as_held(DataType dtype, double value) {
  return real_part_of(dtype) == DataType::FLOAT32 ? static_cast<double>(static_cast<float>(value))
                                                  : value;
}

template <typename T>
void fill(const std::vector<double>& values, T* to) {
  for (const double v : values) {
    if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
      *to++ = static_cast<T>(static_cast<float>(v));
    } else {
      *to++ = static_cast<T>(v);
    }
  }
}

// The numbers of a tensor: its elements, of complex ones both parts, as of one more dim.
Dims numbers_of(Dims shape, DataType dtype) {
  if (is_complex(dtype)) shape.push_back(2);
  return shape;
}
Box numbers_of(Box box, DataType dtype) {
  if (is_complex(dtype)) box.offset.push_back(0);
  box.size = numbers_of(box.size, dtype);
  return box;
}

}  // namespace

Whole whole_of(const Tensor& x) { return {x.meta(), as_doubles(x.dense())}; }

Whole rounded(const Tensor& x) {
  Whole whole = whole_of(x);
  const Grid grid = grid_of(x.dtype());
  const auto is_ordinary = [&](double v) {
    return std::isfinite(v) && std::abs(v) <= grid.largest &&
           (v == 0 || std::abs(v) >= grid.step / 1000);
  };
  whole.is_ordinary = std::ranges::all_of(whole.values, is_ordinary);
  if (!whole.is_ordinary || !is_floating(real_part_of(x.dtype()))) return whole;
  for (double& v : whole.values) {
    const double least =
        std::copysign(v == 0 ? 0 : grid.step, v);  // what is not 0 does not become 0
    v = std::abs(v) < grid.step ? least : std::round(v / grid.step) * grid.step;
  }
  return whole;
}

Tensor tensor_of(const Dims& shape, DataType dtype, const std::vector<double>& values) {
  DenseTensor out = DenseTensor::empty({shape, dtype}, CPUPlace());
  visit_any_dtype(dtype, [&]<typename T>() {
    if constexpr (kIsComplex<T>) {
      fill<typename T::value_type>(values, reinterpret_cast<T::value_type*>(out.mutable_data<T>()));
    } else {
      fill<T>(values, out.mutable_data<T>());
    }
  });
  return Tensor(out);
}

std::vector<Tensor> parts_of(const Whole& whole, const TensorDistAttr& attr) {
  const ProcessMesh& mesh = attr.mesh();
  const DataType dtype = whole.meta.dtype;
  const Dims shape = numbers_of(whole.meta.dims, dtype);
  std::vector<double> elements(whole.values.size());
  std::iota(elements.begin(), elements.end(), 0.0);
  std::vector<Tensor> parts;
  for (int64_t p = 0; p < mesh.size(); ++p) {
    const MeshCoord coord = mesh.coord_at(p);
    const Box box = local_box(whole.meta.dims, attr, coord);
    std::vector<double> values = cut(elements, shape, numbers_of(box, dtype));
    for (double& v : values) {
      v = part_at(attr, coord, dtype, v, whole.values[static_cast<size_t>(v)]);
    }
    parts.push_back(tensor_of(box.size, dtype, values));
  }
  return parts;
}

Part part_of(const Tensor& x) {
  const DenseTensor& array = array_of(x);
  return {array.dims(), as_doubles(array)};
}

std::string difference(const Whole& expected, const TensorDistAttr& attr,
                       const std::vector<Part>& parts, double tolerance) {
  const ProcessMesh& mesh = attr.mesh();
  const auto box_at = [&](int64_t p) {
    return local_box(expected.meta.dims, attr, mesh.coord_at(p));
  };
  for (int64_t p = 0; p < mesh.size(); ++p) {
    const Part& part = parts[static_cast<size_t>(p)];
    if (part.shape == box_at(p).size) continue;
    return fmt::format("rank {} holds {} instead of {}", p, part.shape.to_string(),
                       box_at(p).size.to_string());
  }
  const double allowed = tolerance * magnitude(expected.values);
  const DataType dtype = expected.meta.dtype;
  const Dims shape = numbers_of(expected.meta.dims, dtype);
  // Number i at `coord`, reduced over the ranks that it is partial on.
  const auto number_at = [&](const MeshCoord& coord, size_t i) {
    const auto held = [&](const MeshCoord& at, size_t number) {
      return parts[static_cast<size_t>(mesh.position_of(at))].values[number];
    };
    if (!is_complex(dtype))
      return reduced(attr, coord, [&](const MeshCoord& at) { return held(at, i); });
    const size_t real = i / 2 * 2;
    const auto both = distributed::testing::reduced_complex(attr, coord, [&](const MeshCoord& at) {
      return std::complex<double>(held(at, real), held(at, real + 1));
    });
    return i == real ? both.real() : both.imag();
  };
  for (int64_t p = 0; p < mesh.size(); ++p) {
    const std::vector<double> wanted = cut(expected.values, shape, numbers_of(box_at(p), dtype));
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double got = number_at(mesh.coord_at(p), i);
      const double held = as_held(dtype, got);
      if (std::isfinite(wanted[i]) ? std::abs(held - wanted[i]) <= allowed
                                   : same_number(held, wanted[i])) {
        continue;
      }
      return fmt::format("element {} of rank {} is {} instead of {}", i, p, got, wanted[i]);
    }
  }
  return "";
}

}  // namespace phi::testing
