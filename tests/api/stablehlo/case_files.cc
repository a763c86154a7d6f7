// Arrays in NumPy's format (NEP 1), modules as text.
#include "tests/api/stablehlo/case_files.h"

#include <fmt/format.h>

#include <fstream>

#include "phi/common/errors.h"

namespace phi::testing {
namespace {

// NumPy has no bfloat16; two bytes of anything are one for the reader.
const char* numpy_type(DataType dtype) {
  switch (dtype) {
    case DataType::BOOL:
      return "|b1";
    case DataType::UINT8:
      return "|u1";
    case DataType::INT32:
      return "<i4";
    case DataType::INT64:
      return "<i8";
    case DataType::FLOAT16:
      return "<f2";
    case DataType::BFLOAT16:
      return "|V2";
    case DataType::FLOAT32:
      return "<f4";
    case DataType::INT8:
      return "|i1";
    case DataType::INT16:
      return "<i2";
    case DataType::COMPLEX64:
      return "<c8";
    case DataType::COMPLEX128:
      return "<c16";
    case DataType::FLOAT64:
      return "<f8";
    case DataType::UNDEFINED:
      break;
  }
  throw errors::InvalidArgument("an array of undefined dtype cannot be written.");
}

void write_array(const std::filesystem::path& path, const Tensor& x) {
  std::string shape;
  for (int64_t extent : x.shape()) shape += std::to_string(extent) + ",";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   numpy_type(x.dtype()), shape);
  constexpr size_t kPrefix = 10;
  header.resize((kPrefix + header.size() + 1 + 63) / 64 * 64 - kPrefix - 1, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  const auto size = static_cast<uint16_t>(header.size());
  file.put(static_cast<char>(size & 0xff)).put(static_cast<char>(size >> 8));
  file << header;
  if (x.numel() == 0) return;
  file.write(static_cast<const char*>(x.dense().raw_data()),
             static_cast<std::streamsize>(x.dense().nbytes()));
}

void write_arrays(const std::filesystem::path& folder, const char* kind, const TensorList& arrays) {
  for (size_t i = 0; i < arrays.size(); ++i)
    write_array(folder / fmt::format("{}{}.npy", kind, i), arrays[i]);
}

}  // namespace

void write_case(const std::filesystem::path& folder, const StablehloCase& c) {
  const std::filesystem::path own = folder / c.name;
  std::filesystem::create_directories(own);
  std::ofstream(own / "module.mlir") << c.module;
  std::ofstream(own / "tolerance.txt") << c.tolerance << "\n";
  write_arrays(own, "arg", c.inputs);
  write_arrays(own, "out", c.expected);
}

}  // namespace phi::testing
