// Reads fat binaries: a header, then entries with a header each. NVIDIA does not document the
// format. The code reads what nvcc 13 writes, based on the findings of cuda-fatbin-decompression.
#include "support/cuda_on_cpu/ptx/fat_binary.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu::ptx {
namespace {

struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size;  // size of the entries
};
constexpr uint32_t kMagic = 0xba55ed50;

struct Entry {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t size;  // size with padding
  uint32_t packed_size;
  uint32_t unknown[5];
  uint64_t flags;
  uint64_t reserved;
  uint64_t unpacked_size;
};
static_assert(sizeof(Entry) == 64);
constexpr uint16_t kPtx = 1;
constexpr uint64_t kPackedByZstd = 0x8000;
constexpr uint64_t kPackedByLz4 = 0x2000;

std::string_view part(std::string_view bytes, size_t at, size_t size, const std::string& file) {
  if (at > bytes.size() || bytes.size() - at < size) {
    fail(fmt::format("{} ends too early, or is not a library", file));
  }
  return bytes.substr(at, size);
}
template <class T>
T read(std::string_view bytes, size_t at, const std::string& file) {
  T value;
  std::memcpy(&value, part(bytes, at, sizeof(T), file).data(), sizeof(T));
  return value;
}

std::string_view section(std::string_view bytes, std::string_view wanted, const std::string& file) {
  if (!bytes.starts_with(ELFMAG)) return {};
  const auto header = read<ElfW(Ehdr)>(bytes, 0, file);
  const auto section_at = [&](size_t i) {
    return read<ElfW(Shdr)>(bytes, header.e_shoff + i * sizeof(ElfW(Shdr)), file);
  };
  const auto names = section_at(header.e_shstrndx);
  const std::string_view text = part(bytes, names.sh_offset, names.sh_size, file);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const auto found = section_at(i);
    const std::string_view name = part(text, found.sh_name, text.size() - found.sh_name, file);
    if (name.substr(0, name.find('\0')) != wanted) continue;
    return part(bytes, found.sh_offset, found.sh_size, file);
  }
  return {};
}

std::string text_of(const Entry& entry, std::string_view bytes, const std::string& file) {
  if ((entry.flags & kPackedByLz4) != 0) {
    fail(fmt::format(
        "the PTX in {} is packed by LZ4, which is not read here; nvcc 13 packs by zstd", file));
  }
  if ((entry.flags & kPackedByZstd) == 0) return std::string(bytes.substr(0, entry.size));
  std::string text(entry.unpacked_size, '\0');
  const size_t size = ZSTD_decompress(
      text.data(), text.size(), part(bytes, 0, entry.packed_size, file).data(), entry.packed_size);
  if (ZSTD_isError(size) != 0 || size != text.size()) {
    fail(fmt::format("the PTX in {} cannot be unpacked: {}", file, ZSTD_getErrorName(size)));
  }
  return text;
}

}  // namespace

std::vector<std::string> read_ptx(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream contents;
  contents << stream.rdbuf();
  if (!stream) fail(fmt::format("{} cannot be read", file));
  const std::string bytes = contents.str();
  const std::string_view binaries = section(bytes, ".nv_fatbin", file);
  std::vector<std::string> texts;
  for (size_t at = 0; at + sizeof(Header) <= binaries.size();) {
    const auto header = read<Header>(binaries, at, file);
    if (header.magic != kMagic) {  // padding between binaries
      at += sizeof(uint64_t);
      continue;
    }
    const size_t end = at + header.header_size + header.size;
    for (at += header.header_size; at < end;) {
      const auto entry = read<Entry>(binaries, at, file);
      const size_t begin = at + entry.header_size;
      const std::string_view data = part(binaries, begin, entry.size, file);
      if (entry.kind == kPtx) texts.push_back(text_of(entry, data, file));
      at = begin + std::max<size_t>(entry.size, 1);
    }
  }
  return texts;
}

}  // namespace cuda_on_cpu::ptx
