// Reads /proc/self/status.
#include "phi/common/process/resident_memory.h"

#include <fstream>
#include <string>

namespace phi {

ResidentMemory resident_memory() {
  ResidentMemory memory;
  std::ifstream status("/proc/self/status");
  // "VmHWM:     1928 kB"
  for (std::string key; status >> key;) {
    int64_t* const kib = key == "VmRSS:" ? &memory.now : key == "VmHWM:" ? &memory.most : nullptr;
    if (kib != nullptr) {
      status >> *kib;
      *kib *= 1024;
    }
    std::getline(status, key);
  }
  return memory;
}

}  // namespace phi
