// Operators that move elements, make them from attributes, or draw them.
#include "tests/api/stablehlo/case_inputs.h"

namespace phi::testing {
namespace {

CallCase shape_case(const char* name, const char* op, const Tensor& x, Attributes attributes,
                    Tensor out) {
  return {name, op, {one(x)}, std::move(attributes), [=] { return TensorList{out}; }, 0.0};
}

std::vector<CallCase> shapes() {
  const Tensor x = normal({4, 8, 6});
  const Tensor thin = normal({4, 1, 6}, 7);
  const Tensor square = normal({2, 8, 6}, 8);
  return {
      shape_case("reshape", "reshape", x, {{"shape", Integers{8, -1}}}, reshape(x, {8, -1})),
      shape_case("squeeze", "squeeze", thin, {{"axis", Integers{1}}}, squeeze(thin, {1})),
      shape_case("unsqueeze", "unsqueeze", x, {{"axis", Integers{0}}}, unsqueeze(x, {0})),
      shape_case("transpose", "transpose", x, {{"perm", Integers{2, 0, -2}}},
                 transpose(x, {2, 0, -2})),
      shape_case("slice", "slice", x,
                 {{"axes", Integers{1, 0}},
                  {"starts", Integers{-5, 1}},
                  {"ends", Integers{100, 2}},
                  {"infer_flags", Integers{}},
                  {"decrease_axis", Integers{0}}},
                 slice(x, {1, 0}, {-5, 1}, {100, 2}, {}, {0})),
      shape_case("expand", "expand", thin, {{"shape", Integers{2, 4, 8, -1}}},
                 expand(thin, {2, 4, 8, -1})),
      shape_case("tril", "tril", square, {{"diagonal", int64_t{1}}}, tril(square, 1)),
      {"expand_as",
       "expand_as",
       {one(thin), one(x)},
       {},
       [=] { return TensorList{expand_as(thin, x)}; },
       0.0},
      {"concat",
       "concat",
       {{x, thin}},
       {{"axis", int64_t{1}}},
       [=] {
         return TensorList{concat({x, thin}, 1)};
       },
       0.0},
      {"split",
       "split",
       {one(x)},
       {{"sections", Integers{3, -1, 2}}, {"axis", int64_t{1}}},
       [=] {
         return split(x, {3, -1, 2}, 1);
       },
       0.0},
      {"split_with_num",
       "split_with_num",
       {one(x)},
       {{"num", int64_t{3}}, {"axis", int64_t{-1}}},
       [=] { return split_with_num(x, 3, -1); },
       0.0},
  };
}

CallCase slice_grad_case() {
  const Tensor x = normal({4, 8, 6});
  const Tensor g = normal({5, 6}, 9);
  return {"slice_grad",
          "slice_grad",
          {one(x), one(g)},
          {{"axes", Integers{1, 0}},
           {"starts", Integers{-5, 1}},
           {"ends", Integers{100, 2}},
           {"decrease_axis", Integers{0}}},
          [=] {
            return TensorList{slice_grad(x, g, {1, 0}, {-5, 1}, {100, 2}, {0})};
          },
          0.0};
}

CallCase slice_scatter_case() {
  const Tensor x = normal({4, 8, 6});
  const Tensor value = normal({5, 6}, 9);
  return {"slice_scatter",
          "slice_scatter",
          {one(x), one(value)},
          {{"axes", Integers{1, 0}},
           {"starts", Integers{-5, 1}},
           {"ends", Integers{100, 2}},
           {"decrease_axis", Integers{0}}},
          [=] {
            return TensorList{slice_scatter(x, value, {1, 0}, {-5, 1}, {100, 2}, {0})};
          },
          0.0};
}

std::vector<CallCase> creations() {
  return {
      {"full",
       "full",
       {},
       {{"shape", Integers{8, 6}}, {"value", 2.5}, {"dtype", DataType::FLOAT32}},
       [] {
         return TensorList{full({8, 6}, 2.5f)};
       },
       0.0},
      {"full_bool",
       "full",
       {},
       {{"shape", Integers{8}}, {"value", true}, {"dtype", DataType::BOOL}},
       [] { return TensorList{full({8}, true, DataType::BOOL)}; },
       0.0},
      {"arange",
       "arange",
       {},
       {{"start", int64_t{3}},
        {"end", int64_t{19}},
        {"step", int64_t{2}},
        {"dtype", DataType::INT64}},
       [] { return TensorList{arange(3, 19, 2)}; },
       0.0},
      {"arange_float",
       "arange",
       {},
       {{"start", 0.5}, {"end", 4.5}, {"step", 0.25}, {"dtype", DataType::FLOAT32}},
       [] { return TensorList{arange(0.5, 4.5, 0.25, DataType::FLOAT32)}; }},
  };
}

CallCase dropout_case(const char* name, double p, bool is_test, const char* mode,
                      const OptionalTensor& seed) {
  const Tensor x = normal({8, 7});
  return {name,
          "dropout",
          {one(x), one(seed)},
          {{"p", p},
           {"is_test", is_test},
           {"mode", std::string(mode)},
           {"seed", int64_t{5}},
           {"fix_seed", true}},
          [=] { return list_of(intermediate::dropout(x, seed, p, is_test, mode, 5, true)); }};
}

std::vector<CallCase> draws() {
  const std::vector<int64_t> seed = {-1234567890123};
  const Tensor mask = std::get<1>(intermediate::dropout(normal({8, 6})));
  const Tensor g = normal({8, 6}, 9);
  return {
      {"gaussian",
       "gaussian",
       {},
       {{"shape", Integers{8, 7}},
        {"mean", 0.5},
        {"std", 2.0},
        {"seed", int64_t{-3}},
        {"dtype", DataType::FLOAT32}},
       [] {
         return TensorList{gaussian({8, 7}, 0.5f, 2.0f, -3)};
       }},
      {"uniform",
       "uniform",
       {},
       {{"shape", Integers{8, 7}},
        {"dtype", DataType::FLOAT32},
        {"min", -1.0},
        {"max", 2.0},
        {"seed", int64_t{3}}},
       [] {
         return TensorList{uniform({8, 7}, DataType::FLOAT32, -1.0, 2.0, 3)};
       }},
      {"uniform_double",
       "uniform",
       {},
       {{"shape", Integers{8, 7}},
        {"dtype", DataType::FLOAT64},
        {"min", -1.0},
        {"max", 2.0},
        {"seed", int64_t{3}}},
       [] {
         return TensorList{uniform({8, 7}, DataType::FLOAT64, -1.0, 2.0, 3)};
       },
       kDouble},
      dropout_case("dropout", 0.3, false, "upscale_in_train", std::nullopt),
      dropout_case("dropout_seed", 0.3, false, "downscale_in_infer",
                   Tensor::from<int64_t>(seed, {1})),
      dropout_case("dropout_test", 0.3, true, "downscale_in_infer", std::nullopt),
      dropout_case("dropout_all", 1.0, false, "upscale_in_train", std::nullopt),
      {"dropout_grad",
       "dropout_grad",
       {one(mask), one(g)},
       {{"p", 0.5}, {"is_test", false}, {"mode", std::string("upscale_in_train")}},
       [=] { return TensorList{dropout_grad(mask, g, 0.5, false, "upscale_in_train")}; }},
  };
}

}  // namespace

std::vector<CallCase> shape_and_random_cases() {
  std::vector<CallCase> all = shapes();
  all.push_back(slice_grad_case());
  all.push_back(slice_scatter_case());
  for (const auto& more : {creations(), draws()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace phi::testing
