// What is in a checkpoint's files, as one number that ranks compare: they are to load the same.
#pragma once

#include <cstdint>
#include <string>

namespace phi::distributed::checkpoint {

/// Of a .safetensors file; of a folder all files whose names end in .safetensors or .json, in
/// order of their names. As far as phi::sampled_hash_of sees it: names, sizes, some pages of each.
/// Errors: those of MappedFile; NotFound for a folder that cannot be listed.
uint64_t content_hash(const std::string& path);

}  // namespace phi::distributed::checkpoint
