// A file that says it is of safetensors: opened, and every tensor that it then has is read.
#include <vector>

#include "distributed/checkpoint/format/safetensors.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace phi;
  const fuzz::MemoryFile bytes(fuzz::text_of(data, size));
  fuzz::expect_result_or_error([&] {
    const auto file = distributed::checkpoint::SafetensorsFile::open(bytes.path());
    for (const auto& entry : file->header().tensors) {
      std::vector<std::byte> out(entry.meta.nbytes());
      const Box whole = Box::whole(entry.meta.dims);
      file->read(entry, whole, whole, out.data(), whole);
    }
    // What could be read can be written, and is the same then.
    distributed::checkpoint::SafetensorsHeader header = file->header();
    header.lay_out();
    const std::string encoded = header.encode();
    const auto again = distributed::checkpoint::SafetensorsHeader::decode(
        std::string_view(encoded).substr(8), header.data_bytes(), "again");
    if (again.tensors.size() != header.tensors.size()) std::abort();
  });
  return 0;
}
