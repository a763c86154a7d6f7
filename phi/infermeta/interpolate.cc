// Shapes of interpolation.
#include "phi/infermeta/interpolate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "phi/common/errors.h"

namespace phi {
namespace {

struct Sources {
  const TensorMeta* out_size;
  std::span<const TensorMeta> size_tensor;
  const TensorMeta* scale_tensor;
  std::array<int, 3> attributes;  // out_d, out_h, out_w
  std::vector<double> scale;
};

void check_method(const TensorMeta& x, const std::string& method) {
  struct Method {
    std::string_view name;
    int least;
    int most;
  };
  static constexpr Method kMethods[] = {{"linear", 3, 3},
                                        {"bilinear", 4, 4},
                                        {"bicubic", 4, 4},
                                        {"trilinear", 5, 5},
                                        {"nearest", 3, 5}};
  const auto* found =
      std::ranges::find_if(kMethods, [&](const Method& m) { return m.name == method; });
  PHI_CHECK(found != std::end(kMethods),
            errors::InvalidArgument("interp_method is '{}', but it must be linear, bilinear, "
                                    "bicubic, trilinear or nearest.",
                                    method));
  PHI_CHECK(x.dims.ndim() >= found->least && x.dims.ndim() <= found->most,
            errors::InvalidArgument("x is {}, but interp_method '{}' expects {} to {} tensor dims.",
                                    x.to_string(), method, found->least, found->most));
}

void check_size_count(const TensorMeta& tensor, std::string_view name, int64_t least,
                      int64_t most) {
  const int64_t n = tensor.dims.known() ? tensor.numel() : most;
  PHI_CHECK(n == least || n == most,
            errors::InvalidArgument("{} is {}, but it must have {} element(s).", name,
                                    tensor.to_string(), most));
}

// The spatial extents. Those from tensors are unknown before the kernel runs.
Dims resized(const Dims& extents, const Sources& from) {
  const int spatial = extents.ndim();
  if (!from.size_tensor.empty()) {
    PHI_CHECK(from.size_tensor.size() == static_cast<size_t>(spatial),
              errors::InvalidArgument("size_tensor has {} tensors, but there are {} spatial dims.",
                                      from.size_tensor.size(), spatial));
    for (const TensorMeta& size : from.size_tensor) check_size_count(size, "size_tensor", 1, 1);
    return Dims::filled(spatial, kUnknownDim);
  }
  if (from.out_size) check_size_count(*from.out_size, "out_size", spatial, spatial);
  if (from.scale_tensor) check_size_count(*from.scale_tensor, "scale_tensor", 1, spatial);
  std::vector<double> scales;
  if (!from.scale.empty() && !from.scale_tensor) scales = spatial_scales(from.scale, spatial);
  if (from.out_size || from.scale_tensor) return Dims::filled(spatial, kUnknownDim);
  Dims out = extents;
  for (int d = 0; d < spatial; ++d) {
    const int attribute = from.attributes[static_cast<size_t>(3 - spatial + d)];
    PHI_CHECK(
        !scales.empty() || attribute > 0,
        errors::InvalidArgument(
            "the size of spatial dim {} is {}; pass a positive one, or a scale.", d, attribute));
    out[d] = scales.empty() ? attribute : scaled_extent(extents[d], scales[static_cast<size_t>(d)]);
  }
  return out;
}

TensorMeta interpolated(const TensorMeta& x, const std::string& data_format, const Sources& from,
                        const std::string& method) {
  check_method(x, method);
  PHI_CHECK(method == "nearest" || is_floating(x.dtype),
            errors::InvalidArgument(
                "x is {}, but interp_method '{}' yields fractions; cast x, or use nearest.",
                x.to_string(), method));
  const ImageLayout layout(data_format);
  const Dims extents = layout.spatial(x.dims);
  for (int64_t extent : extents) {
    PHI_CHECK(extent != 0,
              errors::InvalidArgument("x is {}, but an extent of 0 cannot be interpolated.",
                                      x.to_string()));
  }
  const Dims out = resized(extents, from);
  return {layout.dims(x.dims[0], layout.channels(x.dims), std::span(out.begin(), out.end())),
          x.dtype, x.layout};
}

}  // namespace

std::vector<double> spatial_scales(std::vector<double> scales, int spatial) {
  const auto wanted = static_cast<size_t>(spatial);
  const bool positive = std::ranges::all_of(scales, [](double s) { return s > 0.0; });
  PHI_CHECK((scales.size() == 1 || scales.size() == wanted) && positive,
            errors::InvalidArgument("scale is [{}], but it must be one positive number, or {}.",
                                    fmt::join(scales, ","), spatial));
  if (scales.size() == 1) scales.resize(wanted, scales[0]);
  return scales;
}

int64_t scaled_extent(int64_t extent, double scale) {
  const double scaled = static_cast<double>(extent) * scale;
  PHI_CHECK(
      scaled >= 1.0 && scaled <= std::numeric_limits<int32_t>::max(),
      errors::InvalidArgument(
          "a scale of {} resizes an extent of {} to {}; the result must be from 1 to 2147483647.",
          scale, extent, scaled));
  return static_cast<int64_t>(scaled);
}

TensorMeta InterpInferMeta(const TensorMeta& x, const TensorMeta* out_size,
                           std::span<const TensorMeta> size_tensor, const TensorMeta* scale_tensor,
                           const std::string& data_format, int out_d, int out_h, int out_w,
                           const std::vector<float>& scale, const std::string& interp_method) {
  return interpolated(
      x, data_format,
      {out_size, size_tensor, scale_tensor, {out_d, out_h, out_w}, {scale.begin(), scale.end()}},
      interp_method);
}

TensorMeta PlaneInterpInferMeta(const TensorMeta& x, const TensorMeta* out_size,
                                std::span<const TensorMeta> size_tensor,
                                const TensorMeta* scale_tensor, const std::string& data_format,
                                int out_d, int out_h, int out_w, const std::vector<double>& scale,
                                const std::string& interp_method) {
  return interpolated(x, data_format,
                      {out_size, size_tensor, scale_tensor, {out_d, out_h, out_w}, scale},
                      interp_method);
}

}  // namespace phi
