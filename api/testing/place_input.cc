// Splits values into parts by powers of two.
#include "api/testing/place_input.h"

#include <cmath>
#include <vector>

#include "distributed/api.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/philox.h"

namespace phi::testing {
namespace {

using distributed::MeshCoord;
using distributed::Placement;
using distributed::ProcessMesh;

// Random draws for one element. They depend only on the seed and the element, so all ranks agree.
class ElementDraw {
 public:
  ElementDraw(uint32_t seed, uint64_t element) : seed_(seed), element_(element) {}
  bool coin() { return (next() & 1u) != 0; }
  size_t below(size_t n) { return next() % n; }

 private:
  uint32_t next() {
    const auto low = static_cast<uint32_t>(element_);
    const auto high = static_cast<uint32_t>(element_ >> 32);
    return philox({{low, high, draws_++, 0}}, philox_key(seed_)).word[0];
  }

  uint32_t seed_;
  uint64_t element_;
  uint32_t draws_ = 0;
};

// A power of two close to `value` and different from it. The rest has at most as many bits as
// `value`.
double part_of(double value, ElementDraw& draw) {
  if (value == 0) return draw.coin() ? 1 : -1;
  const double below = std::ldexp(1.0, std::ilogb(value));
  const bool above = std::abs(value) == below || (below < 16384 && draw.coin());
  return std::copysign(above ? 2 * below : below, value);
}

// Part `index` of `count` parts of `value`.
double part_of(double value, size_t index, size_t count, ElementDraw draw) {
  index = (index + draw.below(count)) % count;
  if (!std::isfinite(value)) return index == 0 ? value : 0;
  for (size_t i = 0; i + 1 < count; ++i) {
    const double part = part_of(value, draw);
    if (i == index) return part;
    value -= part;
  }
  return value;
}

// The index of the part of a sum at mesh coordinate `coord`, and the number of parts.
struct PartIndex {
  size_t index = 0;
  size_t count = 1;
};

PartIndex share_at(const MeshCoord& coord, const ProcessMesh& mesh,
                   std::span<const Placement> placements) {
  PartIndex share;
  for (int m = 0; m < static_cast<int>(placements.size()); ++m) {
    if (!placements[static_cast<size_t>(m)].is_partial()) continue;
    const auto size = static_cast<size_t>(mesh.dim_size(m));
    share.index = share.index * size + static_cast<size_t>(coord[static_cast<size_t>(m)]);
    share.count *= size;
  }
  return share;
}

Tensor share_of(const Tensor& local, const PartIndex& share, uint32_t seed) {
  DenseTensor out = DenseTensor::empty({local.shape(), local.dtype()}, CPUPlace());
  visit_any_dtype(local.dtype(), [&]<typename T>() {
    if constexpr (!kIsComplex<T>) {
      const auto from = local.values<T>();
      T* to = out.mutable_data<T>();
      for (size_t i = 0; i < from.size(); ++i) {
        to[i] = convert_value<T>(part_of(convert_value<double>(from[i]), share.index, share.count,
                                         ElementDraw(seed, i)));
      }
    }
  });
  return Tensor(out);
}

}  // namespace

Tensor place_input(const Tensor& x, const ProcessMesh& mesh, std::span<const Placement> placements,
                   uint32_t seed) {
  const auto coord = mesh.coord_of(distributed::rank());
  std::vector<Placement> whole(placements.begin(), placements.end());
  bool partial = false;
  for (Placement& placement : whole) {
    partial |= placement.is_partial();
    if (placement.is_partial()) placement = distributed::Replicate();
  }
  if (!partial || !coord) return distributed::shard_tensor(x, mesh, placements);
  const Tensor local = distributed::shard_tensor(x.detach(), mesh, whole).local();
  return distributed::from_local(share_of(local, share_at(*coord, mesh, placements), seed),
                                 x.shape(), mesh, placements);
}

}  // namespace phi::testing
