// Kernels that move elements, against index arithmetic one element at a time.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/shape.h"
#include "phi/infermeta/shape.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

// Elements that differ from their neighbours in every dtype.
Values counting(int64_t n) {
  Values values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<double>(i * 7 % 251);
  return values;
}

template <typename F>
void for_all_dtypes(F&& f) {
  for (int t = 1; t < kNumRealDataTypes; ++t) visit_dtype(static_cast<DataType>(t), f);
}

// The counting values as T holds them (bool keeps only which are 0).
template <typename T>
DenseTensor counting_tensor(const Dims& dims) {
  return tensor<T>(counting(dims.numel()), dims);
}

Dims index_of(int64_t at, const Dims& dims) {
  Dims index = Dims::filled(dims.ndim(), 0);
  for (int d = dims.ndim() - 1; d >= 0; --d) {
    index[d] = at % dims[d];
    at /= dims[d];
  }
  return index;
}

int64_t offset_of(const Dims& index, const Dims& dims) {
  int64_t at = 0;
  for (int d = 0; d < dims.ndim(); ++d) at = at * dims[d] + index[d];
  return at;
}

TEST(TransposeKernel, AllDtypesAndOrders) {
  struct Row {
    Dims dims;
    std::vector<int> perm;
  };
  const Row rows[] = {
      {{}, {}},
      {{5}, {0}},
      {{3, 5}, {0, 1}},
      {{3, 5}, {1, 0}},
      {{37, 70}, {1, 0}},
      {{64, 32}, {-1, -2}},
      {{41, 2048}, {1, 0}},  // rows whole pages apart
      {{2, 9, 3, 8}, {0, 2, 1, 3}},
      {{2, 9, 3, 8}, {0, 2, 3, 1}},
      {{2, 9, 11}, {0, 2, 1}},
      {{2, 9, 11}, {2, 1, 0}},
      {{2, 9, 11}, {1, 2, 0}},
      {{2, 3, 4, 5, 6}, {4, 2, 0, 3, 1}},
      {{1, 9, 1, 11}, {3, 2, 1, 0}},
      {{1, 1, 1}, {2, 0, 1}},
      {{3, 0, 2}, {2, 1, 0}},
  };
  for (const Row& row : rows) {
    for_all_dtypes([&]<typename T>() {
      const DenseTensor x = counting_tensor<T>(row.dims);
      const Dims out_dims = TransposeInferMeta(x.meta(), row.perm).dims;
      const Values xs = to_doubles(x);
      Values expected(out_dims.numel());
      for (int64_t i = 0; i < out_dims.numel(); ++i) {
        const Dims to = index_of(i, out_dims);
        Dims from = to;
        for (int d = 0; d < to.ndim(); ++d) {
          from[row.perm[d] < 0 ? row.perm[d] + to.ndim() : row.perm[d]] = to[d];
        }
        expected[i] = xs[offset_of(from, row.dims)];
      }
      DenseTensor out = blank<T>(out_dims);
      registered<kernels::transpose, T>(KernelContext(), x, row.perm, &out);
      EXPECT_EQ(to_doubles(out), expected) << x.meta().to_string();
    });
  }
}

TEST(SplitKernel, PartsAreSlicesAndConcatIsItsInverse) {
  struct Row {
    Dims dims;
    int axis;
    IntArray sections;
  };
  const Row rows[] = {
      {{6}, 0, {1, 2, 3}},    {{4, 5}, 1, {2, 3}},       {{4, 5}, -2, {1, -1}},
      {{3, 6, 2}, 1, {0, 6}}, {{3, 6, 2}, 1, {2, 2, 2}}, {{0, 4}, 1, {1, 3}},
      {{4, 0, 2}, 0, {1, 3}},
  };
  for (const Row& row : rows) {
    for_all_dtypes([&]<typename T>() {
      const DenseTensor x = counting_tensor<T>(row.dims);
      const int axis = row.axis < 0 ? row.axis + row.dims.ndim() : row.axis;
      std::vector<DenseTensor> parts;
      for (const TensorMeta& meta : SplitInferMeta(x.meta(), row.sections, row.axis)) {
        parts.push_back(blank_like(meta));
      }
      std::vector<DenseTensor*> out;
      std::vector<const DenseTensor*> in;
      for (DenseTensor& p : parts) {
        out.push_back(&p);
        in.push_back(&p);
      }
      registered<kernels::split, T>(KernelContext(), x, row.axis, out);
      int64_t begin = 0;
      for (const DenseTensor& p : parts) {
        const int64_t end = begin + p.dims()[axis];
        EXPECT_EQ(to_doubles(p), cut(to_doubles(x), row.dims, axis, begin, end));
        begin = end;
      }
      DenseTensor joined = blank<T>(row.dims);
      registered<kernels::concat, T>(KernelContext(), in, row.axis, &joined);
      EXPECT_EQ(to_doubles(joined), to_doubles(x)) << x.meta().to_string();
    });
  }
}

