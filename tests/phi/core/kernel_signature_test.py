"""Compiler errors for kernels that differ from their YAML entries: they name the parameter."""

import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).parents[3]
PROGRAM = """
#include "phi/core/dense_tensor.h"
#include "phi/core/kernel_registry.h"
namespace phi {{
namespace kernels {{
struct shifted {{
  using Signature = KernelSignature<const DenseTensor&, float, DenseTensor*>;
  using Parameters = KernelParameters<"x", "bias", "out">;
  static constexpr const char* kName = "shifted";
}};
}}  // namespace kernels
template <typename T, typename Context>
{definition}
PHI_REGISTER_KERNEL(shifted, CPU, ShiftedKernel, TypeList<float>);
}}  // namespace phi
"""


def errors_of(definition):
    command = [os.environ["CXX"], "-std=c++20", "-fsyntax-only", f"-I{SOURCE}", "-x", "c++", "-"]
    done = subprocess.run(command, input=PROGRAM.format(definition=definition), capture_output=True, text=True)
    return done.stderr


class KernelSignature(unittest.TestCase):
    def test_one_that_fits(self):
        self.assertEqual(errors_of("void ShiftedKernel(const Context&, const DenseTensor&, float, DenseTensor*) {}"), "")

    def test_a_parameter_of_another_type(self):
        errors = errors_of("void ShiftedKernel(const Context&, const DenseTensor&, double, DenseTensor*) {}")
        self.assertRegex(errors, r'Parameter<[^\n]*"bias"[^\n]*, double, float>')
        self.assertIn("a kernel's parameter differs in type from its YAML entry", errors)
        self.assertNotRegex(errors, r'Parameter<[^\n]*"x"')

    def test_a_parameter_too_many(self):
        errors = errors_of("void ShiftedKernel(const Context&, const DenseTensor&, float, int, DenseTensor*) {}")
        self.assertIn("a kernel has more or fewer parameters than its YAML entry", errors)

    def test_no_context(self):
        errors = errors_of("void ShiftedKernel(const DenseTensor&, float, DenseTensor*) {}")
        self.assertIn("a kernel must return void and accept its device context first", errors)


if __name__ == "__main__":
    unittest.main()
