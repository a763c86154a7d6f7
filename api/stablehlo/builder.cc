// Writes StableHLO operations in the generic form.
#include "api/stablehlo/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {

std::string dense_list(std::span<const int64_t> values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

namespace {

std::string array_of(std::span<const int64_t> values) {
  return values.empty() ? "array<i64>" : "array<i64: " + dense_list(values) + ">";
}
std::string array_of(const Dims& dims) { return array_of({dims.begin(), size_t(dims.ndim())}); }

std::string types_of(std::span<const Ssa> values) {
  std::string out;
  for (const Ssa& value : values) out += (out.empty() ? "" : ", ") + value.type.to_string();
  return out;
}
std::string names_of(std::span<const Ssa> values) {
  std::string out;
  for (const Ssa& value : values) out += (out.empty() ? "" : ", ") + value.name;
  return out;
}

// Infinities and NaN have no decimal spelling.
std::string bits_of_special(double value, std::string_view element) {
  struct Special {
    std::string_view element, inf, negative_inf, nan;
  };
  constexpr Special kSpecials[] = {
      {"f16", "0x7C00", "0xFC00", "0x7E00"},
      {"bf16", "0x7F80", "0xFF80", "0x7FC0"},
      {"f32", "0x7F800000", "0xFF800000", "0x7FC00000"},
      {"f64", "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"},
  };
  for (const Special& s : kSpecials) {
    if (s.element != element) continue;
    return std::string(std::isnan(value) ? s.nan : value > 0 ? s.inf : s.negative_inf);
  }
  throw errors::Internal("{} is not a value of element type {}.", value, element);
}

std::string float_text(double value, std::string_view element) {
  if (!std::isfinite(value)) return bits_of_special(value, element);
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  // MLIR requires a decimal point before an exponent.
  if (const size_t e = text.find('e'); e != std::string::npos && text.find('.') == text.npos)
    text.insert(e, ".0");
  return text;
}

std::string constant_text(std::string_view dense, const Type& type) {
  return fmt::format("value = dense<{}> : {}", dense, type.to_string());
}

std::string_view region_op(Reduction kind) {
  switch (kind) {
    case Reduction::kSum:
      return "add";
    case Reduction::kMax:
      return "maximum";
    case Reduction::kMin:
      return "minimum";
  }
  throw errors::Internal("this reduction has no StableHLO equivalent.");
}

// The identity element of a reduction.
Ssa start_of(Builder& b, Reduction kind, std::string_view element) {
  const Type scalar{{}, element};
  if (is_float(element)) {
    const double most = std::numeric_limits<double>::infinity();
    return b.constant(kind == Reduction::kSum   ? 0.0
                      : kind == Reduction::kMax ? -most
                                                : most,
                      scalar);
  }
  if (kind == Reduction::kSum) return b.constant(int64_t{0}, scalar);
  const bool lowest = kind == Reduction::kMax;
  if (element == "i64")
    return b.constant(
        lowest ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max(), scalar);
  if (element == "i32")
    return b.constant(
        int64_t{lowest ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max()},
        scalar);
  return b.constant(int64_t{lowest ? 0 : element == "i1" ? 1 : 255}, scalar);
}

}  // namespace

std::string Type::to_string() const {
  std::string out = "tensor<";
  for (int64_t extent : dims) out += std::to_string(extent) + "x";
  return out + std::string(element) + ">";
}

std::string_view element_of(DataType dtype) {
  switch (dtype) {
    case DataType::BOOL:
      return "i1";
    case DataType::UINT8:
      return "ui8";
    case DataType::INT32:
      return "i32";
    case DataType::INT64:
      return "i64";
    case DataType::FLOAT16:
      return "f16";
    case DataType::BFLOAT16:
      return "bf16";
    case DataType::FLOAT32:
      return "f32";
    case DataType::FLOAT64:
      return "f64";
    case DataType::INT8:
      return "i8";
    case DataType::INT16:
      return "i16";
    case DataType::COMPLEX64:
      return "complex<f32>";
    case DataType::COMPLEX128:
      return "complex<f64>";
    case DataType::UNDEFINED:
      break;
  }
  throw errors::InvalidArgument("a value of undefined dtype has no StableHLO type.");
}

std::string_view wide_element(std::string_view element) {
  return element == "f16" || element == "bf16" ? "f32" : element;
}
bool is_float(std::string_view element) {
  return element == "f64" || wide_element(element) == "f32";
}
bool is_complex_element(std::string_view element) { return element.starts_with("complex<"); }

// ---- Module ----

std::string sharding_attribute(const std::string& sharding) {
  return sharding.empty() ? "" : fmt::format("sdy.sharding = #sdy.sharding<@mesh, {}>", sharding);
}

const std::vector<Type>& ModuleBuilder::function(const std::string& name,
                                                 const std::vector<FunctionParameter>& parameters,
                                                 const Write& write) {
  const auto known = results_.find(name);
  if (known != results_.end()) return known->second;
  std::vector<Type> results = add("private", name, parameters, write);
  return results_.emplace(name, std::move(results)).first->second;
}

std::vector<Type> ModuleBuilder::add(std::string_view visibility, const std::string& name,
                                     const std::vector<FunctionParameter>& parameters,
                                     const Write& write,
                                     std::span<const std::string> result_attributes) {
  std::vector<Ssa> arguments;
  std::string signature;
  for (const FunctionParameter& p : parameters) {
    arguments.push_back({p.name, p.type});
    signature +=
        fmt::format("{}{}: {}", signature.empty() ? "" : ",\n      ", p.name, p.type.to_string());
    if (!p.sharding.empty()) signature += " {" + sharding_attribute(p.sharding) + "}";
  }
  Builder builder(*this, parameters);
  const std::vector<Ssa> results = write(builder, arguments);
  std::string result_list;
  std::vector<Type> types;
  for (size_t i = 0; i < results.size(); ++i) {
    types.push_back(results[i].type);
    const std::string attributes = i < result_attributes.size() ? result_attributes[i] : "";
    result_list += fmt::format("{}{}{}{}", i > 0 ? ",\n      " : "", results[i].type.to_string(),
                               attributes.empty() ? "" : " ", attributes);
  }
  texts_.push_back(
      fmt::format("  func.func {} @{}({}) -> ({}) {{\n{}    \"func.return\"({}) : ({}) "
                  "-> ()\n  }}\n",
                  visibility, name, signature, result_list, builder.text(), names_of(results),
                  types_of(results)));
  return types;
}

// ---- operations ----

Builder::Builder(ModuleBuilder& module,
                 const std::vector<ModuleBuilder::FunctionParameter>& parameters)
    : module_(module) {
  for (const auto& p : parameters) shardings_[p.name] = p.sharding;
}

Ssa Builder::op(std::string_view op, std::span<const Ssa> operands, const Type& result,
                std::string_view properties, std::string_view region) {
  Ssa out{new_name(), result};
  OperationText line;
  line.head = fmt::format("{} = \"{}\"({})", out.name, op, names_of(operands));
  if (!properties.empty()) line.head += fmt::format(" <{{{}}}>", properties);
  if (!region.empty()) line.head += fmt::format(" ({{\n{}    }})", region);
  line.types = fmt::format("({}) -> {}", types_of(operands), result.to_string());
  made_by_[out.name] = lines_.size();
  lines_.push_back(std::move(line));
  return out;
}

std::vector<Ssa> Builder::call(const std::string& function, std::span<const Ssa> arguments,
                               const std::vector<ModuleBuilder::FunctionParameter>& parameters,
                               const ModuleBuilder::Write& write) {
  const std::vector<Type>& types = module_.function(function, parameters, write);
  const std::string name = new_name();
  std::vector<Ssa> results;
  std::string type_list;
  for (size_t i = 0; i < types.size(); ++i) {
    results.push_back({types.size() == 1 ? name : fmt::format("{}#{}", name, i), types[i]});
    type_list += (i > 0 ? ", " : "") + types[i].to_string();
  }
  const std::string count = types.size() > 1 ? fmt::format(":{}", types.size()) : "";
  lines_.push_back(
      {fmt::format("{}{}\"func.call\"({}) <{{callee = @{}}}>", types.empty() ? "" : name + count,
                   types.empty() ? "" : " = ", names_of(arguments), function),
       fmt::format("({}) -> ({})", types_of(arguments), type_list), ""});
  return results;
}

Ssa Builder::constant(double value, const Type& type) {
  if (is_complex_element(type.element)) {
    const std::string_view part = type.element == "complex<f64>" ? "f64" : "f32";
    const std::string pair =
        fmt::format("({}, {})", float_text(value, part), float_text(0.0, part));
    return op("stablehlo.constant", {}, type, constant_text(pair, type));
  }
  if (!is_float(type.element)) return constant(static_cast<int64_t>(value), type);
  return op("stablehlo.constant", {}, type, constant_text(float_text(value, type.element), type));
}
Ssa Builder::constant(int64_t value, const Type& type) {
  if (is_float(type.element) || is_complex_element(type.element))
    return constant(static_cast<double>(value), type);
  const bool is_bool = type.element == "i1";
  const std::string text = is_bool ? (value != 0 ? "true" : "false") : std::to_string(value);
  return op("stablehlo.constant", {}, type, constant_text(text, type));
}
Ssa Builder::constant_bits(uint64_t bits, const Type& type) {
  return op("stablehlo.constant", {}, type, constant_text(std::to_string(bits), type));
}
Ssa Builder::constants(std::span<const double> values, std::string_view element) {
  std::string text;
  for (double value : values) text += (text.empty() ? "" : ", ") + float_text(value, element);
  const Type type{{static_cast<int64_t>(values.size())}, element};
  return op("stablehlo.constant", {}, type, constant_text("[" + text + "]", type));
}

Ssa Builder::iota(const Type& type, int dim) {
  return op("stablehlo.iota", {}, type, fmt::format("iota_dimension = {} : i64", dim));
}

Ssa Builder::unary(std::string_view name, const Ssa& x) {
  return op(fmt::format("stablehlo.{}", name), {x}, x.type);
}

Ssa Builder::binary(std::string_view name, const Ssa& x, const Ssa& y) {
  const Dims dims = broadcast_dims(x.dims(), y.dims());
  return op(fmt::format("stablehlo.{}", name), {expand(x, dims), expand(y, dims)},
            {dims, x.type.element});
}

Ssa Builder::compare(std::string_view direction, const Ssa& x, const Ssa& y) {
  const Dims dims = broadcast_dims(x.dims(), y.dims());
  return op("stablehlo.compare", {expand(x, dims), expand(y, dims)}, {dims, "i1"},
            fmt::format("comparison_direction = #stablehlo<comparison_direction {}>", direction));
}

Ssa Builder::select(const Ssa& condition, const Ssa& x, const Ssa& y) {
  const Dims dims = broadcast_dims(condition.dims(), broadcast_dims(x.dims(), y.dims()));
  return op("stablehlo.select", {expand(condition, dims), expand(x, dims), expand(y, dims)},
            {dims, x.type.element});
}

Ssa Builder::convert(const Ssa& x, std::string_view element) {
  if (x.type.element == element) return x;
  return op("stablehlo.convert", {x}, {x.dims(), element});
}

Ssa Builder::like(const Ssa& x, double value) { return constant(value, x.type); }

// ---- shapes ----

Ssa Builder::reshape(const Ssa& x, const Dims& dims) {
  if (x.dims() == dims) return x;
  return op("stablehlo.reshape", {x}, {dims, x.type.element});
}

Ssa Builder::transpose(const Ssa& x, std::span<const int64_t> permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  Dims dims;
  for (int64_t d : permutation) dims.push_back(x.dims()[static_cast<int>(d)]);
  return op("stablehlo.transpose", {x}, {dims, x.type.element},
            "permutation = " + array_of(permutation));
}

Ssa Builder::broadcast(const Ssa& x, const Dims& dims, std::span<const int64_t> to) {
  return op("stablehlo.broadcast_in_dim", {x}, {dims, x.type.element},
            "broadcast_dimensions = " + array_of(to));
}

Ssa Builder::expand(const Ssa& x, const Dims& dims) {
  if (x.dims() == dims) return x;
  std::vector<int64_t> to(static_cast<size_t>(x.ndim()));
  std::iota(to.begin(), to.end(), dims.ndim() - x.ndim());
  return broadcast(x, dims, to);
}

Ssa Builder::slice(const Ssa& x, const Dims& begin, const Dims& end) {
  Dims dims;
  for (int d = 0; d < x.ndim(); ++d) dims.push_back(end[d] - begin[d]);
  if (dims == x.dims()) return x;
  return op("stablehlo.slice", {x}, {dims, x.type.element},
            fmt::format("start_indices = {}, limit_indices = {}, strides = {}", array_of(begin),
                        array_of(end), array_of(Dims::filled(x.ndim(), 1))));
}

Ssa Builder::slice_of(const Ssa& x, int dim, int64_t begin, int64_t end) {
  Dims from = Dims::filled(x.ndim(), 0);
  Dims to = x.dims();
  from[dim] = begin;
  to[dim] = end;
  return slice(x, from, to);
}

Ssa Builder::concat(std::span<const Ssa> parts, int dim) {
  Dims dims = parts[0].dims();
  for (const Ssa& part : parts.subspan(1)) dims[dim] += part.dims()[dim];
  return op("stablehlo.concatenate", parts, {dims, parts[0].type.element},
            fmt::format("dimension = {} : i64", dim));
}

Ssa Builder::reverse(const Ssa& x, int dim) {
  return op("stablehlo.reverse", {x}, x.type, fmt::format("dimensions = array<i64: {}>", dim));
}

Ssa Builder::reduce(Reduction kind, const Ssa& x, std::span<const int64_t> axes) {
  if (axes.empty()) return x;
  Dims kept = x.dims();
  for (int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  Dims dims;
  for (int d = 0; d < x.ndim(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) dims.push_back(x.dims()[d]);
  }
  const std::string scalar = Type{{}, x.type.element}.to_string();
  const std::string region = fmt::format(
      "    ^bb0(%a: {0}, %b: {0}):\n"
      "      %c = \"stablehlo.{1}\"(%a, %b) : ({0}, {0}) -> {0}\n"
      "      \"stablehlo.return\"(%c) : ({0}) -> ()\n",
      scalar, region_op(kind));
  const Ssa start = start_of(*this, kind, x.type.element);
  return reshape(op("stablehlo.reduce", {x, start}, {dims, x.type.element},
                    "dimensions = " + array_of(axes), region),
                 kept);
}

Ssa Builder::reduce_from(Reduction kind, const Ssa& x, int axis) {
  std::vector<int64_t> axes(static_cast<size_t>(x.ndim() - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return reduce(kind, x, axes);
}

Ssa Builder::sum_to(const Ssa& x, const Dims& dims) {
  const int added = x.ndim() - dims.ndim();
  std::vector<int64_t> axes;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d < added || dims[d - added] != x.dims()[d]) axes.push_back(d);
  }
  return reshape(reduce(Reduction::kSum, x, axes), dims);
}

Ssa Builder::dot(const Ssa& x, const Ssa& y, const DotDims& dims) {
  const auto is_in = [](const std::vector<int64_t>& list, int d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  Dims out;
  for (int64_t d : dims.x_batch) out.push_back(x.dims()[static_cast<int>(d)]);
  for (int d = 0; d < x.ndim(); ++d) {
    if (!is_in(dims.x_batch, d) && !is_in(dims.x_contracted, d)) out.push_back(x.dims()[d]);
  }
  for (int d = 0; d < y.ndim(); ++d) {
    if (!is_in(dims.y_batch, d) && !is_in(dims.y_contracted, d)) out.push_back(y.dims()[d]);
  }
  return op("stablehlo.dot_general", {x, y}, {out, wide_element(x.type.element)},
            fmt::format("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [{}], "
                        "rhs_batching_dimensions = [{}], lhs_contracting_dimensions = [{}], "
                        "rhs_contracting_dimensions = [{}]>",
                        dense_list(dims.x_batch), dense_list(dims.y_batch),
                        dense_list(dims.x_contracted), dense_list(dims.y_contracted)));
}

Ssa Builder::placed(const Ssa& x, const std::string& sharding) {
  std::string& own = shardings_[x.name];
  if (sharding.empty() || own == sharding) return x;
  const auto made = made_by_.find(x.name);
  if (own.empty() && made != made_by_.end()) {
    own = lines_[made->second].sharding = sharding;
    return x;
  }
  Ssa out{new_name(), x.type};
  lines_.push_back(
      {fmt::format("{} = sdy.sharding_constraint {} <@mesh, {}>", out.name, x.name, sharding),
       x.type.to_string(), ""});
  shardings_[out.name] = sharding;
  return out;
}

std::string Builder::text() const {
  std::string out;
  for (const OperationText& line : lines_) {
    out += "    " + line.head;
    if (!line.sharding.empty()) {
      out +=
          fmt::format(" {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {}>]>}}", line.sharding);
    }
    out += " : " + line.types + "\n";
  }
  return out;
}

}  // namespace phi::stablehlo
