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
  nb::class_<TokenGenerator>(
      module, "Generator",
      "Token generation by a language model.\n\n"
      "Each token runs one position; keys and values of earlier positions are cached.")
      .def(
          "__init__",
          [](TokenGenerator* self, nn::Layer& model, const std::vector<int64_t>& prompt,
             int64_t window, int64_t num_tokens, double temperature, int64_t top_k, double top_p,
             int64_t seed, bool capture) {
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
          "Construct a generator.\n\n"
          "`model`: ids int64 [1,S] -> logits float32 [1,S,vocab]. Only nn.Attention may read "
          "other\n"
          "positions. The model is in eval() from now on. `window`: number of positions it reads;\n"
          "`num_tokens`: choose among the first tokens of the vocabulary only (0: all).")
      .def(
          "next",
          [](TokenGenerator& self) {
            const GilRelease others;
            return self.next();
          },
          "Return the next token, the same on every rank. Collective.")
      .def_prop_ro("tokens", &TokenGenerator::tokens, "The prompt and the generated tokens.");
}

}  // namespace phi::python
