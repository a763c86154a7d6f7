// Builder: writes the operations of a function of a StableHLO module as text.
//
//   Ssa y = b.mul(b.unary("tanh", x), 0.5);   // %2 = "stablehlo.tanh"(%x) : ... and so on
//
// Operations are written in MLIR's generic form, which later versions of StableHLO also parse.
// Binary functions broadcast like the operators: tensor dims are aligned at the last.
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
/// The element type in which kernels compute: f32 for half precision, otherwise the type itself.
std::string_view wide_element(std::string_view element);
bool is_float(std::string_view element);
bool is_complex_element(std::string_view element);

/// An SSA value of the function.
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

/// The functions of a module. Each private function is written once, at its first call.
class ModuleBuilder {
 public:
  using Write = std::function<std::vector<Ssa>(Builder&, std::span<const Ssa> arguments)>;
  struct FunctionParameter {
    std::string name;  // "%x"
    Type type;
    std::string sharding;  // as returned by Meshes; empty: none
  };
  /// Writes the private function unless one of this name exists. Returns its result types.
  const std::vector<Type>& function(const std::string& name,
                                    const std::vector<FunctionParameter>& parameters,
                                    const Write& write);
  /// Writes a function. `result_attributes` has one text per result, or is empty.
  std::vector<Type> add(std::string_view visibility, const std::string& name,
                        const std::vector<FunctionParameter>& parameters, const Write& write,
                        std::span<const std::string> result_attributes = {});
  const std::vector<std::string>& functions() const { return texts_; }

 private:
  std::map<std::string, std::vector<Type>> results_;
  std::vector<std::string> texts_;
};

class Builder {
 public:
  Builder(ModuleBuilder& module, const std::vector<ModuleBuilder::FunctionParameter>& parameters);

  /// `op` is a full name. `properties` and `region` are MLIR text without the enclosing brackets.
  Ssa op(std::string_view op, std::span<const Ssa> operands, const Type& result,
         std::string_view properties = {}, std::string_view region = {});
  Ssa op(std::string_view name, std::initializer_list<Ssa> operands, const Type& result,
         std::string_view properties = {}, std::string_view region = {}) {
    return op(name, std::span(operands.begin(), operands.size()), result, properties, region);
  }
  /// Calls a private function. `write` writes it at the first call of that name.
  std::vector<Ssa> call(const std::string& function, std::span<const Ssa> arguments,
                        const std::vector<ModuleBuilder::FunctionParameter>& parameters,
                        const ModuleBuilder::Write& write);

  // Values without operands.
  Ssa constant(double value, const Type& type);
  Ssa constant(int64_t value, const Type& type);
  /// A value of an unsigned type with these bits.
  Ssa constant_bits(uint64_t bits, const Type& type);
  /// A 1-D tensor of numbers.
  Ssa constants(std::span<const double> values, std::string_view element);
  /// A tensor whose elements are their indices along `dim`.
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
  /// Converts to wide_element().
  Ssa wide(const Ssa& x) { return convert(x, wide_element(x.type.element)); }
  /// A constant with x's shape and type.
  Ssa like(const Ssa& x, double value);

  // Shapes. Axes and permutations are non-negative tensor dims.
  Ssa reshape(const Ssa& x, const Dims& dims);
  Ssa transpose(const Ssa& x, std::span<const int64_t> permutation);
  /// Tensor dim i of x becomes tensor dim to[i].
  Ssa broadcast(const Ssa& x, const Dims& dims, std::span<const int64_t> to);
  /// Broadcasts with tensor dims aligned at the last.
  Ssa expand(const Ssa& x, const Dims& dims);
  Ssa slice(const Ssa& x, const Dims& begin, const Dims& end);
  /// The elements [begin, end) of one tensor dim.
  Ssa slice_of(const Ssa& x, int dim, int64_t begin, int64_t end);
  Ssa concat(std::span<const Ssa> parts, int dim);
  Ssa reverse(const Ssa& x, int dim);

  /// Reduces over `axes`, which stay with extent 1.
  Ssa reduce(Reduction kind, const Ssa& x, std::span<const int64_t> axes);
  /// Reduces over the tensor dims from `axis` on.
  Ssa reduce_from(Reduction kind, const Ssa& x, int axis);
  Ssa reduce_last(Reduction kind, const Ssa& x) { return reduce_from(kind, x, x.ndim() - 1); }
  /// Sums x over the tensor dims along which a tensor of shape `dims` was broadcast.
  Ssa sum_to(const Ssa& x, const Dims& dims);

  /// A dot product over pairs of contracted tensor dims; batch tensor dims come first in the
  /// result. Half-precision operands give f32.
  struct DotDims {
    std::vector<int64_t> x_batch, y_batch, x_contracted, y_contracted;
  };
  Ssa dot(const Ssa& x, const Ssa& y, const DotDims& dims);

  /// x with a sharding (the text after the mesh in `sdy.sharding`, as returned by Meshes); empty: x
  /// unchanged. Annotates the operation that produced x if it has no sharding yet; otherwise adds a
  /// constraint.
  Ssa placed(const Ssa& x, const std::string& sharding);

  /// The lines of the function, indented and terminated.
  std::string text() const;

 private:
  struct OperationText {
    std::string head;  // text before the attributes
    std::string types;
    std::string sharding;  // not yet written; empty: none
  };
  std::string new_name() { return "%" + std::to_string(next_++); }

  ModuleBuilder& module_;
  int next_ = 0;
  std::vector<OperationText> lines_;
  std::map<std::string, size_t> made_by_;  // line of each result; operations with one result only
  std::map<std::string, std::string> shardings_;  // of values, by name
};

}  // namespace phi::stablehlo