TEST(SliceKernel, BoundsFromBothEndsAndRemovedDims) {
  struct Row {
    Dims dims;
    std::vector<int64_t> axes;
    IntArray starts;
    IntArray ends;
    std::vector<int64_t> decrease;
  };
  const Row rows[] = {
      {{7}, {0}, {2}, {5}, {}},
      {{7}, {0}, {-3}, {100}, {}},
      {{7}, {0}, {5}, {2}, {}},
      {{4, 6}, {1}, {1}, {-1}, {}},
      {{4, 6}, {0}, {1}, {3}, {}},
      {{4, 6}, {0, 1}, {1, 2}, {2, 3}, {0}},
      {{4, 6}, {-2, -1}, {1, 2}, {2, 3}, {0, 1}},
      {{3, 4, 5, 6}, {0, 2}, {1, 1}, {3, 4}, {}},
      {{3, 4, 5, 6}, {3}, {5}, {6}, {3}},
      {{3, 0, 5}, {2}, {1}, {2}, {}},
      {{3, 4}, {}, {}, {}, {}},
  };
  for (const Row& row : rows) {
    for_all_dtypes([&]<typename T>() {
      const DenseTensor x = counting_tensor<T>(row.dims);
      Values expected = to_doubles(x);
      Dims dims = row.dims;
      for (size_t i = 0; i < row.axes.size(); ++i) {
        const auto k = static_cast<int>(i);
        const auto d = static_cast<int>(row.axes[i] < 0 ? row.axes[i] + dims.ndim() : row.axes[i]);
        const int64_t n = dims[d];
        const int64_t begin = row.starts[k] < 0 ? row.starts[k] + n : row.starts[k];
        const int64_t end = std::min(n, row.ends[k] < 0 ? row.ends[k] + n : row.ends[k]);
        expected = cut(expected, dims, d, begin, std::max(begin, end));
        dims[d] = std::max<int64_t>(end - begin, 0);
      }
      DenseTensor out =
          blank_like(SliceInferMeta(x.meta(), row.axes, row.starts, row.ends, {}, row.decrease));
      registered<kernels::slice, T>(KernelContext(), x, row.axes, row.starts, row.ends, &out);
      EXPECT_EQ(to_doubles(out), expected) << x.meta().to_string();
    });
  }
}

TEST(ExpandKernel, RepeatsTensorDimsOfOne) {
  const std::pair<Dims, IntArray> rows[] = {
      {{}, {2, 3}},
      {{1}, {5}},
      {{3}, {2, 3}},
      {{3, 1}, {3, 40}},
      {{2, 1, 4}, {-1, 3, -1}},
      {{1, 3, 1}, {2, 2, 3, 2}},
      {{3}, {3}},
      {{1, 4}, {0, 4}},
      {{0, 1}, {0, 6}},
  };
  for (const auto& [dims, shape] : rows) {
    for_all_dtypes([&, &x_dims = dims, &to = shape]<typename T>() {
      const DenseTensor x = counting_tensor<T>(x_dims);
      DenseTensor out = blank_like(ExpandInferMeta(x.meta(), to));
      const Values xs = to_doubles(x);
      Values expected(out.numel());
      for (int64_t i = 0; i < out.numel(); ++i) {
        const Dims index = index_of(i, out.dims());
        Dims from = Dims::filled(x_dims.ndim(), 0);
        for (int d = 0; d < x_dims.ndim(); ++d) {
          from[d] = x_dims[d] == 1 ? 0 : index[index.ndim() - x_dims.ndim() + d];
        }
        expected[i] = xs[offset_of(from, x_dims)];
      }
      registered<kernels::expand, T>(KernelContext(), x, &out);
      EXPECT_EQ(to_doubles(out), expected) << x.meta().to_string();
    });
  }
}

