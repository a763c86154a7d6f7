// Binds TokenData: batches of windows of token ids in files.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "api/data/token_data.h"
#include "api/data/token_type.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;
using data::TokenData;

namespace {

data::BatchSpec batch_spec_of(int64_t batch, int64_t seq_len, uint64_t seed, int64_t first_sample) {
  return {.seed = seed, .first_sample = first_sample, .batch = batch, .seq_len = seq_len};
}

TokenData open(const std::vector<std::string>& paths, const std::string& kind,
               const std::string& dtype, const std::string& documents, int64_t vocab,
               const std::string& base) {
  const GilRelease others;
  return TokenData::open({.kind = data::parse_data_kind(kind),
                          .paths = paths,
                          .base = base,
                          .dtype = data::parse_token_type(dtype),
                          .documents = data::parse_documents(documents),
                          .vocab = vocab});
}

}  // namespace

void bind_data(nb::module_& module) {
  nb::class_<TokenData>(module, "TokenData",
                        "Token ids in files, and windows of them drawn reproducibly.")
      .def(
          "__init__",
          [](TokenData* self, const std::vector<std::string>& paths, const std::string& kind,
             const std::string& dtype, const std::string& documents, int64_t vocab,
             const std::string& base) {
            new (self) TokenData(open(paths, kind, dtype, documents, vocab, base));
          },
          nb::arg("paths"), nb::kw_only(), nb::arg("kind") = "bytes", nb::arg("dtype") = "uint16",
          nb::arg("documents") = "joined", nb::arg("vocab") = 0, nb::arg("base") = "",
          "Open files of tokens.\n\n"
          "`kind`: 'bytes' (text; files and folders), 'tokens' (flat files of ids of `dtype`) or "
          "'megatron'.\n"
          "`documents`: 'joined', or 'apart' for windows within one document. `vocab`: ids beyond "
          "it are an\n"
          "error (0: no check). `base`: second folder in which relative paths are looked up.")
      .def_prop_ro("num_tokens", &TokenData::num_tokens)
      .def_prop_ro("num_bytes", &TokenData::num_bytes)
      .def_prop_ro("fingerprint", &TokenData::fingerprint)
      .def(
          "ids",
          [](const TokenData& self, int64_t batch, int64_t seq_len, uint64_t seed,
             int64_t first_sample) {
            return self.ids(batch_spec_of(batch, seq_len, seed, first_sample));
          },
          nb::arg("batch"), nb::arg("seq_len"), nb::kw_only(), nb::arg("seed") = 1,
          nb::arg("first_sample") = 0,
          "Return int64 [batch, seq_len]: the windows of samples first_sample, first_sample + 1, "
          "..\n\n"
          "A rank reads its own rows only, at first use.")
      .def(
          "labels",
          [](const TokenData& self, int64_t batch, int64_t seq_len, uint64_t seed,
             int64_t first_sample) {
            return self.labels(batch_spec_of(batch, seq_len, seed, first_sample));
          },
          nb::arg("batch"), nb::arg("seq_len"), nb::kw_only(), nb::arg("seed") = 1,
          nb::arg("first_sample") = 0,
          "Return int64 [batch, seq_len, 1]: the next tokens, as labels of ids().");
}

}  // namespace phi::python
