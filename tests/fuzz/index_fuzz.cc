// The index of a checkpoint; what is understood is written, and understood again.
#include "distributed/checkpoint/format/index.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using phi::distributed::checkpoint::Index;
  phi::fuzz::expect_result_or_error([&] {
    const Index index = Index::decode(phi::fuzz::text_of(data, size), "index.json");
    if (index.save_id.empty()) return;  // another tool's, with fewer words
    const Index again = Index::decode(index.encode(), "again.json");
    if (again.tensors.size() != index.tensors.size()) std::abort();
  });
  return 0;
}