TEST(ReshapeKernel, CopiesUnlessOutIsX) {
  for_all_dtypes([]<typename T>() {
    const DenseTensor x = counting_tensor<T>({4, 6});
    DenseTensor out = blank<T>({2, 12});
    registered<kernels::reshape, T>(KernelContext(), x, &out);
    EXPECT_EQ(to_doubles(out), to_doubles(x));
    DenseTensor view = x.view({24});
    registered<kernels::reshape, T>(KernelContext(), x, &view);
    EXPECT_EQ(to_doubles(view), to_doubles(out));
  });
}

// Zero where the global column is beyond the global row by more than `diagonal`.
Values lower_triangle(Values x, const Dims& dims, int diagonal) {
  const int64_t columns = dims[dims.ndim() - 1];
  const int64_t rows = dims[dims.ndim() - 2];
  for (size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at % columns > at / columns % rows + diagonal) x[i] = 0;
  }
  return x;
}

TEST(TrilKernel, WholeMatricesInPlaceAndNot) {
  for (const Dims& dims : {Dims{4, 4}, Dims{3, 6}, Dims{2, 6, 3}, Dims{1, 1}, Dims{0, 3, 3}}) {
    for (int diagonal : {-10, -1, 0, 2, 10}) {
      for_all_dtypes([&]<typename T>() {
        DenseTensor x = counting_tensor<T>(dims);
        const Values expected = lower_triangle(to_doubles(x), dims, diagonal);
        DenseTensor out = blank<T>(dims);
        registered<kernels::tril, T>(KernelContext(), x, diagonal, &out);
        EXPECT_EQ(to_doubles(out), expected) << dims.to_string() << diagonal;
        registered<kernels::tril, T>(KernelContext(), x, diagonal, &x);
        EXPECT_EQ(to_doubles(x), expected) << dims.to_string() << diagonal;
      });
    }
  }
}

TEST(TrilKernel, ShardedRowsAndColumnsAreThePartsOfTheWhole) {
  static const Dims dims = {2, 7, 5};  // g++ 12 warns wrongly of the unused extents of a local
  const Values xs = counting(dims.numel());
  for (int diagonal : {-2, 0, 1}) {
    const Values whole_result = lower_triangle(xs, dims, diagonal);
    for (int axis : {1, 2}) {
      for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 5}, std::pair{5, 5}}) {
        const Dims local = with_extent(dims, axis, end - begin);
        FakeView view;
        view.inputs = view.outputs = {part(dims, axis, begin, end)};
        const DenseTensor x = tensor<float>(cut(xs, dims, axis, begin, end), local);
        DenseTensor out = blank<float>(local);
        registered<kernels::tril, float>(KernelContext(CPUPlace(), &view), x, diagonal, &out);
        EXPECT_EQ(to_doubles(out), cut(whole_result, dims, axis, begin, end));
      }
    }
  }
}

