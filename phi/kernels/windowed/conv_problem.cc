// The geometry of a convolution, for the kernels of all devices.
#include "phi/kernels/windowed/conv_problem.h"

#include <algorithm>
#include <span>

namespace phi {

ConvProblem conv_problem(const Dims& image, const Dims& result, const Dims& filter,
                         const Dims& padded_by, const WindowAttributes& attributes,
                         const std::string& data_format) {
  const ImageLayout layout(data_format);
  const Dims extents = layout.spatial(padded_by);
  const std::span sizes(filter.begin() + 2, filter.end());
  const SlidingWindows windows =
      make_windows(std::span(extents.begin(), extents.end()), sizes, attributes);
  const int64_t c = layout.channels(image);
  // Local extents: the filter has all channels of a group or, if there is one group, as many as the
  // image.
  const int64_t groups = filter[1] == 0 ? 1 : std::max<int64_t>(c / filter[1], 1);
  return {image[0],
          groups,
          c,
          filter[0],
          layout.channels_last,
          extents.ndim(),
          Sliding(layout.spatial(image), layout.spatial(result), windows)};
}

}  // namespace phi
