// Binds generation of tokens by a model.
#include <nanobind/stl/vector.h>

#include <vector>

#include "api/generation/token_generator.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;
using generation::TokenGenerator;

void bind_generation(nb::module_& module) {
  nb::class_<TokenGenerator>(module, "Generator",
                        "Tokens that a model writes: each costs one position, keys and values of "
                        "those before are kept.")
      .def(
          "__init__",
          [](TokenGenerator* self, nn::Layer& model, const std::vector<int64_t>& prompt, int64_t window,
             int64_t num_tokens, double temperature, int64_t top_k, double top_p, int64_t seed,
             bool capture) {
            const GilRelease others;
            new (self) TokenGenerator(model, prompt,
                                 {.window = window,
                                  .num_tokens = num_tokens,
                                  .sampling = {.temperature = temperature,
                                               .top_k = top_k,
                                               .top_p = top_p,
                                               .seed = seed},
                                  .capture = capture});
          },
          nb::arg("model"), nb::arg("prompt"), nb::arg("window"), nb::kw_only(),
          nb::arg("num_tokens") = 0, nb::arg("temperature") = 1.0, nb::arg("top_k") = 0,
          nb::arg("top_p") = 1.0, nb::arg("seed") = 1, nb::arg("capture") = false,
          nb::keep_alive<1, 2>(),
          "`model`: ids int64 [1,S] to logits float32 [1,S,vocab], whose look at other positions "
          "is\n"
          "nn.Attention alone; it is in eval() from here on. `window`: positions that it sees;\n"
          "`num_tokens`: only the first ones of the vocabulary are chosen (0: all).")
      .def(
          "next",
          [](TokenGenerator& self) {
            const GilRelease others;
            return self.next();
          },
          "The next token. Every rank calls it and gets the same one.")
      .def_prop_ro("tokens", &TokenGenerator::tokens, "The prompt and what was generated so far.");
}

}  // namespace phi::python