// The whole array, and every part of it along one tensor dim that is sliced, or one that is not.
TEST(SliceScatterKernel, WritesWhatIsHereOfTheSlice) {
  static const Dims dims = {4, 7, 5};
  const std::vector<int64_t> axes = {1, 0};
  const IntArray starts = {2, -3}, ends = {6, 100};
  const Dims slice = {3, 4, 5};
  const Values xs = counting(dims.numel());
  Values values = counting(slice.numel());
  for (double& value : values) value += 100;
  Values written = xs;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      for (int64_t k = 0; k < 5; ++k) {
        written[((i + 1) * 7 + j + 2) * 5 + k] = values[(i * 4 + j) * 5 + k];
      }
    }
  }
  for_all_dtypes([&]<typename T>() {
    const DenseTensor x = tensor<T>(xs, dims), value = tensor<T>(values, slice);
    const DenseTensor expected = tensor<T>(written, dims);
    DenseTensor out = blank<T>(dims);
    registered<kernels::slice_scatter, T>(KernelContext(), x, value, axes, starts, ends, &out);
    EXPECT_EQ(to_doubles(out), to_doubles(expected));
    DenseTensor same = x.clone();
    registered<kernels::slice_scatter, T>(KernelContext(), same, value, axes, starts, ends, &same);
    EXPECT_EQ(to_doubles(same), to_doubles(expected));
  });
  for (int axis : {0, 1, 2}) {
    for (int64_t begin = 0; begin <= dims[axis]; ++begin) {
      for (int64_t end = begin; end <= dims[axis]; ++end) {
        FakeView view;
        view.inputs = view.outputs = {part(dims, axis, begin, end)};
        const DenseTensor x =
            tensor<float>(cut(xs, dims, axis, begin, end), with_extent(dims, axis, end - begin));
        // Where x is split and not sliced, value is split too.
        const DenseTensor value = axis == 2 ? tensor<float>(cut(values, slice, axis, begin, end),
                                                            with_extent(slice, axis, end - begin))
                                            : tensor<float>(values, slice);
        DenseTensor out = blank<float>(x.dims());
        registered<kernels::slice_scatter, float>(KernelContext(CPUPlace(), &view), x, value, axes,
                                                  starts, ends, &out);
        EXPECT_EQ(to_doubles(out), cut(written, dims, axis, begin, end))
            << axis << ": " << begin << " to " << end;
      }
    }
  }
}

// The elements that follow each other here are apart in the value.
TEST(SliceScatterKernel, OneOfTheLastElementsIsHere) {
  static const Dims dims = {3, 4};
  FakeView view;
  view.inputs = view.outputs = {part(dims, 1, 2, 3)};
  const DenseTensor x = tensor<float>({0, 0, 0}, {3, 1});
  const DenseTensor value = tensor<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  DenseTensor out = blank<float>({3, 1});
  registered<kernels::slice_scatter, float>(KernelContext(CPUPlace(), &view), x, value, {1}, {1},
                                            {4}, &out);
  EXPECT_EQ(to_doubles(out), (Values{2, 5, 8}));
}

struct Slice {
  std::vector<int64_t> axes;
  IntArray starts;
  IntArray ends;
  std::vector<int64_t> decrease_axis;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out =
        blank_like(SliceInferMeta(in[0].meta(), axes, starts, ends, {}, decrease_axis));
    registered<kernels::slice, T>(KernelContext(), in[0], axes, starts, ends, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    registered<kernels::slice_grad, T>(KernelContext(), out_grad, axes, starts, ends, &grads[0]);
    return grads;
  }
};

TEST(SliceGradKernel, EqualsFiniteDifferences) {
  const Argument x{{3, 4, 5}};
  check_gradients(Slice{{0}, {1}, {3}, {}}, {x}, "rows");
  check_gradients(Slice{{2}, {1}, {3}, {}}, {x}, "columns");
  check_gradients(Slice{{0, 2}, {-2, -100}, {-1, 100}, {}}, {x}, "negative and clamped");
  check_gradients(Slice{{-1}, {2}, {2}, {}}, {x}, "empty");
  check_gradients(Slice{{1, 0}, {2, 1}, {3, 2}, {1}}, {x}, "decreased");
  check_gradients(Slice{{0, 1, 2}, {1, 1, 1}, {2, 2, 2}, {0, 1, 2}}, {x}, "to a scalar");
  check_gradients(Slice{{}, {}, {}, {}}, {x}, "all");
  check_gradients(Slice{{0}, {0}, {1}, {}}, {{{2, 0}}}, "of nothing");
}

