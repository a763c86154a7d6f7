// Names of functions, from the symbol table of the program or library that has them: kernels in
// anonymous namespaces are not among the symbols that the dynamic linker knows.
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

using Symbols = std::map<uintptr_t, std::string>;  // mangled names by address within the file

// Functions in the symbol table of an ELF file; none if it was stripped.
Symbols functions_of(const std::string& file) {
  Symbols found;
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.size() < sizeof(ElfW(Ehdr))) return found;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(bytes.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* names = bytes.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(bytes.data() + sections[i].sh_offset);
    const size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    for (size_t s = 0; s < count; ++s) {
      if (ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC || symbols[s].st_shndx == SHN_UNDEF)
        continue;
      found.emplace(symbols[s].st_value, names + symbols[s].st_name);
    }
  }
  return found;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

std::string function_name(const void* address) {
  static std::mutex mutex;
  static std::map<std::string, Symbols>& files = *new std::map<std::string, Symbols>;
  static std::map<const void*, std::string>& known = *new std::map<const void*, std::string>;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(address); found != known.end()) return found->second;
  Dl_info info{};
  link_map* map = nullptr;
  std::string name = fmt::format("at {}", address);
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0) {
    const std::string file = map->l_name[0] == '\0' ? "/proc/self/exe" : map->l_name;
    auto [symbols, fresh] = files.try_emplace(file);
    if (fresh) symbols->second = functions_of(file);
    const auto symbol = symbols->second.find(reinterpret_cast<uintptr_t>(address) - map->l_addr);
    if (symbol != symbols->second.end()) name = demangled(symbol->second);
  }
  return known.emplace(address, name).first->second;
}

}  // namespace cuda_on_cpu
