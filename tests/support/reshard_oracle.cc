// Nested loops over coordinates.
#include "support/reshard_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "distributed/reshard/plan.h"
#include "phi/core/device/host_array.h"
#include "support/counted_world.h"

namespace phi::distributed::testing {
namespace {

std::complex<double> combine(ReduceKind kind, std::complex<double> a, std::complex<double> b) {
  return kind == ReduceKind::kProd ? a * b : a + b;
}

double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAvg:
      return a + b;
    case ReduceKind::kMax:
      return std::max(a, b);
    case ReduceKind::kMin:
      return std::min(a, b);
    case ReduceKind::kProd:
      return a * b;
    case ReduceKind::kAny:
      return a != 0 || b != 0;
    case ReduceKind::kAll:
      return a != 0 && b != 0;
  }
  return 0;
}

// The value at one element before reduction, at partial coordinates `coord`.
double made_up(int64_t element, const TensorDistAttr& attr, const MeshCoord& coord, bool is_bool) {
  uint64_t h = static_cast<uint64_t>(element) * 7 + 3;
  for (int m = 0; m < attr.mesh().ndim(); ++m) {
    if (attr.placement(m).is_partial()) h = h * 31 + static_cast<uint64_t>(coord[m]) + 1;
  }
  h = (h ^ h >> 7) * 0x9e3779b97f4a7c15u >> 40;
  return static_cast<double>(is_bool ? h % 2 : h % 5) - (is_bool || h % 3 != 0 ? 0 : 2);
}

// Reduces over the partial mesh dims from `m` on, the last one first.
template <typename Number>
Number reduce_from(const TensorDistAttr& attr, int m, MeshCoord coord,
                   const std::function<Number(const MeshCoord&)>& value_at) {
  if (m == attr.mesh().ndim()) return value_at(coord);
  if (!attr.placement(m).is_partial()) return reduce_from(attr, m + 1, coord, value_at);
  const ReduceKind kind = attr.placement(m).reduce();
  Number total = 0;
  for (int64_t i = 0; i < attr.mesh().dim_size(m); ++i) {
    coord[m] = static_cast<int32_t>(i);
    const Number next = reduce_from(attr, m + 1, coord, value_at);
    total = i == 0 ? next : combine(kind, total, next);
  }
  if (kind == ReduceKind::kAvg) total /= static_cast<double>(attr.mesh().dim_size(m));
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) total = total != Number(0);
  return total;
}

template <typename F>
void for_each_index(const Box& box, F f) {
  if (box.empty()) return;
  Dims index = box.offset;
  for (;;) {
    f(index);
    int d = box.ndim() - 1;
    for (; d >= 0; --d) {
      if (++index[d] < box.offset[d] + box.size[d]) break;
      index[d] = box.offset[d];
    }
    if (d < 0) return;
  }
}

int64_t flat(const Dims& index, const Dims& strides) {
  int64_t offset = 0;
  for (int d = 0; d < index.ndim(); ++d) offset += index[d] * strides[d];
  return offset;
}

// Every rank's local array, on every rank: fixed-size slots through one all-gather.
std::vector<std::vector<double>> everyones(const DistTensor& x, int64_t slot) {
  World& world = World::current();
  std::vector<double> own = x.initialized() ? as_doubles(x.local()) : std::vector<double>{};
  const auto numel = static_cast<double>(own.size());
  own.resize(static_cast<size_t>(slot) + 1);
  own.back() = numel;
  std::vector<double> all(own.size() * static_cast<size_t>(world.size()));
  world.everyone().all_gather(own.data(), all.data(), slot + 1, DataType::FLOAT64);
  std::vector<std::vector<double>> locals;
  for (int64_t r = 0; r < world.size(); ++r) {
    const double* at = all.data() + static_cast<size_t>(r * (slot + 1));
    locals.emplace_back(at, at + static_cast<int64_t>(at[slot]));
  }
  return locals;
}