/// What a kernel that moves elements does to rare numbers of T is what it does to the bits of
/// counting integers: `run` is called as run.operator()<T>(x, &out). 0 is where it fills in.
template <typename Run>
void expect_bits_move(const Dims& dims, const Dims& out_dims, Run run, const std::string& what) {
  std::vector<int64_t> places(dims.numel());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i) + 1;
  DenseTensor map = blank<int64_t>(out_dims);
  run.template operator()<int64_t>(DenseTensor::from<int64_t>(places, dims), &map);
  for_all_dtypes([&]<typename T>() {
    const DenseTensor x = rare_tensor<T>(dims);
    DenseTensor out = blank<T>(out_dims);
    run.template operator()<T>(x, &out);
    const std::vector<uint64_t> from = bits_of(x);
    std::vector<uint64_t> expected;
    for (int64_t place : map.values<int64_t>())
      expected.push_back(place == 0 ? 0 : from[static_cast<size_t>(place - 1)]);
    EXPECT_EQ(bits_of(out), expected) << what << " of " << x.meta().to_string();
  });
}

TEST(ShapeKernels, RareExtentsAndNumbersMoveBitByBit) {
  std::vector<Dims> shapes;
  for (const int64_t rows : {0, 1, 3, 9, 33}) {
    for (const int64_t columns : {0, 1, 7, 17, 65}) shapes.push_back({rows, columns});
  }
  for (const Dims& dims : shapes) {
    const int64_t rows = dims[0], columns = dims[1];
    const Dims turned{columns, rows};
    expect_bits_move(
        dims, turned,
        []<typename T>(const DenseTensor& x, DenseTensor* out) {
          registered<kernels::transpose, T>(KernelContext(), x, {1, 0}, out);
        },
        "transpose");
    for (const int diagonal : {-1, 0, 1, 100, -100}) {
      expect_bits_move(
          dims, dims,
          [&]<typename T>(const DenseTensor& x, DenseTensor* out) {
            registered<kernels::tril, T>(KernelContext(), x, diagonal, out);
          },
          "tril");
    }
    expect_bits_move(
        dims, {rows, columns / 2},
        [&]<typename T>(const DenseTensor& x, DenseTensor* out) {
          registered<kernels::slice, T>(KernelContext(), x, {1}, {columns - columns / 2}, {columns},
                                        out);
        },
        "slice");
    expect_bits_move(
        {rows, 1, columns}, {rows, 3, columns},
        []<typename T>(const DenseTensor& x, DenseTensor* out) {
          registered<kernels::expand, T>(KernelContext(), x, out);
        },
        "expand");
    expect_bits_move(
        dims, {rows, 2 * columns},
        [&]<typename T>(const DenseTensor& x, DenseTensor* out) {
          const DenseTensor nothing = blank<T>({rows, 0});
          const DenseTensor* parts[] = {&nothing, &x, &nothing, &x};
          registered<kernels::concat, T>(KernelContext(), parts, 1, out);
        },
        "concat");
    expect_bits_move(
        dims, {rows, columns / 3},
        [&]<typename T>(const DenseTensor& x, DenseTensor* out) {
          DenseTensor rest = blank<T>({rows, columns - columns / 3}), none = blank<T>({rows, 0});
          DenseTensor* parts[] = {&rest, &none, out};
          registered<kernels::split, T>(KernelContext(), x, 1, parts);
        },
        "split");
  }
}

// What lies beside a slice gets zero, not what the memory held.
TEST(SliceGradKernel, RareGradientsKeepToTheSlice) {
  DenseTensor grad = tensor<float>(Values(4 * 33, NAN), {4, 33});
  const DenseTensor out_grad = tensor<float>(Values(2 * 33, INFINITY), {2, 33});
  registered<kernels::slice_grad, float>(KernelContext(), out_grad, {0}, {1}, {3}, &grad);
  const Values got = to_doubles(grad);
  for (int64_t i = 0; i < 4 * 33; ++i)
    EXPECT_EQ(got[i], i / 33 == 1 || i / 33 == 2 ? INFINITY : 0) << i;
}

}  // namespace
}  // namespace phi::testing
