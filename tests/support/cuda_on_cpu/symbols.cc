// Reads the symbol table of the file that contains a kernel. The dynamic linker does not know
// kernels in anonymous namespaces or static variables.
#include "support/cuda_on_cpu/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

namespace cuda_on_cpu {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

namespace {

// The symbols of one file: mangled names, and addresses relative to the file.
struct Symbols {
  struct Object {
    uintptr_t address;
    size_t size;
  };
  std::map<uintptr_t, std::string> functions;
  std::map<std::string, Object> zeroed;  // zero-initialised variables, which include shared memory
};

Symbols read_symbols(const std::string& file) {
  Symbols found;
  std::ostringstream contents;
  contents << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string bytes = contents.str();
  if (bytes.size() < sizeof(ElfW(Ehdr))) return found;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(bytes.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.data() + header->e_shoff);
  const auto is_zeroed = [&](unsigned section) {
    return section < header->e_shnum && sections[section].sh_type == SHT_NOBITS;
  };
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* names = bytes.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(bytes.data() + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
      const ElfW(Sym)& symbol = symbols[s];
      const char* name = names + symbol.st_name;
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && symbol.st_shndx != SHN_UNDEF) {
        found.functions.emplace(symbol.st_value, name);
      } else if (type == STT_OBJECT && is_zeroed(symbol.st_shndx)) {
        found.zeroed.emplace(name, Symbols::Object{symbol.st_value, symbol.st_size});
      }
    }
  }
  return found;
}

struct Kernel {
  std::string name;
  std::vector<SharedArray> shared;
};

// Variables of a function have the mangled name _ZZ <function without _Z> E <variable>.
std::vector<SharedArray> variables_in(const std::string& function, const Symbols& symbols,
                                      uintptr_t base) {
  std::vector<SharedArray> found;
  if (!function.starts_with("_Z")) return found;
  const std::string prefix = "_ZZ" + function.substr(2) + "E";
  for (auto it = symbols.zeroed.lower_bound(prefix);
       it != symbols.zeroed.end() && it->first.starts_with(prefix); ++it) {
    auto* const begin = reinterpret_cast<std::byte*>(base);  // NOLINT(performance-no-int-to-ptr)
    found.push_back({begin + it->second.address, it->second.size});
  }
  return found;
}

Kernel look_up(const void* address) {
  static std::map<std::string, Symbols>& files = *new std::map<std::string, Symbols>;
  Dl_info info{};
  link_map* map = nullptr;
  Kernel unknown{fmt::format("at {}", address), {}};
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return unknown;
  const std::string file = map->l_name[0] == '\0' ? "/proc/self/exe" : map->l_name;
  auto [symbols, fresh] = files.try_emplace(file);
  if (fresh) symbols->second = read_symbols(file);
  const auto& functions = symbols->second.functions;
  const auto symbol = functions.find(reinterpret_cast<uintptr_t>(address) - map->l_addr);
  if (symbol == functions.end()) return unknown;
  return {demangled(symbol->second), variables_in(symbol->second, symbols->second, map->l_addr)};
}

const Kernel& kernel_at(const void* address) {
  static std::mutex mutex;
  static std::map<const void*, Kernel>& known = *new std::map<const void*, Kernel>;
  const std::lock_guard lock(mutex);
  auto found = known.find(address);
  if (found == known.end()) found = known.emplace(address, look_up(address)).first;
  return found->second;
}

}  // namespace

std::string function_name(const void* address) { return kernel_at(address).name; }

const std::vector<SharedArray>& shared_arrays(const void* kernel) {
  return kernel_at(kernel).shared;
}

}  // namespace cuda_on_cpu