// The whole value as the ranks hold it under `attr`.
std::vector<double> assemble(const DistTensor& x, const std::vector<std::vector<double>>& locals) {
  const TensorDistAttr& attr = *x.attr();
  const Dims strides = x.dims().strides();
  std::vector<double> whole(static_cast<size_t>(x.dims().numel()),
                            std::numeric_limits<double>::quiet_NaN());
  for (int64_t p = 0; p < attr.mesh().size(); ++p) {
    const MeshCoord coord = attr.mesh().coord_at(p);
    const Box box = local_box(x.dims(), attr, coord);
    const Dims inner = box.size.strides();
    for_each_index(box, [&](const Dims& index) {
      Dims at = index;
      for (int d = 0; d < at.ndim(); ++d) at[d] -= box.offset[d];
      const double value = reduced(attr, coord, [&](const MeshCoord& c) {
        const auto& local = locals[static_cast<size_t>(attr.mesh().rank_at(c))];
        return local.at(static_cast<size_t>(flat(at, inner)));
      });
      double& slot = whole[static_cast<size_t>(flat(index, strides))];
      // Replicas and the members of a partial group must all say the same.
      if (slot == slot) {
        EXPECT_EQ(slot, value) << "replicas differ";
      }
      slot = value;
    });
  }
  return whole;
}

// Partial(any) and Partial(all) of a number say only whether it is 0.
bool says_only_whether(const TensorDistAttr& attr) {
  return std::ranges::any_of(attr.placements(), [](const Placement& p) {
    return p.is_partial() && (p.reduce() == ReduceKind::kAny || p.reduce() == ReduceKind::kAll);
  });
}

void check_bytes(const ReshardPlan& plan, const Counters& before, const CountedWorld& world) {
  const StepBytes planned = plan.bytes(world.rank());
  expect_counted(world, before);
  EXPECT_EQ(planned.sent, world.message_counts().bytes_sent) << plan.to_string();
  EXPECT_EQ(planned.received, world.message_counts().bytes_received) << plan.to_string();
}

}  // namespace

double reduced(const TensorDistAttr& attr, const MeshCoord& coord, const ValueAt& value_at) {
  return reduce_from(attr, 0, coord, value_at);
}

std::complex<double> reduced_complex(const TensorDistAttr& attr, const MeshCoord& coord,
                                     const ComplexAt& value_at) {
  return reduce_from(attr, 0, coord, value_at);
}

DenseTensor made_up_local(const Dims& shape, DataType dtype, const TensorDistAttr* attr,
                          int64_t rank) {
  const MeshCoord coord = *attr->mesh().coord_of(rank);
  const Box box = local_box(shape, *attr, coord);
  DenseTensor out = DenseTensor::empty({box.size, dtype}, CPUPlace());
  const Dims strides = shape.strides();
  visit_dtype(dtype, [&]<typename T>() {
    T* to = out.mutable_data<T>();
    for_each_index(box, [&](const Dims& index) {
      const double v = made_up(flat(index, strides), *attr, coord, dtype == DataType::BOOL);
      *to++ = static_cast<T>(static_cast<float>(v));
    });
  });
  const Place& place = RankContext::current().place();
  if (place == out.place()) return out;
  DenseTensor there = DenseTensor::empty(out.meta(), place);
  copy_array(out, there);
  return there;
}

std::vector<double> made_up_whole(const Dims& shape, DataType dtype, const TensorDistAttr* attr) {
  std::vector<double> whole(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < whole.size(); ++i) {
    whole[i] = reduced(*attr, {}, [&](const MeshCoord& coord) {
      return made_up(static_cast<int64_t>(i), *attr, coord, dtype == DataType::BOOL);
    });
  }
  return whole;
}

std::vector<double> as_doubles(const DenseTensor& x) {
  std::vector<double> out;
  const HostArray here(x, HostArray::kRead);
  visit_any_dtype(x.dtype(), [&]<typename T>() {
    for (T v : here.array().values<T>()) {
      if constexpr (kIsComplex<T>) {
        out.insert(out.end(), {v.real(), v.imag()});
      } else {
        out.push_back(static_cast<double>(v));
      }
    }
  });
  return out;
}

std::vector<double> cut(const std::vector<double>& whole, const Dims& shape, const Box& box) {
  std::vector<double> out;
  const Dims strides = shape.strides();
  for_each_index(box, [&](const Dims& index) {
    out.push_back(whole[static_cast<size_t>(flat(index, strides))]);
  });
  return out;
}

