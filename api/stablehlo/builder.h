// Builder: writes the operations of one function of a StableHLO module.
//
//   Ssa y = b.mul(b.unary("tanh", x), 0.5);   // %2 = "stablehlo.tanh"(%x) : ... and so on
//
// Operations are written in MLIR's generic form, which later versions of StableHLO read too. Binary
// functions broadcast as the operators do: tensor dims are counted from the last.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/dims.h"
#include "phi/common/dtype.h"

namespace phi::stablehlo {

/// "1, 2, 3": the elements of an array attribute.
std::string dense_list(std::span<const int64_t> values);

/// A tensor type: `element` is MLIR's name ("f32", "bf16", "i64", "i1", "ui32").
struct Type {
  Dims dims;
  std::string_view element;
  friend bool operator==(const Type&, const Type&) = default;
  /// "tensor<8x4xf32>"
  std::string to_string() const;
};
/// MLIR's name of a dtype.
std::string_view element_of(DataType dtype);
/// What kernels compute an element in: f32 for 16-bit floats, else itself.
std::string_view wide_element(std::string_view element);
bool is_float(std::string_view element);

/// A value of the function that is being written.
struct Ssa {
  std::string name;  // "%7"
  Type type;
  const Dims& dims() const { return type.dims; }
  int ndim() const { return type.dims.ndim(); }
};

enum class Reduction : uint8_t { kSum, kMax, kMin };

class Builder;

/// "sdy.sharding = ..." of a parameter or a result of a function; empty without a sharding.
std::string sharding_attribute(const std::string& sharding);

/// The functions of a module. Private ones are written once, when they are first called.
class Module {
 public:
  using Write = std::function<std::vector<Ssa>(Builder&, std::span<const Ssa> arguments)>;
  struct Parameter {
    std::string name;  // "%x"
    Type type;
    std::string sharding;  // as Meshes gives it; empty: none
  };
  /// Makes the private function unless there is one of this name; gives its result types.
  const std::vector<Type>& function(const std::string& name,
                                    const std::vector<Parameter>& parameters, const Write& write);
  /// Writes a function. `result_attributes` has one text per result, or is empty.
  std::vector<Type> add(std::string_view visibility, const std::string& name,
                        const std::vector<Parameter>& parameters, const Write& write,
                        std::span<const std::string> result_attributes = {});
  const std::vector<std::string>& functions() const { return texts_; }

 private:
  std::map<std::string, std::vector<Type>> results_;
  std::vector<std::string> texts_;
};

class Builder {
 public:
  Builder(Module& module, const std::vector<Module::Parameter>& parameters);

  /// `op` is a full name; `properties` and `region` are MLIR text without their brackets.
  Ssa op(std::string_view op, std::span<const Ssa> operands, const Type& result,
         std::string_view properties = {}, std::string_view region = {});
  Ssa op(std::string_view name, std::initializer_list<Ssa> operands, const Type& result,
         std::string_view properties = {}, std::string_view region = {}) {
    return op(name, std::span(operands.begin(), operands.size()), result, properties, region);
  }
  /// Calls a private function, which `write` writes if this is the first call of that name.
  std::vector<Ssa> call(const std::string& function, std::span<const Ssa> arguments,
                        const std::vector<Module::Parameter>& parameters,
                        const Module::Write& write);

  // Values made of nothing.
  Ssa constant(double value, const Type& type);
  Ssa constant(int64_t value, const Type& type);
  /// `bits` of an unsigned type.
  Ssa constant_bits(uint64_t bits, const Type& type);
  /// A list of numbers, as a tensor of one tensor dim.
  Ssa constants(std::span<const double> values, std::string_view element);
  /// Its index along `dim` at every element.
  Ssa iota(const Type& type, int dim);

  // Elementwise; `op` is a name without "stablehlo.".
  Ssa unary(std::string_view op, const Ssa& x);
  Ssa binary(std::string_view op, const Ssa& x, const Ssa& y);
  Ssa add(const Ssa& x, const Ssa& y) { return binary("add", x, y); }
  Ssa sub(const Ssa& x, const Ssa& y) { return binary("subtract", x, y); }
  Ssa mul(const Ssa& x, const Ssa& y) { return binary("multiply", x, y); }
  Ssa div(const Ssa& x, const Ssa& y) { return binary("divide", x, y); }
  Ssa add(const Ssa& x, double y) { return add(x, like(x, y)); }
  Ssa mul(const Ssa& x, double y) { return mul(x, like(x, y)); }
  /// y - x
  Ssa from(double y, const Ssa& x) { return sub(like(x, y), x); }
  /// `direction` is EQ, NE, LT, LE, GT or GE.
  Ssa compare(std::string_view direction, const Ssa& x, const Ssa& y);
  Ssa compare(std::string_view direction, const Ssa& x, double y) {
    return compare(direction, x, like(x, y));
  }
  Ssa select(const Ssa& condition, const Ssa& x, const Ssa& y);
  Ssa convert(const Ssa& x, std::string_view element);
  /// In the type that kernels compute in.
  Ssa wide(const Ssa& x) { return convert(x, wide_element(x.type.element)); }
  /// A number in x's shape and type.
  Ssa like(const Ssa& x, double value);

  // Shapes. Axes and permutations are tensor dims, none negative.
  Ssa reshape(const Ssa& x, const Dims& dims);
  Ssa transpose(const Ssa& x, std::span<const int64_t> permutation);
  /// x's tensor dim i becomes tensor dim to[i].
  Ssa broadcast(const Ssa& x, const Dims& dims, std::span<const int64_t> to);
  /// Counted from the last tensor dim.
  Ssa expand(const Ssa& x, const Dims& dims);
  Ssa slice(const Ssa& x, const Dims& begin, const Dims& end);
  /// The elements [begin, end) of one tensor dim.
  Ssa slice_of(const Ssa& x, int dim, int64_t begin, int64_t end);
  Ssa concat(std::span<const Ssa> parts, int dim);
  Ssa reverse(const Ssa& x, int dim);

  /// Over `axes`, which stay with extent 1.
  Ssa reduce(Reduction kind, const Ssa& x, std::span<const int64_t> axes);
  /// Over the tensor dims from `axis` on.
  Ssa reduce_from(Reduction kind, const Ssa& x, int axis);
  Ssa reduce_last(Reduction kind, const Ssa& x) { return reduce_from(kind, x, x.ndim() - 1); }
  /// Sums what a broadcast of a tensor of `dims` repeated.
  Ssa sum_to(const Ssa& x, const Dims& dims);

  /// Products summed over pairs of tensor dims, the batch tensor dims first in the result. 16-bit
  /// operands give f32.
  struct DotDims {
    std::vector<int64_t> x_batch, y_batch, x_contracted, y_contracted;
  };
  Ssa dot(const Ssa& x, const Ssa& y, const DotDims& dims);

  /// x under this sharding (the text behind `sdy.sharding`'s mesh, as Meshes gives it); empty: as
  /// it is. The operation that made x is annotated where it was not yet, else a constraint follows.
  Ssa placed(const Ssa& x, const std::string& sharding);

  /// The lines, each indented and ended.
  std::string text() const;

 private:
  struct Line {
    std::string head;  // up to the attributes
    std::string types;
    std::string sharding;  // to be attached
  };
  std::string new_name() { return "%" + std::to_string(next_++); }

  Module& module_;
  int next_ = 0;
  std::vector<Line> lines_;
  std::map<std::string, size_t> made_by_;         // line by result, of operations with one
  std::map<std::string, std::string> shardings_;  // those that values have, by name
};

}  // namespace phi::stablehlo