std::vector<std::vector<Placement>> all_placements(int mesh_ndim,
                                                   const std::vector<Placement>& choices) {
  std::vector<std::vector<Placement>> lists{{}};
  for (int m = 0; m < mesh_ndim; ++m) {
    std::vector<std::vector<Placement>> longer;
    for (const auto& list : lists) {
      for (const Placement& p : choices) {
        longer.push_back(list);
        longer.back().push_back(p);
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

std::vector<ReshardCase> random_reshards(int64_t world_size, int count, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % uint64_t(n)); };
  std::vector<std::vector<int64_t>> mesh_shapes;
  for (const auto& shape : std::vector<std::vector<int64_t>>{{1},
                                                             {2},
                                                             {3},
                                                             {4},
                                                             {6},
                                                             {2, 2},
                                                             {2, 3},
                                                             {3, 2},
                                                             {1, 4},
                                                             {5},
                                                             {2, 1},
                                                             {6, 1},
                                                             {2, 1, 3},
                                                             {2, 2, 1}}) {
    if (Dims(shape).numel() <= world_size) mesh_shapes.push_back(shape);
  }
  const auto random_attr = [&](int64_t tensor_ndim) {
    const auto& shape = mesh_shapes[static_cast<size_t>(below(int64_t(mesh_shapes.size())))];
    std::vector<int64_t> ranks(static_cast<size_t>(world_size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), random);
    ranks.resize(static_cast<size_t>(Dims(shape).numel()));
    std::vector<Placement> placements;
    for (size_t m = 0; m < shape.size(); ++m) {
      const ReduceKind kinds[] = {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kProd};
      const int64_t choice = below(4);
      placements.push_back(
          choice == 0   ? Replicate()
          : choice == 1 ? Partial(kinds[below(3)])
                        : Shard(static_cast<int>(below(tensor_ndim)), static_cast<int>(below(3))));
    }
    return TensorDistAttr::get(ProcessMesh(shape, {}, ranks), placements);
  };
  std::vector<ReshardCase> cases;
  for (int i = 0; i < count; ++i) {
    const int64_t ndim = 1 + below(3);
    std::vector<int64_t> shape;
    for (int64_t d = 0; d < ndim; ++d) shape.push_back(below(9));
    const auto* src = random_attr(ndim);
    cases.push_back({src, random_attr(ndim), shape});
  }
  return cases;
}

DistTensor made_up_tensor(const Dims& shape, DataType dtype, const TensorDistAttr* attr) {
  const int64_t rank = World::current().rank();
  const TensorMeta meta{shape, dtype};
  if (!attr->mesh().contains(rank))
    return DistTensor::clipped(meta, attr, RankContext::current().place(), nullptr);
  return {meta, attr, made_up_local(shape, dtype, attr, rank)};
}

void check_resharded(const DistTensor& y, const TensorDistAttr* src, const TensorDistAttr* dst,
                     const Dims& shape, DataType dtype) {
  EXPECT_EQ(y.attr(), dst);
  EXPECT_EQ(y.meta(), (TensorMeta{shape, dtype}));
  const auto dims = local_shape(shape, *dst, World::current().rank());
  EXPECT_EQ(y.initialized(), dims.has_value());
  if (dims) {
    EXPECT_EQ(y.local().dims(), *dims);
    EXPECT_EQ(y.local().dtype(), dtype);
  }
  const auto locals = everyones(y, shape.numel());
  std::vector<double> expected = made_up_whole(shape, dtype, src);
  if (says_only_whether(*dst)) {
    for (double& v : expected) v = v != 0;
  }
  EXPECT_EQ(assemble(y, locals), expected);
}

void check_reshard(const TensorDistAttr* src, const TensorDistAttr* dst, const Dims& shape,
                   DataType dtype) {
  World& world = World::current();
  const auto plan = plan_reshard(src, dst, shape, dtype);
  SCOPED_TRACE(plan->to_string() + "\n  at rank " + std::to_string(world.rank()));
  const DistTensor x = made_up_tensor(shape, dtype, src);
  const Counters before = world.rank_context().counters();
  const DistTensor y = [&] {
    CountedWorld counted(world);
    const World::Scope scope(counted);
    const DistTensor there = reshard(x, dst);
    check_bytes(*plan, before, counted);
    return there;
  }();
  check_resharded(y, src, dst, shape, dtype);
}

}  // namespace phi::distributed::testing
